package backup_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/operator/audit"
	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/backup"
	"github.com/alcove-memory/alcove/host/store/bolt"
)

// contentsOf returns the content of each file in a folder.
func contentsOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, f := range files {
		content, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all[f.Name()] = string(content)
	}
	return all
}

func TestAnIncrementOfNothingAddsNoPart(t *testing.T) {
	e, dir := open(t, t.TempDir()), t.TempDir()
	put(t, e, "a", "1")
	putBlob(t, e, "vectors", "v")
	module := file("families/a.wasm", "module")
	last, err := backup.Full(t.Context(), dir, withFiles(e, settings(module, file(audit.FormerFile, "1:ab"))), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		before := contentsOf(t, dir)
		for _, head := range []string{"1:ab", "2:cd"} { // which a call of a family moves
			got, err := backup.Increment(t.Context(), dir, withFiles(e, settings(module, file(audit.FormerFile, head))), time.Now())
			if !errors.Is(err, backup.ErrUnchanged) || got.File != last.File {
				t.Errorf("nothing changed since %s, and the increment is %s (%v)", last.File, got.File, err)
			}
		}
		if after := contentsOf(t, dir); !reflect.DeepEqual(after, before) {
			t.Error("the folder was changed")
		}
		put(t, e, "b", "2") // and again after an increment
		if last, err = backup.Increment(t.Context(), dir, withFiles(e, settings(module, file(audit.FormerFile, "3:ef"))), time.Now()); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAnIncrementIsMadeOfEachChange(t *testing.T) {
	same := []backup.OpenFile{file("alcove.lock", "first"), file(audit.FormerFile, "1:ab")}
	for name, c := range map[string]struct {
		change func(t *testing.T, e *bolt.Engine, dir string)
		files  []backup.OpenFile
	}{
		"a version":        {func(t *testing.T, e *bolt.Engine, _ string) { put(t, e, "a", "3") }, same},
		"a blob":           {func(t *testing.T, e *bolt.Engine, _ string) { putBlob(t, e, "vectors", "others") }, same},
		"a file":           {func(*testing.T, *bolt.Engine, string) {}, []backup.OpenFile{file("alcove.lock", "second"), file(audit.FormerFile, "1:ab")}},
		"a file that left": {func(*testing.T, *bolt.Engine, string) {}, []backup.OpenFile{file(audit.FormerFile, "1:ab")}},
		"a dropped blob": {func(t *testing.T, e *bolt.Engine, _ string) {
			if err := e.DropBlob(t.Context(), "vectors"); err != nil {
				t.Fatal(err)
			}
		}, same},
		"a purge, which makes no version": {func(t *testing.T, e *bolt.Engine, _ string) {
			old := store.Replacement{Branch: 1, Key: store.Key{Namespace: "n", Collection: "c", Name: "a"}, Version: 1, Value: []byte("gone")}
			if err := errors.Join(e.Replace(t.Context(), []store.Replacement{old}), e.Erase(t.Context())); err != nil {
				t.Fatal(err)
			}
		}, same},
		"dropped versions": {func(t *testing.T, e *bolt.Engine, _ string) {
			if err := e.Trim(t.Context(), 1, 2, nil); err != nil {
				t.Fatal(err)
			}
		}, same},
	} {
		t.Run(name, func(t *testing.T) {
			e, dir := open(t, t.TempDir()), t.TempDir()
			put(t, e, "a", "1")
			put(t, e, "a", "2")
			putBlob(t, e, "vectors", "v")
			whole, err := backup.Full(t.Context(), dir, withFiles(e, settings(same...)), time.Now())
			if err != nil {
				t.Fatal(err)
			}
			c.change(t, e, dir)
			next, err := backup.Increment(t.Context(), dir, withFiles(e, settings(c.files...)), time.Now())
			if err != nil || next.File == whole.File {
				t.Fatalf("the increment is %s (%v)", next.File, err)
			}
			if _, err := backup.Increment(t.Context(), dir, withFiles(e, settings(c.files...)), time.Now()); !errors.Is(err, backup.ErrUnchanged) {
				t.Errorf("after it nothing changed: %v", err)
			}
			if _, err := filesOf(t, dir); err != nil {
				t.Errorf("the backup cannot be restored: %v", err)
			}
		})
	}
}
