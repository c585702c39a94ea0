package memory

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"

	"github.com/alcove-memory/alcove/host/store"
)

const (
	mostTallied = 1 << 20 // changes of a branch that stay in memory, at 12 bytes each
	mostTallies = 8       // branches whose changes do
)

// tallies keep the changes of the branches whose timelines are read, so that each change is read once. The zero value is empty.
type tallies struct {
	mu   sync.Mutex
	kept map[store.BranchID]*changeTally
}

// clear forgets what is kept: changes were erased, or are no longer kept by the store.
func (ts *tallies) clear() {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	ts.kept = nil
}

func (ts *tallies) of(b store.BranchID) *changeTally {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	t := ts.kept[b]
	if t == nil {
		if ts.kept == nil || len(ts.kept) >= mostTallies {
			ts.kept = map[store.BranchID]*changeTally{}
		}
		t = &changeTally{}
		ts.kept[b] = t
	}
	return t
}

// changeTally is a branch's changes of memories, oldest first: their versions and namespaces.
type changeTally struct {
	mu    sync.Mutex
	large bool   // it has more than stay in memory
	upTo  uint64 // the version up to which it is complete
	namespaced
}

// namespaced are changes of memories, oldest first. What it has is never changed, so a copy can be read while changes are added.
type namespaced struct {
	versions   []uint64
	names      []uint32 // index into namespaces
	namespaces []string
}

// tallied returns the changes of memories in a span.
func (s *Space) tallied(ctx context.Context, in span) (namespaced, error) {
	t := s.tallies.of(in.branch)
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.large && t.upTo < in.to {
		if err := t.add(ctx, s, span{in.branch, t.upTo, in.to}, mostTallied); err != nil {
			return namespaced{}, err
		}
	}
	if !t.large {
		return t.within(in), nil
	}
	var once changeTally
	if err := once.add(ctx, s, in, mostCounted); err != nil {
		return namespaced{}, err
	}
	if once.large {
		return namespaced{}, &Error{Code: Exhausted,
			Message: fmt.Sprintf("the period has more than %d changes: give a shorter one, with since and until", mostCounted)}
	}
	return once.namespaced, nil
}

// add reads the changes of a span that follows what the tally has. Of more than most it keeps none.
func (t *changeTally) add(ctx context.Context, s *Space, in span, most int) error {
	known := map[string]uint32{}
	for i, name := range t.namespaces {
		known[name] = uint32(i)
	}
	for changes, err := range s.spanChanges(ctx, in) {
		if err != nil {
			return err
		}
		for _, c := range changes {
			if c.Key.Collection != memories {
				continue
			}
			name, ok := known[c.Key.Namespace]
			if !ok {
				name = uint32(len(t.namespaces))
				known[c.Key.Namespace], t.namespaces = name, append(t.namespaces, c.Key.Namespace)
			}
			t.versions, t.names = append(t.versions, c.Version), append(t.names, name)
		}
		if len(t.versions) > most {
			t.large, t.namespaced = true, namespaced{}
			return nil
		}
		if len(changes) > 0 {
			t.upTo = changes[len(changes)-1].Version
		}
	}
	t.upTo = in.to
	return nil
}

// within returns the changes of a span.
func (n namespaced) within(in span) namespaced {
	from, _ := slices.BinarySearch(n.versions, in.after+1)
	to, _ := slices.BinarySearch(n.versions, in.to+1)
	return namespaced{n.versions[from:to], n.names[from:to], n.namespaces}
}

// selected visits the versions of the changes in some namespaces.
func (n namespaced) selected(selects func(namespace string) bool) iter.Seq[uint64] {
	chosen := make([]bool, len(n.namespaces))
	for i, name := range n.namespaces {
		chosen[i] = selects(name)
	}
	return func(yield func(uint64) bool) {
		for i, version := range n.versions {
			if chosen[n.names[i]] && !yield(version) {
				return
			}
		}
	}
}
