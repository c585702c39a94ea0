package graph

import (
	"slices"

	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// LinkEntity registers an entity and its relations.
//
// Repeating it changes nothing but lastSeen: names are added, metadata is merged, and relations that exist stay, those that ended, too. A
// relation may name an entity that is registered later, by its id or a name: missing has those, and their links show when they are. Names
// that another entity has lead to that one, and are listed in namesTaken.
//
//alcove:camel
//alcove:title Register an entity
//alcove:description Add a person, project, company, concept or tool as an entity, with its relations; safe to repeat.
//alcove:tool idempotent
type LinkEntity struct {
	EntityID      alcove.ID             `alcove:"required,alias=id"`
	Name          string                `alcove:"required,min=1"`
	Type          string                `alcove:"required,enum=person|project|company|concept|tool|other"`
	Aliases       []string              `alcove:"many"`
	Metadata      map[string]alcove.Raw `alcove:"opaque"`
	Relationships []relationship        `alcove:"many"`
}

//alcove:camel
type relationship struct {
	ToEntityID   alcove.ID `alcove:"required"`
	RelationType string
}

//alcove:camel
type registered struct {
	EntityID   alcove.ID
	Created    bool
	Links      int         // That are new.
	NamesTaken []string    `json:"namesTaken,omitzero"`
	Missing    []alcove.ID `json:"missing,omitzero"`
}

// mostRelations is how many relations one call takes.
const mostRelations = 256

// usual is the importance of entities and themes that have none.
const usual = .5

// Call registers the entity.
func (in LinkEntity) Call(c *alcove.Call) (out registered, err error) {
	if len(in.Relationships) > mostRelations {
		return out, alcove.Errorf(alcove.InvalidArgument, "there are %d relationships: give at most %d in one call", len(in.Relationships), mostRelations)
	}
	id := at(c, in.EntityID)
	e, ok, err := entities.In(id.Namespace).Get(c, id.Key)
	if err != nil {
		return out, err
	}
	out.EntityID, out.Created = id, !ok || e.Archived()
	if out.Created {
		e = entity{FirstSeen: c.Time(), Importance: usual}
	}
	in.update(c, &e)
	if err := entities.In(id.Namespace).Put(c, id.Key, e); err != nil {
		return out, err
	}
	if out.NamesTaken, err = claim(c, id, &e); err != nil {
		return out, err
	}
	if out.Created {
		if err := emit(c, "entity_created", event{EntityID: id, Changes: changes{Name: e.Name, Type: e.Type}}); err != nil {
			return out, err
		}
	}
	if err := adopt(c, id, &e); err != nil {
		return out, err
	}
	return out, in.relate(c, id, &out)
}

func (in LinkEntity) update(c *alcove.Call, e *entity) {
	if e.Name != "" && folded(e.Name) != folded(in.Name) { // the name that it had stays one of its names
		in.Aliases = append([]string{e.Name}, in.Aliases...)
	}
	e.Name, e.Type, e.LastSeen = in.Name, in.Type, c.Time()
	for _, name := range in.Aliases {
		if name != "" && !slices.Contains(e.Aliases, name) {
			e.Aliases = append(e.Aliases, name)
		}
	}
	for name, v := range in.Metadata {
		if e.Metadata == nil {
			e.Metadata = map[string]alcove.Raw{}
		}
		e.Metadata[name] = v
	}
}

// relate links an entity with those that it has relations with.
func (in LinkEntity) relate(c *alcove.Call, id alcove.ID, out *registered) error {
	for _, r := range in.Relationships {
		relation, err := checkRelation(r.RelationType)
		if err != nil {
			return err
		}
		other, err := resolve(c, r.ToEntityID)
		if err != nil {
			return err
		}
		to := at(c, r.ToEntityID)
		if other != nil {
			to = other.ID
		}
		if to == id {
			continue
		}
		if other == nil && !slices.Contains(out.Missing, to) {
			out.Missing = append(out.Missing, to)
		}
		l := triple{id, to, relation}
		_, ok, err := l.get(c)
		if err != nil {
			return err
		}
		if ok {
			continue
		}
		out.Links++
		if err := l.put(c, edge{ValidFrom: c.Time(), ObservedBy: c.Caller, Confidence: 1}); err != nil {
			return err
		}
		if err := emitLink(c, "link_created", l); err != nil {
			return err
		}
	}
	return nil
}
