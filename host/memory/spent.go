package memory

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/memory/scope"
	"github.com/alcove-memory/alcove/host/store"
)

// spending is the collection of agents' use of namespaces with a quota: a record for each namespace and agent.
const spending = "_spent"

// Spent is the use of an agent in a namespace.
type Spent struct {
	Day      string `json:"day"` // in UTC, of memories and links
	Memories int64  `json:"memories"`
	Links    int64  `json:"links"`
	Bytes    int64  `json:"bytes"`
}

// on returns the use on a day. Memories and links of another day do not count; bytes do.
func (s Spent) on(day string) Spent {
	if s.Day != day {
		s = Spent{Day: day, Bytes: s.Bytes}
	}
	return s
}

// quotaOf returns the quota of a namespace.
func (s *Space) quotaOf(namespace string) scope.Quota {
	if r := s.scopes.Of(namespace); r != nil {
		return r.Quota
	}
	return scope.Quota{}
}

func dayOf(now time.Time) string { return now.UTC().Format(time.DateOnly) }

// weight returns the bytes of a memory for a quota.
func weight(r *record.Record) int64 {
	n := r.Size()
	for _, list := range [][]string{r.Tags, r.Links, r.Supersedes} {
		for _, text := range list {
			n += len(text)
		}
	}
	return int64(n)
}

func spentKey(namespace, agent string) store.Key {
	return store.Key{Namespace: lineage.Namespace, Collection: spending, Name: namespace + "#" + agent}
}

func spentWrite(namespace, agent string, s Spent) (store.Write, error) {
	return keptWrite(spentKey(namespace, agent), s)
}

// spent reads the use of agents in a namespace.
func (s *Space) spent(ctx context.Context, namespace string, agents []string) ([]Spent, error) {
	list := make([]Spent, len(agents))
	b := s.catalogue.System()
	if b == nil {
		return list, nil
	}
	keys := make([]store.Key, len(agents))
	for i, agent := range agents {
		keys[i] = spentKey(namespace, agent)
	}
	found, err := s.engine.GetAt(ctx, b.Lineage, keys)
	if err != nil {
		return nil, s.translate("read what was stored", err)
	}
	for i, e := range found {
		if list[i], err = decodeSpent(e); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func decodeSpent(e store.Entry) (s Spent, err error) {
	return s, decodeKept(e, &s)
}

// Names of the records beside those of agents, which have no control characters.
const (
	everybody = "\x00all"
	ofKey     = "\x00key "
)

func keptWrite(key store.Key, v any) (store.Write, error) {
	value, err := json.Marshal(v)
	if err != nil {
		return store.Write{}, err
	}
	encoded, err := record.Record{Value: value}.Encode()
	return store.Write{Key: key, Value: encoded}, err
}

func decodeKept(e store.Entry, v any) error {
	if !e.Exists() {
		return nil
	}
	r, err := record.Decode(e)
	if err == nil {
		err = json.Unmarshal(r.Value, v)
	}
	if err != nil {
		return fmt.Errorf("read what was stored in %s of %s: %w", e.Key.Name, lineage.Namespace, err)
	}
	return nil
}
