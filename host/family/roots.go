package family

import (
	"fmt"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/registry"
)

// RootRequest names a directory; without one the name is removed.
type RootRequest struct {
	Name string         `json:"name"`
	Root *registry.Root `json:"root,omitempty"`
}

// SetRoot names a directory; nil removes the name.
func (f *Families) SetRoot(name string, r *registry.Root) error {
	defer f.catalogue.Hold()()
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
