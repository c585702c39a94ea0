package search

import (
	"encoding/binary"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/alcove-memory/alcove/host/internal/namespace"
	"github.com/alcove-memory/alcove/host/store"
)

// visible is the rows that a lineage sees, with their statistics. Writers update it with mu locked; searches, which hold
// mu for reading, add selections with cacheMu locked.
type visible struct {
	lineage store.Lineage
	rows    bitset
	statistics
	selections map[string]*selection
	used       uint64
}

// statistics are those of a set of rows.
type statistics struct {
	sums   map[uint32]sum     // by facet
	voices map[uint32][]voice // turns of conversations, by speaker
}

func newStatistics() statistics { return statistics{map[uint32]sum{}, map[uint32][]voice{}} }

func (s statistics) clone() statistics {
	c := statistics{maps.Clone(s.sums), maps.Clone(s.voices)}
	for speaker, list := range c.voices {
		c.voices[speaker] = slices.Clone(list)
	}
	return c
}

// voice is the turns of a speaker within a facet.
type voice struct {
	facet uint32
	turns int
}

type sum struct {
	documents int
	length    int
}

func (s sum) plus(other sum, sign int) sum {
	return sum{s.documents + sign*other.documents, s.length + sign*other.length}
}

// replace removes one row from the view and adds another; either may be none.
func (v *visible) replace(x *Index, before, after uint32) {
	if before == after {
		return
	}
	if before != none {
		v.rows.remove(before)
		v.count(x.table, before, -1)
		v.touch(x, before)
		for _, s := range v.selections {
			s.remove(x, before)
		}
	}
	if after != none {
		v.rows.add(after)
		v.count(x.table, after, 1)
		v.touch(x, after)
		for _, s := range v.selections {
			s.add(x, after)
		}
	}
}

// touch notes the change of a row for the selections that know its slot.
func (v *visible) touch(x *Index, number uint32) {
	if slot := x.table.threads.slotOfRow(number); slot != none && len(v.selections) > 0 {
		x.table.threads.touch(slot)
	}
}

// count adds a row to the statistics, or takes it out.
func (s statistics) count(t *table, number uint32, sign int) {
	r := t.row(number)
	s.sums[r.facet] = s.sums[r.facet].plus(sum{1, lengthOf(r.length)}, sign)
	if turn := t.turnOf(number); turn != nil {
		s.countVoice(turn.speaker, r.facet, sign)
	}
}

func (s statistics) countVoice(speaker, facet uint32, sign int) {
	list := s.voices[speaker]
	i := slices.IndexFunc(list, func(of voice) bool { return of.facet == facet })
	if i < 0 {
		i, list = len(list), append(list, voice{facet: facet})
	}
	if list[i].turns += sign; list[i].turns == 0 {
		list = slices.Delete(list, i, i+1)
	}
	if s.voices[speaker] = list; len(list) == 0 {
		delete(s.voices, speaker)
	}
}

// sees reports whether the view includes a version of a branch.
func (v *visible) sees(b store.BranchID, version uint64) bool {
	return slices.ContainsFunc(v.lineage, func(s store.Segment) bool { return s.Branch == b && s.At >= version })
}

// before reports whether the view reads a branch at an earlier version.
func (v *visible) before(b store.BranchID, version uint64) bool {
	return slices.ContainsFunc(v.lineage, func(s store.Segment) bool { return s.Branch == b && s.At < version })
}

// viewsOf returns the cached views that include a version of a branch. The caller holds cacheMu.
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

// cachedView is view for those who do not hold cacheMu.
func (x *Index) cachedView(l store.Lineage) *visible {
	x.cacheMu.Lock()
	defer x.cacheMu.Unlock()
	return x.view(l)
}

// view returns the view of a lineage from the cache, or builds it. The caller holds mu for reading, and cacheMu.
func (x *Index) view(l store.Lineage) *visible {
	x.clock++
	id := lineageID(l)
	v := x.cache[id]
	if v == nil {
		v = x.build(l)
		x.evict()
		x.cache[id] = v
	}
	v.used = x.clock
	return v
}

// build computes the view of a lineage: from each branch, nearest first, the newest row of each document at the branch's
// cut, except documents of which a nearer branch has a version. It begins with the branch that has the most rows, of which those that
// see it at their newest are known, and looks at the rows of the others.
func (x *Index) build(l store.Lineage) *visible {
	v := &visible{lineage: slices.Clone(l), rows: newBitset(int(x.table.rows.Len())), statistics: newStatistics(), selections: map[string]*selection{}}
	most := x.largest(l)
	if most < 0 {
		return v
	}
	x.fillView(v, l[most])
	hidden := newBitset(int(x.table.names.Len()))
	for i, segment := range l {
		b := x.branches[segment.Branch]
		if b == nil || i == most {
			continue
		}
		b.each(func(number uint32) {
			r := x.table.row(number)
			if !r.newestAt(segment.At) || !hidden.add(r.name) {
				return
			}
			other := x.table.at(l[most].Branch, r.name, l[most].At)
			if i > most && other != none {
				return
			}
			if other != none && v.rows.has(other) {
				v.replace(x, other, none)
			}
			if !r.gone {
				v.replace(x, none, number)
			}
		})
	}
	return v
}

// largest returns the place of the branch with the most rows in a lineage; -1: none has any.
func (x *Index) largest(l store.Lineage) (most int) {
	most, rows := -1, 0
	for i, segment := range l {
		if b := x.branches[segment.Branch]; b != nil && b.size() > rows {
			most, rows = i, b.size()
		}
	}
	return most
}

// fillView adds the rows of one branch at a cut to an empty view.
func (x *Index) fillView(v *visible, at store.Segment) {
	b := x.branches[at.Branch]
	v.statistics = b.newestOnes.clone()
	for _, p := range b.parts {
		for _, number := range p.rows {
			if number != none && x.table.live.has(number) {
				v.rows.add(number)
			}
		}
	}
	if b.newest <= at.At {
		return
	}
	for _, p := range b.parts {
		if p.last > at.At {
			p.each(func(number uint32) { x.rewindRow(v, number, at.At) })
		}
	}
}

// rewindRow replaces a row by the one before it, if it is newer than a cut.
func (x *Index) rewindRow(v *visible, number uint32, cut uint64) {
	r := x.table.row(number)
	if r.version <= cut {
		return
	}
	if v.rows.has(number) {
		v.replace(x, number, none)
	}
	if r.previous == none {
		return
	}
	if before := x.table.row(r.previous); before.version <= cut && !before.gone {
		v.replace(x, none, r.previous)
	}
}

// setLive notes whether a row is the newest of its document on its branch, and no tombstone.
func (x *Index) setLive(number uint32, in bool) {
	if in == x.table.live.has(number) {
		return
	}
	sign := 1
	if x.table.live.set(number, in); !in {
		sign = -1
	}
	x.branch(x.table.row(number).branch).newestOnes.count(x.table, number, sign)
}

// linked notes that a row has been linked: it may be the newest of its document instead of another.
func (x *Index) linked(number uint32) {
	r := x.table.row(number)
	if r.until != store.Latest {
		return
	}
	if r.previous != none {
		x.setLive(r.previous, false)
	}
	x.setLive(number, !r.gone)
}

// evict drops the least recently used view if the cache is full.
func (x *Index) evict() {
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

// selection is the documents of a view in some namespaces and collections, by part.
type selection struct {
	facets []choice // by facet, filled on demand
	view   View     // its namespaces and collections
	parts  map[uint32]*partSelection
	turns  selectedTurns
}

// choice is the effect of a selection on a facet.
type choice struct{ selected, active bool }

func (c choice) isSelected() bool { return c.selected }

func (c choice) isActive() bool { return c.selected && c.active }

// partSelection is the selected documents of a part.
type partSelection struct {
	all, active bitset
	count       int // of active documents

	mu    sync.Mutex
	found map[string]int // cached document frequencies among active documents; reset by each change
}

// maxSelections bounds the cached selections of a view.
const maxSelections = 8

// selection returns the cached selection of a view, or a new one without parts, which suffices to count. The caller holds cacheMu, and mu
// for reading.
func (v *visible) selection(view View) *selection {
	id := selectionID(view)
	s := v.selections[id]
	if s == nil {
		if len(v.selections) >= maxSelections {
			clear(v.selections)
		}
		s = &selection{view: View{Namespaces: slices.Clone(view.Namespaces), Sole: view.Sole, Collections: slices.Clone(view.Collections)}, parts: map[uint32]*partSelection{}}
		v.selections[id] = s
	}
	return s
}

// choose returns the selection of a view with all parts of it. The caller holds mu for reading, and cacheMu.
func (x *Index) choose(v *visible, view View) *selection {
	s := v.selection(view)
	for _, segment := range v.lineage {
		b := x.branches[segment.Branch]
		if b == nil {
			continue
		}
		for _, p := range b.parts {
			if s.parts[p.id] == nil {
				s.parts[p.id] = s.pick(x, v, p)
			}
		}
	}
	return s
}

func selectionID(v View) string {
	list := func(names []string) string {
		if names == nil {
			return "*"
		}
		return strings.Join(names, "\x01") + "."
	}
	return list(v.Namespaces) + "\x00" + list(v.Collections) + "\x00" + v.Sole
}

func (s *selection) pick(x *Index, v *visible, p *part) *partSelection {
	picked := &partSelection{all: newBitset(p.docs()), active: newBitset(p.docs())}
	only, uniform := s.ofPart(x, p)
	for local, number := range p.rows {
		if number == none || !v.rows.has(number) {
			continue
		}
		c := only
		if !uniform {
			c = s.of(x, x.table.row(number).facet)
		}
		picked.add(c, uint32(local))
	}
	return picked
}

// ofPart is the selection's choice for all facets of a part, if they have the same.
func (s *selection) ofPart(x *Index, p *part) (all choice, uniform bool) {
	first := true
	uniform = true
	p.facets.each(func(facet uint32) bool {
		c := s.of(x, facet)
		uniform = first || c == all
		first, all = false, c
		return uniform
	})
	return all, uniform
}

// of is the selection's choice for a facet.
func (s *selection) of(x *Index, number uint32) choice {
	for len(s.facets) <= int(number) {
		f := x.table.facets[len(s.facets)]
		space := x.table.spaces[f.space]
		s.facets = append(s.facets, choice{s.view.selects(space.namespace, space.collection), f.state == Active})
	}
	return s.facets[number]
}

func (s *selection) add(x *Index, number uint32) {
	at := x.table.placeOf(number)
	if p := s.parts[at.part]; p != nil {
		p.add(s.of(x, x.table.row(number).facet), at.local)
	}
}

func (s *selection) remove(x *Index, number uint32) {
	at := x.table.placeOf(number)
	if p := s.parts[at.part]; p != nil && s.of(x, x.table.row(number).facet).selected {
		p.remove(at.local)
	}
}

func (p *partSelection) add(c choice, local uint32) {
	if !c.selected {
		return
	}
	p.all.add(local)
	if c.active && p.active.add(local) {
		p.count++
	}
	p.found = nil
}

func (p *partSelection) remove(local uint32) {
	p.all.remove(local)
	if p.active.remove(local) {
		p.count--
	}
	p.found = nil
}

// forgetPart drops the selections of a removed part.
func (x *Index) forgetPart(id uint32) {
	for _, v := range x.cache {
		for _, s := range v.selections {
			delete(s.parts, id)
		}
	}
}

func (v View) selects(in, collection string) bool {
	return (v.Namespaces == nil || namespace.Covers(v.Namespaces, in)) && (v.Sole == "" || !namespace.Beside(v.Sole, in)) &&
		(v.Collections == nil || slices.Contains(v.Collections, collection))
}

// statistics sums over the unexpired documents of a view that are counted.
func (x *Index) statistics(v *visible, s *selection, now int64, counted func(choice) bool) sum {
	all, expired := x.sums(v, now, func(facet uint32) bool { return counted(s.of(x, facet)) })
	return all.plus(expired, -1)
}

// sums are those over the documents of a view with facets that count, and over the expired ones of them.
func (x *Index) sums(v *visible, now int64, counts func(facet uint32) bool) (all, expired sum) {
	for facet, part := range v.sums {
		if counts(facet) {
			all = all.plus(part, 1)
		}
	}
	for _, segment := range v.lineage {
		b := x.branches[segment.Branch]
		if b == nil {
			continue
		}
		for _, p := range b.parts {
			x.eachExpired(p, now, func(local uint32) {
				r := x.table.row(p.rows[local])
				if v.rows.has(p.rows[local]) && counts(r.facet) {
					expired = expired.plus(sum{1, lengthOf(r.length)}, 1)
				}
			})
		}
	}
	return all, expired
}

// eachExpired calls do for the documents of a part that have expired.
func (x *Index) eachExpired(p *part, now int64, do func(local uint32)) {
	for _, e := range p.expiring {
		if e.at > now {
			if p.sealed != nil {
				return // they are in order
			}
			continue
		}
		if p.rows[e.local] != none {
			do(e.local)
		}
	}
}
