package bolt

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"reflect"
	"syscall"
	"time"
	"unsafe"

	"go.etcd.io/bbolt"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt/layout"
	"github.com/alcove-memory/alcove/host/store/bolt/salvage"
	"github.com/alcove-memory/alcove/host/store/keycode"
)

// Purge replaces those versions of a key, on all branches, that replace picks, and erases what they were. It returns them.
func (e *Engine) Purge(ctx context.Context, key store.Key, replace func(store.Entry) (value []byte, purge bool)) (purged []store.Entry, err error) {
	var list []store.Replacement
	err = e.read(ctx, func(tx *bbolt.Tx) error {
		r, raw := newReader(tx), keycode.Encode(key)
		return r.branches.ForEachBucket(func(id []byte) error {
			c := r.branches.Bucket(id).Bucket(layout.KindEntries.Bucket()).Cursor()
			for k, v := c.Seek(raw); isVersionOf(k, raw); k, v = c.Next() {
				was, err := r.decode(k, v)
				if err != nil {
					return err
				}
				if value, purge := replace(was); purge {
					purged = append(purged, was)
					list = append(list, store.Replacement{Branch: was.Branch, Key: was.Key, Version: was.Version, Value: value})
				}
			}
			return nil
		})
	})
	if err == nil {
		err = e.Replace(ctx, list)
	}
	if err == nil {
		err = e.Erase(ctx)
	}
	return purged, err
}

// Looks are how often checks looked at the file, and for how long at most.
func Looks(e *Engine) (n int64, longest time.Duration) {
	return e.written.looks.Load(), time.Duration(e.written.longestLook.Load())
}

// Overlays counts the overlays in the file and those in use.
func Overlays(e *Engine) (inFile, inUse int, err error) {
	err = e.db.View(func(tx *bbolt.Tx) error {
		return layout.Overlays(tx).ForEachBucket(func([]byte) error { inFile++; return nil })
	})
	e.mu.RLock()
	defer e.mu.RUnlock()
	return inFile, len(e.overlays), err
}

// CommitWait is how long a dump lets commits go first.
const CommitWait = commitWait

// WithChunk says how many entries are copied or dropped in one transaction; 0: as many as in use.
func WithChunk(o Options, entries int) Options {
	o.chunk = entries
	return o
}

// Abandon closes an engine and leaves the file as a kill would.
func Abandon(e *Engine) error {
	e.endExamining()
	e.options.NoSync = true // the last commit is durable, and leave writes none
	return e.Close()
}

// PretendLeft records a database as left by Close, whatever is in it: damage beneath the file system does not change a file's times.
func PretendLeft(dir string) error {
	e := &Engine{dir: dir, logger: slog.New(slog.DiscardHandler), open: openFile{pageSize: 4096}, examined: time.Now()}
	for {
		if done, err := e.recordLeft(); done || err != nil {
			return err
		}
	}
}

// PretendKilled records a database as written by a server that was killed, whatever is in it.
func PretendKilled(dir string) error {
	e := &Engine{dir: dir, logger: slog.New(slog.DiscardHandler), open: openFile{pageSize: 4096}}
	file, err := os.Open(e.path())
	if err != nil {
		return err
	}
	defer file.Close()
	e.open.File = file
	e.follow(time.Now())
	return e.follower.close()
}

// Running is the file of the record of how far a server wrote a database.
func Running(dir string) string { return layout.Running(dir) }

// In says where a database is, in place of the kernel's word.
func In(o Options, place string) Options {
	o.place = func(string) (string, bool) { return place, place != "" }
	return o
}

// HoldFor says by how many bytes a database may grow while the tree is held that a server found after a kill.
func HoldFor(o Options, bytes int64) Options {
	o.holdFor = bytes
	return o
}

// WroteWithin says how long after the record of a commit a server that was killed may have written to its database.
func WroteWithin(o Options, after time.Duration) Options {
	o.wroteWithin = after
	return o
}

// ExamineNow has a database in use examined, and waits until its free pages are listed.
func ExamineNow(e *Engine) { e.examineInUse(context.Background()) }

// Unlisted reports whether bbolt does not know of all free pages.
func Unlisted(e *Engine) (yes bool) {
	_ = e.do(&job{ctx: context.Background(), alone: func() error { yes = e.unlisted; return nil }})
	return yes
}

// Free compares the list of free pages of a closed database with the pages that its tree does not have.
func Free(dir string) (listed, unused []uint64, err error) {
	file, err := os.Open(layout.Database(dir))
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	newest, _, err := layout.Metas(file, 4096)
	if err != nil {
		return nil, nil, err
	}
	pages, err := layout.FreelistPages(file, newest)
	if err != nil {
		return nil, nil, err
	}
	if listed, err = layout.DecodeFreelist(pages, newest.High); err != nil {
		return nil, nil, err
	}
	faults, unused := salvage.ExamineTree(file, newest)
	return listed, unused, errors.Join(faults...)
}

// Left is the file of the record of how a database was left.
func Left(dir string) string { return layout.Left(dir) }

// ExamineAfter says how long a database that is as its last server left it is in use before it is examined.
func ExamineAfter(o Options, after time.Duration) Options {
	o.examineAfter = after
	return o
}

// InUse reports whether a database was opened before it was examined.
func InUse(e *Engine) bool { return e.unexamined }

// Examined waits for the examination of a database in use. inUse tells whether there is one.
func Examined(e *Engine) (inUse bool) {
	<-e.looked
	return e.unexamined
}

// Stamp is the stamp of the newest tree, and the number of its transaction.
func Stamp(e *Engine) (stamp uint64, transaction int, err error) {
	err = e.db.View(func(tx *bbolt.Tx) error {
		stamp, transaction = layout.ReadStamp(tx), tx.ID()
		return nil
	})
	return stamp, transaction, err
}

// HoldPages keeps pages from being reused, and reports whether none are free. Call release before the engine is closed.
func HoldPages(e *Engine) (noneFree func() bool, release func() error, err error) {
	held, err := e.db.Begin(false)
	if err != nil {
		return nil, nil, err
	}
	return func() bool { return e.db.Stats().FreePageN == 0 }, held.Rollback, nil
}

// FailCommit commits a batch on a disk that refuses the meta page, which is written last. The commit's other pages are in the file, and
// are free. It returns the page of its root.
func FailCommit(e *Engine, b store.Batch) (root uint64, err error) {
	write := reflect.ValueOf(e.db).Elem().FieldByName("ops").FieldByName("writeAt")
	writeAt := (*func(b []byte, off int64) (int, error))(unsafe.Pointer(write.UnsafeAddr()))
	was := *writeAt
	defer func() { *writeAt = was }()
	*writeAt = func(page []byte, at int64) (int, error) {
		if at >= int64(2*e.open.pageSize) {
			return was(page, at)
		}
		if m, err := layout.ReadMeta(page[layout.PageHeader:], e.open.pageSize); err == nil {
			root = m.Root
		}
		return 0, syscall.ENOSPC
	}
	if _, err = e.Commit(context.Background(), b); err == nil || root == 0 {
		return 0, fmt.Errorf("the commit did not fail as it should: %w", err)
	}
	return root, nil
}

// PagesWritten is how often pages were written to the file: once a run of pages that belong together.
func PagesWritten(e *Engine) int64 {
	s := e.db.Stats().TxStats
	return s.GetWrite()
}
