package bolt

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"go.etcd.io/bbolt"

	"github.com/alcove-memory/alcove/host/durable"
	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt/layout"
	"github.com/alcove-memory/alcove/host/store/keycode"
)

const (
	movingFolder = "moving" // of a data directory: the copy of a space that is being moved there
)

var (
	_ store.Movable = Driver{}
	_ store.Placing = Driver{}
	_ store.Staged  = (*stagedCopy)(nil)
)

// staged is what a loader of a staged copy knows. On a nil one nothing was done before.
type staged struct {
	dir     string          // the data directory
	digests map[string]bool // of blobs that were verified
	settled uint64          // the newest version of the dumps before
	replace bool            // pages may have bytes that a later dump replaced
	memos   []store.Memo    // to be written
}

// dumpedAnew reports whether a dump has all entries of a branch that an earlier one had.
func (s *staged) dumpedAnew(dumps int, b store.BranchState) bool {
	return s != nil && dumps > 1 && (s.settled == 0 || b.Floor.Version > s.settled)
}

// dropEntriesOf drops the entries of a branch.
func dropEntriesOf(tx *bbolt.Tx, id store.BranchID) error {
	branch, err := layout.MakeBranch(tx, id)
	if err != nil {
		return err
	}
	for _, kind := range []layout.Kind{layout.KindEntries, layout.KindValues, layout.KindLog} {
		_, made := branch.CreateBucketIfNotExists(kind.Bucket())
		if err := errors.Join(made, branch.DeleteBucket(kind.Bucket())); err != nil {
			return err
		}
	}
	_, err = layout.MakeBranch(tx, id)
	return err
}

// checked reports whether a blob was verified already, as it is from now on.
func (s *staged) checked(b store.Blob) bool {
	if s == nil {
		return false
	}
	done := s.digests[b.Digest]
	s.digests[b.Digest] = true
	return done
}

// replaces notes that a dump has a version that an earlier one had.
func (l *loader) replaces(version uint64) {
	if l.staged != nil && version <= l.staged.settled {
		l.staged.replace = true
	}
}

// stagedCopy is a store.Staged.
type stagedCopy struct{ *loader }

// Stage implements store.Movable.
func (d Driver) Stage(_ context.Context, dir, _ string) (store.Staged, error) {
	made := filepath.Join(dir, movingFolder)
	if err := os.RemoveAll(made); err != nil {
		return nil, fmt.Errorf("copy into %s: %w", dir, err)
	}
	l, err := newLoader(made)
	if err != nil {
		return nil, err
	}
	l.staged = &staged{dir: dir, digests: map[string]bool{}}
	return stagedCopy{l}, nil
}

// Remember implements store.Staged.
func (c stagedCopy) Remember(m store.Memo) error {
	if c.staged.memos = append(c.staged.memos, m); len(c.staged.memos) < loadPieces {
		return nil
	}
	return c.writeMemos()
}

func (c stagedCopy) writeMemos() error {
	err := c.db.Update(func(tx *bbolt.Tx) error {
		for _, m := range c.staged.memos {
			if err := c.writeMemo(tx, m); err != nil {
				return err
			}
		}
		return nil
	})
	c.staged.memos = nil
	return err
}

func (c stagedCopy) writeMemo(tx *bbolt.Tx, m store.Memo) error {
	switch {
	case m.Request != nil:
		return rememberRequest(tx, *m.Request)
	case m.Purged != nil && m.Purged.Note:
		return layout.InSpace(tx, layout.KindPurged).Write(layout.PurgedNote(m.Purged.Version), layout.U64(c.head))
	case m.Purged != nil:
		key := keycode.Version(keycode.Encode(m.Purged.Key), m.Purged.Version)
		return layout.InSpace(tx, layout.KindPurged).Write(append(layout.U64(uint64(m.Purged.Branch)), key...), layout.U64(c.head))
	case m.Backup != nil:
		data, err := json.Marshal(m.Backup)
		return errors.Join(err, layout.InSpace(tx, layout.KindMeta).Write(keyBackup, data))
	}
	return errors.New("a memo is empty")
}

func rememberRequest(tx *bbolt.Tx, r store.Requested) error {
	key := layout.MovedRequestKey(r.Key)
	data, err := json.Marshal(layout.Request{Digest: r.Digest[:], Version: r.Version, Micros: r.Time.UnixMicro(), Sequences: r.Sequences})
	return errors.Join(err, layout.InSpace(tx, layout.KindRequests).Write(key, data),
		layout.InSpace(tx, layout.KindAges).Write(layout.AgeKey(r.Time.UnixMicro(), key), nil))
}

// PutDocument implements store.Staged: documents are files of the directory.
func (stagedCopy) PutDocument(context.Context, store.Document) (uint64, error) { return 0, nil }

// Sync implements store.Staged.
func (c stagedCopy) Sync(ctx context.Context) error {
	err := c.flush()
	if err == nil {
		err = c.writeMemos()
	}
	if err == nil {
		err = c.trim()
	}
	if err == nil {
		err = c.finishBlobs()
	}
	if err == nil && c.history != nil {
		err = c.db.Update(func(tx *bbolt.Tx) error { return layout.WriteHistory(tx, c.history, c.head) })
	}
	if err == nil && c.staged.replace {
		err = c.compact()
		c.staged.replace = err != nil
	}
	if err == nil {
		err = c.db.Sync()
	}
	c.staged.settled = c.head
	if err != nil {
		return fmt.Errorf("copy: %w", diskError(err))
	}
	return ctx.Err()
}

// engine reads what was settled.
func (c stagedCopy) engine() *Engine { return &Engine{db: c.db, dir: c.dir} }

// Dump implements store.Staged.
func (c stagedCopy) Dump(ctx context.Context, since, at uint64, yield func(store.Piece) error) error {
	return c.engine().Dump(ctx, since, at, yield)
}

// Memos implements store.Staged.
func (c stagedCopy) Memos(ctx context.Context, since store.Point, yield func(store.Memo) error) error {
	return c.engine().Memos(ctx, since, yield)
}

// Stored implements store.Staged.
func (c stagedCopy) Stored(ctx context.Context) ([]store.Blob, error) {
	return c.engine().Blobs(ctx, "")
}

// Close implements store.Staged.
func (c stagedCopy) Close() error {
	if c.db == nil {
		return nil
	}
	err := errors.Join(c.closeBlob(), c.db.Sync(), c.db.Close())
	c.loader.db = nil
	if err == nil {
		err = os.Rename(c.path(), layout.Database(c.dir))
	}
	if err == nil {
		err = durable.SyncDir(c.dir)
	}
	return err
}

// Place implements store.Staged.
func (c stagedCopy) Place(context.Context) error {
	if err := c.Close(); err != nil {
		return err
	}
	return Driver{}.PlaceStaged(c.staged.dir)
}

// Abort implements store.Staged.
func (c stagedCopy) Abort() error {
	if c.db == nil {
		return nil
	}
	return errors.Join(c.loader.Abort(), os.RemoveAll(c.dir))
}

// PlaceStaged implements store.Placing. After a crash it goes on. A database that was moved away before makes room.
func (d Driver) PlaceStaged(dir string) error {
	made := filepath.Join(dir, movingFolder)
	there, err := d.Exists(made)
	if err != nil || !there { // it is in its place already
		return errors.Join(err, os.RemoveAll(made))
	}
	for _, path := range []string{layout.Left(dir), layout.Running(dir)} { // they are about another file
		if err := os.RemoveAll(path); err != nil {
			return err
		}
	}
	if err := d.move(made, dir); err != nil {
		return err
	}
	return os.RemoveAll(made)
}

// DropStaged implements store.Placing.
func (Driver) DropStaged(dir string) error { return os.RemoveAll(filepath.Join(dir, movingFolder)) }

// Remove implements store.Movable. The database goes first: without it there is no space.
func (d Driver) Remove(_ context.Context, dir string) error {
	for _, path := range []string{layout.Database(dir), layout.Left(dir), layout.Running(dir), layout.Blobs(dir), filepath.Join(dir, movingFolder)} {
		if err := os.RemoveAll(path); err != nil {
			return fmt.Errorf("remove the store that was moved away: %w", err)
		}
	}
	return durable.SyncDir(dir)
}
