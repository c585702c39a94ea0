package backup_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/store/backup"
	"github.com/alcove-memory/alcove/host/store/bolt"
)

func toFile(t *testing.T, e *bolt.Engine, path string) (backup.Part, error) {
	t.Helper()
	return backup.ToFile(t.Context(), path, source(e), time.Now())
}

func TestABackupInASingleFileIsRestoredAndReplaced(t *testing.T) {
	e, path := open(t, t.TempDir()), filepath.Join(t.TempDir(), "space.alcove")
	for _, value := range []string{"1", "2"} {
		put(t, e, "a", value)
		if p, err := toFile(t, e, path); err != nil || p.File != "space.alcove" || p.Since != 0 {
			t.Fatalf("ToFile = %+v (%v), want the whole in space.alcove", p, err)
		}
		if got, err := restored(t, path); err != nil || got != "a="+value {
			t.Errorf("restored %q (%v)", got, err)
		}
	}
	left, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(left) != 1 {
		t.Errorf("%v are there (%v)", left, err)
	}
}

func TestASingleFileIsNotPutInThePlaceOfAnythingElse(t *testing.T) {
	one, two, dir := open(t, t.TempDir()), open(t, t.TempDir()), t.TempDir()
	put(t, one, "a", "1")
	taken := filepath.Join(dir, "taken.alcove")
	if _, err := toFile(t, one, taken); err != nil {
		t.Fatal(err)
	}
	if _, err := toFile(t, two, taken); !errors.Is(err, backup.ErrOccupied) {
		t.Errorf("in the place of another store's: %v", err)
	}
	if got, err := restored(t, taken); err != nil || got != "a=1" {
		t.Errorf("restored %q (%v)", got, err)
	}
	for name, content := range map[string]string{"letter.txt": "dear …", "empty.alcove": ""} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := toFile(t, one, path); !errors.Is(err, backup.ErrNoPart) {
			t.Errorf("in the place of %s: %v", name, err)
		}
		if _, err := restored(t, path); !errors.Is(err, backup.ErrNoPart) {
			t.Errorf("%s is restored: %v", name, err)
		}
	}
}

func TestAnIncrementAloneIsNotRestored(t *testing.T) {
	e, dir := open(t, t.TempDir()), t.TempDir()
	put(t, e, "a", "1")
	whole := full(t, e, dir)
	put(t, e, "a", "2")
	part := increment(t, e, dir)
	if _, err := restored(t, filepath.Join(dir, part.File)); err == nil || !strings.Contains(err.Error(), "restore the folder") {
		t.Errorf("restore of an increment alone: %v, want the advice to restore the folder", err)
	}
	if got, err := restored(t, filepath.Join(dir, whole.File)); err != nil || got != "a=1" {
		t.Errorf("a full part alone is %q (%v)", got, err)
	}
}

func TestAPathWithAnExtensionIsAFileUnlessItIsAFolder(t *testing.T) {
	dir := t.TempDir()
	folder, file := filepath.Join(dir, "2026.07"), filepath.Join(dir, "plain")
	if err := errors.Join(os.Mkdir(folder, 0o700), os.WriteFile(file, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{
		folder: false, file: true, filepath.Join(dir, "safe"): false, filepath.Join(dir, "safe.alcove"): true, filepath.Join(dir, "safe.d") + "/": false, "": false,
	} {
		if backup.IsFile(path) != want {
			t.Errorf("%s is taken for a file: %t", path, !want)
		}
	}
}
