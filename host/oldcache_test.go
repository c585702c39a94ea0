package host_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/sandbox"
)

func TestADataDirectoryLosesItsOldCacheAndNothingElse(t *testing.T) {
	dir, cache := filepath.Join(t.TempDir(), "data"), filepath.Join(t.TempDir(), "cache")
	old, own := filepath.Join(dir, "modules", "code", "wazero-v1.12.0-amd64-linux", strings.Repeat("ab", 32)), filepath.Join(dir, "modules", "notes.txt")
	for _, path := range []string{old, own} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte("x"), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		h, err := host.Open(t.Context(), host.Options{Dir: dir, Driver: testStore(nil), Cache: sandbox.Cache{Dir: cache}})
		if err != nil {
			t.Fatal(err)
		}
		if err := h.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(dir, "modules", "code")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("native code is left: %v", err)
		}
		if _, err := os.Stat(own); err != nil {
			t.Error(err)
		}
	}
	if info, err := os.Stat(cache); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the cache is %v, %v", info, err)
	}
	if left, _ := os.ReadDir(filepath.Join(cache, "work")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
