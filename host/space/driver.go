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
	if err := checkPending(dir); err != nil {
		return err
	}
	at, err := Recorded(dir, d)
	if err != nil {
		return err
	}
	if fmt.Sprint(at) != fmt.Sprint(d) {
		return &store.DepartedError{Space: "the store of " + dir, To: Describe(at, dir)}
	}
	var r placed
	if found, err := readJSON(filepath.Join(dir, placeFile), &r); err != nil || found {
		return err
	}
	embedded, err := DefaultDriver().Exists(dir)
	if err != nil {
		return err
	}
	if _, is := d.(*postgres.Driver); is {
		if embedded {
			return fmt.Errorf("the data directory %s has a store of its own, and %s was chosen: use a directory without one, or "+
				"leave --store out and move what it has with alcove space move", dir, d)
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

// Describe tells where the store of a directory is, without secrets.
func Describe(d store.Driver, dir string) string {
	if p, is := d.(*postgres.Driver); is {
		return p.String()
	}
	return "the directory " + dir
}

// noteDriver records in a data directory which database has its store.
func noteDriver(dir string, d store.Driver) error {
	p, is := d.(*postgres.Driver)
	if !is {
		return nil
	}
	return os.WriteFile(filepath.Join(dir, elsewhere), []byte(p.String()), 0o600)
}
