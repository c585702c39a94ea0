package bolt

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt/layout"
)

// openFile is an engine's database file. bbolt owns and closes it.
type openFile struct {
	*os.File
	info     fs.FileInfo
	pageSize uint64
	txid     uint64 // the engine's newest commit
}

var _ store.WriteChecker = (*Engine)(nil)

// Writable returns the error that commits fail with; nil while they succeed.
func (e *Engine) Writable() error {
	if err := e.intact(); err != nil {
		return err
	}
	return e.mayDo(&job{})
}

// intact returns why nothing may be written to the files.
func (e *Engine) intact() error {
	e.file.RLock()
	defer e.file.RUnlock()
	if damage := e.damage.Load(); damage != nil {
		return *damage
	}
	if e.failed != nil {
		return e.failed
	}
	return e.present()
}

// present checks that the open files are those in the data directory. The caller holds file, or is the writer.
func (e *Engine) present() error {
	if err := samePath(e.path(), e.open.info); err != nil {
		return err
	}
	blobs, err := e.blobs.Stat()
	if err != nil {
		return err
	}
	return samePath(e.blobDir(), blobs)
}

// samePath checks that a path names an open file. An unreadable path counts as replaced.
func samePath(path string, opened fs.FileInfo) error {
	now, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: %s is gone", store.ErrReplaced, path)
	case err != nil:
		return fmt.Errorf("%w: %s cannot be examined: %w", store.ErrReplaced, path, err)
	case !os.SameFile(now, opened):
		return fmt.Errorf("%w: another file has taken the place of %s", store.ErrReplaced, path)
	}
	return nil
}

// unchanged checks that no other process wrote to the file: a file copied over it keeps its inode.
func (e *Engine) unchanged() error {
	if e.open.newest() != e.open.txid {
		return fmt.Errorf("%w: %s was overwritten", store.ErrReplaced, e.path())
	}
	return nil
}

// newest returns the number of the newest commit in the file; 0: none.
func (f openFile) newest() (txid uint64) {
	for place := range uint64(2) {
		if m, err := layout.MetaAt(f, place, f.pageSize); err == nil {
			txid = max(txid, m.TxID)
		}
	}
	return txid
}

// mayWrite checks that the next start would find a write. The writer calls it before each transaction, so that files that
// were moved away and back are writable again.
func (e *Engine) mayWrite() error {
	if e.failed != nil {
		return e.failed
	}
	if err := e.present(); err != nil {
		return err
	}
	if err := e.unchanged(); err != nil {
		return e.fail(err)
	}
	return nil
}

// mayAcknowledge checks that the next start will find the commit just synced. Otherwise writes are refused until a
// restart: the commit may be in a file that is moved back.
func (e *Engine) mayAcknowledge(txid int) error {
	e.open.txid = uint64(txid)
	err := e.present()
	if err == nil {
		err = e.unchanged()
	}
	if err != nil {
		return e.fail(err)
	}
	e.recordCommit()
	return nil
}

// fail refuses all writes from now on. Only the writer calls it.
func (e *Engine) fail(err error) error {
	e.file.Lock()
	defer e.file.Unlock()
	e.failed = err
	e.requireCheck()
	return err
}

// openAgain reopens the database. The file must be one of files.
func (e *Engine) openAgain(files ...fs.FileInfo) error {
	db, err := e.openDB()
	if err == nil && !slices.ContainsFunc(files, func(f fs.FileInfo) bool { return os.SameFile(f, e.open.info) }) {
		err = errors.Join(fmt.Errorf("%w: another file has taken the place of %s", store.ErrReplaced, e.path()), db.Close())
	}
	if err != nil {
		e.db = nil
		return err
	}
	e.db = db
	return nil
}
