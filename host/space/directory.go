package space

import (
	"context"
	"errors"

	"github.com/alcove-memory/alcove/host/memory/integrity"
	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/datadir"
)

// Directory returns the data directory at path, with a store of the default driver, for use while nobody serves it.
func Directory(path string) datadir.Directory { return DirectoryWith(path, DefaultDriver()) }

// DirectoryWith returns the data directory at path, with a store of driver.
func DirectoryWith(path string, driver store.Driver) datadir.Directory {
	return datadir.Directory{Path: path, Driver: driver, Verify: func(ctx context.Context, path string) (integrity.Report, error) {
		return verify(ctx, path, driver)
	}}
}

// verify opens the space in a directory, and verifies it. The caller holds the lock.
func verify(ctx context.Context, path string, driver store.Driver) (v integrity.Report, err error) {
	var closing Closers
	defer func() { err = errors.Join(err, closing.Close()) }()
	p, err := Open(ctx, Options{Dir: path, Driver: driver}, Environment{Dormant: true}, &closing)
	if err != nil {
		return v, err
	}
	return p.Memory.Verify(ctx)
}
