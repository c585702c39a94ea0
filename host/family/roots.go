package family

import (
	"fmt"
	"maps"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/registry"
)

// Roots returns the directories that an operator named.
func (f *Families) Roots() map[string]registry.Root {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return maps.Clone(f.lock.Roots)
}

// RootRequest names a directory; without one the name is removed.
type RootRequest struct {
	Name string         `json:"name"`
	Root *registry.Root `json:"root,omitempty"`
}

// SetRoot names a directory; nil removes the name.
func (f *Families) SetRoot(name string, r *registry.Root) error {
	f.changing.Lock()
	defer f.changing.Unlock()
	return f.change(func(l *registry.Lock) error { return f.applyRoot(RootRequest{name, r}, l) })
}

func (f *Families) applyRoot(r RootRequest, l *registry.Lock) error {
	if r.Root == nil {
		if _, there := l.Roots[r.Name]; !there {
			return &memory.Error{Code: memory.NotFound, Message: fmt.Sprintf("there is no root %q", r.Name)}
		}
		delete(l.Roots, r.Name)
		return nil
	}
	if f.o.Files != nil {
		if err := f.o.Files.Check(*r.Root); err != nil {
			return &memory.Error{Code: memory.InvalidArgument, Message: err.Error()}
		}
	}
	l.Roots[r.Name] = *r.Root
	return nil
}
