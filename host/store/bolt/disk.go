package bolt

import (
	"errors"
	"fmt"
	"io/fs"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"go.etcd.io/bbolt"

	"github.com/alcove-memory/alcove/host/store"
)

// view runs a read transaction. It must not run inside another one.
func (e *Engine) view(do func(tx *bbolt.Tx) error) (err error) {
	e.file.RLock()
	defer e.file.RUnlock()
	if e.db == nil {
		return e.failed
	}
	defer e.contain(&err)()
	return e.db.View(do)
}

// contain turns a panic of a transaction into ErrDamaged: bbolt panics at a damaged page, and a reference beyond the file
// faults in the memory map. Callers defer its result around every read.
func (e *Engine) contain(err *error) func() {
	before := debug.SetPanicOnFault(true)
	return func() {
		debug.SetPanicOnFault(before)
		if p := recover(); p != nil {
			e.logger.Error("the database cannot be read", "panic", p, "stack", string(debug.Stack()))
			e.requireCheck()
			*err = fmt.Errorf("%w: %v (stop the server; alcove verify lists every fault, alcove repair saves what can be read)", store.ErrDamaged, p)
		}
	}
}

// transact runs a write transaction. Only the writer calls it.
func (e *Engine) transact(do func(tx *bbolt.Tx) error) error {
	if err := e.mayWrite(); err != nil {
		return err
	}
	id, applied, err := e.attempt(do)
	switch {
	case err == nil:
		return e.mayAcknowledge(id)
	case !applied:
		return err
	case errors.Is(err, store.ErrDamaged): // bbolt's in-memory state may be wrong now
		return e.fail(err)
	}
	if !e.maybeCommitted(id) {
		return diskError(err) // bbolt has rolled it back
	}
	return e.resolveCommit(id, err)
}

// attempt runs a write transaction, and returns its number and whether the commit began. After a panic it does not roll
// back: bbolt would read the whole file in a goroutine whose panics cannot be recovered.
func (e *Engine) attempt(do func(tx *bbolt.Tx) error) (id int, applied bool, err error) {
	tx, err := e.db.Begin(true)
	if err != nil {
		return 0, false, err
	}
	id = tx.ID()
	e.releaseIfGrown(tx)
	if err := e.contained(func() error { return e.stamped(do)(tx) }); err != nil {
		return id, false, errors.Join(err, tx.Rollback())
	}
	if err = e.contained(tx.Commit); err != nil {
		e.requireCheck() // a system that could not write a page may forget it
		e.relisted()
	}
	if errors.Is(err, store.ErrDamaged) {
		err = errors.Join(err, tx.Rollback())
	}
	return id, true, err
}

func (e *Engine) contained(do func() error) (err error) {
	defer e.contain(&err)()
	return do()
}

// maybeCommitted reports whether a failed commit is visible nevertheless: written but not synced.
func (e *Engine) maybeCommitted(id int) bool {
	seen := id
	err := e.db.View(func(tx *bbolt.Tx) error {
		seen = tx.ID()
		return nil
	})
	return err != nil || seen >= id
}

const (
	resolveAttempts = 3
	resolvePause    = 100 * time.Millisecond
)

// resolveCommit determines whether an unsynced commit is on the disk, which is unknown until a sync succeeds. Until then
// nothing may be written, as a write would reuse pages of the previous commit. If the disk does not recover, the engine
// stays read-only.
func (e *Engine) resolveCommit(id int, cause error) error {
	e.logger.Error("a commit was not synced; the database is reopened", "error", cause)
	e.file.Lock()
	defer e.file.Unlock()
	err := cause
	for range resolveAttempts {
		var there bool
		if there, err = e.reopen(id); err == nil && there {
			return nil
		}
		if err == nil {
			return diskError(cause)
		}
		time.Sleep(resolvePause)
	}
	e.failed = fmt.Errorf("the disk does not keep what is written to it: check it, and restart the server: %w", diskError(errors.Join(cause, err)))
	return e.failed
}

// reopen reopens and syncs the database, and reports whether it contains a commit. It writes nothing: even an empty commit
// would overwrite the only meta page that is certainly on the disk. The caller holds file.
func (e *Engine) reopen(id int) (there bool, err error) {
	if err := e.present(); err != nil {
		return false, err
	}
	if e.db != nil {
		e.tree.release()
		if err := e.db.Close(); err != nil {
			e.logger.Warn("the database was not closed properly", "error", err)
		}
	}
	if err := e.examine(); err != nil {
		e.db = nil
		return false, err
	}
	if err := e.openAgain(e.open.info); err != nil {
		return false, err
	}
	e.relisted()
	if err := e.db.View(func(tx *bbolt.Tx) error { there = tx.ID() >= id; return nil }); err != nil {
		return false, err
	}
	if err := e.syncFirst(); err != nil {
		return false, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	clear(e.plans)
	clear(e.floors)
	return there, e.db.View(e.loadState)
}

// diskError wraps an operating system error in store.ErrFull or store.ErrReadOnly where one applies.
func diskError(err error) error {
	switch {
	case err == nil:
		return nil
	case isAny(err, outOfSpace()):
		return fmt.Errorf("%w: %w", store.ErrFull, err)
	case isAny(err, []error{syscall.EROFS, fs.ErrPermission}):
		return fmt.Errorf("%w: %w", store.ErrReadOnly, err)
	}
	return err
}

// isAny also matches an error of which bbolt kept only the text.
func isAny(err error, any []error) bool {
	for _, one := range any {
		if errors.Is(err, one) || strings.HasSuffix(err.Error(), ": "+one.Error()) {
			return true
		}
	}
	return false
}
