// Package agents serves the family agents: it registers agents, tells them who they are, and lets them share scopes.
//
// An agent registers in a namespace, for the others there, and in its private scope private-AGENT, if its key covers that. A scope is a
// namespace with a rights record, which the server enforces: its creator adds and removes members. As a stored hook the family tells
// agents of important memories that match their capabilities, with memory_notify; never the agent that wrote them, and only agents
// that may read the scope.
//
//alcove:family agents 1.0.0
//alcove:description Who an agent is, what it can do, which scopes it may read and write.
//alcove:keywords agent, agents, assistant, assistants, bot, bots, profile, identity, introduce, register, who am i, name, role, skill, skills, capability, capabilities, able, good at
//alcove:keywords group, team, member, members, membership, join, leave group, access, permission, shared space, private scope, read and write rights, belongs
//alcove:license Apache-2.0
//alcove:needs record agent,routed to keep registrations, and which memories were routed to whom
//alcove:needs memory.read * to count what a scope holds, to tell how the memory is, and to be told of new memories
//alcove:needs scope.read * to list the scopes of an agent, and to ask who may read one
//alcove:needs scope.write * to create scopes, and to change their members
//alcove:needs embed to compare memories with capabilities by meaning
//alcove:needs feed.emit * to announce agents and scopes
//alcove:needs feed.kind agent_registered,scope_created,scope_members_changed to announce them by these names
//alcove:needs tools.call memory_notify to notify agents of memories that match their capabilities
//alcove:limits memory_pages=1024 wall_ms=60000 cpu_ms=20000 host_calls=50000
package agents

import alcove "github.com/alcove-memory/alcove/sdk/go"

//go:generate alcove family gen

// Config is the family's configuration.
type Config struct {
	RouteEnabled       bool    `alcove:"shared,category=routing,default=true"`              // Whether agents are notified of memories that match their capabilities
	RouteMinImportance float64 `alcove:"shared,category=routing,min=0,max=1,default=0.5"`   // Memories of a greater importance are routed
	RouteMinSimilarity float64 `alcove:"shared,category=routing,min=0,max=1,default=0.3"`   // How alike a memory and an agent's capabilities must be at least
	RouteMaxAgents     int     `alcove:"shared,category=routing,min=1,max=1000,default=20"` // Agents that are notified of one memory
}

// Family is agents.
func Family() *alcove.Family {
	return alcove.New(
		RegisterAgentCore{}, EmbedCapabilities{}, Whoami{}, GetAgentContext{}, ListAgents{},
		CreateScope{}, ScopeMembers{}, DeleteScope{}, Routing{},
	)
}
