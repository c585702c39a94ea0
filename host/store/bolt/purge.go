package bolt

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"go.etcd.io/bbolt"

	"github.com/alcove-memory/alcove/host/store"
)

// keyErase is set while bytes of purged values may still be in unused parts of the file.
var keyErase = []byte("erase")

var _ store.Purger = (*Engine)(nil)

// Purge replaces values of a key, on all branches, and then erases what they were from the file.
func (e *Engine) Purge(ctx context.Context, key store.Key, replace func(store.Entry) (value []byte, purge bool)) (purged []store.Entry, err error) {
	e.building.Lock() // no overlay is copied from what is being replaced
	defer e.building.Unlock()
	found, err := e.holders(ctx, key)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	forgotten := e.forgetOverlays(func(o *overlay) bool {
		for b := range found {
			if o.run.Has(b) {
				return true
			}
		}
		return false
	})
	err = e.update(ctx, func(tx *bbolt.Tx) error {
		purged, err = e.replaceValues(tx, found, key, replace)
		if err != nil || len(purged) == 0 {
			return err
		}
		return errors.Join(eraseOverlays(tx, forgotten), top(tx, kindMeta).put(keyErase, []byte{1}))
	})
	if err != nil || len(purged) == 0 {
		e.recallOverlays(forgotten)
		return nil, err
	}
	e.passed(PurgeRewritten)
	if err := e.do(&job{ctx: context.WithoutCancel(ctx), alone: e.erase}); err != nil {
		return purged, fmt.Errorf("purge %s: its values are replaced, but their bytes may still be in the file until it is compacted: %w", key, err)
	}
	return purged, nil
}

// holders are the branches that have versions of a key.
func (e *Engine) holders(ctx context.Context, key store.Key) (map[store.BranchID]bool, error) {
	found, raw := map[store.BranchID]bool{}, encodeKey(key)
	err := e.read(ctx, func(tx *bbolt.Tx) error {
		branches := tx.Bucket(bucketBranches)
		return branches.ForEachBucket(func(id []byte) error {
			if first, _ := branches.Bucket(id).Bucket(bucketEntries).Cursor().Seek(raw); isVersionOf(first, raw) {
				found[store.BranchID(fromU64(id))] = true
			}
			return nil
		})
	})
	return found, err
}

func (e *Engine) replaceValues(tx *bbolt.Tx, on map[store.BranchID]bool, key store.Key, replace func(store.Entry) ([]byte, bool)) (purged []store.Entry, err error) {
	r, raw := newReader(tx), encodeKey(key)
	for b := range on {
		branch := tx.Bucket(bucketBranches).Bucket(u64(uint64(b)))
		if branch == nil {
			continue
		}
		var versions []store.Entry
		c := branch.Bucket(bucketEntries).Cursor()
		for k, v := c.Seek(raw); isVersionOf(k, raw); k, v = c.Next() {
			found, err := r.decode(k, v)
			if err != nil {
				return nil, err
			}
			versions = append(versions, found)
		}
		for _, was := range versions {
			value, purge := replace(was)
			if !purge {
				continue
			}
			if err := e.replaceValue(tx, branch, was, value); err != nil {
				return nil, err
			}
			purged = append(purged, was)
		}
	}
	return purged, nil
}

func (e *Engine) replaceValue(tx *bbolt.Tx, branch *bbolt.Bucket, was store.Entry, value []byte) error {
	if len(value) > largeValue {
		return fmt.Errorf("what replaces %s has %d bytes: at most %d are allowed", was.Key, len(value), largeValue)
	}
	key := atVersion(encodeKey(was.Key), was.Version)
	r, _ := newRecord(was.Branch, key, was.Point, value, false)
	return errors.Join(
		of(branch, was.Branch, kindValues).remove(key),
		of(branch, was.Branch, kindEntries).replace(key, r.encode(key)),
		top(tx, kindPurged).put(append(u64(uint64(was.Branch)), key...), u64(e.head.Version)))
}

// erase runs in the writer's turn.
func (e *Engine) erase() error {
	if err := e.compact(); err != nil {
		return err
	}
	return e.transact(func(tx *bbolt.Tx) error { return top(tx, kindMeta).remove(keyErase) })
}

// finishPurge erases what a crash left of purged values. It runs before the writer does.
func (e *Engine) finishPurge() error {
	pending := false
	err := e.db.View(func(tx *bbolt.Tx) error {
		mark, err := top(tx, kindMeta).get(keyErase)
		pending = mark != nil
		return err
	})
	if err != nil || !pending {
		return err
	}
	return e.erase()
}

// readPurged are the entries whose values were purged, as encoded keys with versions, by branch.
func readPurged(tx *bbolt.Tx) (map[store.BranchID][][]byte, error) {
	purged := map[store.BranchID][][]byte{}
	r := top(tx, kindPurged)
	c := r.Cursor()
	for at, data := c.First(); at != nil; at, data = c.Next() {
		if _, err := r.open(at, data); err != nil || len(at) <= 8 {
			return nil, fmt.Errorf("read what was purged: %q: %w", at, errRot)
		}
		id := store.BranchID(fromU64(at[:8]))
		purged[id] = append(purged[id], bytes.Clone(at[8:]))
	}
	return purged, nil
}
