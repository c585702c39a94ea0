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

// SetRoot names a directory; nil removes the name.
func (f *Families) SetRoot(name string, r *registry.Root) error {
	f.changing.Lock()
	defer f.changing.Unlock()
	return f.change(func(l *registry.Lock) error {
		if r == nil {
			if _, there := l.Roots[name]; !there {
				return &memory.Error{Code: memory.NotFound, Message: fmt.Sprintf("there is no root %q", name)}
			}
			delete(l.Roots, name)
			return nil
		}
		if f.o.Files != nil {
			if err := f.o.Files.Check(*r); err != nil {
				return &memory.Error{Code: memory.InvalidArgument, Message: err.Error()}
			}
		}
		l.Roots[name] = *r
		return nil
	})
}
