package memory

import (
	"cmp"
	"context"

	"github.com/alcove-memory/alcove/host/internal/jsontext"
	"github.com/alcove-memory/alcove/host/search"
	"github.com/alcove-memory/alcove/host/store"
)

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
		Text: q.Text, Question: q.question, K: q.K, Offset: q.Offset, Prefix: q.Prefix, Tags: q.Tags, NoTags: q.NoTags, Types: q.Types, States: states, Agents: q.Writers,
		Since: q.Since, Until: q.Until, MinImportance: q.MinImportance, Explain: q.Explain, Weights: q.weights,
	}
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
	hit = Hit{Score: h.Score, SupersededBy: h.SupersededBy, Why: h.Why, Branch: s.catalogue.NameOf(h.Branch), question: q.question, snippet: snippetLength, event: e.Collection == events}
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

const (
	MostHits      = 50  // of one search
	snippetLength = 200 // of a hit, in characters, at most
)
