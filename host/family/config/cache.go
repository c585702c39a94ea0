package config

import (
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
func stateOf(keys *Keys, found []kept) (s state, ok bool) {
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

// resolved is what a state gives: the values of a family, and the same as JSON. Neither changes.
type resolved struct {
	values map[string]json.RawMessage
	text   json.RawMessage
}

// cache caches values of a family. It may be used concurrently.
type cache struct {
	mu     sync.Mutex
	states map[state]resolved
}

func (c *cache) get(s state) (r resolved, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, ok = c.states[s]
	return r, ok
}

func (c *cache) put(s state, r resolved) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.states == nil || len(c.states) >= mostResolved {
		c.states = map[state]resolved{}
	}
	c.states[s] = r
}
