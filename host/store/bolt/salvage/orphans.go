package salvage

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"

	"go.etcd.io/bbolt"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt/layout"
	"github.com/alcove-memory/alcove/host/store/keycode"
)

// Orphans are pages that no other page refers to: free ones with outdated content, and those whose parent is damaged. A record of an
// orphan is adopted only where the damage explains its absence: a purge always; a change where the change log is incomplete; an entry
// that is missing, if the change log has it and its instant is that of its version; a request whose commit is known.

// adoptEvidence adopts purges, and the changes that change logs lack.
func (b *rebuilder) adoptEvidence() error {
	return b.adoptOrphans(func(tx *bbolt.Tx, head uint64, e Element) error {
		if layout.TableOf(layout.KindPurged, 0).Verify(e.Key, e.Value) == nil {
			return layout.InSpace(tx, layout.KindPurged).WriteSealed(e.Key, e.Value)
		}
		if rec, err := layout.SplitRecord(e.Value); b.lostSome && err == nil && layout.TableOf(layout.KindEntries, 0).Verify(e.Key, e.Value) == nil {
			return b.restoreBranch(tx, rec.Branch)
		}
		for id := range b.partial {
			if b.partial[id] && layout.TableOf(layout.KindLog, uint64(id)).Verify(e.Key, e.Value) == nil {
				return b.adoptChange(tx, id, head, e)
			}
			if b.floors[id] == floorLost && layout.TableOf(layout.KindTrim, uint64(id)).Verify(e.Key, e.Value) == nil {
				b.floors[id] = floorWrong // it was trimmed, at an unknown floor
			}
		}
		return nil
	})
}

// restoreBranch makes a branch that is known only by its orphans.
func (b *rebuilder) restoreBranch(tx *bbolt.Tx, id store.BranchID) error {
	if _, known := b.partial[id]; known {
		return nil
	}
	b.partial[id], b.floors[id], b.again = true, floorLost, true
	b.branches = append(b.branches, id)
	_, err := layout.MakeBranch(tx, id)
	return err
}

func (b *rebuilder) adoptChange(tx *bbolt.Tx, id store.BranchID, head uint64, e Element) error {
	to := layout.Branch(tx, id)
	t, _, _ := layout.ReadTrim(to, id)
	if version := layout.ChangeVersion(e.Key); version <= head && version > t.Floor.Version {
		return layout.InBranch(to, id, layout.KindLog).WriteSealed(e.Key, e.Value)
	}
	return nil
}

// adoptEntries adopts entries and requests.
func (b *rebuilder) adoptEntries() error {
	return b.adoptOrphans(func(tx *bbolt.Tx, head uint64, e Element) error {
		if layout.TableOf(layout.KindEntries, 0).Verify(e.Key, e.Value) == nil {
			return b.adoptEntry(tx, head, e)
		}
		if layout.TableOf(layout.KindRequests, 0).Verify(e.Key, e.Value) == nil {
			return b.adoptRequest(tx, e)
		}
		return nil
	})
}

// adoptOrphans calls adopt with each record of an orphan and the newest known version, and once more while again is set.
func (b *rebuilder) adoptOrphans(adopt func(tx *bbolt.Tx, head uint64, e Element) error) error {
	for again := b.broken || len(b.lost) > 0; again; again = b.again {
		b.again = false
		err := b.to.Update(func(tx *bbolt.Tx) error {
			last, _ := layout.InSpace(tx, layout.KindPoints).Cursor().Last()
			head := layout.FromU64(last)
			var failed error
			b.eachOrphan(func(e Element) {
				if failed == nil {
					failed = adopt(tx, head, e)
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

func (b *rebuilder) adoptEntry(tx *bbolt.Tx, head uint64, e Element) error {
	rec, err := layout.SplitRecord(e.Value)
	raw, version, errKey := keycode.SplitVersion(e.Key)
	if err != nil || errKey != nil {
		return nil
	}
	if version > head {
		b.setAside(newAside(rec.Branch, layout.KindEntries, e.Key, e.Value, errLaterCommit))
		return nil
	}
	to := layout.Branch(tx, rec.Branch)
	if to == nil || to.Bucket(layout.KindEntries.Bucket()).Get(e.Key) != nil {
		return nil
	}
	if layout.InSpace(tx, layout.KindPurged).Get(append(layout.U64(uint64(rec.Branch)), e.Key...)) != nil {
		return nil // it may be what was purged
	}
	change, deleted := layout.EncodeChange(raw, version, rec.Deleted())
	if known, err := layout.InBranch(to, rec.Branch, layout.KindLog).Read(change); err != nil || len(known) != 1 || known[0] != deleted[0] {
		if b.partial[rec.Branch] {
			b.setAside(newAside(rec.Branch, layout.KindEntries, e.Key, e.Value, errUnsure))
		}
		return nil
	}
	if at, err := instantOf(tx, version); err != nil || at != nil && int64(layout.FromU64(at)) != rec.Micros {
		return nil // of a commit that failed
	}
	before := b.r.Entries
	err = b.entry(tx, rec.Branch, e)
	b.r.Rescued += b.r.Entries - before
	if errors.Is(err, errAside) {
		return nil
	}
	return err
}

var errUnsure = errors.New("no page refers to it, and the change log that would tell whether it was deleted is damaged")

var errLaterCommit = errors.New("it is of a commit that only the damaged first page knew, and which may not have been acknowledged")

func (b *rebuilder) adoptRequest(tx *bbolt.Tx, e Element) error {
	value, err := layout.TableOf(layout.KindRequests, 0).Open(e.Key, e.Value)
	var was layout.Request
	if err != nil || json.Unmarshal(value, &was) != nil {
		return nil
	}
	at, err := instantOf(tx, was.Version)
	if err != nil || at == nil || int64(layout.FromU64(at)) != was.Micros || layout.InSpace(tx, layout.KindRequests).Get(e.Key) != nil {
		return nil
	}
	return errors.Join(layout.InSpace(tx, layout.KindRequests).WriteSealed(e.Key, e.Value), layout.InSpace(tx, layout.KindAges).Write(layout.AgeKey(was.Micros, e.Key), nil))
}

// values looks for missing large values among the orphans, and sets aside the entries that have none.
func (b *rebuilder) values() error {
	if len(b.lacking) == 0 {
		return nil
	}
	return b.to.Update(func(tx *bbolt.Tx) error {
		var failed error
		b.eachOrphan(func(e Element) {
			for _, id := range b.branches {
				place := string(layout.U64(uint64(id))) + string(e.Key)
				lacks, ok := b.lacking[place]
				if !ok {
					continue
				}
				if _, err := layout.OpenLarge(layout.TableOf(layout.KindValues, uint64(id)), e.Key, e.Value, lacks.sum); err != nil {
					continue
				}
				delete(b.lacking, place)
				to := layout.Branch(tx, id)
				failed = errors.Join(failed, layout.InBranch(to, id, layout.KindValues).WriteSealed(e.Key, e.Value), layout.InBranch(to, id, layout.KindEntries).WriteSealed(lacks.key, lacks.data))
				b.r.Entries++
				b.r.Rescued++
			}
		})
		for place, lacks := range b.lacking {
			b.setAside(newAside(store.BranchID(layout.FromU64([]byte(place[:8]))), layout.KindEntries, lacks.key, lacks.data, layout.ErrNoValue))
		}
		return failed
	})
}

// eachOrphan visits the records in orphaned leaf pages.
func (p *pages) eachOrphan(visit func(Element)) {
	known := p.visits
	p.probe(func() {
		p.eachPage(func(id uint64, page []byte, leaf bool) {
			if leaf && (id >= uint64(len(known)) || known[id] == 0) {
				p.leaf(page, id, visit)
			}
		})
	})
}

// eachPage visits every page of the file that is marked as a leaf or branch page, orphans included.
func (p *pages) eachPage(visit func(id uint64, page []byte, leaf bool)) {
	le := binary.LittleEndian
	for id := uint64(2); id < p.length/p.meta.PageSize; id++ {
		page, err := p.read(id, 1)
		if err != nil {
			return
		}
		flags, overflow := le.Uint16(page[8:]), uint64(le.Uint32(page[12:]))
		if le.Uint64(page) != id || flags != leafPage && flags != branchPage || (overflow+1)*p.meta.PageSize > maxPage {
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

// leaf visits the elements of a page, and of its inline buckets.
func (p *pages) leaf(page []byte, id uint64, visit func(Element)) {
	list, _ := p.elements("", page, id)
	for _, e := range list {
		switch {
		case !e.Bucket:
			visit(Element{Key: bytes.Clone(e.Key), Value: bytes.Clone(e.Value)}) // bbolt keeps them until the transaction ends
		case len(e.Value) >= 16+layout.PageHeader: // shorter each time, so it ends
			p.leaf(e.Value[16:], inline, visit)
		}
	}
}
