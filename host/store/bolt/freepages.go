package bolt

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"go.etcd.io/bbolt"

	"github.com/alcove-memory/alcove/host/store/bolt/layout"
	"github.com/alcove-memory/alcove/host/store/bolt/salvage"
)

// A server that was killed leaves no list of free pages: to write one with each commit costs, and a wrong one gives pages in use away. bbolt
// would read all pages to make it. So the start after a kill gives bbolt an empty list, holds the tree that it found, and examines it in
// the background. The pages that the tree does not have are free, and bbolt, which never knew of them, used none. They are listed then.

const (
	holdFor  = 768 << 20 // bytes that the file may grow while its tree is held: without the pages that the tree has, commits write new ones
	mapAhead = 1 << 30   // bytes that are mapped beyond the file, since to map more waits for the tree to be let go
)

// heldTree is the tree that a server found when it started after a kill.
type heldTree struct {
	file io.ReaderAt
	meta layout.Meta
	mu   sync.Mutex
	tx   *bbolt.Tx // nil: it was let go
}

// release lets the tree's pages be written again, and reports whether they could not be before.
func (t *heldTree) release() (held bool) {
	if t == nil {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.tx == nil {
		return false
	}
	_ = t.tx.Rollback() // of a read transaction, whose only error is that it ended
	t.tx = nil
	return true
}

func (t *heldTree) held() bool {
	if t == nil {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.tx != nil
}

// forgetFree has bbolt find an empty list of free pages. It syncs what an earlier server wrote first.
func (e *Engine) forgetFree() error {
	unlock, err := e.lockExclusively()
	if err != nil {
		return err
	}
	err = rewriteFreelist(e.path(), e.open.pageSize, func(io.ReaderAt, layout.Meta) ([]uint64, error) { return nil, nil })
	return errors.Join(err, unlock())
}

// rewriteFreelist commits another list of free pages to a file that nobody has open.
func rewriteFreelist(path string, pageSize uint64, list func(file io.ReaderAt, newest layout.Meta) ([]uint64, error)) (err error) {
	file, err := os.OpenFile(path, os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	newest, _, err := layout.Metas(file, pageSize)
	if err != nil {
		return err
	}
	free, err := list(file, newest)
	if err != nil {
		return err
	}
	return layout.WriteFreelist(file, newest, free)
}

// withListed returns free pages with those that are listed, and those of the list itself, in ascending order.
func withListed(unused []uint64, file io.ReaderAt, newest layout.Meta) ([]uint64, error) {
	pages, err := layout.FreelistPages(file, newest)
	if err != nil {
		return nil, err
	}
	listed, err := layout.DecodeFreelist(pages, newest.High)
	if err != nil {
		return nil, fmt.Errorf("the list of free pages %w", err)
	}
	for id := range uint64(len(pages)) / newest.PageSize {
		listed = append(listed, newest.Freelist+id)
	}
	free := slices.Concat(unused, listed)
	slices.Sort(free)
	if both := len(free); len(slices.Compact(free)) < both {
		return nil, errors.New("a page that was found to be free is listed already")
	}
	return free, nil
}

// holdTree keeps the tree that was found from being written.
func (e *Engine) holdTree() error {
	newest, _, err := layout.Metas(e.open.File, e.open.pageSize)
	if err != nil {
		return err
	}
	tx, err := e.db.Begin(false)
	if err != nil {
		return err
	}
	e.tree = &heldTree{file: e.open.File, meta: newest, tx: tx}
	return nil
}

// releaseIfGrown releases the tree when a transaction finds the file to have grown so much that the map may be replaced, which waits for the tree.
func (e *Engine) releaseIfGrown(tx *bbolt.Tx) {
	if e.tree.held() && tx.Size() > int64(e.tree.meta.High*e.tree.meta.PageSize)+e.options.holdFor && e.tree.release() {
		e.logger.Info("the file grew while it was examined: its free pages are listed after the next start")
	}
}

// examineTree examines the tree that was found. ok is false where it had to be let go.
func (e *Engine) examineTree(ctx context.Context) (faults []error, unused []uint64, ok bool) {
	if !e.tree.held() {
		return nil, nil, false
	}
	faults, unused = salvage.ExamineTree(&throttledReader{ctx: ctx, tree: e.tree, worked: time.Now()}, e.tree.meta)
	return faults, unused, e.tree.release()
}

// listUnused returns free pages to bbolt. It runs on the writer's goroutine.
func (e *Engine) listUnused(unused []uint64) error {
	if !e.unlisted { // bbolt has read all pages meanwhile, and may have used those
		return nil
	}
	e.db.NoFreelistSync = false
	err := e.transact(func(*bbolt.Tx) error { return nil })
	e.db.NoFreelistSync = true
	if err != nil || !e.unlisted {
		return err
	}
	e.file.Lock() // waits for reads that run, for which the file must stay open
	defer e.file.Unlock()
	if err := e.present(); err != nil {
		return err
	}
	if err := e.db.Close(); err != nil {
		return err
	}
	err = rewriteFreelist(e.path(), e.open.pageSize, func(file io.ReaderAt, newest layout.Meta) ([]uint64, error) {
		return withListed(unused, file, newest)
	})
	if openErr := e.openAgain(e.open.info); openErr != nil {
		e.failed = openErr
		return errors.Join(err, openErr)
	}
	if err == nil {
		e.unlisted = false
		e.recordCommit()
	}
	return err
}

// relisted notes whether bbolt has read all pages for its list of free ones, as it does where the newest meta page leads to none.
func (e *Engine) relisted() {
	if newest, _, err := layout.Metas(e.open.File, e.open.pageSize); err == nil && newest.Freelist == layout.NoFreelist {
		e.unlisted = false
	}
}

// throttledReader reads a file as long as a tree is held, resting as long as it works.
type throttledReader struct {
	ctx    context.Context
	tree   *heldTree
	worked time.Time // since when
}

func (g *throttledReader) ReadAt(page []byte, at int64) (int, error) {
	if took := time.Since(g.worked); took > checkSlice {
		sleep(g.ctx, took)
		if err := g.ctx.Err(); err != nil {
			return 0, err
		}
		g.worked = time.Now()
	}
	if !g.tree.held() {
		return 0, errors.New("the tree was let go")
	}
	return g.tree.file.ReadAt(page, at)
}
