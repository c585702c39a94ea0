package bolt

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt/layout"
	"github.com/alcove-memory/alcove/host/store/keycode"
)

func (e *Engine) floor(b store.BranchID) (layout.Trim, bool) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	t, ok := e.floors[b]
	return t, ok
}

func (e *Engine) checkFloors(l store.Lineage) error {
	e.mu.RLock()
	defer e.mu.RUnlock()
	if len(e.floors) == 0 {
		return nil
	}
	for _, s := range l {
		if t, ok := e.floors[s.Branch]; ok && !t.Keeps(s.At) {
			return &store.TrimmedError{Branch: s.Branch, Floor: t.Floor}
		}
	}
	return nil
}

// Trim drops old versions. It records the floor first, so that nobody reads versions that are being dropped. After an
// interruption, the next trim of the branch or the next Open completes it.
func (e *Engine) Trim(ctx context.Context, b store.BranchID, floor uint64, pins []uint64, keep ...store.Keep) error {
	if floor == 0 {
		return ctx.Err()
	}
	done, err := e.holds.BeginDrop()
	if err != nil {
		return err
	}
	defer done()
	e.building.Lock() // no overlay may copy versions that are being dropped
	defer e.building.Unlock()
	t, err := e.beginTrim(ctx, b, floor, pins, keep)
	if err == nil && !t.Done {
		err = e.finishTrim(ctx, b, t)
	}
	if err != nil {
		return fmt.Errorf("trim branch %d: %w", b, err)
	}
	return nil
}

// beginTrim returns the trim to execute: the last one if the floor is not above its floor.
func (e *Engine) beginTrim(ctx context.Context, b store.BranchID, floor uint64, pins []uint64, keep []store.Keep) (t layout.Trim, err error) {
	t.Keep = keep
	old, again := e.floor(b)
	if again && floor <= old.Floor.Version {
		return old, nil
	}
	if t.Floor, err = e.PointOf(ctx, floor); err != nil {
		return t, err
	}
	for _, pin := range pins {
		if pin < floor && (!again || old.Keeps(pin)) {
			t.Pins = append(t.Pins, pin)
		}
	}
	slices.Sort(t.Pins)
	if err := e.recordTrim(ctx, b, t); err != nil {
		return t, err
	}
	return t, e.reach(TrimRecorded)
}

func (e *Engine) finishTrim(ctx context.Context, b store.BranchID, t layout.Trim) error {
	if err := e.dropOld(b, t, func(work func(tx *bbolt.Tx) error) error { return e.update(ctx, work) }); err != nil {
		return err
	}
	t.Done = true
	e.mu.Lock()
	defer e.mu.Unlock()
	e.floors[b] = t
	return nil
}

// recordTrim records the floor, and drops the overlays with versions below it.
func (e *Engine) recordTrim(ctx context.Context, b store.BranchID, t layout.Trim) error {
	forgotten := e.forgetOverlays(func(o *overlay) bool { return o.run.Has(b) })
	err := e.update(ctx, func(tx *bbolt.Tx) error {
		branch, err := layout.MakeBranch(tx, b)
		if err != nil {
			return err
		}
		return errors.Join(t.Write(layout.InBranch(branch, b, layout.KindTrim)), eraseOverlays(tx, forgotten))
	})
	if err != nil {
		e.recallOverlays(forgotten)
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.floors[b] = t
	return nil
}

// finishTrims completes trims that a crash interrupted. It runs before the writer starts.
func (e *Engine) finishTrims(ctx context.Context) error {
	for b, t := range e.floors {
		if t.Done {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		update := func(work func(tx *bbolt.Tx) error) error { return e.db.Update(e.stamped(work)) }
		if err := e.dropOld(b, t, update); err != nil {
			return fmt.Errorf("finish trimming branch %d: %w", b, err)
		}
		t.Done = true
		e.floors[b] = t
	}
	return nil
}

// dropOld drops, in chunks, the versions that a trim does not retain.
func (e *Engine) dropOld(b store.BranchID, t layout.Trim, update func(func(tx *bbolt.Tx) error) error) error {
	for resume := []byte{}; resume != nil; {
		err := update(func(tx *bbolt.Tx) (err error) {
			branch := layout.Branch(tx, b)
			if branch == nil {
				resume = nil
				return nil
			}
			resume, err = dropEntries(t, branch, b, resume, e.options.chunk)
			return err
		})
		if err == nil {
			err = e.reach(TrimEntries)
		}
		if err != nil {
			return err
		}
	}
	for more := true; more; {
		err := update(func(tx *bbolt.Tx) (err error) {
			branch := layout.Branch(tx, b)
			if branch == nil {
				more = false
				return nil
			}
			if more, err = dropLog(t, layout.InBranch(branch, b, layout.KindLog), e.options.chunk); err == nil && !more {
				err = layout.FinishTrim(layout.InBranch(branch, b, layout.KindTrim))
			}
			return err
		})
		if err == nil {
			err = e.reach(TrimLog)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// dropEntries processes about limit entries from a key on, and returns the next key; nil at the end.
func dropEntries(t layout.Trim, branch *bbolt.Bucket, b store.BranchID, resume []byte, limit int) ([]byte, error) {
	entries, values := layout.InBranch(branch, b, layout.KindEntries), layout.InBranch(branch, b, layout.KindValues)
	var drop [][]byte
	var raw []byte
	newer := uint64(0)   // the next newer version of the same key
	seen, nth := 0, 0    // entries processed, and newer versions of the key
	var namespace string // the key's
	c := entries.Cursor()
	key, _ := c.Seek(resume)
	for ; key != nil; key, _ = c.Next() {
		own, version, err := keycode.SplitVersion(key)
		if err != nil {
			return nil, err
		}
		if !bytes.Equal(own, raw) {
			if seen >= limit {
				break
			}
			raw, newer, nth = bytes.Clone(own), store.Latest, 0
			before, _, _ := bytes.Cut(own, []byte{0})
			namespace = string(before)
		}
		if !t.Needs(version, newer) && !store.Keeps(t.Keep, namespace, version, nth) {
			drop = append(drop, bytes.Clone(key))
		}
		newer = version
		seen, nth = seen+1, nth+1
	}
	next := bytes.Clone(key)
	for _, old := range drop {
		if err := errors.Join(entries.Remove(old), values.Remove(old)); err != nil {
			return nil, err
		}
	}
	return next, nil
}

func dropLog(t layout.Trim, log layout.Records, limit int) (more bool, err error) {
	var drop [][]byte
	c := log.Cursor()
	for key, _ := c.First(); key != nil && layout.ChangeVersion(key) <= t.Floor.Version; key, _ = c.Next() {
		if len(drop) == limit {
			more = true
			break
		}
		drop = append(drop, bytes.Clone(key))
	}
	for _, key := range drop {
		if err := log.Remove(key); err != nil {
			return false, err
		}
	}
	return more, nil
}

// Reclaim erases a branch and the overlays with its entries, in one transaction.
func (e *Engine) Reclaim(ctx context.Context, b store.BranchID) error {
	done, err := e.holds.BeginDrop()
	if err != nil {
		return err
	}
	defer done()
	e.building.Lock()
	defer e.building.Unlock()
	forgotten := e.forgetOverlays(func(o *overlay) bool { return o.run.Has(b) })
	err = e.reach(BranchForgotten)
	if err == nil {
		err = e.update(ctx, func(tx *bbolt.Tx) error { return eraseBranch(tx, b, forgotten) })
	}
	if err != nil {
		e.recallOverlays(forgotten)
		return fmt.Errorf("reclaim branch %d: %w", b, err)
	}
	e.passed(BranchErased)
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.floors, b)
	return nil
}

func eraseBranch(tx *bbolt.Tx, b store.BranchID, overlays []*overlay) error {
	err := layout.Branches(tx).DeleteBucket(layout.U64(uint64(b)))
	if errors.Is(err, bolterrors.ErrBucketNotFound) {
		err = nil
	}
	return errors.Join(err, eraseOverlays(tx, overlays))
}
