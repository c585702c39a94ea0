package backup_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/store/backup"
	"github.com/alcove-memory/alcove/host/store/bolt"
)

func putBlob(t *testing.T, e *bolt.Engine, name, content string) {
	t.Helper()
	if _, err := e.PutBlob(t.Context(), name, strings.NewReader(content)); err != nil {
		t.Fatal(err)
	}
}

// blobsOf is what an engine has of blobs.
func blobsOf(t *testing.T, e *bolt.Engine) (said string) {
	t.Helper()
	list, err := e.Blobs(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range list {
		r, err := e.GetBlob(t.Context(), b.Name)
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(io.NewSectionReader(r, 0, r.Size()))
		if err := errors.Join(err, r.Close()); err != nil {
			t.Fatal(err)
		}
		said += fmt.Sprintf("%s: %d %.8s; ", b.Name, len(content), content)
	}
	return said
}

func TestBlobsAreRestoredAsTheyWereAtTheLastPart(t *testing.T) {
	e, dir := open(t, t.TempDir()), t.TempDir()
	put(t, e, "a", "1")
	putBlob(t, e, "kept", "kept"+strings.Repeat("k", 3<<20))
	putBlob(t, e, "same", "kept"+strings.Repeat("k", 3<<20))
	putBlob(t, e, "empty", "")
	putBlob(t, e, "replaced", "before")
	putBlob(t, e, "dropped", "secret that is gone")
	first := full(t, e, dir)
	putBlob(t, e, "replaced", "after")
	putBlob(t, e, "added", "added")
	if err := e.DropBlob(t.Context(), "dropped"); err != nil {
		t.Fatal(err)
	}
	second := increment(t, e, dir)
	if first.Bytes < 3<<20 || first.Bytes > 4<<20 || second.Bytes > 1<<20 {
		t.Errorf("the full part has %d bytes, the increment %d", first.Bytes, second.Bytes)
	}
	again := restoreInto(t, dir)
	if got, want := blobsOf(t, again), blobsOf(t, e); got != want {
		t.Errorf("restored %s instead of %s", got, want)
	}
	if err := again.Check(t.Context()); err != nil {
		t.Error(err)
	}
	putBlob(t, again, "later", "later")
	increment(t, again, dir)
	if got, want := blobsOf(t, restoreInto(t, dir)), blobsOf(t, again); got != want {
		t.Errorf("restored again %s instead of %s", got, want)
	}
}

func TestABlobOfAnEarlierPartIsNotLeftInTheDirectory(t *testing.T) {
	e, dir, to := open(t, t.TempDir()), t.TempDir(), filepath.Join(t.TempDir(), "to")
	putBlob(t, e, "b", "secret that is gone")
	full(t, e, dir)
	if err := e.DropBlob(t.Context(), "b"); err != nil {
		t.Fatal(err)
	}
	increment(t, e, dir)
	if err := restore(t.Context(), dir, to); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(filepath.Join(to, "blobs"))
	if err != nil || len(files) > 0 {
		t.Errorf("%v are left (%v)", files, err)
	}
}

func TestABlobThatIsNotWhatItIsNamedAfterIsNotRestored(t *testing.T) {
	path := filepath.Join(t.TempDir(), "space.alcove")
	var out bytes.Buffer
	err := backup.Write(t.Context(), &out, twoEntries{}, backup.Base{}, nil) // whose blobs have digests that are made up
	if err := errors.Join(err, os.WriteFile(path, out.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := restored(t, path); err == nil || !strings.Contains(err.Error(), "blob b") {
		t.Errorf("restore: %v, want an error that names blob b", err)
	}
}
