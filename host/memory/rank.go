package memory

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/alcove-memory/alcove/host/search"
	"github.com/alcove-memory/alcove/host/store"
)

// rank queries the index, has the hooks order the best hits, prefers those of a namespace, and has those that are superseded follow their
// successors. The same hits are ordered whatever part of them is requested, so pages are consistent. If ranking fails, a note says so, and the
// index's order stays.
func (s *Space) rank(ctx context.Context, v view, q Search) (search.Result, remarks, error) {
	var ranker Ranker
	depth := 0
	if hooks := s.currentHooks(); hooks != nil && !q.Events && !q.Unranked {
		ranker, depth = hooks.Ranker(ctx, ranking(v, q))
	}
	most := max(depth, q.preferredDepth(), s.supersededDepth(q))
	asked := q.indexQuery()
	if most == 0 || q.Offset >= most {
		result, said, err := s.ask(ctx, v, q, asked)
		if err == nil {
			err = s.translate("search", s.index.MarkSuperseded(v.searched(q), result.Hits))
		}
		return result, said, err
	}
	asked.Offset, asked.K = 0, max(q.Offset+q.K, most)
	result, said, err := s.ask(ctx, v, q, asked)
	if err != nil {
		return result, said, err
	}
	if ranker != nil {
		said = s.orderBest(ctx, ranker, v, q, result.Hits[:min(depth, len(result.Hits))], said)
	}
	prefer(result.Hits[:min(most, len(result.Hits))], q.Preferred)
	if err := s.index.MarkSuperseded(v.searched(q), result.Hits); err != nil {
		return result, said, s.translate("search", err)
	}
	demote(result.Hits[:min(most, len(result.Hits))])
	from := min(q.Offset, len(result.Hits))
	result.Hits = result.Hits[from:min(from+q.K, len(result.Hits))]
	return result, said, ctx.Err()
}

// orderBest has a hook order hits, and remarks that it failed.
func (s *Space) orderBest(ctx context.Context, rank Ranker, v view, q Search, hits []search.Hit, said remarks) remarks {
	short, cut, cancel := withReserve(ctx, 0)
	defer cancel()
	if err := s.order(short, rank, v, q, hits); err != nil && ctx.Err() == nil {
		said.note("the hits are in the server's own order: "+err.Error(), cut())
	}
	return said
}

const (
	nearTie    = 1.05 // times its score counts a hit of the preferred namespace
	mostPlaced = 50   // best hits among which they are preferred
)

// preferredDepth is how many of the best hits a preference may order.
func (q Search) preferredDepth() int {
	if q.Preferred == "" {
		return 0
	}
	return mostPlaced
}

// prefer moves the hits of a namespace before others with the same or nearly the same score. Scores stay as they are.
func prefer(hits []search.Hit, namespace string) {
	if namespace == "" {
		return
	}
	counts := func(h search.Hit) float64 {
		if h.Namespace == namespace && h.Score > 0 {
			return h.Score * nearTie
		}
		return h.Score
	}
	slices.SortStableFunc(hits, func(a, b search.Hit) int { return cmp.Compare(counts(b), counts(a)) })
}

// order has a hook order hits.
func (s *Space) order(ctx context.Context, rank Ranker, v view, q Search, hits []search.Hit) error {
	if len(hits) == 0 {
		return nil
	}
	f := &features{space: s, view: v, hits: hits}
	column := func(name string) []float32 { return f.column(ctx, name) }
	types := make([]string, len(hits))
	for i, h := range hits {
		types[i] = h.Type
	}
	r := ranking(v, q)
	r.Hits, r.Types, r.Column = len(hits), types, column
	scores, ok, err := rank(ctx, r)
	if err != nil || !ok {
		return err
	}
	places := make([]int, len(hits))
	for i := range places {
		places[i] = i
	}
	slices.SortStableFunc(places, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	was := slices.Clone(hits)
	for i, from := range places {
		hits[i] = was[from]
		hits[i].Score = float64(scores[from])
	}
	return nil
}

// ranking returns a search for the hooks, without hits.
func ranking(v view, q Search) Ranking {
	return Ranking{Branch: v.branch.Name, Caller: q.by, Namespaces: q.Namespaces, Query: q.Text, Now: v.now}
}

// features computes the columns of some hits.
type features struct {
	space   *Space
	view    view
	hits    []search.Hit
	counted []Counters // nil: not yet read
}

const day = 24 * 60 * 60 // seconds

// column returns a feature of each hit; nil for an unknown name.
func (f *features) column(ctx context.Context, name string) []float32 {
	switch name {
	case "score":
		return f.within(func(h search.Hit) float64 { return h.Score })
	case "lexical":
		return f.within(func(h search.Hit) float64 { return h.Lexical })
	case "semantic":
		return f.each(func(h search.Hit) float64 { return h.Semantic })
	case "importance":
		return f.each(func(h search.Hit) float64 { return h.Importance })
	case "length":
		return f.each(func(h search.Hit) float64 { return float64(h.Length) })
	case "age":
		return f.each(func(h search.Hit) float64 { return max(0, f.view.now.Sub(h.Time).Seconds()/day) })
	case "accesses", "idle", "outcome":
		return f.use(ctx, name)
	}
	return nil
}

func (f *features) each(value func(search.Hit) float64) []float32 {
	column := make([]float32, len(f.hits))
	for i, h := range f.hits {
		column[i] = float32(value(h))
	}
	return column
}

// within returns a feature relative to the greatest among the hits.
func (f *features) within(value func(search.Hit) float64) []float32 {
	most := 0.0
	for _, h := range f.hits {
		most = max(most, value(h))
	}
	if most == 0 {
		return make([]float32, len(f.hits))
	}
	return f.each(func(h search.Hit) float64 { return value(h) / most })
}

// use returns a feature from counters. The past has none: counters are about the present.
func (f *features) use(ctx context.Context, name string) []float32 {
	missing := float32(math.NaN())
	column := make([]float32, len(f.hits))
	for i := range column {
		column[i] = missing
	}
	counted, err := f.counters(ctx)
	if err != nil {
		f.space.logger.Warn("what was counted about hits could not be read", "error", err)
		return column
	}
	for i, c := range counted {
		switch {
		case name == "accesses":
			column[i] = float32(c.Accesses)
		case name == "idle" && !c.LastAccess.IsZero():
			column[i] = float32(max(0, f.view.now.Sub(c.LastAccess).Seconds()/day))
		case name == "outcome" && c.Health != 0:
			column[i] = float32(c.Health)
		}
	}
	return column
}

func (f *features) counters(ctx context.Context) ([]Counters, error) {
	if f.counted != nil || f.view.past {
		return f.counted, nil
	}
	keys := make([]store.Key, len(f.hits))
	for i, h := range f.hits {
		keys[i] = memoryKey(h.Namespace, h.Key)
	}
	counted, err := f.space.countersOf(ctx, f.view.branch, keys)
	f.counted = counted
	return counted, err
}

// describe sets the features of hits.
func (s *Space) describe(ctx context.Context, v view, hits []Hit, found []search.Hit) {
	f := &features{space: s, view: v, hits: found}
	for _, name := range []string{"score", "lexical", "semantic", "importance", "age", "accesses", "idle", "outcome", "length"} {
		for i, value := range f.column(ctx, name) {
			if value != value { // missing
				continue
			}
			if hits[i].Features == nil {
				hits[i].Features = map[string]float32{}
			}
			hits[i].Features[name] = value
		}
	}
}

// found ranks, and reads the hits.
func (s *Space) found(ctx context.Context, v view, q Search) (Found, error) {
	result, said, err := s.rank(ctx, v, q)
	if err != nil {
		return Found{}, s.translate("search", err)
	}
	hits, err := s.hits(ctx, v, q, result.Hits)
	if err == nil && q.Features && len(hits) == len(result.Hits) {
		s.describe(ctx, v, hits, result.Hits)
	}
	if err == nil && q.Explain && len(hits) == len(result.Hits) {
		for i := range hits {
			hits[i].SemanticWeight = s.semanticWeight(q, result.Hits[i])
		}
	}
	return Found{Hits: hits, Total: result.Total, Notes: said.notes, Partial: said.cut, Vectors: said.vectors}, err
}
