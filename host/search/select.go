package search

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/host/store"
)

// Select calls do for the documents of a view that a filter selects, until do returns false. They come in no order, or in
// that of o: then Columns.InOrder is set. The columns are valid until do returns. The index is locked meanwhile: do is quick
// and uses the index for nothing.
func (x *Index) Select(ctx context.Context, view View, f Filter, o Ordering, do func(*Columns) bool) error {
	return x.guard(func() error {
		if f.Text != "" {
			return x.selectMatching(ctx, view, f, do)
		}
		return x.selectListed(ctx, view, f, o, do)
	})
}

// selectListed is Select for a filter without a text.
func (x *Index) selectListed(ctx context.Context, view View, f Filter, o Ordering, do func(*Columns) bool) error {
	ids := x.columnsFor(view, f, o)
	if err := x.buildColumns(ctx, view, ids); err != nil {
		return err
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	view.Lineage = x.present(view.Lineage)
	s := x.newSelecting(view, f)
	s.narrow(ids)
	if s.inOrder(o) {
		return s.walk(ctx, o, do)
	}
	for _, p := range s.picked {
		if more, err := s.part(ctx, p, do); err != nil || !more {
			return err
		}
	}
	return ctx.Err()
}

// SelectKeys is Select for the documents of a view with given keys, in their order. The view has one namespace and one collection.
func (x *Index) SelectKeys(ctx context.Context, view View, f Filter, keys iter.Seq[string], do func(*Columns) bool) error {
	return x.guard(func() error { return x.selectKeys(ctx, view, f, keys, do) })
}

func (x *Index) selectKeys(ctx context.Context, view View, f Filter, keys iter.Seq[string], do func(*Columns) bool) error {
	x.mu.RLock()
	defer x.mu.RUnlock()
	view.Lineage = x.present(view.Lineage)
	s := x.newSelecting(view, f)
	number, ok := x.table.spaceOf[space{view.Namespaces[0], view.Collections[0]}]
	if !ok {
		return ctx.Err()
	}
	tested := 0
	for key := range keys {
		if tested++; tested%rowsPerCheck == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		n := x.table.nameOf(name{number, key})
		if n == none {
			continue
		}
		row := x.visibleIn(view.Lineage, n)
		if row == none || !s.admits(x.table.row(row)) {
			continue
		}
		if s.row.InOrder = true; !do(&s.row) {
			return nil
		}
	}
	return ctx.Err()
}

// Tally counts the documents that a filter selects without a look at each; ok is false if the filter asks for more than states, types
// and expiry.
func (x *Index) Tally(ctx context.Context, view View, f Filter) (n int, ok bool, err error) {
	err = x.guard(func() error {
		n, ok, err = x.tally(ctx, view, f)
		return err
	})
	return n, ok, err
}

func (x *Index) tally(ctx context.Context, view View, f Filter) (n int, ok bool, err error) {
	if !f.isCoarse() {
		return 0, false, ctx.Err()
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	x.cacheMu.Lock()
	defer x.cacheMu.Unlock()
	v := x.view(x.present(view.Lineage))
	s, test := v.selection(view), f.At(view.Now)
	all, expired := x.sums(v, test.now, func(number uint32) bool {
		facet := &x.table.facets[number]
		return s.of(x, number).selected && test.kind(facet.state, facet.kind)
	})
	switch f.Expiry {
	case Expired:
		return expired.documents, true, ctx.Err()
	case Unexpired:
		return all.plus(expired, -1).documents, true, ctx.Err()
	}
	return all.documents, true, ctx.Err()
}

// Estimate returns how many documents Select tests at most for a filter, and how many there are.
func (x *Index) Estimate(ctx context.Context, view View, f Filter) (tested, all int, err error) {
	err = x.guard(func() error {
		tested, all, err = x.estimate(ctx, view, f)
		return err
	})
	return tested, all, err
}

func (x *Index) estimate(ctx context.Context, view View, f Filter) (tested, all int, err error) {
	ids := x.columnsFor(view, f, Ordering{})
	if err := x.buildColumns(ctx, view, ids); err != nil {
		return 0, 0, err
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	view.Lineage = x.present(view.Lineage)
	s := x.newSelecting(view, f)
	s.narrow(ids)
	for _, p := range s.picked {
		tested += p.candidates()
	}
	return min(tested, s.documents), s.documents, ctx.Err()
}

// isCoarse reports whether the filter tests only states, types and expiry.
func (f *Filter) isCoarse() bool {
	return f.Text == "" && f.Prefix == "" && len(f.Agents)+len(f.Tags)+len(f.AnyTags)+len(f.NoTags)+len(f.Fields) == 0 &&
		f.MinImportance == nil && f.MaxImportance == nil && f.Created.IsZero() && f.Updated.IsZero() && f.Dated.IsZero()
}

// present returns a lineage that sees the same documents: one whose own branch was not written after its cut reads that
// branch without a cut, so that its view is the one that writes keep up to date. The caller holds mu for reading as long as it uses
// the lineage.
func (x *Index) present(l store.Lineage) store.Lineage {
	if len(l) == 0 || l[0].At == store.Latest {
		return l
	}
	if b := x.branches[l[0].Branch]; b != nil && b.newest > l[0].At {
		return l
	}
	l = slices.Clone(l)
	l[0].At = store.Latest
	return l
}

// selectRun is the state of one Select.
type selectRun struct {
	index   *Index
	view    View
	visible *visible
	test    *Test
	picked  []*pickedPart
	kinds   map[uint32]bool // the test's answer by facet
	agents  map[uint32]bool // and by agent
	facet   uint32          // the last facet asked for, or none
	agent   uint32          // the last agent asked for, or none
	ok      [2]bool         // the answers for these
	fields  []requiredField
	nothing bool // no document has one of the fields
	row     Columns

	facets    []uint32 // that the filter admits
	writers   []uint32 // that the filter names
	documents int      // in the view, whatever the filter
	tested    int
	patience  int    // how many documents a walk tests before it gives up
	local     uint32 // the document that part tests
}

// requiredField is a field that the filter wants a document to have.
type requiredField struct {
	name   uint32 // none: no document has it
	equals *Digest
}

// pickedPart is a part of a view.
type pickedPart struct {
	part    *part
	docs    bitset   // those that the view sees
	columns *columns // nil: all documents are tested
	narrow  []column // all that the filter can admit is in these, once; nil: not known
}

// newSelecting prepares a Select. The caller holds mu for reading.
func (x *Index) newSelecting(view View, f Filter) *selectRun {
	s := &selectRun{index: x, view: view, test: f.At(view.Now), kinds: map[uint32]bool{}, agents: map[uint32]bool{}, facet: none, agent: none}
	for _, test := range f.Fields {
		if test.Test == Absent || slices.Contains(ColumnFields(), test.Name) {
			continue
		}
		required := requiredField{name: none}
		if number, ok := x.table.fieldOf[test.Name]; ok {
			required.name = number
		}
		if test.Test == Equal {
			required.equals = &test.Equals
		}
		s.nothing = s.nothing || required.name == none
		s.fields = append(s.fields, required)
	}
	x.cacheMu.Lock()
	defer x.cacheMu.Unlock()
	v := x.view(view.Lineage)
	s.visible = v
	chosen := x.choose(v, view)
	for facet, part := range v.sums {
		if chosen.of(x, facet).selected {
			s.documents += part.documents
		}
	}
	for _, segment := range view.Lineage {
		if b := x.branches[segment.Branch]; b != nil && !s.nothing {
			for _, p := range b.parts {
				s.picked = append(s.picked, &pickedPart{part: p, docs: chosen.parts[p.id].all})
			}
		}
	}
	return s
}

// rowsPerCheck is after how many documents of a part a Select looks whether its caller still waits.
const rowsPerCheck = 1 << 10

// part selects the documents of a part. It reports whether to go on.
func (s *selectRun) part(ctx context.Context, p *pickedPart, do func(*Columns) bool) (more bool, err error) {
	more = true
	test := func(local uint32) bool {
		if s.tested++; s.tested%rowsPerCheck == 0 && ctx.Err() != nil {
			err = ctx.Err()
			return false
		}
		if s.local = local; s.admits(s.index.table.row(p.part.rows[local])) {
			s.row.InOrder = false
			more = do(&s.row)
		}
		return more
	}
	if p.narrow == nil {
		p.docs.each(test)
		return more, err
	}
	for _, list := range p.narrow {
		for _, local := range list {
			if p.docs.has(local) && !test(local) {
				return more, err
			}
		}
	}
	return more, err
}

// admits tests a row and, if the filter selects it, reads its columns.
func (s *selectRun) admits(r *row) bool {
	if !s.shared(r) || len(s.fields) > 0 && !s.mayHaveFields(r) {
		return false
	}
	s.index.columns(r, &s.row, s.test)
	if !s.test.rest(&s.row) {
		return false
	}
	s.row.Key = strings.Clone(s.row.Key)
	return true
}

// read reads the columns of a row that the filter selects.
func (s *selectRun) read(r *row) {
	s.index.columns(r, &s.row, s.test)
	s.row.Key = strings.Clone(s.row.Key)
}

// mayHaveFields reports whether a document has the fields that the filter wants, at little cost; Test.rest decides.
func (s *selectRun) mayHaveFields(r *row) bool {
	if r.extra == none {
		return false
	}
	for _, required := range s.fields {
		found := false
		s.index.table.extras.eachField(r.extra, func(f storedField) bool {
			found = f.name == required.name && (required.equals == nil || f.value == *required.equals)
			return !found
		})
		if !found {
			return false
		}
	}
	return true
}

// shared tests the columns that documents share.
func (s *selectRun) shared(r *row) bool {
	t := s.index.table
	if r.facet != s.facet {
		s.facet, s.ok[0] = r.facet, remembered(s.kinds, r.facet, func() bool { return s.test.kind(t.facets[r.facet].state, t.facets[r.facet].kind) })
	}
	if s.ok[0] && r.agent != s.agent {
		s.agent, s.ok[1] = r.agent, remembered(s.agents, r.agent, func() bool { return s.test.agent(t.agents[r.agent]) })
	}
	return s.ok[0] && s.ok[1]
}

func remembered(answers map[uint32]bool, number uint32, ask func() bool) bool {
	answer, ok := answers[number]
	if !ok {
		answer = ask()
		answers[number] = answer
	}
	return answer
}

// columns reads the columns of a row that a test asks for, and those of listings. c.Tags and c.Fields are reused; c.Key is valid as long
// as the index is locked.
func (x *Index) columns(r *row, c *Columns, test *Test) {
	t := x.table
	n, f := t.nameAt(r.name), &t.facets[r.facet]
	c.Branch, c.Version, c.Key = r.branch, r.version, n.key
	c.Namespace, c.Collection = t.spaces[n.space].namespace, t.spaces[n.space].collection
	c.State, c.Type, c.Agent, c.Importance, c.Created, c.Updated = f.state, f.kind, t.agents[r.agent], r.importance, r.time, r.time
	c.Tags, c.Expires, c.Fields = c.Tags[:0], 0, c.Fields[:0]
	if r.extra == none {
		return
	}
	c.Expires, c.Created = t.extras.expiresAt(r.extra), cmp.Or(t.extras.createdAt(r.extra), r.time)
	t.extras.eachTag(r.extra, func(tag uint32) bool {
		c.Tags = append(c.Tags, t.tags[tag])
		return true
	})
	if len(test.filter.Fields) > 0 {
		t.extras.eachField(r.extra, func(f storedField) bool {
			c.Fields = append(c.Fields, Field{t.fields[f.name], f.value})
			return true
		})
	}
}

// selectMatching is Select for documents that match a text.
func (x *Index) selectMatching(ctx context.Context, view View, f Filter, do func(*Columns) bool) error {
	if len(f.Text) > LongestQuery {
		return fmt.Errorf("select: the query has %d bytes: at most %d are allowed", len(f.Text), LongestQuery)
	}
	q := Query{Text: f.Text, Question: f.Question, Plain: true, selected: &f}
	asked := x.understand(view, q)
	x.want(view, &q)
	x.mu.RLock()
	defer x.mu.RUnlock()
	view.Lineage = x.present(view.Lineage)
	r, err := x.newRanking(ctx, view, q, asked)
	if err != nil {
		return fmt.Errorf("select: %w", err)
	}
	if err := r.score(ctx); err != nil {
		return fmt.Errorf("select: %w", err)
	}
	r.addSubstituteScores()
	var columns Columns
	more := true
	r.eachScored(func(c candidate) {
		if more {
			x.columns(x.table.row(c.row), &columns, r.test)
			columns.Key, columns.Score = strings.Clone(columns.Key), c.score
			more = do(&columns)
		}
	})
	return nil
}

// Namespaces counts the documents of a view by namespace, expired ones included.
func (x *Index) Namespaces(ctx context.Context, view View) (found map[string]int, err error) {
	err = x.guard(func() error {
		found, err = x.namespaces(ctx, view)
		return err
	})
	return found, err
}

func (x *Index) namespaces(ctx context.Context, view View) (map[string]int, error) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	view.Lineage = x.present(view.Lineage)
	x.cacheMu.Lock()
	defer x.cacheMu.Unlock()
	found := map[string]int{}
	for facet, part := range x.view(view.Lineage).sums {
		if s := x.table.spaces[x.table.facets[facet].space]; part.documents > 0 && view.selects(s.namespace, s.collection) {
			found[s.namespace] += part.documents
		}
	}
	return found, ctx.Err()
}

// sameColumns reports whether a row has the columns of a document.
func (x *Index) sameColumns(r *row, d *Doc) bool {
	var have Columns
	x.columns(r, &have, &Test{filter: Filter{Fields: []FieldTest{{}}}})
	want := Columns{Ref: have.Ref, State: d.State, Type: d.Type, Agent: d.Agent, Tags: d.Tags, Importance: importanceOf(d), Updated: d.Time.UnixMicro(), Fields: d.Fields}
	if want.Created = want.Updated; !d.Created.IsZero() {
		want.Created = d.Created.UnixMicro()
	}
	if !d.Expires.IsZero() {
		want.Expires = d.Expires.UnixMicro()
	}
	sameImportance := have.Importance == want.Importance || math.IsNaN(have.Importance) && math.IsNaN(want.Importance)
	return have.State == want.State && have.Type == want.Type && have.Agent == want.Agent && slices.Equal(have.Tags, want.Tags) && sameImportance &&
		have.Created == want.Created && have.Updated == want.Updated && have.Expires == want.Expires && slices.Equal(have.Fields, want.Fields)
}
