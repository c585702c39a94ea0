package agents

import (
	"github.com/alcove-memory/alcove/guests/lib/identity"
	"github.com/alcove-memory/alcove/guests/lib/meaning"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// EmbedCapabilities makes the vector of an agent's capabilities, by which memories are matched with them.
//
// Without an embedder the method is lexical: the words are compared.
//
//alcove:description Prepare capability matching.
//alcove:title Embed capabilities
//alcove:tool idempotent
//alcove:camel
type EmbedCapabilities struct {
	AgentID string `alcove:"required"`
}

//alcove:camel
type embedded struct {
	AgentID string
	Method  string // vector or lexical.
}

// Call makes the vector.
func (in EmbedCapabilities) Call(c *alcove.Call) (out embedded, err error) {
	if out.AgentID, err = identity.Acting(c, in.AgentID); err != nil {
		return out, err
	}
	a, known, err := registered.Get(c, out.AgentID)
	if err != nil {
		return out, err
	}
	if !known {
		return out, alcove.Errorf(alcove.NotFound, "agent %s is not registered in %s: call memory_register_agent_core", out.AgentID, c.Namespace)
	}
	out.Method = "lexical"
	if len(a.Capabilities) == 0 {
		return out, nil
	}
	v, err := meaning.Embed(c, "document", []string{a.text()})
	if err != nil || v.Model == "" {
		return out, err
	}
	out.Method, a.CapabilityVector, a.VectorModel = "vector", v.Of[0], v.Model
	return out, a.put(c, c.Namespace)
}
