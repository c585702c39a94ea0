package memory

import (
	"cmp"
	"context"

	"github.com/alcove-memory/alcove/host/search"
)

// Search finds memories, or events, by their text.
func (a *Access) Search(ctx context.Context, q Search) (Found, error) {
	s := a.space
	q.complete()
	if err := a.checkSearch(&q); err != nil {
		return Found{}, err
	}
	v, err := s.view(ctx, q.Branch, q.AsOf)
	if err != nil {
		return Found{}, err
	}
	if err := s.reachable(ctx, v); err != nil {
		return Found{}, err
	}
	if err := s.Ready(ctx); err != nil {
		return Found{}, err
	}
	found, err := s.answer(ctx, v, q)
	if err != nil || !q.Facets {
		return found, err
	}
	found.Facets, err = a.facets(ctx, v, q)
	return found, err
}

// answer searches in the way that is asked for.
func (s *Space) answer(ctx context.Context, v view, q Search) (found Found, err error) {
	if q.Order != "" {
		return s.browse(ctx, v, q)
	}
	if q.Expand {
		if q.weights, err = s.expanded(ctx, v, q); err != nil {
			return Found{}, s.translate("search", err)
		}
	}
	if q.Distinct {
		return s.distinct(ctx, v, q)
	}
	return s.found(ctx, v, q)
}

// checkSearch completes a search, and limits it to namespaces that the caller may read.
func (a *Access) checkSearch(q *Search) (err error) {
	s := a.space
	q.K, q.by = cmp.Or(q.K, search.DefaultHits), a.caller
	if q.Text == "" && q.Order == "" {
		return invalid("query is empty: ask something in plain words")
	}
	if err := s.limits.checkText("query", q.Text, search.LongestQuery); err != nil {
		return err
	}
	if q.K < 1 || q.K > MostHits {
		return invalid("k is %d: it goes from 1 to %d; use offset for more", q.K, MostHits)
	}
	if q.Offset < 0 || q.Offset > search.MostOffset {
		return invalid("offset is %d: it goes from 0 to %d", q.Offset, search.MostOffset)
	}
	if len(q.Prefix) > s.limits.Key {
		return invalid("the prefix has %d bytes: a key has at most %d", len(q.Prefix), s.limits.Key)
	}
	for _, state := range q.States {
		if err := checkState(state); err != nil {
			return err
		}
	}
	if len(q.Tags)+len(q.NoTags) > s.limits.Tags || len(q.Types) > s.limits.Tags {
		return invalid("too many tags or types to filter by: at most %d", s.limits.Tags)
	}
	if err := q.checkOrder(s.limits); err != nil {
		return err
	}
	if q.Project != "" {
		if err := s.limits.checkName("namespace", q.Project); err != nil {
			return err
		}
	}
	if q.Order != "" {
		q.asked = q.digest()
	}
	q.question = s.index.Analyser(q.collection()).Question(q.Text)
	q.Namespaces, err = a.readable(q.Namespaces)
	return err
}
