package bolt

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"

	"go.etcd.io/bbolt"

	"github.com/alcove-memory/alcove/host/store"
)

// orphans looks at the pages that nothing leads to. Most are free, and have what was there before; some have what a damaged
// page led to. An entry is taken when the change log, or nothing but the damage, speaks against its absence: the log knows it
// and it is not there. What was purged, and requests of commits that are known, can only be missing.
func (b *rebuilder) orphans() error {
	if b.format < format {
		return nil
	}
	head := uint64(0)
	return b.to.Update(func(tx *bbolt.Tx) error {
		last, _ := top(tx, kindPoints).Cursor().Last()
		head = fromU64(last)
		var failed error
		b.eachOrphan(func(e element) {
			failed = errors.Join(failed, b.adopt(tx, head, e))
		})
		return failed
	})
}

// adopt takes a record that nothing led to, if it belongs to the space.
func (b *rebuilder) adopt(tx *bbolt.Tx, head uint64, e element) error {
	switch {
	case placeOf(kindEntries, 0).whole(e.key, e.value) == nil:
		return b.adoptEntry(tx, head, e)
	case placeOf(kindPurged, 0).whole(e.key, e.value) == nil:
		return top(tx, kindPurged).replace(e.key, e.value)
	case placeOf(kindRequests, 0).whole(e.key, e.value) == nil:
		return b.adoptRequest(tx, e)
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
	change, deleted := encodeChange(raw, version, rec.flags&flagDeleted != 0)
	if known, err := of(to, rec.branch, kindLog).get(change); err != nil || len(known) != 1 || known[0] != deleted[0] {
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
				p.leaf(page, 0, visit)
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
func (p *pages) leaf(page []byte, depth int, visit func(element)) {
	list, _ := p.elements("", page, depth > 0)
	for _, e := range list {
		switch {
		case !e.bucket:
			visit(element{key: bytes.Clone(e.key), value: bytes.Clone(e.value)}) // what is put must stay until the transaction ends
		case len(e.value) >= 16+pageHeader && depth < 4:
			p.leaf(e.value[16:], depth+1, visit)
		}
	}
}
