package bolt

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"go.etcd.io/bbolt"

	"github.com/alcove-memory/alcove/host/durable"
	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt/layout"
)

const (
	compacting = "alcove.db.compacting" // the name of an unfinished copy
	compactTx  = 16 << 20               // bytes copied in one transaction
)

var _ store.Compactor = (*Engine)(nil)

// Compact rewrites the database without free pages, which shrinks the file and erases deleted data. Reads continue;
// commits wait. A crash leaves the old file or the new one.
func (e *Engine) Compact(ctx context.Context) (c store.Compacted, err error) {
	e.building.Lock() // an overlay in the making counts on the numbers of the file's transactions
	defer e.building.Unlock()
	c.Before, _ = size(e.path())
	if err := e.do(&job{ctx: ctx, alone: e.compact}); err != nil {
		return c, fmt.Errorf("compact: %w", err)
	}
	c.After, err = size(e.path())
	return c, err
}

func size(path string) (int64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// compact runs on the writer's goroutine. Of a failure it leaves no copy.
func (e *Engine) compact() (err error) {
	if err := e.mayWrite(); err != nil {
		return err
	}
	copied := filepath.Join(e.dir, compacting)
	defer func() {
		if err != nil {
			err = errors.Join(err, layout.RemoveFile(copied))
		}
	}()
	if err := compactFile(e.db, copied); err != nil {
		return err
	}
	if err := e.reach(CompactCopied); err != nil {
		return err
	}
	e.file.Lock() // waits for reads that run, for which the old file must stay open
	defer e.file.Unlock()
	if err := e.present(); err != nil { // the copy must not take the place of somebody else's file
		return err
	}
	return e.replaceFile(copied)
}

// replaceFile replaces the file by the copy. If the copy does not open, which only a broken disk can cause, all further
// calls fail.
func (e *Engine) replaceFile(copied string) error {
	was := e.open.info
	copy, err := os.Stat(copied)
	if err != nil {
		return err
	}
	e.requireCheck() // the record is about the old file
	e.tree.release()
	if err := e.db.Close(); err != nil { // Windows does not replace an open file
		return err
	}
	err = os.Rename(copied, e.path())
	if err == nil {
		err = durable.SyncDir(e.dir)
	}
	if err == nil {
		e.passed(CompactSwapped)
	}
	if openErr := e.openAgain(was, copy); openErr != nil {
		e.failed = openErr
		return errors.Join(err, openErr)
	}
	e.unlisted = false // bbolt has read all pages of the new file
	e.examineAgain()
	e.written.compacted.Store(e.now().UnixMicro())
	for _, o := range e.overlays { // the new file restarts transaction numbers
		o.since = 0
	}
	return err
}

// compactFile copies the used pages to a new file and syncs it.
func compactFile(from *bbolt.DB, path string) error {
	to, err := layout.Create(path)
	if err != nil {
		return err
	}
	err = bbolt.Compact(to, from, compactTx)
	if err == nil {
		err = moveHome(to)
	}
	if err == nil {
		err = to.Sync()
	}
	return errors.Join(err, to.Close())
}
