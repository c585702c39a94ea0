package graph

import (
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/guests/lib/words"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

var (
	entities = alcove.Records[entity]{Name: "entity", Open: true, Searchable: []string{"name", "aliases"}, Sync: "newest"}
	// aliases are the entities by their folded names.
	aliases = alcove.Records[alias]{Name: "alias", Open: true, Sync: "newest"}
)

// entity is a person, project or thing.
//
//alcove:camel
type entity struct {
	Name       string
	Type       string
	Aliases    []string
	Metadata   map[string]alcove.Raw `json:"metadata,omitzero"`
	FirstSeen  alcove.Time
	LastSeen   alcove.Time
	Importance float64
	alcove.Lifecycle
}

// alias is whose name it is.
//
//alcove:camel
type alias struct{ EntityID string }

// folded is how names are compared: in lower case, with single blanks.
func folded(name string) string {
	var list []string
	for _, w := range words.Split(name) {
		list = append(list, w.Lower)
	}
	if len(list) == 0 {
		return strings.ToLower(strings.TrimSpace(name))
	}
	return strings.Join(list, " ")
}

// names are the folded names of an entity.
func (e *entity) names() (list []string) {
	for _, name := range append([]string{e.Name}, e.Aliases...) {
		if f := folded(name); f != "" && len(f) <= mostName && !slices.Contains(list, f) {
			list = append(list, f)
		}
	}
	return list
}

// mostName is the length of the longest name that an entity is found by, in bytes.
const mostName = 512

// at is where an id is: in its namespace, or the call's.
func at(c *alcove.Call, id alcove.ID) alcove.ID {
	if id.Namespace == "" {
		id.Namespace = c.Namespace
	}
	return id
}

// findEntity is the entity with an id, or with a name in the id's namespace; nil for none. An archived one is none.
func findEntity(c *alcove.Call, id alcove.ID) (*entity, alcove.ID, error) {
	id = at(c, id)
	for _, try := range []alcove.ID{id, {Namespace: c.Namespace, Key: id.String()}} {
		if e, err := getEntity(c, try); e != nil || err != nil {
			return e, try, err
		}
	}
	owner, ok, err := aliases.In(id.Namespace).Get(c, folded(id.Key))
	if !ok || err != nil {
		return nil, id, unseen(err)
	}
	id.Key = owner.EntityID
	e, err := getEntity(c, id)
	return e, id, err
}

func getEntity(c *alcove.Call, id alcove.ID) (*entity, error) {
	e, ok, err := entities.In(id.Namespace).Get(c, id.Key)
	if err != nil || !ok || e.Archived() {
		return nil, unseen(err)
	}
	return &e, nil
}

// unseen is no error where something is out of reach: it is as if it were not there.
func unseen(err error) error {
	if outOfReach(err) {
		return nil
	}
	return err
}

// claim has the names of an entity lead to it, as far as no other entity has them, and lists those that one has.
func claim(c *alcove.Call, id alcove.ID, e *entity) (taken []string, err error) {
	in := aliases.In(id.Namespace)
	names := e.names()
	owners, err := in.GetAll(c, names)
	if err != nil {
		return nil, err
	}
	for i, owner := range owners {
		if owner != nil && owner.Value.EntityID != id.Key {
			other, err := getEntity(c, alcove.ID{Namespace: id.Namespace, Key: owner.Value.EntityID})
			if err != nil {
				return nil, err
			}
			if other != nil {
				taken = append(taken, names[i])
				continue
			}
		}
		if owner == nil || owner.Value.EntityID != id.Key {
			if err := in.Put(c, names[i], alias{id.Key}); err != nil {
				return nil, err
			}
		}
	}
	return taken, nil
}

// disclaim removes the names of an entity that lead to it.
func disclaim(c *alcove.Call, id alcove.ID, e *entity) error {
	in := aliases.In(id.Namespace)
	names := e.names()
	owners, err := in.GetAll(c, names)
	if err != nil {
		return err
	}
	for i, owner := range owners {
		if owner != nil && owner.Value.EntityID == id.Key {
			if _, err := in.Delete(c, names[i]); err != nil {
				return err
			}
		}
	}
	return nil
}
