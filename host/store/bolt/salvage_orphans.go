package bolt

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"

	"go.etcd.io/bbolt"

	"github.com/alcove-memory/alcove/host/store"
)

// The pages that nothing leads to are free, and have what was there before, or they have what a damaged page led to. A record
// of them is taken where nothing but the damage speaks against it: what was purged can only be missing; a change is taken
// where the change log lacks something; an entry when the change log knows it, it is of the instant of its version, and it is not
// there; a request when its commit is known.

// witnesses takes what was purged, and what change logs lack.
func (b *rebuilder) witnesses() error {
	return b.eachTaken(func(tx *bbolt.Tx, head uint64, e element) error {
		if placeOf(kindPurged, 0).whole(e.key, e.value) == nil {
			return top(tx, kindPurged).replace(e.key, e.value)
		}
		if rec, err := splitRecord(e.value); b.lostSome && err == nil && placeOf(kindEntries, 0).whole(e.key, e.value) == nil {
			return b.restoreBranch(tx, rec.branch)
		}
		for id := range b.partial {
			if b.partial[id] && placeOf(kindLog, uint64(id)).whole(e.key, e.value) == nil {
				return b.adoptChange(tx, id, head, e)
			}
			if b.floors[id] == floorLost && placeOf(kindTrim, uint64(id)).whole(e.key, e.value) == nil {
				b.floors[id] = floorWrong // it was trimmed; nothing tells when for the last time
			}
		}
		return nil
	})
}

// restoreBranch makes a branch of which it is not known that it is there.
func (b *rebuilder) restoreBranch(tx *bbolt.Tx, id store.BranchID) error {
	if _, known := b.partial[id]; known {
		return nil
	}
	b.partial[id], b.floors[id], b.again = true, floorLost, true
	b.branches = append(b.branches, id)
	_, err := branchBucket(tx, id)
	return err
}

func (b *rebuilder) adoptChange(tx *bbolt.Tx, id store.BranchID, head uint64, e element) error {
	to := tx.Bucket(bucketBranches).Bucket(u64(uint64(id)))
	t, _, _ := readTrim(to, id)
	if version := changedAt(e.key); version <= head && version > t.floor.Version {
		return of(to, id, kindLog).replace(e.key, e.value)
	}
	return nil
}

// orphans takes entries and requests.
func (b *rebuilder) orphans() error {
	return b.eachTaken(func(tx *bbolt.Tx, head uint64, e element) error {
		if placeOf(kindEntries, 0).whole(e.key, e.value) == nil {
			return b.adoptEntry(tx, head, e)
		}
		if placeOf(kindRequests, 0).whole(e.key, e.value) == nil {
			return b.adoptRequest(tx, e)
		}
		return nil
	})
}

// eachTaken gives each record that nothing leads to, and the newest version that is known. While again is set, all of them once more.
func (b *rebuilder) eachTaken(take func(tx *bbolt.Tx, head uint64, e element) error) error {
	for again := b.broken || len(b.lost) > 0; again; again = b.again {
		b.again = false
		err := b.to.Update(func(tx *bbolt.Tx) error {
			last, _ := top(tx, kindPoints).Cursor().Last()
			head := fromU64(last)
			var failed error
			b.eachOrphan(func(e element) {
				if failed == nil {
					failed = take(tx, head, e)
				}
			})
			return failed
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (b *rebuilder) adoptEntry(tx *bbolt.Tx, head uint64, e element) error {
	rec, err := splitRecord(e.value)
	raw, version, errKey := splitVersion(e.key)
	if err != nil || errKey != nil {
		return nil
	}
	if version > head {
		b.setAside(newAside(rec.branch, kindEntries, e.key, e.value, errLaterCommit))
		return nil
	}
	to := tx.Bucket(bucketBranches).Bucket(u64(uint64(rec.branch)))
	if to == nil || to.Bucket(bucketEntries).Get(e.key) != nil {
		return nil
	}
	if top(tx, kindPurged).Get(append(u64(uint64(rec.branch)), e.key...)) != nil {
		return nil // it may be what was purged
	}
	change, deleted := encodeChange(raw, version, rec.flags&flagDeleted != 0)
	if known, err := of(to, rec.branch, kindLog).get(change); err != nil || len(known) != 1 || known[0] != deleted[0] {
		if b.partial[rec.branch] {
			b.setAside(newAside(rec.branch, kindEntries, e.key, e.value, errUnsure))
		}
		return nil
	}
	if at, err := top(tx, kindPoints).get(u64(version)); err != nil || at != nil && int64(fromU64(at)) != rec.micros {
		return nil // of a commit that did not happen
	}
	before := b.r.Entries
	err = b.entry(tx, rec.branch, e)
	b.r.Rescued += b.r.Entries - before
	if errors.Is(err, errAside) {
		return nil
	}
	return err
}

var errUnsure = errors.New("nothing leads to it any more, and the change log that would know whether it was still there is damaged")

var errLaterCommit = errors.New("it is of a commit that only the damaged first page knew, if that ever was acknowledged")

func (b *rebuilder) adoptRequest(tx *bbolt.Tx, e element) error {
	value, err := placeOf(kindRequests, 0).open(e.key, e.value)
	var was remembered
	if err != nil || json.Unmarshal(value, &was) != nil {
		return nil
	}
	at, err := top(tx, kindPoints).get(u64(was.Version))
	if err != nil || at == nil || int64(fromU64(at)) != was.Micros || top(tx, kindRequests).Get(e.key) != nil {
		return nil
	}
	return errors.Join(top(tx, kindRequests).replace(e.key, e.value), top(tx, kindAges).put(ageKey(was.Micros, e.key), nil))
}

// values looks for the large values that were not found in their place, and sets entries aside that have none.
func (b *rebuilder) values() error {
	if len(b.lacking) == 0 {
		return nil
	}
	return b.to.Update(func(tx *bbolt.Tx) error {
		var failed error
		b.eachOrphan(func(e element) {
			for _, id := range b.branches {
				place := string(u64(uint64(id))) + string(e.key)
				lacks, ok := b.lacking[place]
				if !ok {
					continue
				}
				if _, err := openLarge(placeOf(kindValues, uint64(id)), e.key, e.value, lacks.apart); err != nil {
					continue
				}
				delete(b.lacking, place)
				to := tx.Bucket(bucketBranches).Bucket(u64(uint64(id)))
				failed = errors.Join(failed, of(to, id, kindValues).replace(e.key, e.value), of(to, id, kindEntries).replace(lacks.key, lacks.data))
				b.r.Entries++
				b.r.Rescued++
			}
		})
		for place, lacks := range b.lacking {
			b.setAside(newAside(store.BranchID(fromU64([]byte(place[:8]))), kindEntries, lacks.key, lacks.data, errNoValue))
		}
		return failed
	})
}

// eachOrphan visits the records in leaf pages that nothing leads to.
func (p *pages) eachOrphan(visit func(element)) {
	known := p.visits
	p.quietly(func() {
		p.eachPage(func(id uint64, page []byte, leaf bool) {
			if leaf && (id >= uint64(len(known)) || known[id] == 0) {
				p.leaf(page, id, visit)
			}
		})
	})
}

// eachPage visits every page of the file that says that it is one with elements, whether something leads to it or not.
func (p *pages) eachPage(visit func(id uint64, page []byte, leaf bool)) {
	le := binary.LittleEndian
	for id := uint64(2); id < p.length/p.head.size; id++ {
		page, err := p.read(id, 1)
		if err != nil {
			return
		}
		flags, overflow := le.Uint16(page[8:]), uint64(le.Uint32(page[12:]))
		if le.Uint64(page) != id || flags != leafPage && flags != branchPage || (overflow+1)*p.head.size > maxPage {
			p.release(page)
			continue
		}
		if overflow > 0 {
			p.release(page)
			if page, err = p.read(id, overflow+1); err != nil {
				continue
			}
		}
		visit(id, page, flags == leafPage)
		p.release(page)
	}
}

// leaf visits the elements of a page, and of the buckets that are in it.
func (p *pages) leaf(page []byte, id uint64, visit func(element)) {
	list, _ := p.elements("", page, id)
	for _, e := range list {
		switch {
		case !e.bucket:
			visit(element{key: bytes.Clone(e.key), value: bytes.Clone(e.value)}) // what is put must stay until the transaction ends
		case len(e.value) >= 16+pageHeader: // it becomes shorter each time
			p.leaf(e.value[16:], inline, visit)
		}
	}
}
