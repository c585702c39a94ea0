package memory

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/host/internal/jsontext"
	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/store"
)

// Collections of a namespace that belong to this package.
const (
	memories = record.Memories
	events   = record.Events
	answers  = record.Answers
)

// Entries that are read at once.
const (
	fillPage      = 2000
	cataloguePage = 1000 // of the catalogue's namespace
)

// newRecord converts an agent's item to its stored form.
func newRecord(it Item, agent string) (record.Record, error) {
	value, err := jsontext.Compact(it.Value)
	if err != nil {
		return record.Record{}, invalid("value is not valid JSON: %v", err)
	}
	r := record.Record{
		Value: value, Tags: tidyTags(it.Tags), Type: it.Type, Importance: it.Importance, Metadata: it.Metadata,
		State: string(it.State), Supersedes: it.Supersedes, Links: it.Links, Agent: agent, Vector: record.EncodeVector(it.Vector.Values), VectorOf: it.Vector.Embedder,
	}
	if r.State == string(Active) {
		r.State = ""
	}
	if !it.ExpiresAt.IsZero() {
		r.Expires = it.ExpiresAt.UnixMicro()
	}
	if !it.Created.IsZero() {
		r.Created = max(it.Created.UnixMicro(), 0)
	}
	return r, nil
}

// tidyTags trims tags, and drops empty and repeated ones; it keeps the order.
func tidyTags(tags []string) []string {
	var tidy []string
	for _, tag := range tags {
		if tag = strings.TrimSpace(tag); tag != "" && !slices.Contains(tidy, tag) {
			tidy = append(tidy, tag)
		}
	}
	return tidy
}

// memoryOf returns the memory of an entry and its record.
func memoryOf(e store.Entry, r record.Record) Memory {
	return Memory{
		Namespace: e.Namespace, Key: e.Name, Value: r.Value, Tags: r.Tags, Type: r.Type, Importance: r.Importance,
		Metadata: r.Metadata, Agent: r.Agent, State: State(r.CurrentState()), Supersedes: r.Supersedes, Links: r.Links,
		ExpiresAt: r.ExpiresAt(), Vector: Vector{r.VectorOf, record.DecodeVector(r.Vector)}, Purged: r.Purged, Version: e.Version, Timestamp: e.Time, Created: r.CreatedAt(e),
	}
}

// decodeMemory decodes a version of a memory, deleted ones too.
func decodeMemory(e store.Entry) (Memory, error) {
	if e.Deleted {
		return Memory{Namespace: e.Namespace, Key: e.Name, Version: e.Version, Timestamp: e.Time, Deleted: true}, nil
	}
	r, err := record.Decode(e)
	if err != nil {
		return Memory{}, err
	}
	return memoryOf(e, r), nil
}

// derivedKey returns the key of a memory stored without one, so that storing it again yields the same memory.
func derivedKey(namespace string, value json.RawMessage) (string, error) {
	canonical, err := jsontext.Canonical(value)
	if err != nil {
		return "", invalid("value is not valid JSON: %v", err)
	}
	sum := sha256.Sum256(append([]byte(namespace+"\x00"), canonical...))
	name := base32.HexEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:10])
	return "m-" + strings.ToLower(name), nil
}

func memoryKey(namespace, name string) store.Key {
	return store.Key{Namespace: namespace, Collection: memories, Name: name}
}

// named returns items with their keys, derived ones included.
func named(items []Item, keys []store.Key) []Item {
	list := slices.Clone(items)
	for i := range list {
		list[i].Key = keys[i].Name
	}
	return list
}

// attempts bounds the tries of a commit that depends on what others change.
const attempts = 16
