package bolt

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt/layout"
	"github.com/alcove-memory/alcove/host/store/bolt/salvage"
)

// Driver is the store.Driver of this engine. The zero value is ready for use.
type Driver struct {
	Steps  func(Step) error // see Options
	NoSync bool             // likewise
}

var (
	_ store.Driver = Driver{}
	_ store.Filed  = Driver{}
)

// Open opens the space in a directory, or creates one.
func (d Driver) Open(ctx context.Context, dir string, o store.Options) (store.Engine, error) {
	e, err := Open(ctx, dir, Options{Now: o.Clock, Logger: o.Logger, ReadOnly: o.ReadOnly, Mirror: o.Mirror, Steps: d.Steps, NoSync: d.NoSync})
	if err != nil {
		return nil, err // a nil interface, not one with a nil *Engine
	}
	return e, nil
}

// Exists reports whether a directory has a database.
func (Driver) Exists(dir string) (bool, error) {
	_, err := os.Stat(layout.Database(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// Examine reads the database of a directory page by page, in constant memory, and returns its faults.
func (Driver) Examine(dir string) ([]error, error) {
	found, err := salvage.Examine(layout.Database(dir))
	return found.All(), err
}

// Repair replaces the database of a directory by one of all its readable records.
func (Driver) Repair(ctx context.Context, dir string, r store.Repair) (store.Repaired, error) {
	return salvage.Repair(ctx, dir, r)
}

// Files returns the paths of the database and the folder of blobs.
func (Driver) Files(dir string) store.Files {
	return store.Files{Database: layout.Database(dir), Blobs: layout.Blobs(dir)}
}
