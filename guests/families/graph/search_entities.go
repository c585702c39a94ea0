package graph

import (
	"github.com/alcove-memory/alcove/guests/lib/scopes"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// SearchEntities finds entities by their names.
//
// An entity that has exactly the name comes first. If there is none, those of the first scope with similar names are listed, and similar says
// so.
//
//alcove:camel
//alcove:title Search entities
//alcove:description Which people, projects, companies or tools are known by a name or alias: find entities.
//alcove:tool read-only
type SearchEntities struct {
	Query string `alcove:"required,min=1,alias=name"`
	Type  string `alcove:"enum=person|project|company|concept|tool|other"`
	Limit int    `alcove:"default=10"`

	ScopeIDs  []string `alcove:"advanced,name=scopeIds,alias=namespaces"` // Scopes to search; all if left out.
	Namespace string   `alcove:"advanced,alias=scopeId"`                  // The one to search, unless scopeIds names some.
}

type foundEntities struct {
	Entities []*shown
	Similar  bool `json:"similar,omitzero"` // No entity has the name: these have similar ones.
}

// Call searches the names.
func (in SearchEntities) Call(c *alcove.Call) (out foundEntities, err error) {
	in.Limit = bounded(in.Limit, 50)
	in.ScopeIDs = scopes.Named(in.ScopeIDs, in.Namespace)
	searched, first := in.ScopeIDs, c.Namespace
	if len(in.ScopeIDs) > 0 {
		first = in.ScopeIDs[0]
	} else if searched, err = scopes.Everywhere(c); err != nil {
		return out, err
	}
	wanted, seen := alcove.ID{Namespace: first, Key: in.Query}, map[alcove.ID]bool{}
	add := func(id alcove.ID, e *entity) {
		if !seen[id] && !e.Archived() && (in.Type == "" || e.Type == in.Type) && len(out.Entities) < in.Limit {
			seen[id] = true
			out.Entities = append(out.Entities, e.show(id))
		}
	}
	if e, id, err := findEntity(c, wanted); err != nil {
		return out, err
	} else if e != nil {
		add(id, e)
	}
	for offset := 0; len(out.Entities) < in.Limit; offset += page {
		r, err := c.RecordSearch(alcove.RecordSearchRequest{Collection: entities.Name, Query: in.Query, Namespaces: searched, K: page, Offset: offset})
		if err != nil {
			return out, err
		}
		for i := range r.Hits {
			item, err := entities.Item(&r.Hits[i].Record)
			if err != nil {
				return out, err
			}
			add(item.ID, &item.Value)
		}
		if len(r.Hits) < page || offset >= farthest {
			break
		}
	}
	if len(out.Entities) > 0 {
		return out, nil
	}
	near, err := alike(c, wanted)
	for i := range near {
		add(near[i].id, near[i].entity)
	}
	out.Similar = len(out.Entities) > 0
	return out, err
}

// How many hits of a search are read at once, and the place of the last one.
const (
	page     = 50
	farthest = 1000
)
