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
//alcove:example tell the others who I am and which jobs I can take
//alcove:example sign in as the reviewer agent of this project
//alcove:example which of the agents knows how to write SQL?
//alcove:example find somebody who can help me with accessibility testing
//alcove:example what am I called here, and what are my rights?
//alcove:example list all the agents that work in this namespace
//alcove:example give the tester permission to write in the design space
//alcove:example make a private area that just two of us can see
//alcove:example take an agent off the list of members
//alcove:example who is allowed to read this space?
//alcove:example delete the scope of the finished project
//alcove:example publish my abilities so that work is routed to me
//alcove:example which bot should I ask about billing?
//alcove:example let another agent join our team
//alcove:example change my role from coder to planner
//alcove:example let everybody know my strengths: I am fluent in Rust
//alcove:example which rights do I have in this place?
//alcove:example may I store things in this namespace?
//alcove:example under which name am I known?
//alcove:example who of the agents understands databases?
//alcove:example who is the expert for security here?
//alcove:example pick the right colleague for a translation
//alcove:example set up a common space for five agents
//alcove:example a space that nobody outside the team can see
//alcove:example grant read access to a new colleague
//alcove:example revoke somebody's access to the area
//alcove:example which spaces am I a member of?
//alcove:example put me on the list of available helpers
//alcove:example show who is registered and what they do
//alcove:example tell me what another agent is responsible for
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
