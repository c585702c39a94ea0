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

// EndpointRequest names an external server; without one the name is removed.
type EndpointRequest struct {
	Name     string             `json:"name"`
	Endpoint *registry.Endpoint `json:"endpoint,omitempty"`
}

// SetEndpoint names an external server; nil removes the name.
func (f *Families) SetEndpoint(name string, e *registry.Endpoint) error {
	f.changing.Lock()
	defer f.changing.Unlock()
	return f.change(EndpointRequest{name, e}.apply)
}

func (r EndpointRequest) apply(l *registry.Lock) error {
	if r.Endpoint != nil {
		l.Endpoints[r.Name] = *r.Endpoint
		return nil
	}
	if _, there := l.Endpoints[r.Name]; !there {
		return &memory.Error{Code: memory.NotFound, Message: fmt.Sprintf("there is no endpoint %q", r.Name)}
	}
	delete(l.Endpoints, r.Name)
	return nil
}
