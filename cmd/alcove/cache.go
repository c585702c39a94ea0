package main

import (
	"fmt"
	"path/filepath"

	"github.com/alcove-memory/alcove/host/sandbox"
)

// noCache is the value of --cache that keeps nothing.
const noCache = "off"

// moduleCache is the cache of compiled modules. Its key is where the system keeps a user's settings, wherever the cache is.
func (a *app) moduleCache() (sandbox.Cache, error) {
	c := sandbox.UserCache()
	switch a.cache {
	case noCache:
		return sandbox.Cache{}, nil
	case "":
		return c, nil
	}
	dir, err := filepath.Abs(a.cache)
	if err != nil {
		return sandbox.Cache{}, fmt.Errorf("find the cache %s: %w", a.cache, err)
	}
	if c.Key == "" {
		return sandbox.Cache{}, &usageError{fmt.Errorf("--cache needs a place for its key outside the cache: set HOME or XDG_CONFIG_HOME, or give --cache %s", noCache)}
	}
	c.Dir = dir
	return c, nil
}
