package bolt_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt"
	"github.com/alcove-memory/alcove/host/testing/storetest"
)

func TestBoltIsAnEngine(t *testing.T) {
	storetest.Run(t, func(t *testing.T, dir string, now func() time.Time) store.Engine {
		e, err := bolt.Open(t.Context(), dir, bolt.Options{Now: now})
		if err != nil {
			t.Fatal(err)
		}
		return e
	})
}

func TestAFileOfANewerFormatIsRefused(t *testing.T) {
	dir := t.TempDir()
	e, err := bolt.Open(t.Context(), dir, bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := bbolt.Open(dir+"/alcove.db", 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		meta := tx.Bucket([]byte("meta"))
		return errors.Join(meta.Delete([]byte("layout")), meta.Put([]byte("format"), []byte{0, 0, 0, 0, 0, 0, 0, 99}))
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := bolt.Open(t.Context(), dir, bolt.Options{}); err == nil || !strings.Contains(err.Error(), "use a newer program") {
		t.Errorf("opened: %v", err)
	}
}

func TestASecondProcessIsToldThatTheFileIsOpen(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	e, err := bolt.Open(t.Context(), dir, bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if _, err := bolt.Open(t.Context(), dir, bolt.Options{}); err == nil || !strings.Contains(err.Error(), "another process") {
		t.Errorf("opened twice: %v", err)
	}
}
