package main

import (
	"os"
	"path/filepath"

	"github.com/alcove-memory/alcove/host/sandbox"
)

// noCache is the value of --cache that keeps nothing.
const noCache = "off"

// cacheDir is where modules are kept compiled, for all data directories of this user; empty: nowhere.
func (a *app) cacheDir() (string, error) {
	switch a.cache {
	case noCache:
		return "", nil
	case "":
		dir, err := os.UserCacheDir()
		if err != nil {
			return "", nil // the environment names none
		}
		return filepath.Join(dir, "alcove", "compiled"), nil
	}
	return filepath.Abs(a.cache)
}

// moduleCache is the cache of compiled modules. Its key is where the system keeps a user's settings, never in the cache.
func (a *app) moduleCache() (sandbox.Cache, error) {
	dir, err := a.cacheDir()
	if err != nil || dir == "" {
		return sandbox.Cache{}, err
	}
	config, err := os.UserConfigDir()
	if err != nil {
		return sandbox.Cache{}, nil // without a key nothing can be kept
	}
	return sandbox.Cache{Dir: dir, Key: filepath.Join(config, "alcove", "cache.key")}, nil
}

// removeOldCache removes the compiled modules that alcove family call of earlier releases kept for this user.
func removeOldCache() error {
	dir, err := os.UserCacheDir()
	if err != nil {
		return nil
	}
	return sandbox.RemoveOldCache(filepath.Join(dir, "alcove", "modules"))
}
