package search

import (
	"cmp"
	"encoding/binary"
	"maps"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/host/search/segment"
)

// The columns of a part that its file has: the orders that listings ask for, and groups of documents by tag, agent and facet. Fields
// have columns in memory alone.

// storedOrders are the columns that are stored as orders.
func storedOrders() []columnKind {
	return []columnKind{byName, byCreation, byUpdate, byImportance, byExpiry}
}

// orderName is the name of an order in a file.
func (k columnKind) orderName() string {
	return [...]string{byName: "name", byCreation: "creation", byUpdate: "update", byImportance: "importance", byExpiry: "expiry"}[k]
}

// Prefixes of the names of groups.
const (
	ofTag   = "t"
	ofAgent = "a"
	ofFacet = "f"
)

// groupName is the name of a facet's group. Numbers of facets are those of a process; what they stand for lasts.
func (t *table) groupName(number uint32) string {
	f := &t.facets[number]
	s := t.spaces[f.space]
	name := []byte(ofFacet)
	for _, text := range []string{s.namespace, s.collection, f.state, f.kind} {
		name = binary.AppendUvarint(name, uint64(len(text)))
		name = append(name, text...)
	}
	return string(name)
}

// groups lists the documents of a part by what they have in common.
func (x *Index) groups(p *part) map[string]column {
	lists := map[string]column{}
	facets := map[uint32]string{}
	add := func(name string, local uint32) {
		if l := lists[name]; len(l) == 0 || l[len(l)-1] != local { // a document may have a tag twice
			lists[name] = append(l, local)
		}
	}
	t := x.tableNow()
	x.eachRow(t, p, func(local uint32, r *row) {
		facet, ok := facets[r.facet]
		if !ok {
			facet = t.groupName(r.facet)
			facets[r.facet] = facet
		}
		add(facet, local)
		add(ofAgent+t.agents[r.agent], local)
		if r.extra != none {
			t.extras.eachTag(r.extra, func(tag uint32) bool {
				add(ofTag+t.tags[tag], local)
				return true
			})
		}
	})
	return lists
}

// storeColumns writes the columns of a part whose documents have their numbers.
func (x *Index) storeColumns(w *segment.Writer, p *part) {
	if !x.manyEnough(p.docs()) {
		return
	}
	for _, kind := range storedOrders() {
		w.Order(kind.orderName(), x.sortColumn(p, columnID{kind: kind}))
	}
	storeGroups(w, x.groups(p))
}

func storeGroups(w *segment.Writer, lists map[string]column) {
	for _, name := range slices.Sorted(maps.Keys(lists)) {
		w.Group(name, lists[name])
	}
}

// mergeColumns writes the columns of a merged part.
func (x *Index) mergeColumns(w *segment.Writer, m mergePlan, parts []*part) {
	if !x.manyEnough(m.into.docs()) {
		return
	}
	for _, kind := range storedOrders() {
		w.Order(kind.orderName(), x.mergeOrder(m, parts, columnID{kind: kind}))
	}
	all := map[string]column{}
	for i, p := range parts {
		for name, list := range x.groupsOf(p) {
			for _, local := range list {
				if to := m.moved[i][local]; to != none {
					all[name] = append(all[name], to)
				}
			}
		}
	}
	storeGroups(w, all)
}

// groupsOf returns the groups of a sealed part, from its file if that has them.
func (x *Index) groupsOf(p *part) map[string]column {
	if _, ok := p.sealed.Order(byExpiry.orderName()); !ok {
		return x.groups(p)
	}
	lists := map[string]column{}
	p.sealed.Groups("", func(name string, docs []uint32) { lists[name] = docs })
	return lists
}

// mergeOrder merges the orders of parts.
func (x *Index) mergeOrder(m mergePlan, parts []*part, id columnID) column {
	var streams []*sortedStream
	merged := make(column, 0, m.into.docs())
	for i, p := range parts {
		list, ok := p.sealed.Order(id.kind.orderName())
		if !ok {
			list = x.sortColumn(p, id)
		}
		s := &sortedStream{index: x, id: id, part: p, moved: m.moved[i], left: list}
		if s.fill() {
			streams = append(streams, s)
		}
	}
	for len(streams) > 0 {
		spaces := streams[0].spaces
		for _, s := range streams[1:] {
			if len(s.spaces) > len(spaces) { // they only grow
				spaces = s.spaces
			}
		}
		first := slices.MinFunc(streams, func(a, b *sortedStream) int { return id.kind.compare(&a.ready[0], &b.ready[0], spaces) })
		merged = append(merged, first.ready[0].local)
		if first.ready = first.ready[1:]; !first.fill() {
			streams = slices.DeleteFunc(streams, func(s *sortedStream) bool { return s == first })
		}
	}
	return merged
}

// sortedStream yields the documents of a part in an order, under their new numbers.
type sortedStream struct {
	index  *Index
	id     columnID
	part   *part
	moved  []uint32
	left   column      // to be read
	ready  []sortEntry // have been read
	spaces []space
}

// fill reads documents if none are ready. It reports whether there are any.
func (s *sortedStream) fill() bool {
	for len(s.ready) == 0 && len(s.left) > 0 {
		n := min(len(s.left), rowsPerSnapshot)
		s.read(s.left[:n])
		s.left = s.left[n:]
	}
	return len(s.ready) > 0
}

// read reads documents.
func (s *sortedStream) read(locals column) {
	x := s.index
	x.mu.RLock()
	defer x.mu.RUnlock()
	for _, local := range locals {
		number := s.part.rows[local]
		if number == none || s.moved[local] == none {
			continue
		}
		if e, ok := x.entryOf(s.id, x.table.row(number), s.moved[local]); ok {
			s.ready = append(s.ready, e)
		}
	}
	s.spaces = slices.Clip(x.table.spaces)
}

// entryOf is what a column sorts of a row; ok is false if the column has no such rows. The caller holds mu.
func (x *Index) entryOf(id columnID, r *row, local uint32) (e sortEntry, ok bool) {
	value, ok := x.table.value(id, r)
	if !ok || r.name == none {
		return e, false
	}
	n := x.table.nameAt(r.name)
	return sortEntry{value, n.space, strings.Clone(n.key), local}, true
}

// compare is the order of a column.
func (k columnKind) compare(a, b *sortEntry, spaces []space) int {
	if a.value != b.value || !k.named() {
		return cmp.Or(cmp.Compare(a.value, b.value), cmp.Compare(a.local, b.local))
	}
	if a.space != b.space {
		return spaces[a.space].compare(spaces[b.space])
	}
	return strings.Compare(a.key, b.key)
}

// storedColumn reads a column from the file of a part; ok is false if the file has none.
func (x *Index) storedColumn(p *part, id columnID) (c column, ok bool) {
	switch id.kind {
	case byField, byTag:
		return nil, false
	case byFacet:
		return x.numbered(p, ofFacet, func(t *table, list map[uint32]string) {
			for number := range t.facets {
				list[uint32(number)] = t.groupName(uint32(number))
			}
		})
	case byAgent:
		return x.numbered(p, ofAgent, func(t *table, list map[uint32]string) {
			for number, agent := range t.agents {
				list[uint32(number)] = ofAgent + agent
			}
		})
	}
	return p.sealed.Order(id.kind.orderName())
}

// numbered reads the groups with a prefix, in the order of the numbers that this process gives to what they have in common.
func (x *Index) numbered(p *part, prefix string, names func(*table, map[uint32]string)) (c column, ok bool) {
	groups := map[string]column{}
	p.sealed.Groups(prefix, func(name string, docs []uint32) { groups[name] = docs })
	if len(groups) == 0 {
		return nil, false
	}
	numbers := map[uint32]string{}
	x.mu.RLock()
	names(x.table, numbers)
	x.mu.RUnlock()
	for _, number := range slices.Sorted(maps.Keys(numbers)) {
		c = append(c, groups[numbers[number]]...)
	}
	return c, true
}

// storedTags reads the lists of tags from the file of a part; ok is false if the file has none.
func storedTags(p *part) (lists map[string]column, ok bool) {
	if _, ok := p.sealed.Order(byExpiry.orderName()); !ok {
		return nil, false
	}
	lists = map[string]column{}
	p.sealed.Groups(ofTag, func(name string, docs []uint32) { lists[name[len(ofTag):]] = docs })
	return lists, true
}
