package storage_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/host/testing/must"
	"github.com/alcove-memory/alcove/host/testing/server"
)

func TestTheCacheOfModulesIsPrivateAndAServerLeavesNoWorkInIt(t *testing.T) {
	t.Parallel()
	dir, cache := t.TempDir(), filepath.Join(t.TempDir(), "cache")
	for range 2 {
		must.Do(t, server.Open(t, host.Options{Dir: dir, Cache: sandbox.Cache{Dir: cache}}).Close())
	}
	if info, err := os.Stat(cache); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the cache is %v, %v; want mode 0700", info, err)
	}
	if left, _ := os.ReadDir(filepath.Join(cache, "work")); len(left) > 0 {
		t.Errorf("left behind are %v, want nothing", left)
	}
}
