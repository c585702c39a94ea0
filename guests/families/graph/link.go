package graph

import (
	"github.com/alcove-memory/alcove/guests/lib/moment"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// Link links two memories with a relation that holds for a time.
//
// Source and target may be memories or entities. A link that exists is updated and created is false, unless it had ended: then it begins
// anew, and history keeps the time before. valid_from is now by default. Links of two memories appear in the memories' own links, too, as
// far as those have room.
//
//alcove:title Link two memories
//alcove:description Link two memories or entities with a typed, dated relation.
type Link struct {
	SourceID   alcove.ID `alcove:"required,alias=from"`
	TargetID   alcove.ID `alcove:"required,alias=to"`
	Relation   string    `alcove:"default=related_to,alias=type"` // related_to, supersedes, contradicts, derived_from, before, after, during, caused_by, led_to, part_of, depends_on, works_with, created_by, or x:name.
	ValidFrom  string
	ValidUntil string
	Confidence alcove.Optional[float64] `alcove:"advanced,min=0,max=1"`
}

type linked struct{ Created bool }

// Call links them.
func (in Link) Call(c *alcove.Call) (out linked, err error) {
	relation, err := checkRelation(in.Relation)
	if err != nil {
		return out, err
	}
	from, err := mustResolve(c, in.SourceID)
	if err != nil {
		return out, err
	}
	to, err := mustResolve(c, in.TargetID)
	if err != nil {
		return out, err
	}
	if from.ID == to.ID {
		return out, alcove.Errorf(alcove.InvalidArgument, "%s cannot be linked with itself", from.ID.String())
	}
	l := triple{from.ID, to.ID, relation}
	e, ok, err := l.get(c)
	if err != nil {
		return out, err
	}
	out.Created = !ok || e.ended(c.Time())
	if e, err = in.edge(c, e, out.Created); err != nil {
		return out, err
	}
	if err := l.put(c, e); err != nil {
		return out, err
	}
	if err := l.show(c, from, to); err != nil {
		return out, err
	}
	if out.Created {
		err = emitLink(c, "link_created", l)
	}
	return out, err
}

// edge is the link as it will be.
func (in Link) edge(c *alcove.Call, e edge, created bool) (edge, error) {
	from, err := moment.Of(c, in.ValidFrom, moment.Begin)
	if err != nil {
		return e, err
	}
	until, err := moment.Of(c, in.ValidUntil, moment.Begin)
	if err != nil {
		return e, err
	}
	if created {
		e = edge{ValidFrom: c.Time(), ObservedBy: c.Caller, Confidence: 1}
	}
	if from != 0 {
		e.ValidFrom = from
	}
	if until != 0 {
		e.ValidUntil = until
	}
	if e.ValidUntil != 0 && e.ValidUntil < e.ValidFrom {
		return e, alcove.Errorf(alcove.InvalidArgument, "the link would end at %s, before it begins at %s", e.ValidUntil, e.ValidFrom)
	}
	e.Confidence = in.Confidence.Or(e.Confidence)
	return e, nil
}

// show writes the link of two memories into the first one's own links. One that has as many as it may have stays as it is.
func (t triple) show(c *alcove.Call, from, to *node) error {
	if from.Kind != kindMemory || to.Kind != kindMemory {
		return nil
	}
	_, err := c.LinkAdd(alcove.LinkAddRequest{Key: from.ID.Key, Namespace: from.ID.Namespace, To: []string{short(from.ID.Namespace, to.ID)}})
	if alcove.CodeOf(err) == alcove.InvalidArgument || alcove.CodeOf(err) == alcove.Exhausted {
		c.Log("the link of %s to %s is in the graph alone: %v", from.ID.String(), to.ID.String(), err)
		return nil
	}
	return err
}

// short is an id as the links of a memory have it.
func short(namespace string, id alcove.ID) string {
	if id.Namespace == namespace {
		return id.Key
	}
	return id.String()
}
