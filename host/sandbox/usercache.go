package sandbox

import (
	"os"
	"path/filepath"
)

// UserCache returns the user's cache of compiled modules: entries in the system's cache directory, the key in its
// configuration directory. If either is missing, Dir is empty and nothing is cached.
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
