package legacy

import alcove "github.com/alcove-memory/alcove/sdk/go"

// RegisterAgent registers an agent. Its private scope, private-AGENT, is created where it is missing, and its capabilities can be matched.
//
//alcove:description Deprecated: use memory_create_scope, memory_register_agent_core and memory_embed_capabilities.
//alcove:tool idempotent
//alcove:title Register an agent
//alcove:camel
type RegisterAgent struct {
	AgentID      string `alcove:"required"`
	Name         string `alcove:"required"`
	Role         string
	Capabilities []string
	Telos        string // Its purpose.
	Settings     alcove.Raw
	DefaultScope string
}

// Registered is a registered agent.
//
//alcove:camel
type Registered struct {
	AgentID string
	Created bool
	ScopeID string // Its private scope.
	notice
}

// registration is what memory_register_agent_core answers.
//
//alcove:json
//alcove:camel
type registration struct {
	AgentID string
	Created bool
}

// Call registers it.
func (in RegisterAgent) Call(c *alcove.Call) (out Registered, err error) {
	out.notice, out.ScopeID = replacedBySuccessors("memory_register_agent"), "private-"+in.AgentID
	var r registration
	arguments := given{"agentId": in.AgentID, "name": in.Name}.text("role", in.Role).texts("capabilities", in.Capabilities).
		text("telos", in.Telos).raw("settings", in.Settings).text("defaultScope", in.DefaultScope)
	if err := c.CallTool("memory_register_agent_core", map[string]any(arguments), &r); err != nil {
		return out, err
	}
	out.AgentID, out.Created = r.AgentID, r.Created
	scope := given{"name": out.ScopeID, "description": "Private scope for " + in.Name, "readPolicy": "members", "writePolicy": "members"}.texts("members", []string{in.AgentID})
	if err := c.CallTool("memory_create_scope", map[string]any(scope), nil); err != nil && alcove.CodeOf(err) != alcove.Conflict { // it exists
		return out, err
	}
	return out, c.CallTool("memory_embed_capabilities", map[string]any{"agentId": in.AgentID}, nil)
}
