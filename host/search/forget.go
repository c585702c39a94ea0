package search

import (
	"slices"

	"github.com/alcove-memory/alcove/host/store"
)

// Drop removes a branch. No later view may include it.
func (x *Index) Drop(id store.BranchID) {
	_ = x.guardWrite(func() error { // a broken index takes nothing more
		x.drop(id)
		return nil
	})
}

func (x *Index) drop(id store.BranchID) {
	x.adding.Lock()
	defer x.adding.Unlock()
	x.mu.Lock()
	defer x.mu.Unlock()
	x.cacheMu.Lock()
	defer x.cacheMu.Unlock()
	b := x.branches[id]
	if b == nil {
		return
	}
	x.forgetViews(func(v *visible) bool { return v.sees(id, 0) })
	b.each(func(number uint32) {
		x.table.forgetHead(id, x.table.row(number).name)
		x.erase(number)
	})
	x.table.linked = none
	for _, p := range b.parts {
		x.retire(p)
		delete(x.parts, p.id)
	}
	delete(x.branches, id)
}

// Trim removes old versions from a branch. Of each document it keeps the newest version at or below floor, all above it,
// and the newest at or below each pin. Pins are in ascending order. No later view may read the branch at another version
// below floor.
func (x *Index) Trim(id store.BranchID, floor uint64, pins []uint64) {
	_ = x.guardWrite(func() error { // a broken index takes nothing more
		x.trim(id, floor, pins)
		return nil
	})
}

func (x *Index) trim(id store.BranchID, floor uint64, pins []uint64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.cacheMu.Lock()
	defer x.cacheMu.Unlock()
	b := x.branches[id]
	if b == nil {
		return
	}
	x.forgetViews(func(v *visible) bool { return v.before(id, floor) })
	x.table.linked = none
	x.unlinkUnneeded(b, floor, pins)
	x.signalDue() // the saved index must not lag behind the start of the change log
}

// needed reports whether a view may still read a row. The newest version of a document is always needed.
func (x *Index) needed(number uint32, floor uint64, pins []uint64) bool {
	r := x.table.row(number)
	pin, _ := slices.BinarySearch(pins, r.version)
	return r.until > floor || pin < len(pins) && pins[pin] < r.until
}

// unlinkUnneeded unlinks unneeded rows from their version chains in one pass over each chain, and erases them.
func (x *Index) unlinkUnneeded(b *branch, floor uint64, pins []uint64) {
	t := x.table
	b.each(func(head uint32) {
		if t.row(head).until != store.Latest {
			return
		}
		kept := head
		for number := t.row(head).previous; number != none; {
			older := t.row(number).previous
			if x.needed(number, floor, pins) {
				kept = number
			} else {
				t.rows.Edit(kept).previous = older
				x.erase(number)
			}
			number = older
		}
	})
}

// erase removes an unlinked row from its part and the table. The previous row keeps its `until`: the views in which it
// would differ are gone.
func (x *Index) erase(number uint32) {
	at := x.table.placeOf(number)
	p := x.parts[at.part]
	if x.table.row(number).gone {
		p.ghosts[at.local] = none
	} else {
		x.setLive(number, false)
		p.rows[at.local] = none
		p.dead++
		x.semanticRemove(number)
	}
	x.table.remove(number)
}

func (x *Index) forgetViews(which func(*visible) bool) {
	for id, v := range x.cache {
		if which(v) {
			delete(x.cache, id)
		}
	}
}
