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
