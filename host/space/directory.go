package space

import (
	"context"
	"errors"

	"github.com/alcove-memory/alcove/host/memory/integrity"
	"github.com/alcove-memory/alcove/host/standby"
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

// FollowingDirectory is DirectoryWith for a directory whose store follows a bucket: its verification writes nothing either.
func FollowingDirectory(path string, driver store.Driver) datadir.Directory {
	return datadir.Directory{Path: path, Driver: driver, Verify: func(ctx context.Context, path string) (integrity.Report, error) {
		return verifyWith(ctx, Options{Dir: path, Driver: driver, Follow: &standby.Options{}})
	}}
}

// verify opens the space in a directory, and verifies it. The caller holds the lock.
func verify(ctx context.Context, path string, driver store.Driver) (integrity.Report, error) {
	return verifyWith(ctx, Options{Dir: path, Driver: driver})
}

func verifyWith(ctx context.Context, o Options) (v integrity.Report, err error) {
	var closing Closers
	defer func() { err = errors.Join(err, closing.Close()) }()
	p, err := Open(ctx, o, Environment{Dormant: true}, &closing)
	if err != nil {
		return v, err
	}
	return p.Memory.Verify(ctx)
}
