package memory

import (
	"cmp"
	"context"

	"github.com/alcove-memory/alcove/host/internal/jsontext"
	"github.com/alcove-memory/alcove/host/search"
	"github.com/alcove-memory/alcove/host/store"
)

const (
	MostHits      = 50  // of one search
	snippetLength = 200 // of a hit, in characters, at most
)

func (v view) search(namespaces []string, collection string) search.View {
	return search.View{Lineage: v.lineage, Namespaces: namespaces, Collections: []string{collection}, Now: v.now}
}

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

func (q Search) collection() string {
	if q.Events {
		return events
	}
	return cmp.Or(q.records, memories)
}

func (q Search) indexQuery() search.Query {
	states := make([]string, len(q.States))
	for i, state := range q.States {
		states[i] = string(state)
	}
	return search.Query{
		Text: q.Text, Question: q.question, K: q.K, Offset: q.Offset, Tags: q.Tags, Types: q.Types, States: states, Agents: q.Writers,
		Since: q.Since, Until: q.Until, MinImportance: q.MinImportance, Explain: q.Explain, Weights: q.weights,
	}
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
	for _, state := range q.States {
		if err := checkState(state); err != nil {
			return err
		}
	}
	if len(q.Tags) > s.limits.Tags || len(q.Types) > s.limits.Tags {
		return invalid("too many tags or types to filter by: at most %d", s.limits.Tags)
	}
	if err := q.checkOrder(s.limits); err != nil {
		return err
	}
	if q.Order != "" {
		q.asked = q.digest()
	}
	q.question = s.index.Analyser(q.collection()).Question(q.Text)
	q.Namespaces, err = a.readable(q.Namespaces)
	return err
}

// reachable returns an error for a past that is no longer kept, which the index alone would not notice.
func (s *Space) reachable(ctx context.Context, v view) error {
	if !v.past {
		return nil
	}
	_, err := s.engine.GetAt(ctx, v.lineage, []store.Key{v.branch.Key()})
	return s.translate("search", err)
}

// hits reads the hits.
func (s *Space) hits(ctx context.Context, v view, q Search, found []search.Hit) ([]Hit, error) {
	keys := keysOfHits(found)
	entries, err := s.engine.GetAt(ctx, v.lineage, keys)
	if err != nil {
		return nil, s.translate("read what was found", err)
	}
	hits := make([]Hit, 0, len(found))
	for i, h := range found {
		e, err := s.asFound(ctx, v, h, keys[i], entries[i])
		if err != nil {
			return nil, s.translate("read what was found", err)
		}
		if !e.Exists() {
			continue
		}
		hit, err := s.hit(h, e, q)
		if err != nil {
			return nil, err
		}
		hits = append(hits, hit)
	}
	return hits, nil
}

func keysOfHits(found []search.Hit) []store.Key {
	keys := make([]store.Key, len(found))
	for i, h := range found {
		keys[i] = store.Key{Namespace: h.Namespace, Collection: h.Collection, Name: h.Key}
	}
	return keys
}

// asFound returns the version that was found, of an entry that may have been rewritten since. If that version is in a
// past no longer kept, it is the present one.
func (s *Space) asFound(ctx context.Context, v view, h search.Hit, key store.Key, now store.Entry) (store.Entry, error) {
	if now.Version == h.Version {
		return now, nil
	}
	older, err := s.engine.GetAt(ctx, v.lineage.At(h.Version), []store.Key{key})
	if _, trimmed := asTrimmed(err); trimmed {
		return now, nil
	}
	if err != nil {
		return now, err
	}
	return older[0], nil
}

func (s *Space) hit(h search.Hit, e store.Entry, q Search) (hit Hit, err error) {
	hit = Hit{Score: h.Score, Why: h.Why, Branch: s.catalogue.NameOf(h.Branch), question: q.question, snippet: snippetLength, event: e.Collection == events}
	if hit.event {
		event, err := s.event(e)
		if err != nil {
			return hit, err
		}
		hit.Memory = Memory{Namespace: e.Namespace, Key: e.Name, Value: event.Data, Type: event.Event, Agent: event.Agent,
			State: Active, Version: e.Version, Timestamp: e.Time}
	} else if hit.Memory, err = decodeMemory(e); err != nil {
		return hit, err
	}
	if q.Passage > 0 && len(hit.Value) > 2*q.Passage {
		hit.snippet = q.Passage
	}
	return hit, nil
}

// Snippet cuts the part of the hit's texts that has the most words of the question.
func (h *Hit) Snippet() string {
	texts := jsontext.Strings(h.Value)
	if h.event {
		texts = append([]string{h.Type}, texts...)
	}
	return h.question.Snippet(texts, h.snippet)
}
