package search

import (
	"encoding/binary"
	"slices"

	"github.com/alcove-memory/alcove/host/store"
)

// visible is which documents a lineage sees, and their sums. Readers hold Index.mu; Apply, with it locked for
// writing, keeps it up to date.
type visible struct {
	lineage store.Lineage
	bits    []uint64
	sums    map[scope]sum
	used    uint64
}

// scope is what documents are summed up by.
type scope struct {
	namespace, collection string
	active                bool
}

type sum struct {
	documents int
	length    int
}

func (s sum) plus(other sum, sign int) sum {
	return sum{s.documents + sign*other.documents, s.length + sign*other.length}
}

func (d *document) scope() scope {
	return scope{d.name.namespace, d.name.collection, d.state == Active}
}

func (v *visible) has(doc uint32) bool {
	return int(doc/64) < len(v.bits) && v.bits[doc/64]&(1<<(doc%64)) != 0
}

// replace makes the view see after instead of before.
func (v *visible) replace(docs []document, before, after uint32) {
	if before == after {
		return
	}
	if before != gone {
		v.bits[before/64] &^= 1 << (before % 64)
		v.count(&docs[before], -1)
	}
	if after == gone {
		return
	}
	if missing := int(after/64) + 1 - len(v.bits); missing > 0 {
		v.bits = append(v.bits, make([]uint64, missing)...)
	}
	v.bits[after/64] |= 1 << (after % 64)
	v.count(&docs[after], 1)
}

func (v *visible) count(d *document, sign int) {
	v.sums[d.scope()] = v.sums[d.scope()].plus(sum{1, d.length}, sign)
}

// sees reports whether the view changes with a version of a branch.
func (v *visible) sees(b store.BranchID, version uint64) bool {
	return slices.ContainsFunc(v.lineage, func(s store.Segment) bool { return s.Branch == b && s.At >= version })
}

// before reports whether the view reads a branch as it was before a version.
func (v *visible) before(b store.BranchID, version uint64) bool {
	return slices.ContainsFunc(v.lineage, func(s store.Segment) bool { return s.Branch == b && s.At < version })
}

// viewsOf are the cached views that a version of a branch is part of. The caller holds cacheMu.
func (x *Index) viewsOf(b store.BranchID, version uint64) []*visible {
	var views []*visible
	for _, v := range x.cache {
		if v.sees(b, version) {
			views = append(views, v)
		}
	}
	return views
}

func lineageID(l store.Lineage) string {
	id := make([]byte, 0, 16*len(l))
	for _, s := range l {
		id = binary.BigEndian.AppendUint64(id, uint64(s.Branch))
		id = binary.BigEndian.AppendUint64(id, s.At)
	}
	return string(id)
}

// view finds or makes what a lineage sees. The caller holds mu for reading.
func (x *Index) view(l store.Lineage) *visible {
	x.cacheMu.Lock()
	defer x.cacheMu.Unlock()
	x.clock++
	id := lineageID(l)
	v := x.cache[id]
	if v == nil {
		v = x.build(l)
		x.makeRoom()
		x.cache[id] = v
	}
	v.used = x.clock
	return v
}

func (x *Index) build(l store.Lineage) *visible {
	v := &visible{lineage: slices.Clone(l), sums: map[scope]sum{}, bits: make([]uint64, (len(x.docs)+63)/64)}
	hidden := map[name]bool{}
	for i, segment := range l {
		for n, list := range x.versions[segment.Branch] {
			at, ok := newest(list, segment.At)
			if !ok || (i > 0 && hidden[n]) {
				continue
			}
			if i < len(l)-1 {
				hidden[n] = true
			}
			v.replace(x.docs, gone, at.doc)
		}
	}
	return v
}

// makeRoom forgets the view that was not used for longest.
func (x *Index) makeRoom() {
	if len(x.cache) < x.maxViews {
		return
	}
	oldest, used := "", x.clock+1
	for id, v := range x.cache {
		if v.used < used {
			oldest, used = id, v.used
		}
	}
	delete(x.cache, oldest)
}

// statistics are the sums of a view's active, unexpired documents, in the scopes it selects.
func (x *Index) statistics(v *visible, view View) sum {
	return x.sums(v, view, func(s scope) bool { return s.active })
}

func (x *Index) sums(v *visible, view View, wanted func(scope) bool) sum {
	var total sum
	for s, part := range v.sums {
		if wanted(s) && view.selects(s.namespace, s.collection) {
			total = total.plus(part, 1)
		}
	}
	now := view.Now.UnixMicro()
	for _, id := range x.expiring {
		d := &x.docs[id]
		if v.has(id) && d.expires <= now && wanted(d.scope()) && view.selects(d.name.namespace, d.name.collection) {
			total = total.plus(sum{1, d.length}, -1)
		}
	}
	return total
}

func (v View) selects(namespace, collection string) bool {
	return (v.Namespaces == nil || slices.Contains(v.Namespaces, namespace)) &&
		(v.Collections == nil || slices.Contains(v.Collections, collection))
}
