// Package graph serves the family graph: entities, themes, and typed links between memories and entities, with the time for which each
// link holds.
//
// A link goes from one memory or entity to another, has a relation, and holds from valid_from until valid_until. Links of two memories are
// in the memories' own list of links, too, which the core shows. An entity is a person, project or thing with names; a theme groups
// memories and entities. All of it follows branches, and as_of shows it as it was.
//
//alcove:family graph 1.0.0
//alcove:description Entities, themes and typed links between memories; traverse and export them
//alcove:keywords connect, connection, relate, relation, relationship, link, entity, entities, person, people, company, organisation, project, network, path, chain
//alcove:keywords knows whom, works with, depends on, belongs to, neighbours, alias, theme, cluster of facts, timeline, traverse, map, diagram, graphviz, graphml, export
//alcove:example how does this person relate to that project?
//alcove:example who reports to whom?
//alcove:example link two memories with the relation caused by
//alcove:example the service depends on the database, record this dependency
//alcove:example what is connected to this customer?
//alcove:example find a chain of links from one company to another
//alcove:example add a person with nicknames as an entity
//alcove:example which entities do we know of, by name?
//alcove:example this relationship is over, end it
//alcove:example draw a network diagram of our knowledge
//alcove:example walk from a node to its neighbours
//alcove:example group facts and people under a theme
//alcove:example show the timeline of an entity
//alcove:example export nodes and edges for Graphviz
//alcove:example what did it depend on in spring?
//alcove:example everything about this vendor and its people
//alcove:example delete an entity that does not exist any more
//alcove:example in what way are these two people linked?
//alcove:example which people work on this project?
//alcove:example Tom is the boss of Lena, store that relation
//alcove:example note that Ann is the sister of Ben
//alcove:example model the relation between a firm and its suppliers
//alcove:example show me everything tied to this client
//alcove:example shortest path between two entities
//alcove:example picture of people and projects and how they hang together
//alcove:example dot file or GraphML of the network
//alcove:example she also goes by another name, add the alias
//alcove:example they no longer work together, close that link
//alcove:example who was in charge of the project last year?
//alcove:example which companies are in our graph?
//alcove:example look up the entity called Apollo
//alcove:example what happened around this person, in order of time?
//alcove:example put these facts under one theme
//alcove:example which themes have we got?
//alcove:example remove the person node
//alcove:example how do the Apollo project and Ms. Ortiz hang together?
//alcove:example record that Eva is the mother of Jan
//alcove:example Lena works for Acme, connect the two
//alcove:example add a company called Norvik with the alias NVK
//alcove:example who is married to whom in our notes?
//alcove:example our payment service calls the fraud service, model that
//alcove:example Maria left Acme in June, the employment no longer holds
//alcove:example since when has Olaf been the owner of the repo?
//alcove:example what hangs off the gateway?
//alcove:example which services would break if Redis goes down?
//alcove:example through whom could I reach the CEO of Norvik?
//alcove:example degrees of separation between Kim and Bo
//alcove:example what links the outage to the firmware release?
//alcove:example neighbours of the node Apollo within two steps
//alcove:example everything one hop away from this customer
//alcove:example graph of suppliers and parts
//alcove:example give me GraphML that I can load in Gephi
//alcove:example render the relations as a Graphviz picture
//alcove:example mind map of the people in the project
//alcove:example org chart of the department from what we know
//alcove:example family tree of the Tudors from the notes
//alcove:example this decision led to that incident, link them
//alcove:example memory A was caused by memory B
//alcove:example mark note 5 as derived from note 2
//alcove:example these two facts belong together, tie them
//alcove:example remove the connection between the two firms
//alcove:example the partnership ended last week
//alcove:example list all links of this memory
//alcove:example incoming links of this note
//alcove:example what does this fact point to?
//alcove:example chronology of what happened with the Mars project
//alcove:example dated history of the client relationship
//alcove:example how did things unfold for Ms. Weber?
//alcove:example who did Ravi work with in 2022?
//alcove:example the state of the network as of last March
//alcove:example who is Robert's manager?
//alcove:example look up Bob, alias the plumber
//alcove:example what do we know of the entity Acme and whom is it tied to?
//alcove:example people, tools and projects that we have registered
//alcove:example find entities whose name begins with Nor
//alcove:example is there an entity for the tax office?
//alcove:example add nicknames to a person
//alcove:example two names for the same person, register the alias
//alcove:example register the tool Terraform as an entity
//alcove:example create a node for the concept of zero trust
//alcove:example drop the entity of the dissolved company
//alcove:example delete the node and its relations
//alcove:example collect the memories on hiring under one heading
//alcove:example make a theme called cost savings out of these facts
//alcove:example topic groups we have made so far
//alcove:example name a theme for these six notes and two people
//alcove:example remove the theme about the old brand
//alcove:example which theme covers the latency issues?
//alcove:example Anna introduced me to Jorge, keep the tie between them
//alcove:example the bridge is part of the northern route, record it
//alcove:example X depends on Y, and Y on Z; show the whole chain
//alcove:example upstream and downstream of the warehouse
//alcove:example trace how the idea got from the workshop to the product
//alcove:example which path connects the bug to the customer complaint?
//alcove:example how many steps from the intern to the minister?
//alcove:example relationship between the foundation and the museum
//alcove:example who are the colleagues of Dr. Sato?
//alcove:example suppliers of our suppliers
//alcove:example what else is related to this incident?
//alcove:example show the web of contacts around the mayor
//alcove:example knowledge graph as JSON with nodes and edges
//alcove:example plot how everything is interlinked
//alcove:example Tim is a cousin of Lea, enter that
//alcove:example ownership structure of the holding
//alcove:example which teams and systems are tied to this project?
//alcove:example what came before and after the merger, in order?
//alcove:example record who reports to whom in the new team
//alcove:example the two incidents have the same cause, connect them
//alcove:license Apache-2.0
//alcove:needs memory.read * to tell which memories there are, and what they say
//alcove:needs record entity,alias,edge,theme to keep entities, their names, links and themes
//alcove:needs link.read * to list the links that memories have without a relation
//alcove:needs link.write * to write links of two memories into the memories, too
//alcove:needs feed.emit * to announce new entities, links and themes
//alcove:needs feed.kind entity_created,link_created,link_ended,theme_created to announce them by these names
//alcove:limits memory_pages=2048 wall_ms=60000 cpu_ms=30000 fuel=200000000000 host_calls=100000
package graph

import alcove "github.com/alcove-memory/alcove/sdk/go"

//go:generate alcove family gen

// Config is the family's configuration.
type Config struct {
	AutoLink  bool `alcove:"shared,category=graph"`                                                       // Whether memories that are stored are linked with the entities that they mention
	MaxVisits int  `alcove:"key=graph_max_visits,shared,category=graph,min=100,max=100000,default=10000"` // Links that one call looks at
}

// Family is graph.
func Family() *alcove.Family {
	return alcove.New(
		LinkEntity{}, GetEntity{}, SearchEntities{}, DeleteEntity{},
		Link{}, EndLink{}, GetLinks{}, GraphQuery{}, GraphTimeline{}, FindPaths{},
		CreateTheme{}, SearchThemes{}, DeleteTheme{}, ExportGraph{}, Following{},
	)
}
