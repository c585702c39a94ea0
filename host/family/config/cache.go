package config

import (
	"context"
	"encoding/json"
	"sync"
)

// state is everything that a family's values depend on: the declarations, and the versions of what is set.
type state struct {
	keys    *Keys
	records [4]version // by scope, the nearest first
}

// version is the version of a record. A missing one has no name: its scope equals any other without settings.
type version struct {
	scope Scope
	at    uint64
}

// stateOf returns the state of the records read; ok is false if some are only staged.
func stateOf(keys *Keys, found []scopeRecord) (s state, ok bool) {
	s.keys = keys
	for i, k := range found {
		if k.record == nil {
			continue
		}
		if k.record.Version == 0 || i >= len(s.records) {
			return state{}, false
		}
		s.records[i] = version{k.scope, k.record.Version}
	}
	return s, true
}

// mostResolved bounds the cached states of a family; a full cache is emptied.
const mostResolved = 256

// resolution is what a state gives: the values of a family, and the same as JSON. Neither changes.
type resolution struct {
	values map[string]json.RawMessage
	text   json.RawMessage
}

// cache caches values of a family. It may be used concurrently.
type cache struct {
	mu     sync.Mutex
	states map[state]resolution

	newest valuesAtVersion
}

// valuesAtVersion are the values at a version of the space, by where they apply.
type valuesAtVersion struct {
	keys    *Keys
	version uint64
	values  map[For]map[string]json.RawMessage
}

func (c *cache) get(s state) (r resolution, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, ok = c.states[s]
	return r, ok
}

func (c *cache) put(s state, r resolution) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.states == nil || len(c.states) >= mostResolved {
		c.states = map[state]resolution{}
	}
	c.states[s] = r
}

// Known returns what Learn returned at a version of the space.
func (s Settings) Known(version uint64, f For) (values map[string]json.RawMessage, ok bool) {
	c := &s.Own.resolved
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.newest.version != version || c.newest.keys != s.Keys {
		return nil, false
	}
	values, ok = c.newest.values[f]
	return values, ok
}

// Learn is Values in a stage that has changed nothing, for Known.
func (s Settings) Learn(ctx context.Context, f For) (map[string]json.RawMessage, error) {
	values, err := s.Values(ctx, f)
	if err != nil {
		return nil, err
	}
	c := &s.Own.resolved
	c.mu.Lock()
	defer c.mu.Unlock()
	switch n, at := &c.newest, s.Stage.Version(); {
	case n.keys == s.Keys && n.version > at: // another call has seen a later commit
		return values, nil
	case n.keys != s.Keys || n.version < at || len(n.values) >= mostResolved:
		*n = valuesAtVersion{s.Keys, at, map[For]map[string]json.RawMessage{}}
	}
	c.newest.values[f] = values
	return values, nil
}
