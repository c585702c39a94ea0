package search

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
)

// SortBy is the key of an Ordering.
type SortBy int

// The keys of orderings.
const (
	Unordered SortBy = iota
	ByName
	ByCreation
	ByUpdate
	ByImportance // documents without it are below all others
)

// Ordering is the order in which a listing wants documents. Those with equal values are in the order of namespaces and keys.
type Ordering struct {
	By         SortBy
	Descending bool   // the values; not the names
	After      *Place // where the documents begin; nil: at the first
	Most       int    // how many documents the caller needs, or about; 0: all
}

// Place is the place of a document in an Ordering.
type Place struct {
	Value          int64 // µs, or SortImportance; 0 by name
	Namespace, Key string
}

// column is the column that has the order.
func (o Ordering) column() columnID {
	return columnID{kind: map[SortBy]columnKind{ByName: byName, ByCreation: byCreation, ByUpdate: byUpdate, ByImportance: byImportance}[o.By]}
}

// inOrder reports whether walking in order until a page is full is cheaper than testing every document that may be selected.
func (s *selectRun) inOrder(o Ordering) bool {
	if o.By == Unordered || o.Most == 0 || len(s.view.Collections) != 1 {
		return false
	}
	walked, narrowed := 0, 0
	for _, p := range s.picked {
		if p.columns == nil {
			continue
		}
		walked += len(s.bounded(p, o.column()))
		narrowed += p.candidates()
	}
	found := float64(min(narrowed, s.documents))
	expected := float64(o.Most) * float64(walked) / max(1, found)
	s.patience = 4*int(expected) + s.index.maxTail/2
	return expected < found
}

// candidates returns the number of documents that may be selected.
func (p *pickedPart) candidates() (n int) {
	if p.narrow == nil {
		return p.part.docs()
	}
	for _, list := range p.narrow {
		n += len(list)
	}
	return n
}

// errUnexpected ends a walk whose filter admits much less than expected.
var errUnexpected = errors.New("too few documents are selected")

// walk selects documents in order. If that takes too long, it selects the rest without an order.
func (s *selectRun) walk(ctx context.Context, o Ordering, do func(*Columns) bool) error {
	var streams []*stream
	for _, p := range s.picked {
		st, err := s.stream(ctx, p, o)
		if err != nil {
			return err
		}
		streams = append(streams, st)
	}
	more, err := s.merge(ctx, streams, do)
	if !errors.Is(err, errUnexpected) || !more {
		return err
	}
	for _, st := range streams {
		if more, err := s.part(ctx, st.remaining(), do); err != nil || !more {
			return err
		}
	}
	return ctx.Err()
}

// merge selects the documents of streams in order. It reports whether to continue.
func (s *selectRun) merge(ctx context.Context, all []*stream, do func(*Columns) bool) (more bool, err error) {
	s.patience += s.tested
	var streams []*stream
	for _, st := range all {
		ok, err := st.next(ctx)
		if err != nil {
			return true, err
		}
		if ok {
			streams = append(streams, st)
		}
	}
	for len(streams) > 0 {
		first := slices.MinFunc(streams, func(a, b *stream) int { return a.compare(b) })
		s.read(first.row)
		if s.row.InOrder = true; !do(&s.row) {
			return false, nil
		}
		ok, err := first.next(ctx)
		if err != nil {
			return true, err
		}
		if !ok {
			streams = slices.DeleteFunc(streams, func(st *stream) bool { return st == first })
		}
	}
	return false, ctx.Err()
}

// remaining is the part without the documents that the stream has gone through.
func (st *stream) remaining() *pickedPart {
	left := newBitset(st.part.part.docs())
	for _, list := range []column{st.group, st.docs} {
		for _, local := range list {
			if st.part.docs.has(local) {
				left.add(local)
			}
		}
	}
	if st.row != nil {
		left.add(st.local)
	}
	return &pickedPart{part: st.part.part, docs: left, columns: st.part.columns, narrow: st.part.narrow}
}

// stream yields the selected documents of a part in an order.
type stream struct {
	selecting *selectRun
	part      *pickedPart
	id        columnID
	desc      bool
	docs      column // to come, by ascending value and name
	group     column // to come before these: in the order of the stream
	row       *row   // the present document; nil: none
	local     uint32 // its number
}

// stream begins the documents of a part.
func (s *selectRun) stream(ctx context.Context, p *pickedPart, o Ordering) (*stream, error) {
	st := &stream{selecting: s, part: p, id: o.column(), desc: o.Descending}
	if p.columns != nil {
		st.docs = s.bounded(p, st.id)
	} else {
		_, err := s.part(ctx, p, func(c *Columns) bool {
			st.docs = append(st.docs, s.local)
			return true
		})
		if err != nil {
			return nil, err
		}
		slices.SortFunc(st.docs, func(a, b uint32) int {
			x, y := s.index.table.row(p.part.rows[a]), s.index.table.row(p.part.rows[b])
			return cmp.Or(cmp.Compare(st.value(x), st.value(y)), s.index.table.compareNames(x, y))
		})
	}
	if o.After != nil {
		st.skip(*o.After)
	}
	return st, nil
}

func (st *stream) value(r *row) int64 {
	v, _ := st.selecting.index.table.value(st.id, r)
	return v
}

// skip drops the documents up to a place.
func (st *stream) skip(after Place) {
	x, p := st.selecting.index, st.part.part
	named := func(r *row) bool {
		n := x.table.nameAt(r.name)
		return cmp.Or(strings.Compare(x.table.spaces[n.space].namespace, after.Namespace), strings.Compare(n.key, after.Key)) <= 0
	}
	before := func(r *row) bool {
		v := st.value(r)
		return v < after.Value || v == after.Value && named(r)
	}
	behind := x.search(st.docs, p, before)
	if !st.desc {
		st.docs = st.docs[behind:]
		return
	}
	st.group = st.docs[behind:x.search(st.docs, p, func(r *row) bool { return st.value(r) <= after.Value })]
	st.docs = st.docs[:x.search(st.docs, p, func(r *row) bool { return st.value(r) < after.Value })]
}

// next goes to the next document that the filter selects.
func (st *stream) next(ctx context.Context) (bool, error) {
	s, p := st.selecting, st.part
	for st.row = nil; st.refill(); {
		if s.tested > s.patience {
			return false, errUnexpected
		}
		local := st.group[0]
		st.group = st.group[1:]
		if s.tested++; s.tested%rowsPerCheck == 0 && ctx.Err() != nil {
			return false, ctx.Err()
		}
		if !p.docs.has(local) {
			continue
		}
		if r := s.index.table.row(p.part.rows[local]); s.admits(r) {
			st.row, st.local = r, local
			return true, nil
		}
	}
	return false, nil
}

// refill takes the next documents in order: those with the greatest value when the order descends.
func (st *stream) refill() bool {
	if len(st.group) > 0 {
		return true
	}
	if !st.desc {
		st.group, st.docs = st.docs, nil
		return len(st.group) > 0
	}
	p := st.part.part
	for len(st.docs) > 0 && p.rows[st.docs[len(st.docs)-1]] == none {
		st.docs = st.docs[:len(st.docs)-1]
	}
	if len(st.docs) == 0 {
		return false
	}
	x := st.selecting.index
	value := st.value(x.table.row(p.rows[st.docs[len(st.docs)-1]]))
	begin := x.search(st.docs, p, func(r *row) bool { return st.value(r) < value })
	st.group, st.docs = st.docs[begin:], st.docs[:begin]
	return true
}

// compare orders streams by their present documents.
func (st *stream) compare(o *stream) int {
	by := cmp.Compare(st.value(st.row), o.value(o.row))
	if st.desc {
		by = -by
	}
	return cmp.Or(by, st.selecting.index.table.compareNames(st.row, o.row))
}
