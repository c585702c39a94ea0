package backup_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/store/backup"
	"github.com/alcove-memory/alcove/host/store/bolt"
)

func full(t *testing.T, e *bolt.Engine, dir string) backup.Part {
	t.Helper()
	p, err := backup.Full(t.Context(), dir, source(e), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func increment(t *testing.T, e *bolt.Engine, dir string) backup.Part {
	t.Helper()
	p, err := backup.Increment(t.Context(), dir, source(e), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// isOther makes sure that a store cannot add to a backup, and that the backup stays as it was.
func isOther(t *testing.T, e *bolt.Engine, dir, want string) {
	t.Helper()
	if _, err := backup.Increment(t.Context(), dir, source(e), time.Now()); !errors.Is(err, backup.ErrOther) || !strings.Contains(err.Error(), "make a full backup") {
		t.Errorf("an increment of another history: %v", err)
	}
	if got, err := restored(t, dir); err != nil || got != want {
		t.Errorf("restored %q (%v)", got, err)
	}
}

func TestAnotherStoreCannotAddToABackup(t *testing.T) {
	one, two, dir := open(t, t.TempDir()), open(t, t.TempDir()), t.TempDir()
	put(t, one, "a", "1")
	put(t, two, "x", "1")
	put(t, two, "y", "1")
	full(t, one, dir)
	isOther(t, two, dir, "a=1")
	if _, err := backup.Full(t.Context(), dir, source(two), time.Now()); !errors.Is(err, backup.ErrOccupied) {
		t.Errorf("a full backup in the place of another store's: %v", err)
	}
	if got, err := restored(t, dir); err != nil || got != "a=1" {
		t.Errorf("restored %q (%v)", got, err)
	}
}

// restoreInto makes a store of a backup.
func restoreInto(t *testing.T, from string) *bolt.Engine {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "restored")
	if err := restore(t.Context(), from, dir); err != nil {
		t.Fatal(err)
	}
	return open(t, dir)
}

func TestWhatWasRestoredGoesOnWithTheBackupAndTheOldDirectoryDoesNot(t *testing.T) {
	first, dir := open(t, t.TempDir()), t.TempDir()
	put(t, first, "a", "1")
	full(t, first, dir)
	second := restoreInto(t, dir)
	put(t, second, "b", "second")
	put(t, first, "b", "first")
	increment(t, second, dir)
	isOther(t, first, dir, "a=1 b=second")
	put(t, second, "c", "1")
	increment(t, second, dir)
	third := restoreInto(t, dir)
	put(t, third, "d", "third")
	increment(t, third, dir)
	isOther(t, second, dir, "a=1 b=second c=1 d=third")
	full(t, first, dir) // of the same space: a person who asks for it may go back
	isOther(t, third, dir, "a=1 b=first")
}

func TestWhatWasRestoredFromAnEarlierPartDoesNotGoOnWithALaterOne(t *testing.T) {
	first, dir := open(t, t.TempDir()), t.TempDir()
	put(t, first, "a", "1")
	full(t, first, dir)
	second := restoreInto(t, dir)
	put(t, first, "a", "2")
	increment(t, first, dir)
	put(t, second, "b", "1")
	put(t, second, "b", "2")
	isOther(t, second, dir, "a=2")
	put(t, first, "a", "3")
	increment(t, first, dir)
}

func TestACopyOfADirectoryThatWentItsOwnWayIsNoticed(t *testing.T) {
	original, dir := t.TempDir(), t.TempDir()
	e := open(t, original)
	put(t, e, "a", "1")
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	copied := t.TempDir()
	if err := os.CopyFS(copied, os.DirFS(original)); err != nil {
		t.Fatal(err)
	}
	one, two := open(t, original), open(t, copied)
	put(t, one, "b", "one")
	put(t, two, "b", "two")
	full(t, one, dir)
	put(t, two, "c", "two")
	isOther(t, two, dir, "a=1 b=one")
}

func TestAChainOfIncrementsThatIsNotWholeIsNamed(t *testing.T) {
	e, dir := open(t, t.TempDir()), t.TempDir()
	put(t, e, "a", "1")
	parts := []backup.Part{full(t, e, dir)}
	for i := range 3 {
		put(t, e, "a", fmt.Sprint(i+2))
		parts = append(parts, increment(t, e, dir))
	}
	other := t.TempDir()
	stranger := open(t, t.TempDir())
	put(t, stranger, "z", "1")
	full(t, stranger, other)
	put(t, stranger, "z", "2")
	strange := increment(t, stranger, other)
	content, err := os.ReadFile(filepath.Join(other, strange.File))
	if err := errors.Join(err, os.WriteFile(filepath.Join(dir, strange.File), content, 0o600)); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		parts []backup.Part
		says  []string
	}{
		"a part left out":        {[]backup.Part{parts[0], parts[2], parts[3]}, []string{"an increment is missing", parts[0].File, parts[2].File}},
		"two exchanged":          {[]backup.Part{parts[0], parts[1], parts[3], parts[2]}, []string{"an increment is missing", parts[1].File, parts[3].File}},
		"one twice":              {[]backup.Part{parts[0], parts[1], parts[1]}, []string{"the order is wrong", parts[1].File}},
		"no full one":            {parts[1:], []string{"the full part before it is missing", parts[1].File}},
		"an increment of others": {[]backup.Part{parts[0], strange}, []string{"of another store", strange.File}},
	} {
		writeParts(t, dir, c.parts)
		_, err := restored(t, dir)
		for _, said := range c.says {
			if err == nil || !strings.Contains(err.Error(), said) {
				t.Errorf("%s: %v does not say %q", name, err, said)
			}
		}
	}
	writeParts(t, dir, parts)
	if got, err := restored(t, dir); err != nil || got != "a=4" {
		t.Errorf("restored %q (%v)", got, err)
	}
	if err := os.Remove(filepath.Join(dir, parts[2].File)); err != nil {
		t.Fatal(err)
	}
	if _, err := restored(t, dir); err == nil || !strings.Contains(err.Error(), parts[2].File+" is missing") {
		t.Errorf("without a file: %v", err)
	}
}

func TestAPartIsTheOneThatWasAskedFor(t *testing.T) {
	e, dir := open(t, t.TempDir()), t.TempDir()
	put(t, e, "a", "1")
	full(t, e, dir)
	put(t, e, "a", "2")
	whole := func(ctx context.Context, _ backup.Base, w io.Writer) error {
		return backup.Write(ctx, w, e, backup.Base{}, nil)
	}
	if _, err := backup.Increment(t.Context(), dir, whole, time.Now()); err == nil {
		t.Error("a full part is taken for an increment")
	}
}

// writeParts makes a manifest of some parts.
func writeParts(t *testing.T, dir string, parts []backup.Part) {
	t.Helper()
	data, err := json.Marshal(backup.Manifest{Alcove: "backup folder", Format: 1, Parts: parts})
	if err := errors.Join(err, os.WriteFile(filepath.Join(dir, "backup.json"), data, 0o600)); err != nil {
		t.Fatal(err)
	}
}
