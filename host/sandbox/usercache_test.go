package sandbox

import (
	"path/filepath"
	"runtime"
	"testing"
)

func TestTheUsersCacheIsInTheSystemsCacheDirectory(t *testing.T) {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		t.Skip("the variables are those of other systems")
	}
	home, cache, config := t.TempDir(), t.TempDir(), t.TempDir()
	for _, c := range []struct{ home, cache, config, dir, key string }{
		{home, "", "", filepath.Join(home, ".cache/alcove/compiled"), filepath.Join(home, ".config/alcove/cache.key")},
		{home, cache, config, filepath.Join(cache, "alcove/compiled"), filepath.Join(config, "alcove/cache.key")},
		{"", cache, "", "", ""},
		{"", "", config, "", filepath.Join(config, "alcove/cache.key")},
		{"", "", "", "", ""},
	} {
		t.Setenv("HOME", c.home)
		t.Setenv("XDG_CACHE_HOME", c.cache)
		t.Setenv("XDG_CONFIG_HOME", c.config)
		if u := UserCache(); u.Dir != c.dir || u.Key != c.key {
			t.Errorf("UserCache() = %+v, want directory %q and key %q", u, c.dir, c.key)
		}
	}
}
