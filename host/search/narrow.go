package search

import (
	"math"
	"slices"
)

// columnsFor lists the columns that a listing can use.
func (x *Index) columnsFor(view View, f Filter, o Ordering) (ids []columnID) {
	use := func(kind columnKind, used bool) {
		if id := (columnID{kind: kind}); used && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	use(byFacet, len(f.Types) > 0 || len(f.States) > 0)
	use(byAgent, len(f.Agents) > 0)
	use(byTag, len(f.Tags) > 0 || len(f.AnyTags) > 0)
	use(byName, f.Prefix != "" && view.isOne())
	use(byCreation, !f.Created.IsZero() || !f.Dated.Until.IsZero())
	use(byUpdate, !f.Updated.IsZero() || !f.Dated.Since.IsZero())
	use(byImportance, f.MinImportance != nil || f.MaxImportance != nil)
	use(byExpiry, f.Expiry == Expired)
	if o.By != Unordered && o.Most > 0 {
		use(o.column().kind, true)
	}
	return append(ids, x.fieldColumns(f)...)
}

// fieldColumns lists the columns of the fields that a filter wants documents to have.
func (x *Index) fieldColumns(f Filter) (ids []columnID) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	for _, test := range f.Fields {
		if number, ok := x.table.fieldOf[test.Name]; ok && test.Test != Absent {
			ids = append(ids, columnID{byField, number})
		}
	}
	return ids
}

// isOne reports whether the view is of one collection of one namespace.
func (v View) isOne() bool { return len(v.Namespaces) == 1 && len(v.Collections) == 1 }

// narrow finds the fewest documents of each part among which all are that the filter selects.
func (s *selectRun) narrow(ids []columnID) {
	s.resolve()
	for _, p := range s.picked {
		built := p.part.columns.Load()
		if slices.ContainsFunc(ids, func(id columnID) bool { return !built.has(id) }) {
			continue // all its documents are tested
		}
		if p.columns = built; built == nil {
			continue
		}
		best := p.part.docs()
		for _, id := range ids {
			lists, ok := s.lists(p, id)
			if n := total(lists); ok && n < best {
				p.narrow, best = lists, n
			}
		}
	}
}

func total(lists []column) (n int) {
	for _, list := range lists {
		n += len(list)
	}
	return n
}

// mostRanges bounds the ranges of a column for one condition.
const mostRanges = 256

// resolve lists the facets and the agents that the filter admits.
func (s *selectRun) resolve() {
	t := s.index.table
	for number, f := range t.facets {
		if sp := t.spaces[f.space]; s.view.selects(sp.namespace, sp.collection) && s.test.kind(f.state, f.kind) {
			s.facets = append(s.facets, uint32(number))
		}
	}
	for _, agent := range s.test.filter.Agents {
		if number, ok := t.agentOf[agent]; ok && !slices.Contains(s.writers, number) {
			s.writers = append(s.writers, number)
		}
	}
}

// lists returns the documents that satisfy the conditions on a column; without conditions, ok is false. None is nil.
func (s *selectRun) lists(p *pickedPart, id columnID) (lists []column, ok bool) {
	f, t := &s.test.filter, s.index.table
	one := func(value int64) {
		lists = append(lists, s.index.between(p.columns.sorted[id], p.part, id, value, value))
	}
	lists = []column{}
	switch id.kind {
	case byFacet, byAgent:
		numbers := s.facets
		if id.kind == byAgent {
			numbers = s.writers
		}
		if len(numbers) > mostRanges {
			return nil, false
		}
		for _, number := range numbers {
			one(int64(number))
		}
		return lists, true
	case byTag:
		return s.tagged(p)
	case byField:
		at := slices.IndexFunc(f.Fields, func(test FieldTest) bool { return test.Test != Absent && test.Name == t.fields[id.field] })
		if f.Fields[at].Test == Present {
			return []column{p.columns.sorted[id]}, true
		}
		one(f.Fields[at].Equals.sortable())
		return lists, true
	}
	bounded := s.bounded(p, id)
	return []column{bounded}, id.kind == byExpiry || len(bounded) < len(p.columns.sorted[id])
}

// tagged returns the documents with the rarest of the tags that a document must have all of, or with one of the others; ok is false
// if these are many.
func (s *selectRun) tagged(p *pickedPart) (lists []column, ok bool) {
	f := &s.test.filter
	if len(f.Tags) > 0 {
		rarest := p.columns.tagged[f.Tags[0]]
		for _, tag := range f.Tags {
			if list := p.columns.tagged[tag]; len(list) < len(rarest) {
				rarest = list
			}
		}
		return []column{rarest}, true
	}
	var all column
	for _, tag := range f.AnyTags {
		if all = append(all, p.columns.tagged[tag]...); len(all) > p.part.docs()/8 {
			return nil, false
		}
	}
	slices.Sort(all)
	return []column{slices.Compact(all)}, true // a document may have several
}

// bounded returns the part of a column that is within the filter's bounds on its values.
func (s *selectRun) bounded(p *pickedPart, id columnID) column {
	x, f, c := s.index, &s.test.filter, p.columns.sorted[id]
	within := func(least, most int64) column { return x.between(c, p.part, id, least, most) }
	switch {
	case id.kind == byName && s.view.isOne():
		return x.prefixed(c, p.part, space{s.view.Namespaces[0], s.view.Collections[0]}, f.Prefix)
	case id.kind == byCreation:
		return within(s.test.created.since, s.test.created.until-1)
	case id.kind == byUpdate:
		return within(s.test.updated.since, s.test.updated.until-1)
	case id.kind == byImportance && (f.MinImportance != nil || f.MaxImportance != nil):
		return within(s.importances())
	case id.kind == byExpiry:
		return within(math.MinInt64, s.test.now)
	}
	return c
}

// importances are the least and the most that the filter admits, as SortImportance has them.
func (s *selectRun) importances() (least, most int64) {
	f := &s.test.filter
	least, most = 0, math.MaxInt64
	if f.MinImportance != nil && *f.MinImportance >= 0 {
		least = SortImportance(*f.MinImportance)
	}
	if f.MaxImportance != nil {
		most = SortImportance(*f.MaxImportance)
	}
	return least, most
}
