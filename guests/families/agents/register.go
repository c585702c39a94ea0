package agents

import (
	"slices"

	"github.com/alcove-memory/alcove/guests/lib/identity"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// RegisterAgentCore registers the caller in the namespace.
//
// Repeating it changes what is given, and keeps the rest with the time of the first registration. The scope private-AGENT is created if
// the caller's key covers it.
//
//alcove:description Register yourself; safe to repeat.
//alcove:title Register an agent
//alcove:tool idempotent
//alcove:alias memory_register
//alcove:camel
type RegisterAgentCore struct {
	Name         string                    `alcove:"required,min=1,max=200"`
	AgentID      string                    `alcove:"max=128"` // Default: the caller.
	Role         alcove.Optional[string]   `alcove:"max=200"`
	Capabilities alcove.Optional[[]string] `alcove:"max=100,items.max=500"` // What you can do, one thing each.
	Telos        alcove.Optional[string]   `alcove:"max=2000"`              // Your purpose.
	Settings     alcove.Raw                `alcove:"opaque"`
	DefaultScope alcove.Optional[string]   `alcove:"max=128"`
	PromptStyle  alcove.Optional[string]   `alcove:"max=200"`
}

//alcove:camel
type registration struct {
	AgentID string
	Created bool
	ScopeID string `json:"scopeId,omitzero"` // The agent's private scope; absent: its key does not cover that.
}

// Call registers the agent.
func (in RegisterAgentCore) Call(c *alcove.Call) (out registration, err error) {
	if out.AgentID, err = identity.Acting(c, in.AgentID); err != nil {
		return out, err
	}
	a, known, err := registered.Get(c, out.AgentID)
	if err != nil {
		return out, err
	}
	before := a
	if !known {
		a = agent{AgentID: out.AgentID, RegisteredAt: c.Time()}
	}
	in.change(&a)
	namespaces := []string{c.Namespace}
	if out.ScopeID, err = privateScope(c, out.AgentID); err != nil {
		return out, err
	}
	if out.ScopeID != "" && out.ScopeID != c.Namespace {
		namespaces = append(namespaces, out.ScopeID)
	}
	if out.Created = !known; known && same(&a, &before) {
		return out, nil
	}
	a.UpdatedAt = c.Time()
	if err := a.put(c, namespaces...); err != nil {
		return out, err
	}
	return out, emit(c, "agent_registered", a.AgentID, c.Namespace, changes{Name: a.Name, Role: a.Role})
}

// change takes over what is given. A vector of other capabilities is dropped.
func (in *RegisterAgentCore) change(a *agent) {
	a.Name = in.Name
	a.Role, a.Telos = in.Role.Or(a.Role), in.Telos.Or(a.Telos)
	a.DefaultScope, a.PromptStyle = in.DefaultScope.Or(a.DefaultScope), in.PromptStyle.Or(a.PromptStyle)
	if len(in.Settings) > 0 && string(in.Settings) != "null" {
		a.Settings = in.Settings
	}
	if list, given := in.Capabilities.Get(); given && !slices.Equal(list, a.Capabilities) {
		a.Capabilities, a.CapabilityVector, a.VectorModel = list, nil, ""
	}
}

func same(a, b *agent) bool {
	return a.Name == b.Name && a.Role == b.Role && a.Telos == b.Telos && a.DefaultScope == b.DefaultScope && a.PromptStyle == b.PromptStyle &&
		string(a.Settings) == string(b.Settings) && slices.Equal(a.Capabilities, b.Capabilities)
}

// privateScope returns an agent's private scope, and creates it if the caller may; empty: it may not.
func privateScope(c *alcove.Call, agentID string) (string, error) {
	home := private(agentID)
	if !isNamespace(home) {
		return "", nil
	}
	for _, action := range []string{"read", "write"} {
		may, err := c.CallerCan(alcove.CallerCanRequest{Action: action, Namespace: home})
		if err != nil || !may.Allowed {
			return "", err
		}
	}
	_, err := c.ScopeGet(alcove.ScopeGetRequest{Namespace: home})
	if alcove.CodeOf(err) != alcove.NotFound {
		return home, err
	}
	name := "Private scope of " + agentID
	_, err = c.ScopePut(alcove.ScopePutRequest{Namespace: home, Name: &name, Create: true})
	switch alcove.CodeOf(err) {
	case alcove.Denied, alcove.Exhausted:
		return "", nil
	}
	return home, err
}
