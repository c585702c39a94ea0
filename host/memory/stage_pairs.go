package memory

import (
	"cmp"
	"context"
	"errors"

	"github.com/alcove-memory/alcove/host/search"
)

// PairQuery says which memories of a namespace are paired. Zero fields mean the default in the comment.
type PairQuery struct {
	Namespace  string
	Filter     Filter  // not by counters
	After      string  // only memories whose keys come after it
	Memories   int     // the most that are compared, the first in the order of their keys; MostPaired
	Similarity float64 // the least; LeastSimilarity
	Missing    int     // as search.PairQuery has it
	Most       int     // pairs; MostPairs
}

// Defaults of a PairQuery, which are its bounds too, but for the similarity.
const (
	MostPaired      = 20_000
	MostPairs       = 10_000
	LeastSimilarity = .4
)

// Pairs finds memories that share many words of their texts, at the stage's version, without staged changes. The error is Unavailable while
// the index is being filled.
func (t *Stage) Pairs(ctx context.Context, q PairQuery) (search.Paired, error) {
	namespace, err := t.reading(q.Namespace)
	if err != nil {
		return search.Paired{}, err
	}
	if q.Filter.counts() {
		return search.Paired{}, invalid("pairs are not chosen by counters: leave accesses, health and accessed out of the filter")
	}
	filter, err := q.Filter.search(t.space.limits)
	if err != nil {
		return search.Paired{}, err
	}
	if !t.space.upkeep.Covers(ctx, t.version) {
		return search.Paired{}, notIndexed()
	}
	v := view{branch: t.branch, lineage: t.lineage(), now: t.now, past: true}
	found, err := t.space.index.Pairs(ctx, v.search([]string{namespace}, memories), search.PairQuery{
		Filter: filter, After: q.After, Documents: min(cmp.Or(q.Memories, MostPaired), MostPaired), Similarity: cmp.Or(q.Similarity, LeastSimilarity),
		Missing: q.Missing, Most: min(cmp.Or(q.Most, MostPairs), MostPairs),
	})
	if errors.Is(err, search.ErrTooLong) {
		return search.Paired{}, &Error{Code: Exhausted, Message: "could not pair the memories: they have too many different words together; compare fewer of them at once"}
	}
	if err != nil {
		return search.Paired{}, t.space.translate("pair memories", err)
	}
	if !t.space.stillLive(t.branch) { // the index dropped it
		return search.Paired{}, notIndexed()
	}
	return found, t.space.reachable(ctx, v)
}

func notIndexed() error {
	return &Error{Code: Unavailable, Retryable: true, Message: "could not pair memories: the index is not complete yet; try again in a moment"}
}
