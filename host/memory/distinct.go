package memory

import (
	"context"

	"github.com/alcove-memory/alcove/host/internal/jsontext"
	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/search"
)

// feedback is the number of hits that expand a question.
const feedback = 10

// expanded weighs the terms of a question and of its best hits.
func (s *Space) expanded(ctx context.Context, v view, q Search) ([]search.Weighted, error) {
	asked := q.indexQuery()
	asked.K, asked.Offset, asked.Explain = feedback, 0, false
	result, err := s.index.Search(ctx, v.searched(q), asked)
	if err != nil {
		return nil, err
	}
	hits, err := s.hits(ctx, v, q, result.Hits)
	if err != nil {
		return nil, err
	}
	texts, scores := make([][]string, len(hits)), make([]float64, len(hits))
	for i, h := range hits {
		texts[i], scores[i] = h.text(), h.Score
	}
	return q.question.Expand(texts, scores), nil
}

// text returns the texts of a hit.
func (h Hit) text() []string {
	if t := record.Turn(h.Metadata); t != nil {
		return append(jsontext.Strings(h.Value), t.Speaker, t.Caption)
	}
	return jsontext.Strings(h.Value)
}

// Hits examined for distinct ones: a multiple of the number wanted, within limits.
const (
	distinctTimes = 4
	mostDistinct  = 1000
)

// distinct returns the best of each set of near-duplicates.
func (s *Space) distinct(ctx context.Context, v view, q Search) (Found, error) {
	wanted := q.Offset + q.K
	wide := q
	wide.Offset, wide.K = 0, min(wanted*distinctTimes, max(mostDistinct, wanted))
	found, err := s.found(ctx, v, wide)
	if err != nil {
		return found, err
	}
	alike := s.index.Analyser(q.collection()).Alike()
	var kept []Hit
	for _, h := range found.Hits {
		if of := alike.Of(h.text()); of >= 0 {
			kept[of].Similar++
			continue
		}
		kept = append(kept, h)
	}
	found.Hits = kept[min(q.Offset, len(kept)):min(wanted, len(kept))]
	return found, nil
}
