package memory

import (
	"context"
	"iter"
	"math"

	"github.com/alcove-memory/alcove/host/memory/counters"
	"github.com/alcove-memory/alcove/host/search"
)

// byIndex reads the newest commits if they suffice, and otherwise queries the index, or scans if that is behind.
func (q *listing) byIndex(ctx context.Context) error {
	s := q.stage.space
	if done, err := q.fromCommits(ctx); done || err != nil {
		return s.translate("list memories", err)
	}
	if !s.upkeep.Covers(ctx, q.view.version) {
		return q.byScan(ctx)
	}
	if err := q.fromIndex(ctx, q.view.search([]string{q.Namespace}, memories)); err != nil {
		return s.translate("list memories", err)
	}
	if !s.stillLive(q.stage.branch) { // the index dropped it
		q.total, q.tallied, q.top = 0, false, topCandidates{most: q.top.most}
		return q.byScan(ctx)
	}
	return s.reachable(ctx, view{branch: q.view.branch, lineage: q.view.lineage, past: true})
}

// fromCommits lists by time from the newest commits. done is false if that is not worth it; then nothing is found.
func (q *listing) fromCommits(ctx context.Context) (done bool, err error) {
	if q.counts || q.Count != "" && !q.tallied || !isByTime(q.Order, &q.filter) {
		return false, nil
	}
	r, ok, err := q.stage.space.recently(ctx, q.view, q.Order, q.from.instant(), q.top.most, func(in string) bool { return in == q.Namespace })
	if !ok || err != nil {
		return false, err
	}
	done, err = r.each(ctx, func(c *search.Columns) bool {
		if q.test.Admits(c) {
			q.consider(c, false)
		}
		return q.top.enough(c)
	})
	if !done {
		q.top = topCandidates{most: q.top.most}
		if !q.tallied {
			q.total = 0
		}
	}
	return done, err
}

func (q *listing) fromIndex(ctx context.Context, v search.View) (err error) {
	index := q.stage.space.index
	if q.counts {
		return q.fromCounters(ctx, v)
	}
	if q.Count != "" && !q.stage.changes(q.Namespace) {
		if q.total, q.tallied, err = index.Tally(ctx, v, q.filter); err != nil || q.tallied && q.Count == CountOnly {
			return err
		}
	}
	return index.Select(ctx, v, q.filter, q.ordering(), q.stored)
}

// ordering is how the index may go through what is listed. It goes through everything when memories are counted one by one.
func (q *listing) ordering() search.Ordering {
	if q.Count != "" && !q.tallied {
		return search.Ordering{}
	}
	return q.Order.ordering(q.from, q.top.most)
}

// stored considers a memory of the index.
func (q *listing) stored(c *search.Columns) bool { return q.consider(c, false) }

// changes reports whether the stage changes memories of a namespace.
func (t *Stage) changes(namespace string) bool {
	for _, at := range t.order {
		if !at.system && at.Collection == memories && at.Namespace == namespace {
			return true
		}
	}
	return false
}

// fromCounters lists by counters in the way that looks at the fewest memories: all that the index admits, all with the
// counters that the filter asks for, or both in the order of the listing until the page is full.
func (q *listing) fromCounters(ctx context.Context, v search.View) error {
	index, most := q.stage.space.index, q.top.most
	tested, all, err := index.Estimate(ctx, v, q.filter)
	if err != nil {
		return err
	}
	counted, candidates, required := required(q.counted, q.Namespace, &q.Filter)
	if !required {
		counted = all
	}
	few := min(tested, counted)
	inOrder := q.Count == "" && float64(most)*float64(all) < float64(few)*float64(few)
	switch {
	case inOrder && q.Order.counts():
		return q.byCounters(ctx, v, all)
	case inOrder:
		o := q.ordering()
		o.Most = among(most, all, counted)
		return index.Select(ctx, v, q.filter, o, q.stored)
	case tested <= 3*counted: // a key takes three times as long to look up as a row of the index
		return index.Select(ctx, v, q.filter, q.ordering(), q.stored)
	}
	return index.SelectKeys(ctx, v, q.filter, q.knowing(candidates), func(c *search.Columns) bool {
		c.InOrder = false
		return q.stored(c)
	})
}

// knowing returns keys, and keeps the counters of the last one for consider, which would have to look them up.
func (q *listing) knowing(keys iter.Seq2[string, counters.Record]) iter.Seq[string] {
	return func(yield func(string) bool) {
		var last counters.Record
		q.known = &last
		defer func() { q.known = nil }()
		for key, counts := range keys {
			if last = counts; !yield(key) {
				return
			}
		}
	}
}

// among is how many memories of all have to be gone through for so many of a few.
func among(most, all, few int) int { return int(float64(most) * float64(all) / float64(max(1, few))) }

// byCounters lists in the order of a counter: first memories with one, then the others by their keys.
func (q *listing) byCounters(ctx context.Context, v search.View, all int) error {
	index, full := q.stage.space.index, false
	if q.from == nil || q.from.value > 0 {
		err := index.SelectKeys(ctx, v, q.filter, q.knowing(q.counted.Descending(q.Namespace, q.Order.counter(), q.from.counted())), func(c *search.Columns) bool {
			full = !q.stored(c)
			return !full
		})
		if full || err != nil {
			return err
		}
	}
	uncounted := all - q.counted.Size(q.Namespace, q.Order.counter(), 1, math.MaxInt64)
	rest := search.Ordering{By: search.ByName, Most: among(q.top.most, all, uncounted)}
	if q.from != nil && q.from.value == 0 {
		rest.After = &search.Place{Namespace: q.Namespace, Key: q.from.key}
	}
	return index.Select(ctx, v, q.filter, rest, func(c *search.Columns) bool {
		return q.Order.value(c, q.counted.Of(c.Namespace, c.Key)) != 0 || q.stored(c)
	})
}

// counted is the place among counted keys; nil: the start.
func (p *position) counted() *counters.Place {
	if p == nil {
		return nil
	}
	return &counters.Place{Value: p.value, Key: p.key}
}

// counter is what an order by counters goes by.
func (o Order) counter() counters.Counter {
	if o == ByAccess {
		return counters.LastAccess
	}
	return counters.Accesses
}

// required returns the keys that have the counters a filter asks for, and about how many; ok is false if a memory without counters has them.
func required(n counters.Present, namespace string, f *Filter) (about int, keys iter.Seq2[string, counters.Record], ok bool) {
	use := func(by counters.Counter, least, most int64) {
		if size := n.Size(namespace, by, least, most); !ok || size < about {
			about, keys, ok = size, n.Between(namespace, by, least, most), true
		}
	}
	if !f.Accessed.IsZero() {
		use(counters.LastAccess, max(1, f.Accessed.First()), f.Accessed.Last())
	}
	if r := f.Accesses; r.Min != nil && *r.Min > 0 {
		use(counters.Accesses, *r.Min, end(r.Max, math.MaxInt64))
	}
	switch r := f.Health; {
	case r.Min != nil && *r.Min > 0:
		use(counters.Health, counters.SortHealth(*r.Min), counters.SortHealth(end(r.Max, 1)))
	case r.Max != nil && *r.Max < 0:
		use(counters.Health, counters.SortHealth(end(r.Min, -1)), counters.SortHealth(*r.Max))
	}
	return about, keys, ok
}

// end is the end of a range, or a bound for an open one.
func end[T any](of *T, bound T) T {
	if of == nil {
		return bound
	}
	return *of
}
