package sandbox

import (
	"os"
	"path/filepath"
)

// UserCache is the cache of compiled modules of this process's user: where the system keeps what programs can make again, with
// the key where it keeps settings. Without a place for both it has no directory, and keeps nothing.
func UserCache() (c Cache) {
	config, err := os.UserConfigDir()
	if err != nil {
		return Cache{}
	}
	c.Key = filepath.Join(config, "alcove", "cache.key")
	if cache, err := os.UserCacheDir(); err == nil {
		c.Dir = filepath.Join(cache, "alcove", "compiled")
	}
	return c
}
