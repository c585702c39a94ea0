package bolt

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"

	"go.etcd.io/bbolt"

	"github.com/alcove-memory/alcove/host/store"
)

// repairing is the name of a database that a repair makes.
const repairing = "alcove.db.repairing"

// rebuilder takes over into a new file what is whole in a damaged one.
type rebuilder struct {
	*survey
	ctx      context.Context
	to       *bbolt.DB
	r        *store.Repaired
	aside    []aside        // what was set aside so far
	lacking  map[string]row // entries whose large value was not found yet, by branch and key
	keeps    func(blob store.Blob) bool
	branches []store.BranchID
	lost     []error                 // of the file's two first pages
	partial  map[store.BranchID]bool // branches; whether their change log lacks something
	floors   map[store.BranchID]int  // whether it is sure how far back branches are kept
	again    bool                    // there are branches that were not known when what nothing leads to was looked at
}

func rebuildTo(ctx context.Context, path string, p *pages, keeps func(store.Blob) bool, r *store.Repaired) error {
	to, err := createDB(path)
	if err != nil {
		return err
	}
	if err = to.Update(makeBuckets); err == nil {
		b := &rebuilder{survey: p.as(p.head), ctx: ctx, to: to, r: r, keeps: keeps, lacking: map[string]row{}, partial: map[store.BranchID]bool{}, floors: map[store.BranchID]int{}, lost: p.headFaults}
		b.search = true
		err = b.run()
	}
	if err == nil {
		err = to.Sync()
	}
	return errors.Join(err, to.Close())
}

func (b *rebuilder) run() error {
	steps := []func() error{b.instants, b.eachPart, b.others, b.witnesses, b.orphans, b.values, b.raise, b.reconcile, b.timeline, b.history, b.reportAside}
	for _, step := range steps {
		if err := errors.Join(b.ctx.Err(), step()); err != nil {
			return err
		}
	}
	return nil
}

// copy gives the records of a bucket to put, a chunk in a transaction. What put does not take is set aside.
func (b *rebuilder) copy(id store.BranchID, from bucket, k kind, put func(tx *bbolt.Tx, e element) error) error {
	var chunk []element
	var failed error
	size, p := 0, placeOf(k, uint64(id))
	flush := func() {
		if failed = errors.Join(failed, b.ctx.Err()); failed != nil {
			return
		}
		failed = b.to.Update(func(tx *bbolt.Tx) error {
			for _, e := range chunk {
				if err := put(tx, e); errors.Is(err, errAside) {
					b.setAside(newAside(id, k, e.key, e.value, err))
				} else if err != nil {
					return err
				}
			}
			return nil
		})
		chunk, size = chunk[:0], 0
	}
	b.records("", from, p, func(e element, err error) {
		if err != nil {
			b.setAside(newAside(id, k, e.key, e.value, err))
			return
		}
		chunk = append(chunk, element{key: bytes.Clone(e.key), value: bytes.Clone(e.value)})
		if size += len(e.key) + len(e.value); len(chunk) >= migrateRows || size >= copyBytes {
			flush()
		}
	})
	flush()
	return failed
}

// errAside is what put answers for a record that is whole and cannot be used.
var errAside = errors.New("cannot be used")

func (b *rebuilder) setAside(a aside) {
	if len(b.aside) < maxAside {
		b.aside = append(b.aside, a)
	}
}

// take copies records as they are.
func (b *rebuilder) take(id store.BranchID, from bucket, k kind, to func(tx *bbolt.Tx) (records, error)) error {
	return b.copy(id, from, k, func(tx *bbolt.Tx, e element) error {
		r, err := to(tx)
		if err != nil {
			return err
		}
		return r.replace(e.key, e.value)
	})
}

func (b *rebuilder) others() error {
	for _, k := range []kind{kindRequests, kindAges, kindPurged} {
		if err := b.take(0, b.top[k], k, func(tx *bbolt.Tx) (records, error) { return top(tx, k), nil }); err != nil {
			return err
		}
	}
	blobs := placeOf(kindBlobs, 0)
	return b.copy(0, b.top[kindBlobs], kindBlobs, func(tx *bbolt.Tx, e element) error {
		if blob, err := blobs.blob(e.key, e.value); err != nil || !b.keeps(blob) {
			return nil // it is made anew
		}
		return top(tx, kindBlobs).replace(e.key, e.value)
	})
}

// instants takes over versions and instants.
func (b *rebuilder) instants() error {
	times, points := placeOf(kindTime, 0), placeOf(kindPoints, 0)
	err := b.copy(0, b.top[kindTime], kindTime, func(tx *bbolt.Tx, e element) error {
		version, err := times.open(e.key, e.value)
		return errors.Join(err, top(tx, kindPoints).put(version, e.key))
	})
	return errors.Join(err, b.copy(0, b.top[kindPoints], kindPoints, func(tx *bbolt.Tx, e element) error {
		micros, err := points.open(e.key, e.value)
		if err != nil || len(e.key) != versionSize || len(micros) != versionSize {
			return fmt.Errorf("it %w: it is none", errAside)
		}
		return top(tx, kindPoints).replace(e.key, e.value)
	}))
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
		_, err := branchBucket(tx, from.id)
		return err
	})
	if err != nil {
		return err
	}
	for _, k := range []kind{kindValues, kindTrim, kindLog, kindCounters, kindCounted} {
		before := len(b.faults) + b.more
		err := b.take(from.id, from.parts[k], k, func(tx *bbolt.Tx) (records, error) {
			to, err := branchBucket(tx, from.id)
			return of(to, from.id, k), err
		})
		if err != nil {
			return err
		}
		if k == kindLog {
			b.partial[from.id] = len(b.faults)+b.more > before
			if err := b.trim(from); err != nil {
				return err
			}
		}
	}
	return b.copy(from.id, from.parts[kindEntries], kindEntries, func(tx *bbolt.Tx, e element) error {
		return b.entry(tx, from.id, e)
	})
}

// trim takes over how far back a branch is kept, and notes whether that may be wrong.
func (b *rebuilder) trim(from branch) error {
	part, there := from.parts[kindTrim]
	damaged := 0
	b.short = false
	b.records("", part, placeOf(kindTrim, uint64(from.id)), func(_ element, err error) {
		if err != nil {
			damaged++
		}
	})
	b.floors[from.id] = floorSure
	switch {
	case !there:
		b.floors[from.id] = floorLost
	case b.short && damaged == 0: // its page may be an older one
		b.floors[from.id] = floorWrong
	}
	return b.to.Update(func(tx *bbolt.Tx) error {
		to, err := branchBucket(tx, from.id)
		if err != nil {
			return err
		}
		r := of(to, from.id, kindTrim)
		for _, twice := range [][2][]byte{{keyFloor, keyFloorAgain}, {keyPins, keyPinsAgain}, {keyKeep, keyKeepAgain}} {
			for i := range twice {
				if was := r.Get(twice[1-i]); was != nil && r.Get(twice[i]) == nil {
					value, errGet := r.get(twice[1-i])
					err = errors.Join(err, errGet, r.put(twice[i], bytes.Clone(value)))
				}
			}
		}
		if damaged > 0 && r.Get(keyFloor) == nil {
			b.floors[from.id] = floorWrong
		}
		return err
	})
}

// How far back a branch is kept is sure, or it is lost with the branch, or what there is of it may be wrong.
const (
	floorSure = iota
	floorLost
	floorWrong
)

// raise forgets the past of branches of which it is not known any more how far back they are kept. What is lost with a branch is
// taken not to have been, unless some page of the past has it: they are written anew with each commit.
func (b *rebuilder) raise() error {
	for id, state := range b.floors {
		if state != floorWrong {
			continue
		}
		err := b.to.Update(func(tx *bbolt.Tx) error {
			to, err := branchBucket(tx, id)
			if err != nil {
				return err
			}
			head, _ := top(tx, kindPoints).Cursor().Last()
			at, err := top(tx, kindPoints).get(head)
			b.setAside(newAside(id, kindTrim, keyFloor, nil, fmt.Errorf("it is not known any more how far back the branch is kept: it is from version %d on", fromU64(head))))
			return errors.Join(err, trimmed{floor: point(bytes.Clone(head), bytes.Clone(at))}.write(of(to, id, kindTrim)))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// entry takes over an entry. Its instant must be that of its version, unless the indexes have lost it.
func (b *rebuilder) entry(tx *bbolt.Tx, id store.BranchID, e element) error {
	to, err := branchBucket(tx, id)
	if err != nil {
		return err
	}
	raw, version, err := splitVersion(e.key)
	if err == nil {
		_, err = decodeKey(raw)
	}
	if err != nil {
		return fmt.Errorf("it %w: %w", errAside, err)
	}
	rec, err := splitRecord(e.value)
	if err != nil || rec.branch != id {
		return fmt.Errorf("it %w here: it is of branch %d", errAside, rec.branch)
	}
	if err := b.agree(tx, to, id, raw, version, rec); err != nil {
		return err
	}
	if rec.flags&flagLarge != 0 {
		if _, err := openLarge(placeOf(kindValues, uint64(id)), e.key, of(to, id, kindValues).Get(e.key), rec.value); err != nil {
			b.lacking[string(u64(uint64(id)))+string(e.key)] = row{key: e.key, data: e.value, apart: rec.value}
			return nil
		}
	}
	b.r.Entries++
	return of(to, id, kindEntries).replace(e.key, e.value)
}

// agree makes sure that versions and logs do not contradict an entry, and adds to them what they lost.
func (b *rebuilder) agree(tx *bbolt.Tx, to *bbolt.Bucket, id store.BranchID, raw []byte, version uint64, rec record) error {
	points, log := top(tx, kindPoints), of(to, id, kindLog)
	at, err := points.get(u64(version))
	if err != nil {
		return err
	}
	if at != nil && int64(fromU64(at)) != rec.micros {
		return fmt.Errorf("it %w: it is of another instant than version %d", errAside, version)
	}
	t, _, _ := readTrim(to, id) // what cannot be read is no limit
	if change, deleted := encodeChange(raw, version, rec.flags&flagDeleted != 0); version > t.floor.Version && log.Get(change) == nil {
		if err := log.put(change, deleted); err != nil {
			return err
		}
	}
	if at == nil {
		return points.put(u64(version), u64(uint64(rec.micros)))
	}
	return nil
}

// reconcile says which entries the change logs know that are not there any more, and drops what is of no entry.
func (b *rebuilder) reconcile() error {
	for _, id := range b.branches {
		lost := map[string]bool{}
		err := b.sift(id, kindLog, func(to *bbolt.Bucket, key []byte) bool {
			t, _, _ := readTrim(to, id)
			entry := atVersion(key[min(versionSize, len(key)):], changedAt(key))
			if to.Bucket(bucketEntries).Get(entry) != nil {
				return changedAt(key) > t.floor.Version
			}
			lost[hex.EncodeToString(entry)] = true
			return false
		})
		err = errors.Join(err, b.sift(id, kindValues, func(to *bbolt.Bucket, key []byte) bool {
			return to.Bucket(bucketEntries).Get(key) != nil
		}))
		if err != nil {
			return err
		}
		for _, a := range b.aside {
			if a.Branch == id && a.kind == kindEntries {
				delete(lost, a.Raw)
			}
		}
		for raw := range lost {
			key, _ := hex.DecodeString(raw)
			b.setAside(newAside(id, kindEntries, key, nil, errLost))
		}
	}
	return nil
}

var errLost = errors.New("the change log knows it, and it is not there any more")

// sift drops the records of a branch that are not to be kept.
func (b *rebuilder) sift(id store.BranchID, k kind, keep func(to *bbolt.Bucket, key []byte) bool) error {
	for resume := []byte{}; resume != nil; {
		err := b.to.Update(func(tx *bbolt.Tx) error {
			to, err := branchBucket(tx, id)
			if err != nil {
				return err
			}
			r, n := of(to, id, k), 0
			var drop [][]byte
			c := r.Cursor()
			key, _ := c.Seek(resume)
			for ; key != nil && n < copyChunk; key, _ = c.Next() {
				if n++; !keep(to, key) {
					drop = append(drop, bytes.Clone(key))
				}
			}
			resume = bytes.Clone(key)
			for _, key := range drop {
				err = errors.Join(err, r.remove(key))
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// timeline makes the index of instants anew. Versions that no index and no entry knows are given instants between those around
// them: they must not have gaps.
func (b *rebuilder) timeline() error {
	return b.to.Update(func(tx *bbolt.Tx) error {
		if err := tx.DeleteBucket(bucketTime); err != nil {
			return err
		}
		if _, err := tx.CreateBucket(bucketTime); err != nil {
			return err
		}
		points := top(tx, kindPoints)
		last, _ := points.Cursor().Last()
		high, known := fromU64(last), uint64(points.Stats().KeyN)
		if high > known*2+1000 {
			return fmt.Errorf("the newest version is said to be %d, and only %d are known: restore a backup", high, known)
		}
		before := int64(0)
		for version := uint64(1); version <= high; version++ {
			at, err := points.get(u64(version))
			if err != nil {
				return err
			}
			micros := int64(fromU64(at))
			if at == nil || micros <= before {
				micros = before + 1
				err = points.put(u64(version), u64(uint64(micros)))
			}
			before = micros
			if err = errors.Join(err, appendTo(top(tx, kindTime), u64(uint64(micros)), u64(version))); err != nil {
				return err
			}
		}
		return nil
	})
}

// history says that the file goes on from what the damaged one was, up to the newest version that is left: copies that have
// newer ones are not gone on from.
func (b *rebuilder) history() error {
	return b.to.Update(func(tx *bbolt.Tx) error {
		var before store.History
		p := placeOf(kindMeta, 0)
		b.records("", b.top[kindMeta], p, func(e element, err error) {
			if err == nil && bytes.Equal(e.key, keyHistory) {
				before, _ = decodeHistory(e.value[:len(e.value)-sealSize])
			}
		})
		head, _ := top(tx, kindPoints).Cursor().Last()
		return writeHistory(tx, before, fromU64(head))
	})
}

// reportAside reports what was set aside, but for what was found in another place.
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

// found is a record of the new file, of any branch.
func (b *rebuilder) found(tx *bbolt.Tx, a aside, key []byte) []byte {
	if len(key) == 0 {
		return nil
	}
	if _, ok := kindNamed(topKinds(), a.kind.bucket()); ok {
		return tx.Bucket(a.kind.bucket()).Get(key)
	}
	for _, id := range b.branches {
		if data := tx.Bucket(bucketBranches).Bucket(u64(uint64(id))).Bucket(a.kind.bucket()).Get(key); data != nil {
			return data
		}
	}
	return nil
}
