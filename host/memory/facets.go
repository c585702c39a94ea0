package memory

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/alcove-memory/alcove/host/internal/namespace"
	"github.com/alcove-memory/alcove/host/search"
)

// Facets count what a search matches by what filters can ask for. Namespaces, types, writers, states and dates are counted without the
// search's own condition on them: so many would match if another value were chosen. A text matches by its words.
type Facets struct {
	Namespaces, Types, Tags, Writers, States Facet
	Dates                                    Facet // created or written since then: moments, as ParseTime takes them
}

// Facet is how many matches have each value, the most frequent values first.
type Facet struct {
	Values []FacetValue
	More   int // values that are left out, because there are more than MostFacetValues
}

// FacetValue is a value of a facet. Empty: the matches have none.
type FacetValue struct {
	Value string
	Count int
}

// MostFacetValues bounds the values of a facet.
const MostFacetValues = 100

// facetSpan is a span of time that ends now.
type facetSpan struct {
	since string // as ParseTime takes it
	days  int
}

func facetSpans() []facetSpan {
	return []facetSpan{{"1 day ago", 1}, {"7 days ago", 7}, {"30 days ago", 30}, {"365 days ago", 365}}
}

// facets counts what a search matches, in the namespaces that its caller may read.
func (a *Access) facets(ctx context.Context, v view, q Search) (*Facets, error) {
	s := a.space
	readable, err := a.readable(nil)
	if err != nil {
		return nil, err
	}
	t := newFacetTest(q, s.clock())
	within := v.search(readable, q.collection())
	within.Sole = q.Project
	filter := search.Filter{Prefix: q.Prefix, Text: q.Text, Question: q.question, Tags: q.Tags, NoTags: q.NoTags, MinImportance: q.MinImportance}
	if err := s.index.Select(ctx, within, filter, search.Ordering{}, t.count); err != nil {
		return nil, s.translate("count facets", err)
	}
	return t.result(), nil
}

// The conditions that are tested one by one.
const (
	byNamespace = iota
	byType
	byWriter
	byState
	byDate
	conditions
)

// facetTest counts documents. One that fails a single condition counts for the facet of that condition alone.
type facetTest struct {
	q      Search
	dated  Span
	since  []Span // of facetSpans
	counts [conditions]tally
	tags   map[string]int
	spans  []int
}

func newFacetTest(q Search, now time.Time) *facetTest {
	t := &facetTest{q: q, dated: Span{Since: q.Since, Until: q.Until}, tags: map[string]int{}}
	if len(t.q.States) == 0 {
		t.q.States = []State{Active}
	}
	for _, span := range facetSpans() {
		t.since = append(t.since, Span{Since: now.Add(-time.Duration(span.days) * 24 * time.Hour)})
	}
	t.spans = make([]int, len(t.since))
	for i := range t.counts {
		t.counts[i].counts = map[string]*int{}
	}
	return t
}

// count counts a document that all other conditions admit.
func (t *facetTest) count(c *search.Columns) bool {
	q := &t.q
	failed := [conditions]bool{
		byNamespace: !namespace.Selects(q.Namespaces, c.Namespace),
		byType:      len(q.Types) > 0 && !slices.Contains(q.Types, c.Type),
		byWriter:    len(q.Writers) > 0 && !slices.Contains(q.Writers, c.Agent),
		byState:     !slices.Contains(q.States, State(c.State)),
		byDate:      !t.dated.IsZero() && !t.dated.Has(c.Created) && !t.dated.Has(c.Updated),
	}
	failures := 0
	for _, f := range failed {
		if f {
			failures++
		}
	}
	if failures > 1 {
		return true
	}
	for i, value := range [...]string{byNamespace: c.Namespace, byType: c.Type, byWriter: c.Agent, byState: c.State} {
		if failures == 0 || failed[i] {
			t.counts[i].add(value)
		}
	}
	if failures == 0 || failed[byDate] {
		t.countDates(c)
	}
	if failures == 0 {
		for _, tag := range c.Tags {
			t.tags[tag]++
		}
	}
	return true
}

func (t *facetTest) countDates(c *search.Columns) {
	for i, span := range t.since {
		if span.Has(c.Created) || span.Has(c.Updated) {
			t.spans[i]++
		}
	}
}

func (t *facetTest) result() *Facets {
	f := &Facets{Namespaces: t.counts[byNamespace].facet(), Types: t.counts[byType].facet(), Tags: facetOf(t.tags), Writers: t.counts[byWriter].facet(), States: t.counts[byState].facet()}
	for i, n := range t.spans {
		f.Dates.Values = append(f.Dates.Values, FacetValue{facetSpans()[i].since, n})
	}
	return f
}

// tally counts values, of which neighbours are often equal.
type tally struct {
	counts map[string]*int
	last   string
	of     *int // the count of last; nil: nothing was counted
}

func (t *tally) add(value string) {
	if t.of == nil || value != t.last {
		t.last, t.of = value, t.counts[value]
		if t.of == nil {
			t.of = new(int)
			t.counts[value] = t.of
		}
	}
	*t.of++
}

func (t *tally) facet() Facet {
	counts := make(map[string]int, len(t.counts))
	for value, n := range t.counts {
		counts[value] = *n
	}
	return facetOf(counts)
}

func facetOf(counts map[string]int) Facet {
	values := slices.SortedFunc(maps.Keys(counts), func(a, b string) int { return cmp.Or(counts[b]-counts[a], cmp.Compare(a, b)) })
	f := Facet{More: max(0, len(values)-MostFacetValues)}
	for _, value := range values[:len(values)-f.More] {
		f.Values = append(f.Values, FacetValue{value, counts[value]})
	}
	return f
}
