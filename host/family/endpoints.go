package family

import (
	"fmt"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/registry"
)

// EndpointRequest names an external server; without one the name is removed.
type EndpointRequest struct {
	Name     string             `json:"name"`
	Endpoint *registry.Endpoint `json:"endpoint,omitempty"`
}

// SetEndpoint names an external server; nil removes the name.
func (f *Families) SetEndpoint(name string, e *registry.Endpoint) error {
	defer f.catalogue.Hold()()
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
