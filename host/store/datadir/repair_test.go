package datadir_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/space"
	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/datadir"
)

func TestADamagedStoreIsNotOpenedAndIsRepaired(t *testing.T) {
	dir := t.TempDir()
	h, err := host.Open(t.Context(), host.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "alcove.db")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	damaged := bytes.ReplaceAll(data, []byte("counters"), []byte("coun\x00ers"))
	if err := os.WriteFile(path, damaged, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := host.Open(t.Context(), host.Options{Dir: dir}); !errors.Is(err, store.ErrDamaged) || !strings.Contains(err.Error(), "alcove repair") {
		t.Errorf("it is opened: %v", err)
	}
	findings, err := space.Directory(dir).Examine()
	if err != nil || len(findings) == 0 {
		t.Errorf("verify finds %v (%v)", findings, err)
	}
	r, err := space.Directory(dir).Repair(t.Context(), datadir.RepairOptions{})
	if err != nil || len(r.Faults) == 0 || len(r.Aside) != 0 {
		t.Errorf("repaired: %+v (%v)", r, err)
	}
	h, err = host.Open(t.Context(), host.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
}
