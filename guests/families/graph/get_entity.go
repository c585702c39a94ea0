package graph

import (
	"slices"

	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// GetEntity reads one entity, by its id or any of its names, with its links.
//
// links are those with other entities, facts the memories that are linked with it and those whose entityIds name it. If no entity has the
// name, the one with the nearest name is answered, and corrected says so; entity is null when there is none, and similar has the names of
// several that are as near.
//
//alcove:camel
//alcove:title Get an entity
//alcove:description One entity by id or alias, with its links and facts.
//alcove:tool read-only
type GetEntity struct {
	ID alcove.ID `alcove:"required,alias=entityId|name"`
}

//alcove:camel
type found struct {
	Entity    *shown
	Links     []linkShown
	Facts     []factShown
	Corrected []correction `json:"corrected,omitzero"`
	Similar   []string     `json:"similar,omitzero"`
	Truncated bool         `json:"truncated,omitzero"`
}

// shown is an entity as tools answer it.
//
//alcove:camel
type shown struct {
	EntityID   alcove.ID
	Name       string
	Type       string
	Aliases    []string
	Metadata   map[string]alcove.Raw `json:"metadata,omitzero"`
	FirstSeen  alcove.Time
	LastSeen   alcove.Time
	Importance float64
}

//alcove:camel
type factShown struct {
	FactID   alcove.ID
	Content  string
	Relation string
}

func (e *entity) show(id alcove.ID) *shown {
	return &shown{id, e.Name, e.Type, e.Aliases, e.Metadata, e.FirstSeen, e.LastSeen, e.Importance}
}

// Call reads the entity.
func (in GetEntity) Call(c *alcove.Call, cfg Config) (out found, err error) {
	e, id, err := findEntity(c, in.ID)
	if e == nil && err == nil {
		e, id, err = out.nearest(c, in.ID)
	}
	if e == nil || err != nil {
		return out, err
	}
	out.Entity = e.show(id)
	w := &walk{c: c, budget: cfg.MaxVisits, anyone: true}
	for _, d := range []direction{outward, inward} {
		hops, err := w.hops(id, d)
		if err != nil {
			return out, err
		}
		if err := out.sort(c, id, d, hops); err != nil {
			return out, err
		}
	}
	out.Truncated = w.truncated
	return out, nil
}

// nearest is the entity whose name is spelled most like the wanted one.
func (f *found) nearest(c *alcove.Call, wanted alcove.ID) (*entity, alcove.ID, error) {
	near, err := alike(c, at(c, wanted))
	if err != nil {
		return nil, wanted, err
	}
	best := near.best()
	if best == nil {
		f.Similar = near.names()
		return nil, wanted, nil
	}
	f.Corrected = []correction{{wanted.String(), best.id, best.name}}
	return best.entity, best.id, nil
}

// sort puts links with entities to the links, and those with memories that hold to the facts.
func (f *found) sort(c *alcove.Call, id alcove.ID, d direction, hops []hop) error {
	ids := make([]alcove.ID, len(hops))
	for i := range hops {
		ids[i] = hops[i].Other
	}
	there, err := existing(c, ids)
	if err != nil {
		return err
	}
	for i := range hops {
		h := &hops[i]
		n := there[i]
		switch {
		case n == nil:
		case n.Kind == kindEntity:
			f.Links = append(f.Links, h.show(id, d))
		case h.holds(c.Time()) && !slices.ContainsFunc(f.Facts, func(x factShown) bool { return x.FactID == n.ID }):
			f.Facts = append(f.Facts, factShown{n.ID, n.Label, h.Relation})
		}
	}
	return nil
}
