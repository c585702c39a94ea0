package folder_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/space/folder"
	"github.com/alcove-memory/alcove/host/testing/must"
)

func names(list []folder.Space, err error) []string {
	var all []string
	for _, s := range must.Get(list, err) {
		all = append(all, s.Name)
	}
	return all
}

func TestASpaceIsMadeRenamedDeletedAndRestored(t *testing.T) {
	t.Parallel()
	f := folder.Folder{Path: filepath.Join(t.TempDir(), "spaces")}
	if list := names(f.List()); list != nil {
		t.Errorf("a folder that is not there: got %q, want none", list)
	}
	dir := must.Get(f.Create("work"))
	must.Do(t, os.WriteFile(filepath.Join(dir, "file"), []byte("kept"), 0o600))
	must.Do(t, f.Rename("work", "job"))
	if list := names(f.List()); !slices.Equal(list, []string{"job"}) {
		t.Errorf("after a renaming: got %q, want job", list)
	}
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	must.Get(f.Delete("job", noon))
	must.Get(f.Create("job"))
	must.Get(f.Delete("job", noon.Add(time.Hour)))
	deleted := must.Get(f.Deleted())
	if len(deleted) != 2 || !deleted[0].Deleted.Equal(noon.Add(time.Hour)) || deleted[1].Bytes != 4 {
		t.Errorf("deleted: got %+v, want the later one first, and the earlier one with 4 bytes", deleted)
	}
	must.Get(f.Restore("job", "later"))
	dir = must.Get(f.Restore("job", "work"))
	if kept, err := os.ReadFile(filepath.Join(dir, "file")); string(kept) != "kept" {
		t.Errorf("the restored file: got %q, %v, want what was written", kept, err)
	}
	if list := names(f.List()); !slices.Equal(list, []string{"later", "work"}) {
		t.Errorf("after the restoration: got %q, want later and work", list)
	}
}

func TestNothingReplacesASpaceOrTakesOneThatIsOpen(t *testing.T) {
	t.Parallel()
	f := folder.Folder{Path: t.TempDir()}
	must.Get(f.Create("work"))
	must.Get(f.Create("home"))
	lock := must.Get(owner.AcquireLock(filepath.Join(f.Path, "work")))
	defer lock.Close()
	_, again := f.Create("home")
	_, restored := f.Restore("work", "home")
	for what, err := range map[string]error{"create": again, "rename": f.Rename("work", "home"), "restore": restored} {
		if !errors.Is(err, folder.ErrExists) {
			t.Errorf("%s to a name that is taken: got %v, want ErrExists", what, err)
		}
	}
	_, missing := f.Restore("work", "work2")
	_, nowhere := f.Dir("nowhere")
	for what, err := range map[string]error{"restore": missing, "find": nowhere, "rename": f.Rename("nowhere", "there")} {
		if !errors.Is(err, folder.ErrNone) {
			t.Errorf("%s what is not there: got %v, want ErrNone", what, err)
		}
	}
	var owned *owner.OwnedError
	_, deleted := f.Delete("work", time.Now())
	for what, err := range map[string]error{"rename": f.Rename("work", "job"), "delete": deleted} {
		if !errors.As(err, &owned) {
			t.Errorf("%s a space that is open: got %v, want an OwnedError", what, err)
		}
	}
}

func TestNamesOfSpacesAreNoPaths(t *testing.T) {
	t.Parallel()
	f := folder.Folder{Path: t.TempDir()}
	for _, name := range []string{"", ".", "..", ".deleted", "a/b", `a\b`, "A", "ä", "a b", "-a", "a-", "a@b", "con.txt", strings.Repeat("a", 64)} {
		if _, err := f.Create(name); err == nil || !strings.Contains(err.Error(), "cannot be the name of a space") {
			t.Errorf("create the space %q: got %v, want an error about its name", name, err)
		}
	}
	must.Get(f.Create(strings.Repeat("a", 63)))
	must.Do(t, os.WriteFile(filepath.Join(f.Path, "file"), nil, 0o600))
	must.Do(t, os.Symlink(filepath.Join(f.Path, strings.Repeat("a", 63)), filepath.Join(f.Path, "link")))
	for _, name := range []string{"file", "link"} {
		if _, err := f.Dir(name); !errors.Is(err, folder.ErrNone) {
			t.Errorf("the %s as a space: got %v, want ErrNone", name, err)
		}
	}
}
