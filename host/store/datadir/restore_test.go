package datadir_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/space"
	"github.com/alcove-memory/alcove/host/store/backup"
	"github.com/alcove-memory/alcove/host/store/bolt"
	"github.com/alcove-memory/alcove/host/store/datadir"
	"github.com/alcove-memory/alcove/registry"
)

type content struct{ *bytes.Reader }

func (content) Close() error { return nil }

func digestOf(says string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(says))) }

func carried(name, says string) backup.OpenFile {
	return backup.OpenFile{
		File:    backup.File{Name: name, SHA256: digestOf(says), Bytes: int64(len(says))},
		Content: content{bytes.NewReader([]byte(says))},
	}
}

// guarded is a lock file without whose family, of one module, nothing may be stored.
func guarded(t *testing.T, module string) string {
	t.Helper()
	hook := map[abi.Hook]registry.On{abi.HookStore: {OnFailure: abi.OnFailureRefuse}}
	data, err := registry.Encode(registry.Lock{Families: map[string]registry.Grant{"hide": {Digest: digestOf(module), Version: "1.0.0", Hooks: hook}}})
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// backupOf is a backup of an empty store with any files, of which those in have are left out as if they were in an earlier part.
func backupOf(t *testing.T, have []string, list ...backup.OpenFile) string {
	t.Helper()
	e, err := bolt.Open(t.Context(), t.TempDir(), bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	path := filepath.Join(t.TempDir(), "space.alcove")
	from := func(ctx context.Context, _ backup.Base, w io.Writer) error {
		return backup.Write(ctx, w, e, backup.Base{Files: have}, func() ([]backup.OpenFile, error) { return list, nil })
	}
	if _, err := backup.ToFile(t.Context(), path, from, time.Now()); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestSettingsAreRestoredForTheirUserAlone(t *testing.T) {
	path, dir := backupOf(t, nil, carried("families/approved/"+digestOf("m")+".wasm", "m"), carried("alcove.lock", guarded(t, "m"))), filepath.Join(t.TempDir(), "data")
	r, err := space.Directory(dir).Restore(t.Context(), path, datadir.RestoreOptions{})
	if err != nil || !r.Settings.Carried || len(r.Settings.Families) != 1 || r.Settings.Families[0].Guard != digestOf("m") || len(r.Settings.Families[0].Missing) > 0 {
		t.Fatalf("Restore gives settings %+v (%v), want a family guarded by the module", r.Settings, err)
	}
	for name, mode := range map[string]fs.FileMode{
		"alcove.lock": 0o600, "families": 0o700 | fs.ModeDir, "families/approved": 0o700 | fs.ModeDir, "families/approved/" + digestOf("m") + ".wasm": 0o600,
	} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || runtime.GOOS != "windows" && info.Mode() != mode {
			t.Errorf("%s has the mode %v, not %v (%v)", name, info.Mode(), mode, err)
		}
	}
	if data, err := os.ReadFile(filepath.Join(dir, "alcove.lock")); err != nil || string(data) != guarded(t, "m") {
		t.Errorf("the lock file is %s (%v)", data, err)
	}
	for _, name := range []string{"settings", "loading"} {
		if _, err := os.Stat(filepath.Join(dir, name)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is left (%v)", name, err)
		}
	}
}

func TestHostileSettingsAreNotRestored(t *testing.T) {
	module, lock := carried("families/"+digestOf("m")+".wasm", "m"), carried("alcove.lock", guarded(t, "m"))
	absentLock := backup.OpenFile{File: backup.File{Name: "alcove.lock", SHA256: digestOf("m"), Absent: "why"}}
	for name, c := range map[string]struct {
		list []backup.OpenFile
		have []string
		says string
	}{
		"a module that was left out":          {[]backup.OpenFile{lock}, nil, "the module of family hide with the SHA-256 " + digestOf("m") + " is not in the backup"},
		"a module whose content was left out": {[]backup.OpenFile{module, lock}, []string{digestOf("m")}, "families/" + digestOf("m") + ".wasm is not in the backup"},
		"a lock file that was left out":       {[]backup.OpenFile{module}, nil, "is none that alcove.lock in the backup names"},
		"a lock file that is absent":          {[]backup.OpenFile{absentLock}, nil, "alcove.lock is absent"},
		"another module of that name":         {[]backup.OpenFile{carried("families/"+digestOf("m")+".wasm", "other"), lock}, nil, "it was changed"},
		"a huge lock file":                    {[]backup.OpenFile{carried("alcove.lock", strings.Repeat(" ", registry.FileLimit+1))}, nil, "alcove.lock has 4194305 bytes: at most 4194304"},
		"huge embedders":                      {[]backup.OpenFile{carried("embedders.json", strings.Repeat(" ", 1<<20+1))}, nil, "embedders.json has 1048577 bytes: at most 1048576"},
		"a lock file that is none":            {[]backup.OpenFile{carried("alcove.lock", `{"format":1,"famlies":{}}`)}, nil, "alcove.lock in the backup"},
		"embedders that are none":             {[]backup.OpenFile{carried("embedders.json", `{"embedders":[{"name":"../x"}]}`)}, nil, "embedder"},
		"a token":                             {[]backup.OpenFile{carried("token", "mine")}, nil, `"token", which this program does not restore`},
		"a database":                          {[]backup.OpenFile{carried("alcove.db", "mine")}, nil, "does not restore"},
		"a module in another folder":          {[]backup.OpenFile{carried("modules/"+digestOf("m")+".wasm", "m"), lock}, nil, "does not restore"},
		"a module that is none":               {[]backup.OpenFile{carried("families/x.wasm", "m"), lock}, nil, "does not restore"},
	} {
		dir := filepath.Join(t.TempDir(), "data")
		if _, err := space.Directory(dir).Restore(t.Context(), backupOf(t, c.have, c.list...), datadir.RestoreOptions{}); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: Restore: %v, want an error that says %q", name, err, c.says)
		}
		left, err := os.ReadDir(dir)
		if err != nil || len(left) != 1 || left[0].Name() != filepath.Base(owner.LockPath(dir)) {
			t.Errorf("%s: %v are left (%v)", name, left, err)
		}
	}
}

func TestAHostileBundleGrantsNothing(t *testing.T) {
	bundled := func(guard string) string {
		body := strings.SplitAfter(handMade(1), "\n")
		lines := strings.Replace(body[0], `"format":1`, `"format":2`, 1) + guard + "\n" + strings.Join(body[1:8], "")
		return lines + fmt.Sprintf(`{"end":true,"lines":9,"sha256":"%s"}`, digestOf(lines)) + "\n"
	}
	dir := filepath.Join(t.TempDir(), "data")
	r, err := space.Directory(dir).Import(t.Context(), strings.NewReader(bundled(`{"guard":{"family":"hide","version":"1","digest":"`+digestOf("m")+`"}}`)), nil)
	if err != nil || len(r.Settings.Families) != 1 {
		t.Fatalf("Import gives settings %+v (%v), want one family", r.Settings, err)
	}
	l, err := registry.Read(dir)
	if g := l.Families["hide"]; err != nil || len(g.Capabilities) > 0 || len(g.Hooks) != 1 || g.Hooks[abi.HookStore].OnFailure != abi.OnFailureRefuse {
		t.Errorf("the lock is %+v (%v), want hide with the store hook alone, refusing", l, err)
	}
	for name, guard := range map[string]string{
		"a power":         `{"guard":{"family":"hide","digest":"` + digestOf("m") + `","capabilities":[{"name":"http"}]}}`,
		"a way up":        `{"guard":{"family":"../hide","digest":"` + digestOf("m") + `"}}`,
		"no digest":       `{"guard":{"family":"hide","digest":"x"}}`,
		"terminal escape": `{"guard":{"family":"\u001b[2J","digest":"` + digestOf("m") + `"}}`,
	} {
		dir := filepath.Join(t.TempDir(), "data")
		_, err := space.Directory(dir).Import(t.Context(), strings.NewReader(bundled(guard)), nil)
		if has, errHas := space.Directory(dir).HasStore(); err == nil || has || errHas != nil {
			t.Errorf("%s: a store: %t (%v)", name, has, errors.Join(err, errHas))
		}
	}
}

func TestModulesAreNotRestoredThroughALink(t *testing.T) {
	path := backupOf(t, nil, carried("families/"+digestOf("m")+".wasm", "m"), carried("alcove.lock", guarded(t, "m")))
	dir, elsewhere := t.TempDir(), t.TempDir()
	if err := os.Symlink(elsewhere, filepath.Join(dir, "families")); err != nil {
		t.Skip("symbolic links cannot be made:", err)
	}
	if _, err := space.Directory(dir).Restore(t.Context(), path, datadir.RestoreOptions{}); err == nil || !strings.Contains(err.Error(), "families is not a folder") {
		t.Errorf("Restore: %v, want the error that families is not a folder", err)
	}
	if left, err := os.ReadDir(elsewhere); err != nil || len(left) > 0 {
		t.Errorf("%v are elsewhere (%v)", left, err)
	}
}
