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
//alcove:example hello, I am the documentation bot and write manuals
//alcove:example enrol me as a tester
//alcove:example my speciality is performance tuning, put it in my profile
//alcove:example say that I can do OCR and translation
//alcove:example add Go to my list of skills
//alcove:example I have a new job here: from now on I do triage
//alcove:example register under the name Scout
//alcove:example check in with my name and role
//alcove:example who does the server take me for?
//alcove:example what identity is this connection using?
//alcove:example what may I do here, read or write?
//alcove:example do I have write access to finance?
//alcove:example can I read the legal namespace?
//alcove:example why am I not allowed to store in this scope?
//alcove:example my own profile, please
//alcove:example show my identity, my spaces and whether all is healthy
//alcove:example who else is registered, and what are they good at?
//alcove:example directory of agents
//alcove:example is there anyone who can do data visualisation?
//alcove:example who would be best for a legal question?
//alcove:example I need an agent skilled in Terraform
//alcove:example which assistant speaks Portuguese?
//alcove:example route this to whoever knows about networks
//alcove:example find the right bot for code review
//alcove:example someone competent in statistics
//alcove:example match this task with an agent
//alcove:example who takes care of the database around here?
//alcove:example open a workspace for the audit with read access for all and write access for two
//alcove:example set up a space that only Ada and I can use
//alcove:example private corner for the planner and me
//alcove:example new scope for the marketing project
//alcove:example make a team area whose contents are kept for 30 days
//alcove:example invite the researcher bot to our space
//alcove:example add three members to the design scope
//alcove:example throw the intern bot out of the shared space
//alcove:example she has left the team, take her access away
//alcove:example kick an agent out
//alcove:example who belongs to the release scope?
//alcove:example list the members of our area
//alcove:example who can see what I write here?
//alcove:example remove the scope, the project is over
//alcove:example close the shared space and archive it
//alcove:example delete an empty scope
//alcove:example leave the scope
//alcove:example give the auditor read-only access to our notes
//alcove:example let the night bot write here too
//alcove:example share this space with another agent
//alcove:example grant and revoke rights of members
//alcove:example how do I become a member?
//alcove:example refresh my capability vector so that matching finds me
//alcove:example prepare my skills to be matched by meaning
//alcove:example forward important memories to agents who care about them
//alcove:example tell the system about my purpose and settings
//alcove:example set my default scope
//alcove:example rename myself to Archivist
//alcove:example what is the role of the agent called Hermes?
//alcove:example which spaces can I get into?
//alcove:example am I registered already?
//alcove:example is the agent called Nova known here?
//alcove:example I should introduce myself first
//alcove:example what are the talents of the other assistants?
//alcove:example assemble a team of bots for the incident
//alcove:example who has which permissions in this place?
//alcove:example limit reading to the members of the squad
//alcove:example our three assistants need a common place that is closed to everybody else
//alcove:example sign up as a new agent
//alcove:example announce what jobs I take on
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
