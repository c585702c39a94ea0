package vault

import (
	"slices"

	"github.com/alcove-memory/alcove/guests/lib/fact"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// entities knows the names of entities, which are those of the family graph. Without that family an entity is named as the memory names it.
type entities struct {
	c       *alcove.Call
	known   map[string]entity // by an id or a name
	missing bool              // the family graph cannot be asked
}

// entity is what the family graph says about one.
type entity struct{ id, name string }

//alcove:json
type gotEntity struct {
	Entity *answered
}

//alcove:json
type answered struct {
	EntityID string `json:"entityId"`
	Name     string
}

// ask finds an entity by an id or a name; without one both are the text.
func (e *entities) ask(text string) (entity, error) {
	if found, ok := e.known[text]; ok {
		return found, nil
	}
	found := entity{text, text}
	if !e.missing {
		out, err := e.c.ToolsCall(alcove.ToolsCallRequest{Tool: "memory_get_entity", Arguments: alcove.JSON(map[string]any{"id": text})})
		switch alcove.CodeOf(err) {
		case "":
			if err != nil {
				return found, err
			}
			var got gotEntity
			if err := decode(out.Result, &got); err != nil {
				return found, err
			}
			if got.Entity != nil {
				found = entity{got.Entity.EntityID, got.Entity.Name}
			}
		case alcove.NotFound, alcove.Denied, alcove.Unavailable, alcove.InvalidArgument:
			e.missing = alcove.CodeOf(err) != alcove.InvalidArgument
		default:
			return found, err
		}
	}
	if e.known == nil {
		e.known = map[string]entity{}
	}
	e.known[text] = found
	return found, nil
}

// names are those of the entities of a memory.
func (e *entities) names(m *alcove.Memory) (names []string, err error) {
	for _, id := range fact.Texts(m.Metadata[fact.EntityIDs]) {
		found, err := e.ask(id)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(names, found.name) {
			names = append(names, found.name)
		}
	}
	return names, nil
}

// ids are those of entities with names. Those that the memory has already stay as the memory names them.
func (e *entities) ids(m *alcove.Memory, names []string) (ids []string, err error) {
	had := map[string]string{}
	if m != nil {
		for _, id := range fact.Texts(m.Metadata[fact.EntityIDs]) {
			found, err := e.ask(id)
			if err != nil {
				return nil, err
			}
			had[found.name] = id
		}
	}
	for _, name := range names {
		id := had[name]
		if id == "" {
			found, err := e.ask(name)
			if err != nil {
				return nil, err
			}
			id = found.id
		}
		ids = append(ids, id)
	}
	return ids, nil
}
