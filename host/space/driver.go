package space

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt"
	"github.com/alcove-memory/alcove/host/store/postgres"
)

// DefaultDriver keeps the stores of all data directories for which no other driver is chosen. Nothing else above the store
// names an engine.
func DefaultDriver() store.Driver { return bolt.Driver{} }

// DriverFor returns the driver of the store that a URL names, as in postgres://USER@HOST/DATABASE?space=NAME; the default one for an
// empty URL. It does not connect. Errors contain nothing of the URL.
func DriverFor(url string) (store.Driver, error) {
	if url == "" {
		return DefaultDriver(), nil
	}
	d, err := postgres.New(url, postgres.Options{})
	if err != nil {
		return nil, err
	}
	return d, nil
}

// elsewhere is the file of a data directory that says which database has its store, without secrets.
const elsewhere = "store-elsewhere.txt"

// checkDriver refuses a driver when the store of the directory is known to be another's: a server would begin with an empty memory.
func checkDriver(dir string, d store.Driver) error {
	embedded, err := DefaultDriver().Exists(dir)
	if err != nil {
		return err
	}
	if _, is := d.(*postgres.Driver); is {
		if embedded {
			return fmt.Errorf("the data directory %s has a store of its own, and %s was chosen: use a directory without one, "+
				"and alcove backup and alcove restore to move what it has", dir, d)
		}
		return nil
	}
	where, err := os.ReadFile(filepath.Join(dir, elsewhere))
	if errors.Is(err, fs.ErrNotExist) || err == nil && embedded {
		return nil
	}
	if err != nil {
		return err
	}
	return fmt.Errorf("the store of the data directory %s is %s: name it with --store-file, --store or ALCOVE_STORE, or remove %s to begin with an empty memory",
		dir, where, filepath.Join(dir, elsewhere))
}

// noteDriver records in a data directory which database has its store.
func noteDriver(dir string, d store.Driver) error {
	p, is := d.(*postgres.Driver)
	if !is {
		return nil
	}
	return os.WriteFile(filepath.Join(dir, elsewhere), []byte(p.String()), 0o600)
}
