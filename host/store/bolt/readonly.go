package bolt

import (
	"fmt"

	"go.etcd.io/bbolt"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt/layout"
)

// openReadOnly opens a file without writing. Work that a crash interrupted stays unfinished and invisible.
func (e *Engine) openReadOnly() (err error) {
	if err := e.examine(); err != nil {
		return err
	}
	if e.db, err = e.openDB(); err != nil {
		return err
	}
	e.failed = fmt.Errorf("%w: %s is served read-only", store.ErrReadOnly, e.dir)
	return nil
}

func (e *Engine) loadReadOnly(tx *bbolt.Tx) error {
	if first, _ := tx.Cursor().First(); first == nil {
		return fmt.Errorf("the file is empty, and a server that may write makes a store of it: %w", store.ErrReadOnly)
	}
	if err := layout.CheckBuckets(tx); err != nil {
		return err
	}
	return e.loadState(tx)
}
