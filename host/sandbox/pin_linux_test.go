package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/alcove-memory/alcove/host/testing/must"
)

// onVolume returns a configuration whose cache is in a directory that everybody can write, and what the sandbox logs.
func onVolume(t *testing.T) (Config, *bytes.Buffer) {
	t.Helper()
	volume := filepath.Join(t.TempDir(), "volume")
	must.Do(t, errors.Join(os.Mkdir(volume, 0o700), os.Chmod(volume, 0o777|os.ModeSetgid)))
	said := &bytes.Buffer{}
	config := testConfig(t)
	config.Log = slog.New(slog.NewTextHandler(said, nil))
	config.Cache = Cache{Dir: filepath.Join(volume, "cache"), Key: filepath.Join(t.TempDir(), "key")}
	return config, said
}

// asNobody runs a script in the directory of the cache as another user, who can write there.
func asNobody(t *testing.T, config Config, script string) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root can run a process as another user")
	}
	volume := filepath.Dir(config.Cache.Dir)
	for dir := filepath.Dir(volume); strings.HasPrefix(dir, os.TempDir()+"/"); dir = filepath.Dir(dir) {
		must.Do(t, os.Chmod(dir, 0o755))
	}
	cmd := exec.Command("sh", "-ec", script)
	cmd.Dir = volume
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("the other user's %q: %v: %s", script, err, out)
	}
}

func TestACacheOnAVolumeThatOthersCanWriteIsUsed(t *testing.T) {
	config, said := onVolume(t)
	module := packedAs(t, "notes", "")
	fill(t, config, module)
	if !fromCache(t, config, module) {
		t.Errorf("nothing was kept: %s", said)
	}
	if u, err := CacheUse(config.Cache); err != nil || u.Modules != 1 {
		t.Errorf("its use: got %+v, %v, want one module", u, err)
	}
	if left := entries(t, config, dirWork); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	if said.Len() > 0 {
		t.Errorf("it says %q, want nothing", said)
	}
}

func TestNobodyCanPutAnotherDirectoryInThePlaceOfACacheInUse(t *testing.T) {
	module, other := packedAs(t, "notes", ""), otherCode(t)
	for name, script := range map[string]string{
		"a link":      "mv cache moved && mkdir -m 777 evil && ln -s evil cache",
		"a directory": "mv cache moved && mkdir -m 777 cache",
		"nothing":     "mv cache moved",
	} {
		t.Run(name, func(t *testing.T) {
			config, said := onVolume(t)
			s := newSandbox(t, config)
			asNobody(t, config, script)
			for _, m := range [][]byte{module, other} {
				if _, err := s.Admit(t.Context(), m, Options{}); err != nil {
					t.Errorf("Admit: %v", err)
				}
			}
			if got, _ := os.ReadDir(config.Cache.Dir); len(got) > 0 {
				t.Errorf("in the other directory: got %v, want nothing", got)
			}
			moved := config
			moved.Cache.Dir = filepath.Join(filepath.Dir(config.Cache.Dir), "moved")
			if got := entries(t, moved, dirCode); len(got) != 2 {
				t.Errorf("in the cache: got %q, want two modules", got)
			}
			if said.Len() > 0 {
				t.Errorf("it says %q, want nothing", said)
			}
		})
	}
}

// swapping exchanges the cache and a directory of another user, whose members lead to a directory of this one, until the test ends.
func swapping(t *testing.T, config Config, precious string) {
	t.Helper()
	asNobody(t, config, fmt.Sprintf("mkdir -m 777 evil && for dir in %s; do ln -s %s evil/$dir; done", strings.Join(cacheDirs(), " "), precious))
	evil := filepath.Join(filepath.Dir(config.Cache.Dir), "evil")
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-stop:
				return
			default:
				if err := unix.Renameat2(unix.AT_FDCWD, evil, unix.AT_FDCWD, config.Cache.Dir, unix.RENAME_EXCHANGE); err != nil {
					t.Errorf("exchange the directories: %v", err)
					return
				}
			}
		}
	}()
	t.Cleanup(func() { close(stop); <-ended })
}

func TestACacheIsUsedWhileAnotherUserSwapsItsDirectory(t *testing.T) {
	config, said := onVolume(t)
	precious := filepath.Join(t.TempDir(), "precious")
	old, ago := filepath.Join(precious, "old"), time.Now().Add(-2*abandonedAfter)
	must.Do(t, errors.Join(os.MkdirAll(old, 0o700), os.Chtimes(old, ago, ago)))
	s := newSandbox(t, config)
	swapping(t, config, precious)
	m, err := s.Admit(t.Context(), packedAs(t, "notes", ""), Options{})
	must.Do(t, err)
	if r := ask(t, m, "c"); string(r.Output) != "1121" {
		t.Errorf("class %s, output %s, %v, want 1121", r.Class, r.Output, r.Error)
	}
	for opened := 0; opened < 50; {
		c, err := openCache(config.Cache.Dir, config.Cache.Key, 1)
		if err != nil {
			continue // the other directory was there
		}
		opened++
		must.Do(t, c.put(dirAdmitted, "entry", func(w io.Writer) error { _, err := io.WriteString(w, "content"); return err }))
		must.Do(t, c.held.close())
	}
	if got, err := os.ReadDir(precious); err != nil || len(got) != 1 {
		t.Errorf("elsewhere: got %v, %v, want only what was there", got, err)
	}
	if said.Len() > 0 {
		t.Errorf("it says %q, want nothing", said)
	}
}

func TestAnotherDirectoryOfTheUserInThePlaceOfACacheIsNotEvicted(t *testing.T) {
	config, said := onVolume(t)
	asNobody(t, config, "true")
	data := filepath.Join(filepath.Dir(config.Cache.Dir), "data")
	old, ago := filepath.Join(data, dirWork, "old"), time.Now().Add(-2*abandonedAfter)
	must.Do(t, errors.Join(os.MkdirAll(old, 0o700), os.WriteFile(filepath.Join(data, "notes"), nil, 0o600), os.Chtimes(old, ago, ago)))
	asNobody(t, config, "mv data cache")
	newSandbox(t, config)
	if !strings.Contains(said.String(), "going on without a cache") || !strings.Contains(said.String(), "notes") {
		t.Errorf("it says %q, want what is no cache", said)
	}
	if _, err := os.Stat(filepath.Join(config.Cache.Dir, dirWork, "old")); err != nil {
		t.Errorf("the directory: %v, want it as it was", err)
	}
}

func TestALinkOfAnotherUserOnTheWayToACacheIsNotFollowed(t *testing.T) {
	config, said := onVolume(t)
	asNobody(t, config, "mkdir elsewhere && ln -s elsewhere cache")
	config.Cache.Dir = filepath.Join(config.Cache.Dir, "below")
	newSandbox(t, config)
	if !strings.Contains(said.String(), "going on without a cache") {
		t.Errorf("it says %q, want that the cache is not used", said)
	}
}
