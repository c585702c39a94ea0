package space_test

import (
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/space"
	"github.com/alcove-memory/alcove/host/testing/must"
	"github.com/alcove-memory/alcove/host/testing/postgres"
)

func openSpace(t *testing.T, dir, url string) error {
	t.Helper()
	driver, err := space.DriverFor(url)
	if err != nil {
		return err
	}
	var closing space.Closers
	_, err = space.Open(t.Context(), space.Options{Dir: dir, Driver: driver}, space.Environment{Dormant: true}, &closing)
	if closed := closing.Close(); closed != nil {
		t.Errorf("Close() = %v, want nil", closed)
	}
	return err
}

func TestADirectoryWhoseStoreIsElsewhereDoesNotBeginAnEmptyOne(t *testing.T) {
	url := must.Get(postgres.Start(t).Database())
	dir := t.TempDir()
	must.Do(t, openSpace(t, dir, url))
	must.Do(t, openSpace(t, dir, url))
	if err := openSpace(t, dir, ""); err == nil || !strings.Contains(err.Error(), "--store-file") {
		t.Errorf("without the database: %v", err)
	}
	embedded := t.TempDir()
	must.Do(t, openSpace(t, embedded, ""))
	if err := openSpace(t, embedded, url); err == nil || !strings.Contains(err.Error(), "alcove space move") {
		t.Errorf("with a store of its own: %v", err)
	}
}
