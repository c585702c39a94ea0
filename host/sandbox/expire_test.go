package sandbox

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/testing/must"
)

func TestExpiredEntriesAreCompiledAgain(t *testing.T) {
	config := testConfig(t)
	files := func() (list []string) {
		for _, sub := range []string{dirAdmitted, dirBodies, dirCode} {
			_ = filepath.WalkDir(filepath.Join(config.Cache.Dir, sub), func(path string, entry fs.DirEntry, err error) error {
				if err == nil && entry.Type().IsRegular() {
					list = append(list, path)
				}
				return nil
			})
		}
		return list
	}
	s, err := New(config)
	must.Do(t, err)
	family(t, s, "old")
	must.Do(t, s.Close())
	if len(files()) < 2 {
		t.Fatalf("the cache has %q", files())
	}
	long := time.Now().Add(-keptFor - time.Hour)
	for _, path := range files() {
		must.Do(t, os.Chtimes(path, long, long))
	}
	s, err = New(config)
	must.Do(t, err)
	if left := files(); len(left) != 0 {
		t.Errorf("left: %q", left)
	}
	family(t, s, "old")
	must.Do(t, s.Close())
	if len(files()) < 2 {
		t.Errorf("compiled again the cache has %q", files())
	}
}
