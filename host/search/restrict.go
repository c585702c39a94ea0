package search

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
)

// restriction is a condition of a filter that a column decides.
type restriction struct {
	column columnKind
	label  string                     // conditions with the same label admit the same documents of a part; empty: those change, or are cheap to find
	of     func(p *pickedPart) bitset // what it admits; of removed documents it says nothing
}

// knownSets are the documents of a sealed part that conditions admit.
type knownSets struct {
	mu sync.Mutex
	of map[string]bitset
}

// mostKnown bounds the known sets of a part, which take a bit for each of its documents.
const mostKnown = 16

func (k *knownSets) get(label string, find func() bitset) bitset {
	if label == "" {
		return find()
	}
	k.mu.Lock()
	set, ok := k.of[label]
	k.mu.Unlock()
	if ok {
		return set
	}
	set = find()
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.of == nil || len(k.of) >= mostKnown {
		k.of = map[string]bitset{}
	}
	k.of[label] = set
	return set
}

// want asks for the columns that a query can use, which Maintain makes. A search does not wait for them.
func (x *Index) want(view View, q *Query) {
	f := q.filter()
	if onlyActive(&f) {
		f.States = nil
	}
	ids := x.columnsFor(view, f, Ordering{})
	if len(f.NoTags) > 0 {
		ids = append(ids, columnID{kind: byTag})
	}
	if len(ids) == 0 || !x.building.TryLock() { // they are being made, or a later search asks again
		return
	}
	defer x.building.Unlock()
	for _, id := range ids {
		if !x.wanted[id] && len(x.wanted) < mostColumns {
			x.wanted[id] = true
			x.signalDue()
		}
	}
}

// addAllWanted gives all parts the columns that are wanted.
func (x *Index) addAllWanted(ctx context.Context) {
	x.mu.RLock()
	parts := slices.Collect(maps.Values(x.parts))
	x.mu.RUnlock()
	for _, p := range parts {
		if ctx.Err() == nil {
			x.addWanted(p)
		}
	}
}

// onlyActive reports whether a filter admits the state active alone.
func onlyActive(f *Filter) bool { return slices.Equal(f.States, []string{Active}) }

// restrict takes the documents that the filter does not admit from the possible hits, where columns tell. A leaf without the columns has its
// documents tested one by one when they match.
func (r *ranking) restrict() {
	if !r.filtered {
		return
	}
	list, exact := r.restrictions()
	r.filtered = false
	for _, l := range r.leaves {
		l.tested = !exact
		p := &pickedPart{part: l.part, columns: l.part.columns.Load()}
		for _, condition := range list {
			if !p.columns.has(columnID{kind: condition.column}) {
				l.tested = true
				continue
			}
			l.matching = l.matching.common(l.part.known.get(condition.label, func() bitset { return condition.of(p) }))
			r.restricted = true
		}
		r.filtered = r.filtered || l.tested
	}
}

// restrictions are the conditions of the filter. exact reports whether they are all of it, but for what prepareLeaf leaves out.
func (r *ranking) restrictions() (list []restriction, exact bool) {
	f := &r.test.filter
	s := &selectRun{index: r.index, view: r.view, test: r.test}
	s.resolve()
	exact = len(f.Fields) == 0 && f.Expiry != Expired
	add := func(column columnKind, label string, of func(p *pickedPart) bitset) {
		list = append(list, restriction{column, label, of})
	}
	among := func(column columnKind, numbers []uint32) {
		if exact = exact && len(numbers) <= mostRanges; len(numbers) <= mostRanges {
			add(column, fmt.Sprint(column, numbers), func(p *pickedPart) bitset {
				lists, _ := s.lists(p, columnID{kind: column})
				return p.setOf(lists...)
			})
		}
	}
	if len(f.Types) > 0 || len(f.States) > 0 && !r.onlyActive {
		among(byFacet, s.facets)
	}
	if len(f.Agents) > 0 {
		among(byAgent, s.writers)
	}
	for _, tag := range f.Tags {
		add(byTag, "tag "+tag, func(p *pickedPart) bitset { return p.setOf(p.columns.tagged[tag]) })
	}
	if len(f.AnyTags) > 0 {
		add(byTag, "tags "+strings.Join(f.AnyTags, "\x00"), func(p *pickedPart) bitset { return p.setOf(p.listsOf(f.AnyTags)...) })
	}
	if len(f.NoTags) > 0 {
		add(byTag, "no tags "+strings.Join(f.NoTags, "\x00"), func(p *pickedPart) bitset { return p.setWithout(p.listsOf(f.NoTags)...) })
	}
	return append(list, r.ranges(&exact)...), exact
}

// ranges are the conditions of the filter on values that documents are sorted by. It clears exact if these are not all.
func (r *ranking) ranges(exact *bool) (list []restriction) {
	f, t := &r.test.filter, r.test
	within := func(column columnKind, least, most int64) {
		if least > math.MinInt64 || most < math.MaxInt64 {
			list = append(list, restriction{column, "", func(p *pickedPart) bitset { return r.within(p, column, least, most) }})
		}
	}
	within(byCreation, t.created.since, last(t.created))
	within(byUpdate, t.updated.since, last(t.updated))
	if t.dated.since > math.MinInt64 && t.dated.until < math.MaxInt64 { // else one of the two above says all
		*exact = false
	}
	if f.MinImportance != nil || f.MaxImportance != nil {
		s := &selectRun{index: r.index, test: t}
		least, most := s.importances()
		within(byImportance, least, most)
		*exact = *exact && (f.MinImportance == nil || *f.MinImportance >= 0) && (f.MaxImportance == nil || *f.MaxImportance >= 0)
	}
	if f.Prefix == "" {
		return list
	}
	if !r.view.isOne() {
		*exact = false
		return list
	}
	return append(list, restriction{byName, "", func(p *pickedPart) bitset {
		c := p.columns.sorted[columnID{kind: byName}]
		return p.setOfRange(c, r.index.prefixed(c, p.part, space{r.view.Namespaces[0], r.view.Collections[0]}, f.Prefix))
	}})
}

// last is the last instant within bounds.
func last(b bounds) int64 {
	if b.until == math.MaxInt64 {
		return b.until
	}
	return b.until - 1
}

// within is the documents of a part whose values are from least to most.
func (r *ranking) within(p *pickedPart, kind columnKind, least, most int64) bitset {
	id := columnID{kind: kind}
	c := p.columns.sorted[id]
	return p.setOfRange(c, r.index.between(c, p.part, id, least, most))
}

// listsOf lists the documents with each tag.
func (p *pickedPart) listsOf(tags []string) (lists []column) {
	for _, tag := range tags {
		lists = append(lists, p.columns.tagged[tag])
	}
	return lists
}

// setOf is the documents of columns.
func (p *pickedPart) setOf(lists ...column) bitset {
	set := newBitset(p.part.docs())
	for _, list := range lists {
		for _, local := range list {
			set[local/64] |= 1 << (local % 64)
		}
	}
	return set
}

// setWithout is the documents that are in none of the columns.
func (p *pickedPart) setWithout(lists ...column) bitset {
	set := p.setOf(lists...)
	for i := range set {
		set[i] = ^set[i]
	}
	return set
}

// setOfRange is the documents of a range of a column that has all documents, or what is in no other range if that is shorter.
func (p *pickedPart) setOfRange(all, within column) bitset {
	if 2*len(within) <= len(all) {
		return p.setOf(within)
	}
	from := cap(all) - cap(within)
	return p.setWithout(all[:from], all[from+len(within):])
}

// common is the numbers that are in both sets.
func (b bitset) common(other bitset) bitset {
	both := slices.Clone(b[:min(len(b), len(other))])
	for i := range both {
		both[i] &= other[i]
	}
	return both
}
