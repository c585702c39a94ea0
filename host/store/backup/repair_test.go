package backup_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt"
)

// damage changes a byte of what is stored, which stands once in the database.
func damage(t *testing.T, dir, text string) {
	t.Helper()
	path := filepath.Join(dir, "alcove.db")
	content, err := os.ReadFile(path)
	if err != nil || bytes.Count(content, []byte(text)) == 0 {
		t.Fatalf("%q is not in the database (%v)", text, err)
	}
	content = bytes.ReplaceAll(content, []byte(text), append([]byte("X"), text[1:]...))
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestABackupHasWhatARepairCouldNotSaveAndGoesOn(t *testing.T) {
	data, dir := t.TempDir(), t.TempDir()
	e := open(t, data)
	put(t, e, "a", "what rots")
	put(t, e, "b", "1")
	full(t, e, dir)
	put(t, e, "b", "2")
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	damage(t, data, "what rots")
	r, err := bolt.Driver{}.Repair(t.Context(), data, store.Repair{Now: time.Now()})
	if err != nil || len(r.Aside) != 1 {
		t.Fatalf("Repair = %+v (%v), want one entry set aside", r, err)
	}
	e = open(t, data)
	put(t, e, "c", "1")
	increment(t, e, dir)
	if got, err := restored(t, dir); err != nil || got != "a=what rots b=2 c=1" {
		t.Errorf("restored %q (%v)", got, err)
	}
	full(t, e, dir)
	if got, err := restored(t, dir); err != nil || got != "b=2 c=1" {
		t.Errorf("restored %q (%v)", got, err)
	}
}

func TestARottenEntryEndsABackupAndTheOneBeforeStays(t *testing.T) {
	data, dir := t.TempDir(), t.TempDir()
	e := open(t, data)
	put(t, e, "a", "what rots")
	full(t, e, dir)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	damage(t, data, "what rots")
	e, err := bolt.Open(t.Context(), data, bolt.Options{})
	if err == nil {
		defer e.Close()
		_, err = toFile(t, e, filepath.Join(t.TempDir(), "space.alcove"))
	}
	if !errors.Is(err, store.ErrDamaged) || !strings.Contains(err.Error(), `n/c/"a" at version 1`) {
		t.Errorf("what is rotten is backed up: %v", err)
	}
	if got, err := restored(t, dir); err != nil || got != "a=what rots" {
		t.Errorf("restored %q (%v)", got, err)
	}
}
