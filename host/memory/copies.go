package memory

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"

	"github.com/alcove-memory/alcove/host/store"
)

// shortestCopy is how many bytes of a text identify it: shorter ones are in everything.
const shortestCopy = 8

// purgeCopies erases what families and answers to requests have of payloads that were purged: every version of a record that
// holds one of their texts, on all branches.
func (s *Space) purgeCopies(ctx context.Context, engine store.Purger, purged []store.Entry) ([]store.Entry, error) {
	texts := textsOf(purged)
	if len(texts) == 0 {
		return nil, nil
	}
	var erased []store.Entry
	for _, b := range s.catalogue.kept() {
		keys, err := s.keysWith(ctx, b, texts)
		if err != nil {
			return erased, err
		}
		for _, key := range keys {
			gone, err := engine.Purge(ctx, key, func(e store.Entry) ([]byte, bool) {
				if e.Deleted || !containsAny(e.Value, texts) {
					return nil, false
				}
				return purgedCopy(e)
			})
			erased = append(erased, gone...)
			if err != nil {
				return erased, err
			}
		}
	}
	return erased, nil
}

// textsOf are the texts of payloads, as JSON writes them.
func textsOf(purged []store.Entry) [][]byte {
	var texts [][]byte
	add := func(text []byte) {
		if len(text) >= shortestCopy && !slices.ContainsFunc(texts, func(have []byte) bool { return bytes.Equal(have, text) }) {
			texts = append(texts, text)
		}
	}
	for _, e := range purged {
		var payload struct {
			Value json.RawMessage `json:"v"` // of a memory
			Data  json.RawMessage `json:"d"` // of an event
		}
		if json.Unmarshal(e.Value, &payload) != nil {
			continue
		}
		for _, value := range []json.RawMessage{payload.Value, payload.Data} {
			for _, text := range leaves(value) {
				quoted, err := json.Marshal(text)
				if err != nil {
					continue
				}
				add(quoted[1 : len(quoted)-1])
				add(unescaped(text))
			}
		}
	}
	return texts
}

// unescaped is a text as JSON writes it when it leaves < > and & alone.
func unescaped(text string) []byte {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if enc.Encode(text) != nil || out.Len() < 3 {
		return nil
	}
	return out.Bytes()[1 : out.Len()-2]
}

func containsAny(value []byte, texts [][]byte) bool {
	return slices.ContainsFunc(texts, func(text []byte) bool { return bytes.Contains(value, text) })
}

// keysWith lists what a branch has, beside memories and events, with one of the texts in some version.
func (s *Space) keysWith(ctx context.Context, b *branch, texts [][]byte) ([]store.Key, error) {
	var keys []store.Key
	own := store.Lineage{{Branch: b.id, At: store.Latest}}
	for cursor, first := store.Cursor(""), true; first || cursor != ""; first = false {
		page, next, err := s.engine.Versions(ctx, own, store.Range{}, cursor, fillPage)
		if err != nil {
			return nil, err
		}
		for _, e := range page {
			beside := e.Collection != memories && e.Collection != events
			if beside && !e.Deleted && containsAny(e.Value, texts) && !slices.Contains(keys, e.Key) {
				keys = append(keys, e.Key)
			}
		}
		cursor = next
	}
	return keys, nil
}

// purgedCopy is what stays of a record.
func purgedCopy(e store.Entry) ([]byte, bool) {
	if e.Collection == answers {
		value, err := json.Marshal(answerRecord{})
		return value, err == nil
	}
	return purgedMemory(e)
}
