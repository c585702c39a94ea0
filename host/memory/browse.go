package memory

import (
	"cmp"
	"context"

	"github.com/alcove-memory/alcove/host/search"
)

// checkOrder checks the fields of a search that an order needs or excludes.
func (q *Search) checkOrder(l Limits) error {
	if err := q.Order.check(); err != nil {
		return err
	}
	if err := l.checkFilterList("writers", q.Writers, l.Key); err != nil {
		return err
	}
	if m := q.MinImportance; m != nil && !(*m >= 0 && *m <= 1) {
		return invalid("min_importance is %v: it goes from 0 to 1", *m)
	}
	if q.Order == "" {
		return nil
	}
	for name, given := range map[string]bool{"mode semantic": q.Mode == Semantic, "vector": q.Vector != nil, "expand": q.Expand, "distinct": q.Distinct, "explain": q.Explain, "features": q.Features} {
		if given {
			if q.Text == "" {
				return invalid("a search without a query goes by fields alone: leave %s out, or ask something", name)
			}
			return invalid("an ordered search goes by words alone: leave %s out, or order", name)
		}
	}
	if q.Order.counts() && !q.AsOf.IsNow() && !q.present {
		return invalid("counters are of the present: leave as_of out, or order by something else")
	}
	return nil
}

// browse lists matches in the requested order; without a text, everything.
func (s *Space) browse(ctx context.Context, v view, q Search) (Found, error) {
	asked := q.indexQuery()
	f := search.Filter{Text: q.Text, States: asked.States, Types: q.Types, Agents: q.Writers, Tags: q.Tags, MinImportance: q.MinImportance, Updated: Span{Since: q.Since, Until: q.Until}}
	if len(f.States) == 0 {
		f.States = []string{string(Active)}
	}
	found, within, most := firsts{most: q.Offset + q.K}, v.search(q.Namespaces, q.collection()), 0
	total, tallied, err := s.index.Tally(ctx, within, f)
	if err != nil {
		return Found{}, s.translate("search", err)
	}
	if tallied {
		most = found.most // the others need no look
	}
	find := func(counted countedNow) error {
		return s.index.Select(ctx, within, f, q.Order.ordering(nil, most), func(c *search.Columns) bool {
			if !tallied {
				total++
			}
			at := position{q.Order.value(c, counted.of(c.Namespace, c.Key)), c.Namespace, c.Key}
			found.add(candidate{position: at, version: c.Version, branch: c.Branch, score: c.Score})
			return !c.InOrder || len(found.list) < found.most
		})
	}
	if err := s.counting(ctx, q.Order, v, find); err != nil {
		return Found{}, s.translate("search", err)
	}
	list := found.sorted()
	hits := make([]search.Hit, 0, q.K)
	for _, c := range list[min(q.Offset, len(list)):] {
		hits = append(hits, search.Hit{Branch: c.branch, Version: c.version, Namespace: c.namespace, Collection: q.collection(), Key: c.key, Score: c.score})
	}
	page, err := s.hits(ctx, v, q, hits)
	return Found{Hits: page, Total: total}, err
}

// counting runs work with the counters, if an order needs them.
func (s *Space) counting(ctx context.Context, o Order, v view, work func(countedNow) error) error {
	if o.counts() {
		return s.counters.now(ctx, v.branch, work)
	}
	return work(countedNow{})
}

// complete sets a search's defaults: without a text, or a vector in its place, it lists the newest.
func (q *Search) complete() {
	q.K = cmp.Or(q.K, 10)
	if q.Text == "" && q.Vector == nil {
		q.Order = cmp.Or(q.Order, ByNewest)
	}
}
