package sandbox

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/alcove-memory/alcove/host/testing/must"
)

func TestFilesOfAnotherUserAreNotUsed(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can give files to another user")
	}
	module := packedAs(t, "notes", "")
	for name, of := range map[string]func(c Cache) string{
		"the cache": func(c Cache) string { return c.Dir }, "its entries": func(c Cache) string { return filepath.Join(c.Dir, dirCode) },
		"what is far above": func(c Cache) string { return filepath.Dir(filepath.Dir(c.Dir)) }, "the key": func(c Cache) string { return c.Key },
	} {
		t.Run(name, func(t *testing.T) {
			var said bytes.Buffer
			config := testConfig(t)
			above := filepath.Join(t.TempDir(), "far above", "above")
			must.Do(t, os.MkdirAll(above, 0o700))
			config.Cache = Cache{Dir: filepath.Join(above, "cache"), Key: filepath.Join(t.TempDir(), "key")}
			fill(t, config, module)
			must.Do(t, os.Chown(of(config.Cache), nobody, nobody))
			config.Log = slog.New(slog.NewTextHandler(&said, nil))
			if fromCache(t, config, module) {
				t.Error("it is used")
			}
			if !strings.Contains(said.String(), "another user") {
				t.Errorf("it says %q", &said)
			}
		})
	}
	for _, kind := range []string{dirCode, dirAdmitted} {
		config := testConfig(t)
		fill(t, config, module)
		must.Do(t, os.Chown(onlyEntry(t, config, kind), nobody, nobody))
		if fromCache(t, config, module) {
			t.Errorf("an entry of %s is used", kind)
		}
	}
}

func TestAPipeInTheCacheDoesNotBlock(t *testing.T) {
	module := packedAs(t, "notes", "")
	for _, kind := range []string{dirCode, dirAdmitted} {
		config := testConfig(t)
		fill(t, config, module)
		path := onlyEntry(t, config, kind)
		must.Do(t, os.Remove(path))
		must.Do(t, unix.Mkfifo(path, 0o600))
		if fromCache(t, config, module) {
			t.Errorf("a pipe in %s is used", kind)
		}
	}
}

// The module runs although the cache cannot store it.
func TestModulesRunWithoutACacheThatIsFull(t *testing.T) {
	var said bytes.Buffer
	config := testConfig(t)
	config.Log = slog.New(slog.NewTextHandler(&said, nil))
	code := filepath.Join(config.Cache.Dir, dirCode)
	must.Do(t, os.MkdirAll(code, 0o700))
	if err := unix.Mount("tmpfs", code, "tmpfs", 0, "size=4k,mode=0700"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip("a small disk cannot be mounted here: ", err)
	}
	t.Cleanup(func() { unix.Unmount(code, unix.MNT_DETACH) })
	m, err := newSandbox(t, config).Admit(t.Context(), packedAs(t, "notes", ""), Options{})
	must.Do(t, err)
	if r := ask(t, m, "c"); string(r.Output) != "1121" {
		t.Errorf("class %s, output %s, %v, want 1121", r.Class, r.Output, r.Error)
	}
	if !strings.Contains(said.String(), "no space left") || !strings.Contains(said.String(), "compiled again next time") {
		t.Errorf("it says %q", &said)
	}
	if left, _ := os.ReadDir(code); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
