package bolt

import (
	"bytes"
	"context"
	"errors"
	"time"

	"go.etcd.io/bbolt"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt/layout"
)

// Purge replaces those versions of a key, on all branches, that replace picks, and erases what they were. It returns them.
func (e *Engine) Purge(ctx context.Context, key store.Key, replace func(store.Entry) (value []byte, purge bool)) (purged []store.Entry, err error) {
	var list []store.Replacement
	err = e.read(ctx, func(tx *bbolt.Tx) error {
		r, raw := newReader(tx), layout.EncodeKey(key)
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

// TurnWait is how long a dump lets commits go first.
const TurnWait = commitWait

// WithChunk says how many entries are copied or dropped in one transaction; 0: as many as in use.
func WithChunk(o Options, entries int) Options {
	o.chunk = entries
	return o
}

// WithMigration adds a migration of an older format whose records are those of this one.
func WithMigration(o Options, from uint64) Options {
	o.migrations = map[uint64]migration{from: copyAll}
	return o
}

func copyAll(c copying) error {
	same := func(key, value []byte) (row, error) { return row{key: key, data: value}, nil }
	for _, k := range layout.SpaceKinds() {
		err := c.copy(c.from.Bucket(k.Bucket()), func(key, value []byte) (row, error) {
			if k == layout.KindMeta && (bytes.Equal(key, layout.KeyFormat) || bytes.Equal(key, layout.KeyLayout)) {
				return row{}, nil
			}
			return same(key, value)
		}, func(tx *bbolt.Tx, rows []row) error { return insertAll(layout.InSpace(tx, k), rows) })
		if err != nil {
			return err
		}
	}
	branches := layout.Branches(c.from)
	return branches.ForEachBucket(func(id []byte) error {
		b := store.BranchID(layout.FromU64(id))
		var failed error
		for _, k := range layout.BranchKinds() {
			failed = errors.Join(failed, c.copy(branches.Bucket(id).Bucket(k.Bucket()), same, func(tx *bbolt.Tx, rows []row) error {
				to, err := layout.MakeBranch(tx, b)
				if err != nil {
					return err
				}
				return insertAll(layout.InBranch(to, b, k), rows)
			}))
		}
		return failed
	})
}
