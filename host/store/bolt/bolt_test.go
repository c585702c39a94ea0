package bolt_test

import (
	"strings"
	"testing"
	"time"

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
