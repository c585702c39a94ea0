package scope

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/alcove-memory/alcove/host/internal/namespace"
)

// Table has the newest records of a space, for checks that cost no read of the store. The zero Table is empty. Its methods may be called
// concurrently.
type Table struct {
	setting sync.Mutex
	now     atomic.Pointer[state]
}

// state is never changed; the next one replaces it.
type state struct {
	records map[string]entry
	agents  sync.Map // exceptions, by agent, filled on demand
}

type entry struct {
	*Record
	version uint64
}

// exceptions are the namespaces that the records close to an agent, as lists that cover all others.
type exceptions struct{ read, write []string }

func (t *Table) state() *state {
	if s := t.now.Load(); s != nil {
		return s
	}
	return &state{}
}

// Set replaces records by those of a commit, unless newer ones are known.
func (t *Table) Set(version uint64, records ...Record) {
	t.setting.Lock()
	defer t.setting.Unlock()
	next := maps.Clone(t.state().records)
	if next == nil {
		next = map[string]entry{}
	}
	for _, r := range records {
		if next[r.Namespace].version <= version {
			next[r.Namespace] = entry{&r, version}
		}
	}
	t.now.Store(&state{records: next})
}

// Of returns the record of a namespace, which must not be changed; nil: it has none.
func (t *Table) Of(namespace string) *Record { return t.state().records[namespace].Record }

// List returns all records, in the order of their namespaces. They must not be changed.
func (t *Table) List() []*Record {
	s := t.state()
	list := make([]*Record, 0, len(s.records))
	for _, name := range slices.Sorted(maps.Keys(s.records)) {
		list = append(list, s.records[name].Record)
	}
	return list
}

// MayRead reports whether the records let an agent read a namespace, or every namespace of a pattern.
func (t *Table) MayRead(agent, name string) bool {
	if namespace.IsPattern(name) {
		return namespace.Covers(t.Readable(agent), name)
	}
	r := t.Of(name)
	return r == nil || r.MayRead(agent)
}

// MayWrite reports whether the records let an agent write a namespace, or every namespace of a pattern.
func (t *Table) MayWrite(agent, name string) bool {
	if namespace.IsPattern(name) {
		return namespace.Covers(t.Writable(agent), name)
	}
	r := t.Of(name)
	return r == nil || r.MayWrite(agent)
}

// Readable lists all namespaces but those that the records close to an agent. The list must not be changed.
func (t *Table) Readable(agent string) []string { return t.state().except(agent).read }

// Writable is Readable for the right to write.
func (t *Table) Writable(agent string) []string { return t.state().except(agent).write }

func (s *state) except(agent string) *exceptions {
	if known, ok := s.agents.Load(agent); ok {
		return known.(*exceptions)
	}
	x := exceptions{}
	for name, e := range s.records {
		if !e.MayRead(agent) {
			x.read = append(x.read, namespace.Except(name))
		}
		if !e.MayWrite(agent) {
			x.write = append(x.write, namespace.Except(name))
		}
	}
	slices.Sort(x.read)
	slices.Sort(x.write)
	x.read, x.write = append(x.read, namespace.All), append(x.write, namespace.All)
	s.agents.Store(agent, &x)
	return &x
}
