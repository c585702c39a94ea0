package salvage

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"

	"go.etcd.io/bbolt"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt/layout"
	"github.com/alcove-memory/alcove/host/store/keycode"
)

// rebuilder copies what is intact in a damaged file into a new one.
type rebuilder struct {
	*survey
	ctx      context.Context
	to       *bbolt.DB
	r        *store.Repaired
	aside    []aside                 // set aside so far
	lacking  map[string]missingValue // by branch and key
	keeps    func(blob store.Blob) bool
	branches []store.BranchID
	lost     []error                 // faults of the meta pages
	partial  map[store.BranchID]bool // whether the change log of a branch is incomplete
	floors   map[store.BranchID]int  // how reliable the floor of a branch is
	again    bool                    // a branch was found while orphans were read
	untold   bool                    // points are damaged, whose tails the change logs may lack
}

// missingValue is an entry whose large value was not found where it must be.
type missingValue struct {
	key, data []byte
	sum       []byte // of the value
}

func rebuildTo(ctx context.Context, path string, p *pages, keeps func(store.Blob) bool, r *store.Repaired) error {
	to, err := layout.Create(path)
	if err != nil {
		return err
	}
	if err = to.Update(layout.MakeBuckets); err == nil {
		b := &rebuilder{survey: p.as(p.meta), ctx: ctx, to: to, r: r, keeps: keeps, lacking: map[string]missingValue{}, partial: map[store.BranchID]bool{}, floors: map[store.BranchID]int{}, lost: p.metaFaults}
		b.search = true
		err = b.run()
	}
	if err == nil {
		err = to.Sync()
	}
	return errors.Join(err, to.Close())
}

func (b *rebuilder) run() error {
	steps := []func() error{b.instants, b.eachPart, b.others, b.tails, b.adoptEvidence, b.adoptEntries, b.values, b.raiseFloors, b.reachFloors, b.reconcile, b.timeline, b.history, b.reportAside}
	for _, step := range steps {
		if err := errors.Join(b.ctx.Err(), step()); err != nil {
			return err
		}
	}
	return nil
}

// copy calls put with the records of a bucket, a chunk in a transaction. A record that is damaged, or for which put returns errAside,
// is set aside.
func (b *rebuilder) copy(id store.BranchID, from bucket, k layout.Kind, put func(tx *bbolt.Tx, e Element) error) error {
	var chunk []Element
	var failed error
	size, p := 0, layout.TableOf(k, uint64(id))
	flush := func() {
		if failed = errors.Join(failed, b.ctx.Err()); failed != nil {
			return
		}
		failed = b.to.Update(func(tx *bbolt.Tx) error {
			for _, e := range chunk {
				if err := put(tx, e); errors.Is(err, errAside) {
					b.setAside(newAside(id, k, e.Key, e.Value, err))
				} else if err != nil {
					return err
				}
			}
			return nil
		})
		chunk, size = chunk[:0], 0
	}
	b.records("", from, p, func(e Element, err error) {
		if err != nil {
			b.setAside(newAside(id, k, e.Key, e.Value, err))
			return
		}
		chunk = append(chunk, Element{Key: bytes.Clone(e.Key), Value: bytes.Clone(e.Value)})
		if size += len(e.Key) + len(e.Value); len(chunk) >= chunkRecords || size >= chunkBytes {
			flush()
		}
	})
	flush()
	return failed
}

// errAside marks a record that is intact and cannot be used.
var errAside = errors.New("cannot be used")

func (b *rebuilder) setAside(a aside) {
	if len(b.aside) < maxAside {
		b.aside = append(b.aside, a)
	}
}

// copyAll copies intact records unchanged.
func (b *rebuilder) copyAll(id store.BranchID, from bucket, k layout.Kind, to func(tx *bbolt.Tx) (layout.Records, error)) error {
	return b.copy(id, from, k, func(tx *bbolt.Tx, e Element) error {
		r, err := to(tx)
		if err != nil {
			return err
		}
		return r.WriteSealed(e.Key, e.Value)
	})
}

func (b *rebuilder) others() error {
	for _, k := range []layout.Kind{layout.KindRequests, layout.KindAges, layout.KindPurged} {
		if err := b.copyAll(0, b.top[k], k, func(tx *bbolt.Tx) (layout.Records, error) { return layout.InSpace(tx, k), nil }); err != nil {
			return err
		}
	}
	blobs := layout.TableOf(layout.KindBlobs, 0)
	return b.copy(0, b.top[layout.KindBlobs], layout.KindBlobs, func(tx *bbolt.Tx, e Element) error {
		if blob, err := blobs.Blob(e.Key, e.Value); err != nil || !b.keeps(blob) {
			return nil // it will be rebuilt
		}
		return layout.InSpace(tx, layout.KindBlobs).WriteSealed(e.Key, e.Value)
	})
}

// instants copies the points from both of their indexes.
func (b *rebuilder) instants() error {
	times, points := layout.TableOf(layout.KindTime, 0), layout.TableOf(layout.KindPoints, 0)
	err := b.copy(0, b.top[layout.KindTime], layout.KindTime, func(tx *bbolt.Tx, e Element) error {
		version, err := times.Open(e.Key, e.Value)
		return errors.Join(err, layout.InSpace(tx, layout.KindPoints).Write(version, e.Key))
	})
	before := len(b.faults) + b.more
	defer func() { b.untold = len(b.faults)+b.more > before }()
	return errors.Join(err, b.copy(0, b.top[layout.KindPoints], layout.KindPoints, func(tx *bbolt.Tx, e Element) error {
		value, err := points.Open(e.Key, e.Value)
		if micros, _ := layout.SplitPoint(value); err != nil || len(e.Key) != keycode.VersionSize || micros == nil {
			return fmt.Errorf("it %w: it is not a point", errAside)
		}
		return layout.InSpace(tx, layout.KindPoints).WriteSealed(e.Key, e.Value)
	}))
}

// tails moves the tails of points to the buckets that they are for, which may have them from elsewhere.
func (b *rebuilder) tails() error {
	return b.to.Update(func(tx *bbolt.Tx) error {
		list, err := layout.Tails(tx, 0)
		if err != nil {
			return err
		}
		for i := range list {
			list[i].Own()
		}
		for _, p := range list {
			if err := restoreTail(tx, p); err != nil {
				return err
			}
		}
		return nil
	})
}

func restoreTail(tx *bbolt.Tx, p layout.Tailed) error {
	for _, c := range p.Changes {
		branch := layout.Branch(tx, c.Branch)
		if branch == nil {
			continue // it was reported
		}
		change, deleted := layout.EncodeChange(c.Raw, p.Version, c.Deleted)
		if err := layout.InBranch(branch, c.Branch, layout.KindLog).Write(change, deleted); err != nil {
			return err
		}
	}
	if p.Request != nil {
		err := errors.Join(layout.InSpace(tx, layout.KindRequests).Write(p.Request, p.Outcome),
			layout.InSpace(tx, layout.KindAges).Write(layout.AgeKey(p.Time.UnixMicro(), p.Request), nil))
		if err != nil {
			return err
		}
	}
	return layout.InSpace(tx, layout.KindPoints).Write(layout.U64(p.Version), layout.EncodePoint(p.Point, p.Note))
}

// instantOf reads the instant of a version, in µs, from the new file; nil where it is unknown.
func instantOf(tx *bbolt.Tx, version uint64) (micros []byte, err error) {
	value, err := layout.InSpace(tx, layout.KindPoints).Read(layout.U64(version))
	micros, _ = layout.SplitPoint(value)
	return micros, err
}

func (b *rebuilder) eachPart() error {
	var failed error
	b.eachBranch(func(from branch) {
		if failed == nil {
			b.branches = append(b.branches, from.id)
			failed = b.branch(from)
		}
	})
	return failed
}

func (b *rebuilder) branch(from branch) error {
	err := b.to.Update(func(tx *bbolt.Tx) error {
		_, err := layout.MakeBranch(tx, from.id)
		return err
	})
	if err != nil {
		return err
	}
	for _, k := range []layout.Kind{layout.KindValues, layout.KindTrim, layout.KindLog, layout.KindCounters, layout.KindCounted} {
		before := len(b.faults) + b.more
		err := b.copyAll(from.id, from.parts[k], k, func(tx *bbolt.Tx) (layout.Records, error) {
			to, err := layout.MakeBranch(tx, from.id)
			return layout.InBranch(to, from.id, k), err
		})
		if err != nil {
			return err
		}
		if k == layout.KindLog {
			b.partial[from.id] = b.untold || len(b.faults)+b.more > before
			if err := b.trim(from); err != nil {
				return err
			}
		}
	}
	return b.copy(from.id, from.parts[layout.KindEntries], layout.KindEntries, func(tx *bbolt.Tx, e Element) error {
		return b.entry(tx, from.id, e)
	})
}

// trim restores the trim of a branch, and notes how reliable its floor is.
func (b *rebuilder) trim(from branch) error {
	part, there := from.parts[layout.KindTrim]
	damaged := 0
	b.short = false
	b.records("", part, layout.TableOf(layout.KindTrim, uint64(from.id)), func(_ Element, err error) {
		if err != nil {
			damaged++
		}
	})
	b.floors[from.id] = floorSure
	switch {
	case !there:
		b.floors[from.id] = floorLost
	case b.short && damaged == 0: // its page may be outdated
		b.floors[from.id] = floorWrong
	}
	return b.to.Update(func(tx *bbolt.Tx) error {
		to, err := layout.MakeBranch(tx, from.id)
		if err != nil {
			return err
		}
		r := layout.InBranch(to, from.id, layout.KindTrim)
		hasFloor, err := layout.RestoreTrim(r)
		if damaged > 0 && !hasFloor {
			b.floors[from.id] = floorWrong
		}
		return err
	})
}

// A floor is reliable, or lost with its branch, or may be outdated.
const (
	floorSure = iota
	floorLost
	floorWrong
)

// raiseFloors raises unreliable floors to the newest version, so that no trimmed history is shown. A branch whose floor is lost counts
// as never trimmed, unless an orphan has a trim of it: each trim is copied with every commit.
func (b *rebuilder) raiseFloors() error {
	for id, state := range b.floors {
		if state != floorWrong {
			continue
		}
		err := b.to.Update(func(tx *bbolt.Tx) error {
			to, err := layout.MakeBranch(tx, id)
			if err != nil {
				return err
			}
			head, _ := layout.InSpace(tx, layout.KindPoints).Cursor().Last()
			at, err := instantOf(tx, layout.FromU64(head))
			b.setAside(newAside(id, layout.KindTrim, layout.KeyFloor, nil, fmt.Errorf("the floor of the branch is lost: its history begins at version %d", layout.FromU64(head))))
			return errors.Join(err, layout.Trim{Floor: layout.PointOf(bytes.Clone(head), bytes.Clone(at))}.Write(layout.InBranch(to, id, layout.KindTrim)))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// reachFloors adds the versions of floors above the newest version that is left: they were committed, and no dump has a floor that is
// still to come.
func (b *rebuilder) reachFloors() error {
	return b.to.Update(func(tx *bbolt.Tx) error {
		points := layout.InSpace(tx, layout.KindPoints)
		for _, id := range b.branches {
			t, trimmed, err := layout.ReadTrim(layout.Branch(tx, id), id)
			if err != nil || !trimmed {
				continue // an unreadable floor was set aside
			}
			if last, _ := points.Cursor().Last(); layout.FromU64(last) >= t.Floor.Version {
				continue
			}
			if err := points.Write(layout.U64(t.Floor.Version), layout.EncodePoint(t.Floor, nil)); err != nil {
				return err
			}
		}
		return nil
	})
}

// entry copies an entry. Its instant must be that of its version, unless the indexes have lost that.
func (b *rebuilder) entry(tx *bbolt.Tx, id store.BranchID, e Element) error {
	to, err := layout.MakeBranch(tx, id)
	if err != nil {
		return err
	}
	raw, version, err := keycode.SplitVersion(e.Key)
	if err == nil {
		_, err = keycode.Decode(raw)
	}
	if err != nil {
		return fmt.Errorf("it %w: %w", errAside, err)
	}
	rec, err := layout.SplitRecord(e.Value)
	if err != nil || rec.Branch != id {
		return fmt.Errorf("it %w here: it is of branch %d", errAside, rec.Branch)
	}
	if err := b.reconcileEntry(tx, to, id, raw, version, rec); err != nil {
		return err
	}
	if rec.Large() {
		if _, err := layout.OpenLarge(layout.TableOf(layout.KindValues, uint64(id)), e.Key, layout.InBranch(to, id, layout.KindValues).Get(e.Key), rec.Value); err != nil {
			b.lacking[string(layout.U64(uint64(id)))+string(e.Key)] = missingValue{key: e.Key, data: e.Value, sum: rec.Value}
			return nil
		}
	}
	b.r.Entries++
	return layout.InBranch(to, id, layout.KindEntries).WriteSealed(e.Key, e.Value)
}

// reconcileEntry checks an entry against the indexes of versions and the change log, and adds to these what they lost.
func (b *rebuilder) reconcileEntry(tx *bbolt.Tx, to *bbolt.Bucket, id store.BranchID, raw []byte, version uint64, rec layout.Record) error {
	points, log := layout.InSpace(tx, layout.KindPoints), layout.InBranch(to, id, layout.KindLog)
	at, err := instantOf(tx, version)
	if err != nil {
		return err
	}
	if at != nil && int64(layout.FromU64(at)) != rec.Micros {
		return fmt.Errorf("it %w: it is of another instant than version %d", errAside, version)
	}
	t, _, _ := layout.ReadTrim(to, id) // an unreadable floor is no limit
	if change, deleted := layout.EncodeChange(raw, version, rec.Deleted()); version > t.Floor.Version && log.Get(change) == nil {
		if err := log.Write(change, deleted); err != nil {
			return err
		}
	}
	if at == nil {
		return points.Write(layout.U64(version), layout.U64(uint64(rec.Micros)))
	}
	return nil
}

// reconcile reports the entries that only the change logs know, and drops the changes and values without an entry.
func (b *rebuilder) reconcile() error {
	for _, id := range b.branches {
		lost := map[string]bool{}
		err := b.filter(id, layout.KindLog, func(to *bbolt.Bucket, key []byte) bool {
			t, _, _ := layout.ReadTrim(to, id)
			entry := keycode.Version(key[min(keycode.VersionSize, len(key)):], layout.ChangeVersion(key))
			if to.Bucket(layout.KindEntries.Bucket()).Get(entry) != nil {
				return layout.ChangeVersion(key) > t.Floor.Version
			}
			lost[hex.EncodeToString(entry)] = true
			return false
		})
		err = errors.Join(err, b.filter(id, layout.KindValues, func(to *bbolt.Bucket, key []byte) bool {
			return to.Bucket(layout.KindEntries.Bucket()).Get(key) != nil
		}))
		if err != nil {
			return err
		}
		for _, a := range b.aside {
			if a.Branch == id && a.kind == layout.KindEntries {
				delete(lost, a.Raw)
			}
		}
		for raw := range lost {
			key, _ := hex.DecodeString(raw)
			b.setAside(newAside(id, layout.KindEntries, key, nil, errLost))
		}
	}
	return nil
}

var errLost = errors.New("the change log has it, and its record is lost")

// filter drops the records of a branch for which keep returns false.
func (b *rebuilder) filter(id store.BranchID, k layout.Kind, keep func(to *bbolt.Bucket, key []byte) bool) error {
	for resume := []byte{}; resume != nil; {
		err := b.to.Update(func(tx *bbolt.Tx) error {
			to, err := layout.MakeBranch(tx, id)
			if err != nil {
				return err
			}
			r, n := layout.InBranch(to, id, k), 0
			var drop [][]byte
			c := r.Cursor()
			key, _ := c.Seek(resume)
			for ; key != nil && n < chunkRecords; key, _ = c.Next() {
				if n++; !keep(to, key) {
					drop = append(drop, bytes.Clone(key))
				}
			}
			resume = bytes.Clone(key)
			for _, key := range drop {
				err = errors.Join(err, r.Remove(key))
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// timeline rebuilds the index of instants. Versions have no gaps, so one that is lost gets an instant right after the one before.
func (b *rebuilder) timeline() error {
	return b.to.Update(func(tx *bbolt.Tx) error {
		if err := tx.DeleteBucket(layout.KindTime.Bucket()); err != nil {
			return err
		}
		if _, err := tx.CreateBucket(layout.KindTime.Bucket()); err != nil {
			return err
		}
		points := layout.InSpace(tx, layout.KindPoints)
		last, _ := points.Cursor().Last()
		high, known := layout.FromU64(last), uint64(points.Stats().KeyN)
		if high > known*2+1000 {
			return fmt.Errorf("the newest version is %d, and only %d versions are known: restore a backup", high, known)
		}
		before := int64(0)
		for version := uint64(1); version <= high; version++ {
			value, err := points.Read(layout.U64(version))
			if err != nil {
				return err
			}
			at, note := layout.SplitPoint(value)
			micros := int64(layout.FromU64(at))
			if at == nil || micros <= before {
				micros = before + 1
				err = points.Write(layout.U64(version), append(layout.U64(uint64(micros)), note...))
			}
			before = micros
			if err = errors.Join(err, layout.Append(layout.InSpace(tx, layout.KindTime), layout.U64(uint64(micros)), layout.U64(version))); err != nil {
				return err
			}
		}
		return nil
	})
}

// history adds the new file to the history of the damaged one, from the newest version that is left: backups with newer versions are
// not continued. Its first server marks the new file.
func (b *rebuilder) history() error {
	return b.to.Update(func(tx *bbolt.Tx) error {
		var before store.History
		p := layout.TableOf(layout.KindMeta, 0)
		b.records("", b.top[layout.KindMeta], p, func(e Element, err error) {
			if err == nil && bytes.Equal(e.Key, layout.KeyHistory) {
				before, _ = p.History(e.Key, e.Value)
			}
		})
		head, _ := layout.InSpace(tx, layout.KindPoints).Cursor().Last()
		return errors.Join(layout.InSpace(tx, layout.KindMeta).Remove(layout.KeyHome), layout.WriteHistory(tx, before, layout.FromU64(head)))
	})
}

// reportAside reports what was set aside, except what was restored from another copy.
func (b *rebuilder) reportAside() error {
	return b.to.View(func(tx *bbolt.Tx) error {
		for _, a := range b.aside {
			key, _ := hex.DecodeString(a.Raw)
			if data := b.found(tx, a, key); data == nil || hex.EncodeToString(data[:min(len(data), asideBytes)]) != a.Record {
				b.r.Aside = append(b.r.Aside, a.Aside)
			}
		}
		return nil
	})
}

// found is a record of the new file, on any branch.
func (b *rebuilder) found(tx *bbolt.Tx, a aside, key []byte) []byte {
	if len(key) == 0 {
		return nil
	}
	if _, ok := layout.KindOf(layout.SpaceKinds(), a.kind.Bucket()); ok {
		return tx.Bucket(a.kind.Bucket()).Get(key)
	}
	for _, id := range b.branches {
		if data := layout.Branch(tx, id).Bucket(a.kind.Bucket()).Get(key); data != nil {
			return data
		}
	}
	return nil
}
