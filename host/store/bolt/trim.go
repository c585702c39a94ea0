package bolt

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/alcove-memory/alcove/host/store"
)

// trimmed is how far back a branch is kept.
type trimmed struct {
	floor store.Point
	pins  []uint64 // versions below the floor that are kept too, ascending
	keep  []store.Keep
	done  bool // what is not kept has been dropped
}

var (
	keyFloor = []byte("floor") // version, then its instant in µs
	keyPins  = []byte("pins")
	keyKeep  = []byte("keep") // JSON; missing where there is none
	keyDone  = []byte("done")

	// The same again: nothing else tells what a damaged one said, and without it branches that were forked below the floor
	// cannot be read.
	keyFloorAgain = []byte("floor again")
	keyPinsAgain  = []byte("pins again")
	keyKeepAgain  = []byte("keep again")
)

func readTrim(branch *bbolt.Bucket, id store.BranchID) (t trimmed, ok bool, err error) {
	r := of(branch, id, kindTrim)
	if r.Bucket == nil {
		return t, false, nil
	}
	floor, errFloor := r.get(keyFloor)
	pins, errPins := r.get(keyPins)
	done, errDone := r.get(keyDone)
	keep, errKeep := r.get(keyKeep)
	if err := errors.Join(errFloor, errPins, errDone, errKeep); err != nil {
		return t, false, fmt.Errorf("read how far back branch %d is kept: %w", id, err)
	}
	t, ok = decodeTrim(floor, pins)
	t.done = done != nil
	if keep != nil {
		if err := json.Unmarshal(keep, &t.keep); err != nil {
			return t, false, fmt.Errorf("read what branch %d keeps: %w: %w", id, store.ErrDamaged, err)
		}
	}
	return t, ok, nil
}

func decodeTrim(floor, pins []byte) (t trimmed, ok bool) {
	if len(floor) != 16 {
		return t, false
	}
	t.floor = point(floor[:8], floor[8:])
	for ; len(pins) >= 8; pins = pins[8:] {
		t.pins = append(t.pins, fromU64(pins[:8]))
	}
	return t, true
}

func (t trimmed) write(r records) error {
	var pins []byte
	for _, pin := range t.pins {
		pins = append(pins, u64(pin)...)
	}
	floor := append(u64(t.floor.Version), u64(uint64(t.floor.Time.UnixMicro()))...)
	err := errors.Join(r.put(keyFloor, floor), r.put(keyPins, pins), r.remove(keyDone), r.put(keyFloorAgain, floor), r.put(keyPinsAgain, pins))
	if err != nil || len(t.keep) == 0 {
		return errors.Join(err, r.remove(keyKeep), r.remove(keyKeepAgain))
	}
	keep, err := json.Marshal(t.keep)
	return errors.Join(err, r.put(keyKeep, keep), r.put(keyKeepAgain, keep))
}

// keeps reports whether a cut of the branch can still be read.
func (t trimmed) keeps(at uint64) bool {
	_, pinned := slices.BinarySearch(t.pins, at)
	return at >= t.floor.Version || pinned
}

func (e *Engine) floor(b store.BranchID) (trimmed, bool) {
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
		if t, ok := e.floors[s.Branch]; ok && !t.keeps(s.At) {
			return &store.TrimmedError{Branch: s.Branch, Floor: t.floor}
		}
	}
	return nil
}

// Trim drops old versions. The floor is made known first, so that nobody reads what is being dropped. What an
// interruption leaves is dropped when the branch is trimmed again, or the store is next opened.
func (e *Engine) Trim(ctx context.Context, b store.BranchID, floor uint64, pins []uint64, keep ...store.Keep) error {
	if floor == 0 {
		return ctx.Err()
	}
	done, err := e.hold.drop()
	if err != nil {
		return err
	}
	defer done()
	e.building.Lock() // no overlay is copied from what is being dropped
	defer e.building.Unlock()
	t, err := e.beginTrim(ctx, b, floor, pins, keep)
	if err == nil && !t.done {
		err = e.finishTrim(ctx, b, t)
	}
	if err != nil {
		return fmt.Errorf("trim branch %d: %w", b, err)
	}
	return nil
}

// beginTrim is the trim to carry out: the last one, when the floor is not above its.
func (e *Engine) beginTrim(ctx context.Context, b store.BranchID, floor uint64, pins []uint64, keep []store.Keep) (t trimmed, err error) {
	t.keep = keep
	old, again := e.floor(b)
	if again && floor <= old.floor.Version {
		return old, nil
	}
	if t.floor, err = e.PointOf(ctx, floor); err != nil {
		return t, err
	}
	for _, pin := range pins {
		if pin < floor && (!again || old.keeps(pin)) {
			t.pins = append(t.pins, pin)
		}
	}
	slices.Sort(t.pins)
	if err := e.recordTrim(ctx, b, t); err != nil {
		return t, err
	}
	return t, e.reach(TrimRecorded)
}

func (e *Engine) finishTrim(ctx context.Context, b store.BranchID, t trimmed) error {
	if err := e.dropOld(b, t, func(work func(tx *bbolt.Tx) error) error { return e.update(ctx, work) }); err != nil {
		return err
	}
	t.done = true
	e.mu.Lock()
	defer e.mu.Unlock()
	e.floors[b] = t
	return nil
}

// recordTrim makes the floor known, and drops the overlays that hold what is below it.
func (e *Engine) recordTrim(ctx context.Context, b store.BranchID, t trimmed) error {
	forgotten := e.forgetOverlays(func(o *overlay) bool { return o.run.Has(b) })
	err := e.update(ctx, func(tx *bbolt.Tx) error {
		branch, err := branchBucket(tx, b)
		if err != nil {
			return err
		}
		return errors.Join(t.write(of(branch, b, kindTrim)), eraseOverlays(tx, forgotten))
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

// finishTrims goes on with what a crash interrupted. It runs before the writer does.
func (e *Engine) finishTrims(ctx context.Context) error {
	for b, t := range e.floors {
		if t.done {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := e.dropOld(b, t, e.db.Update); err != nil {
			return fmt.Errorf("finish trimming branch %d: %w", b, err)
		}
		t.done = true
		e.floors[b] = t
	}
	return nil
}

// dropOld drops, a chunk at a time, what a trim does not keep.
func (e *Engine) dropOld(b store.BranchID, t trimmed, update func(func(tx *bbolt.Tx) error) error) error {
	for resume := []byte{}; resume != nil; {
		err := update(func(tx *bbolt.Tx) (err error) {
			branch := tx.Bucket(bucketBranches).Bucket(u64(uint64(b)))
			if branch == nil {
				resume = nil
				return nil
			}
			resume, err = t.dropEntries(branch, b, resume)
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
			branch := tx.Bucket(bucketBranches).Bucket(u64(uint64(b)))
			if branch == nil {
				more = false
				return nil
			}
			if more, err = t.dropLog(of(branch, b, kindLog)); err == nil && !more {
				err = of(branch, b, kindTrim).put(keyDone, []byte{1})
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

// dropEntries drops versions of about copyChunk entries from a key on, and returns where to go on.
func (t trimmed) dropEntries(branch *bbolt.Bucket, b store.BranchID, resume []byte) ([]byte, error) {
	entries, values := of(branch, b, kindEntries), of(branch, b, kindValues)
	var drop [][]byte
	var raw []byte
	newer := uint64(0)   // the next newer version of the same key
	seen, nth := 0, 0    // of all, and how many of the key are newer
	var namespace string // of the key
	c := entries.Cursor()
	key, _ := c.Seek(resume)
	for ; key != nil; key, _ = c.Next() {
		own, version, err := splitVersion(key)
		if err != nil {
			return nil, err
		}
		if !bytes.Equal(own, raw) {
			if seen >= copyChunk {
				break
			}
			raw, newer, nth = bytes.Clone(own), store.Latest, 0
			before, _, _ := bytes.Cut(own, []byte{0})
			namespace = string(before)
		}
		if !t.needs(version, newer) && !store.Keeps(t.keep, namespace, version, nth) {
			drop = append(drop, bytes.Clone(key))
		}
		newer = version
		seen, nth = seen+1, nth+1
	}
	next := bytes.Clone(key)
	for _, old := range drop {
		if err := errors.Join(entries.remove(old), values.remove(old)); err != nil {
			return nil, err
		}
	}
	return next, nil
}

// needs reports whether somebody can still see a version, given the next newer one of the same key.
func (t trimmed) needs(version, newer uint64) bool {
	if newer > t.floor.Version {
		return true // visible at the floor or above
	}
	return slices.ContainsFunc(t.pins, func(pin uint64) bool { return version <= pin && pin < newer })
}

func (t trimmed) dropLog(log records) (more bool, err error) {
	var drop [][]byte
	c := log.Cursor()
	for key, _ := c.First(); key != nil && changedAt(key) <= t.floor.Version; key, _ = c.Next() {
		if len(drop) == copyChunk {
			more = true
			break
		}
		drop = append(drop, bytes.Clone(key))
	}
	for _, key := range drop {
		if err := log.remove(key); err != nil {
			return false, err
		}
	}
	return more, nil
}

// Reclaim erases a branch, and the overlays that hold entries of it, at once.
func (e *Engine) Reclaim(ctx context.Context, b store.BranchID) error {
	done, err := e.hold.drop()
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
	err := tx.Bucket(bucketBranches).DeleteBucket(u64(uint64(b)))
	if errors.Is(err, bolterrors.ErrBucketNotFound) {
		err = nil
	}
	return errors.Join(err, eraseOverlays(tx, overlays))
}
