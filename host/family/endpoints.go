package family

import (
	"fmt"
	"maps"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/registry"
)

// Endpoints returns the external endpoints that an operator named.
func (f *Families) Endpoints() map[string]registry.Endpoint {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return maps.Clone(f.lock.Endpoints)
}

// SetEndpoint names an external server; nil removes the name.
func (f *Families) SetEndpoint(name string, e *registry.Endpoint) error {
	f.changing.Lock()
	defer f.changing.Unlock()
	return f.change(func(l *registry.Lock) error {
		if e == nil {
			if _, there := l.Endpoints[name]; !there {
				return &memory.Error{Code: memory.NotFound, Message: fmt.Sprintf("there is no endpoint %q", name)}
			}
			delete(l.Endpoints, name)
			return nil
		}
		l.Endpoints[name] = *e
		return nil
	})
}
