package graph

import alcove "github.com/alcove-memory/alcove/sdk/go"

// DeleteEntity deletes an entity.
//
// It is archived: no search and no walk finds it, its links end, and memory_link_entity registers it anew, without them. With hard it is
// deleted with its names and links; history keeps them.
//
//alcove:camel
//alcove:title Delete an entity
//alcove:description Delete an entity.
//alcove:tool destructive
type DeleteEntity struct {
	EntityID alcove.ID `alcove:"required,alias=id"`
	Hard     bool
}

// Call deletes it.
func (in DeleteEntity) Call(c *alcove.Call) (out alcove.Removed, err error) {
	e, id, err := findEntity(c, in.EntityID)
	if err != nil {
		return out, err
	}
	if e == nil {
		return in.archived(c)
	}
	if err := disclaim(c, id, e); err != nil {
		return out, err
	}
	remove := func(l triple, e edge) error { return l.end(c, e) }
	if in.Hard {
		remove = func(l triple, _ edge) error { return l.remove(c) }
	}
	if err := eachLink(c, id, remove); err != nil {
		return out, err
	}
	return entities.In(id.Namespace).Remove(c, id.Key, alcove.Removal(in.Hard))
}

// archived deletes an entity that is archived already, where it is to be deleted with hard.
func (in DeleteEntity) archived(c *alcove.Call) (out alcove.Removed, err error) {
	id := at(c, in.EntityID)
	if !in.Hard {
		return out, alcove.Errorf(alcove.NotFound, "there is no entity %q in %s", id.Key, id.Namespace)
	}
	if err := eachLink(c, id, func(l triple, _ edge) error { return l.remove(c) }); err != nil {
		return out, err
	}
	return entities.In(id.Namespace).Remove(c, id.Key, alcove.Hard)
}

// end has a link end now, unless it ended before.
func (t triple) end(c *alcove.Call, e edge) error {
	if e.ended(c.Time()) {
		return nil
	}
	e.ValidUntil = max(c.Time(), e.ValidFrom)
	return t.put(c, e)
}

// eachLink does something with all links of a node.
func eachLink(c *alcove.Call, id alcove.ID, do func(triple, edge) error) error {
	for _, d := range []direction{outward, inward} {
		p := prefix(d, id)
		for item, err := range edges.In(id.Namespace).All(c, p) {
			if err != nil {
				return err
			}
			h, ok := readHop(&item, p)
			if !ok {
				continue
			}
			l := triple{id, h.Other, h.Relation}
			if d == inward {
				l.from, l.to = l.to, l.from
			}
			if err := do(l, h.edge); err != nil {
				return err
			}
		}
	}
	return nil
}
