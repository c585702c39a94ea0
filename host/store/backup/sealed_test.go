package backup_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"filippo.io/age"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/backup"
	"github.com/alcove-memory/alcove/host/store/bolt"
	"github.com/alcove-memory/alcove/host/store/sealing"
	"github.com/alcove-memory/alcove/host/testing/must"
)

// sealers are a writer for a recipient, and what opens for it.
func sealers(t *testing.T) (backup.Writer, *sealing.Opener) {
	t.Helper()
	identity := must.Get(age.GenerateX25519Identity())
	return backup.Writer{Sealer: must.Get(sealing.For(identity.Recipient().String()))}, must.Get(sealing.By([]byte(identity.String())))
}

// opened is the value of a in what a backup restores with an opener.
func opened(t *testing.T, from string, by *sealing.Opener) (string, error) {
	t.Helper()
	dir := t.TempDir()
	read := func(l store.Loader, _ string) error { return backup.Read(t.Context(), from, by, l, nil, nil) }
	if err := (bolt.Driver{}).Load(t.Context(), dir, store.Load{Read: read}); err != nil {
		return "", err
	}
	list, _, err := open(t, dir).ScanAt(t.Context(), store.Lineage{{Branch: 1, At: store.Latest}}, store.Range{}, "", 100)
	if err != nil || len(list) != 1 {
		return "", errors.Join(err, errors.New("not one entry"))
	}
	return string(list[0].Value), nil
}

func TestAnEncryptedBackupIsRestoredByItsRecipientAlone(t *testing.T) {
	e, dir, file := open(t, t.TempDir()), t.TempDir(), filepath.Join(t.TempDir(), "space.alcove")
	w, by := sealers(t)
	_, another := sealers(t)
	put(t, e, "a", "walnut one")
	must.Get(w.Full(t.Context(), dir, source(e), time.Now()))
	put(t, e, "a", "walnut two")
	must.Get(w.Increment(t.Context(), dir, source(e), time.Now()))
	must.Get(w.ToFile(t.Context(), file, source(e), time.Now()))
	for _, from := range []string{dir, file} {
		if got, err := opened(t, from, by); err != nil || got != "walnut two" {
			t.Errorf("restore %s: got %q, %v, want the newest value", from, got, err)
		}
		if _, err := opened(t, from, nil); !errors.Is(err, sealing.ErrSealed) {
			t.Errorf("restore %s without an identity: got %v, want ErrSealed", from, err)
		}
		if _, err := opened(t, from, another); !errors.Is(err, sealing.ErrWrong) {
			t.Errorf("restore %s with another identity: got %v, want ErrWrong", from, err)
		}
	}
	for _, path := range append(must.Get(filepath.Glob(filepath.Join(dir, "*"))), file) {
		if bytes.Contains(must.Get(os.ReadFile(path)), []byte("walnut")) {
			t.Errorf("%s has a stored text, want none", path)
		}
	}
}

func TestAnEncryptedBackupGetsNoPlainIncrement(t *testing.T) {
	e, dir := open(t, t.TempDir()), t.TempDir()
	w, by := sealers(t)
	put(t, e, "a", "1")
	must.Get(w.Full(t.Context(), dir, source(e), time.Now()))
	put(t, e, "a", "2")
	if _, err := backup.Increment(t.Context(), dir, source(e), time.Now()); err == nil || !strings.Contains(err.Error(), "is encrypted, and so must its increments be") {
		t.Errorf("a plain increment: got %v, want that it is refused", err)
	}
	if got, err := opened(t, dir, by); err != nil || got != "1" {
		t.Errorf("after the refusal: got %q, %v, want the backup as it was", got, err)
	}
}

// An encrypted file does not say whose backup it is, so nothing replaces it.
func TestAnEncryptedFileIsNotReplaced(t *testing.T) {
	e, file := open(t, t.TempDir()), filepath.Join(t.TempDir(), "space.alcove")
	w, by := sealers(t)
	put(t, e, "a", "1")
	must.Get(w.ToFile(t.Context(), file, source(e), time.Now()))
	put(t, e, "a", "2")
	if _, err := w.ToFile(t.Context(), file, source(e), time.Now()); err == nil || !strings.Contains(err.Error(), "choose another name") {
		t.Errorf("another backup in its place: got %v, want that it is refused", err)
	}
	if got, err := opened(t, file, by); err != nil || got != "1" {
		t.Errorf("after the refusal: got %q, %v, want the backup as it was", got, err)
	}
}

// Each part that is cut off or changed is found, and nothing is restored of it.
func TestDamageOfAnEncryptedBackupIsFound(t *testing.T) {
	e, file := open(t, t.TempDir()), filepath.Join(t.TempDir(), "space.alcove")
	w, by := sealers(t)
	put(t, e, "a", "1")
	must.Get(w.ToFile(t.Context(), file, source(e), time.Now()))
	whole := must.Get(os.ReadFile(file))
	for at := 0; at < len(whole); at += 37 {
		for what, text := range map[string][]byte{"cut off": whole[:at], "changed": append(append(bytes.Clone(whole[:at]), whole[at]^8), whole[at+1:]...)} {
			must.Do(t, os.WriteFile(file, text, 0o600))
			if got, err := opened(t, file, by); err == nil {
				t.Errorf("%s at byte %d of %d: got %q, want an error", what, at, len(whole), got)
			}
		}
	}
}
