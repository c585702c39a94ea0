package bolt

import (
	"errors"
	"fmt"

	"go.etcd.io/bbolt"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt/layout"
)

// openReadOnly opens a file of a format that is read as it is. Work that a crash interrupted stays unfinished and invisible.
func (e *Engine) openReadOnly() (err error) {
	if err := e.examine(); err != nil {
		return err
	}
	if e.db, err = e.openDB(); err != nil {
		return err
	}
	var found uint64
	err = e.db.View(func(tx *bbolt.Tx) (err error) {
		found, err = layout.ReadFormat(tx)
		return err
	})
	if err == nil && !layout.Readable(found) {
		err = fmt.Errorf("the file has format %d and must be migrated, by a server that may write: %w", found, store.ErrReadOnly)
	}
	if err != nil {
		return errors.Join(err, e.db.Close())
	}
	e.failed = fmt.Errorf("%w: %s is served read-only", store.ErrReadOnly, e.dir)
	return nil
}

func (e *Engine) loadReadOnly(tx *bbolt.Tx) error {
	if err := layout.CheckBuckets(tx); err != nil {
		return err
	}
	return e.loadState(tx)
}
