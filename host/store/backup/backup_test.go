package backup_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/backup"
	"github.com/alcove-memory/alcove/host/store/bolt"
)

// source writes bundles of an engine.
func source(e *bolt.Engine) backup.Source {
	return func(ctx context.Context, since backup.Base, w io.Writer) error {
		return backup.Write(ctx, w, e, since, nil)
	}
}

func open(t *testing.T, dir string) *bolt.Engine {
	t.Helper()
	e, err := bolt.Open(t.Context(), dir, bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e
}

func put(t *testing.T, e *bolt.Engine, name, value string) {
	t.Helper()
	_, err := e.Commit(t.Context(), store.Batch{Writes: []store.Write{{Branch: 1, Key: store.Key{Namespace: "n", Collection: "c", Name: name}, Value: []byte(value)}}})
	if err != nil {
		t.Fatal(err)
	}
}

// restored loads a folder and lists what is in it.
func restored(t *testing.T, from string) (string, error) {
	t.Helper()
	dir := t.TempDir()
	if err := restore(t.Context(), from, dir); err != nil {
		return "", err
	}
	e := open(t, dir)
	if err := e.Check(t.Context()); err != nil {
		return "", err
	}
	list, _, err := e.ScanAt(t.Context(), store.Lineage{{Branch: 1, At: store.Latest}}, store.Range{}, "", 100)
	var said []string
	for _, entry := range list {
		said = append(said, entry.Name+"="+string(entry.Value))
	}
	return strings.Join(said, " "), err
}

func TestIncrementsGoOnFromOneAnother(t *testing.T) {
	e, dir := open(t, t.TempDir()), t.TempDir()
	put(t, e, "a", "1")
	if _, err := backup.Increment(t.Context(), dir, source(e), time.Now()); !errors.Is(err, backup.ErrNone) {
		t.Errorf("an increment of nothing: %v", err)
	}
	if _, err := backup.Full(t.Context(), dir, source(e), time.Now()); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		put(t, e, "a", fmt.Sprint(i+2))
		put(t, e, fmt.Sprint("b", i), "x")
		if _, err := backup.Increment(t.Context(), dir, source(e), time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := restored(t, dir); err != nil || got != "a=4 b0=x b1=x b2=x" {
		t.Errorf("restored %q (%v)", got, err)
	}
	if _, err := backup.Full(t.Context(), dir, source(e), time.Now()); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.part"))
	if err != nil || len(files) != 1 {
		t.Errorf("after a full backup there are %v (%v)", files, err)
	}
}

func TestAnInterruptedBackupLeavesTheOneBefore(t *testing.T) {
	e, dir := open(t, t.TempDir()), t.TempDir()
	put(t, e, "a", "1")
	if _, err := backup.Full(t.Context(), dir, source(e), time.Now()); err != nil {
		t.Fatal(err)
	}
	put(t, e, "a", "2")
	broken := errors.New("the connection is gone")
	for _, half := range []backup.Source{
		func(_ context.Context, _ backup.Base, w io.Writer) error {
			_, err := io.WriteString(w, "alcove part 1\n")
			return errors.Join(err, broken)
		},
		func(_ context.Context, _ backup.Base, w io.Writer) error { // the end is missing, and nobody said so
			_, err := io.WriteString(w, "alcove part 1\n")
			return err
		},
	} {
		if _, err := backup.Increment(t.Context(), dir, half, time.Now()); err == nil {
			t.Error("half a backup is taken")
		}
		if _, err := backup.Full(t.Context(), dir, half, time.Now()); err == nil {
			t.Error("half a backup is taken")
		}
	}
	if got, err := restored(t, dir); err != nil || got != "a=1" {
		t.Errorf("restored %q (%v)", got, err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*.partial")); len(left) > 0 {
		t.Errorf("%v were left", left)
	}
}

func TestADamagedBackupIsNotRestored(t *testing.T) {
	e, dir := open(t, t.TempDir()), t.TempDir()
	put(t, e, "a", `"first"`)
	part, err := backup.Full(t.Context(), dir, source(e), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, part.File)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := os.ReadFile(filepath.Join(dir, "backup.json"))
	if err != nil {
		t.Fatal(err)
	}
	write := func(file, content string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, file), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct{ file, content, says string }{
		"a changed value": {part.File, strings.Replace(string(whole), "first", "other", 1), "it was changed"},
		"a cut part":      {part.File, string(whole[:len(whole)-10]), "truncated"},
		"another part":    {part.File, "", "not a backup"},
		"a file outside":  {"backup.json", strings.Replace(string(manifest), part.File, "../"+part.File, 1), "not a part"},
		"a gap":           {"backup.json", strings.Replace(string(manifest), `"since": 0`, `"since": 1`, 1), "full part before it is missing"},
		"another sum":     {"backup.json", strings.Replace(string(manifest), part.SHA256, strings.Repeat("0", 64), 1), "another part"},
		"no manifest":     {"backup.json", "hello", "not the manifest"},
		"an early one":    {"backup.json", strings.Replace(string(manifest), `"alcove": "backup folder"`, `"alcove": "backup"`, 1), "a build before version 1 made it: restore it with that build"},
		"an early part":   {part.File, "alcove backup 3\n" + string(whole[14:]), "a build before version 1 made it: restore it with that build"},
		"a newer part":    {part.File, "alcove part 2\n" + string(whole[14:]), "newer program"},
		"a newer format":  {"backup.json", strings.Replace(string(manifest), `"format": 1`, `"format": 2`, 1), "newer program"},
	} {
		write(part.File, string(whole))
		write("backup.json", string(manifest))
		write(c.file, c.content)
		if _, err := restored(t, dir); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: restore: %v, want an error that says %q", name, err, c.says)
		}
	}
}

// FuzzManifest reads anything as a manifest: nothing panics, what is allocated is in proportion, and a part is always a file of the folder.
func FuzzManifest(f *testing.F) {
	f.Add([]byte(`{"alcove":"backup folder","format":1,"parts":[{"file":"full.part","since":0,"until":3}]}`))
	f.Add([]byte(`{"alcove":"backup folder","format":1,"parts":[{"file":"a.part","until":3,"until_time":"2026-01-02T03:04:05Z","history":[{"id":"a"}]},{"file":"b.part","since":3,"until":3}]}`))
	f.Add([]byte(`{"alcove":"backup folder","format":1,"parts":[{"file":"../x.part"}]}`))
	f.Add([]byte(`{"alcove":"backup folder","format":1,"parts":[{"file":"a.part","until":3,"files":[{"name":"../alcove.lock","sha256":"0","bytes":1}]}]}`))
	f.Add([]byte(`{"alcove":"backup folder","format":1,"parts":[` + strings.Repeat("{},", 20_000) + "{}]}"))
	f.Add([]byte(`{"alcove":"backup folder","format":1,"parts":` + strings.Repeat("[", 100_000)))
	f.Fuzz(func(t *testing.T, input []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "backup.json"), input, 0o600); err != nil {
			t.Fatal(err)
		}
		var m backup.Manifest
		var err error
		if spent := allocated(func() { m, err = backup.ReadManifest(dir) }); spent > 16<<20+1<<10*uint64(len(input)) {
			t.Errorf("%d bytes are allocated for %d", spent, len(input))
		}
		if err != nil {
			return
		}
		for _, p := range m.Parts {
			if filepath.Dir(filepath.Join(dir, p.File)) != dir {
				t.Errorf("part %q is not in the folder", p.File)
			}
			for _, f := range p.Files {
				if !filepath.IsLocal(filepath.FromSlash(f.Name)) || strings.Contains(f.Name, "..") {
					t.Errorf("the file %q is outside of a data directory", f.Name)
				}
			}
		}
	})
}
