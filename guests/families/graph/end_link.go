package graph

import (
	"github.com/alcove-memory/alcove/guests/lib/moment"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// EndLink says that a link no longer holds.
//
// The link stays, with the time at which it ended. One that ended stays so: without valid_until its end is left as it is, and it cannot be
// moved beyond now. A memory's own link to the target goes when none of their links holds any more.
//
//alcove:title End a link
//alcove:description Say that something no longer holds: end a link between two memories or entities.
//alcove:tool idempotent
type EndLink struct {
	SourceID   alcove.ID `alcove:"required,alias=from"`
	TargetID   alcove.ID `alcove:"required,alias=to"`
	Relation   string    `alcove:"required,alias=type"`
	ValidUntil string    // Default: now.
}

type ended struct {
	Found              bool
	PreviousValidUntil *alcove.Time // When it would have ended before; null: never.
}

// Call ends it.
func (in EndLink) Call(c *alcove.Call, cfg Config) (out ended, err error) {
	relation, err := checkRelation(in.Relation)
	if err != nil {
		return out, err
	}
	l := triple{relation: relation}
	if l.from, err = known(c, in.SourceID); err != nil {
		return out, err
	}
	if l.to, err = known(c, in.TargetID); err != nil {
		return out, err
	}
	e, ok, err := l.get(c)
	if err != nil || !ok {
		return out, err
	}
	out.Found = true
	if e.ValidUntil != 0 {
		out.PreviousValidUntil = new(e.ValidUntil)
	}
	until, err := in.end(c, &e)
	if err != nil || until == e.ValidUntil {
		return out, err
	}
	e.ValidUntil, e.Declared = until, false
	if err := l.put(c, e); err != nil {
		return out, err
	}
	if err := l.hide(c, cfg, until); err != nil {
		return out, err
	}
	return out, emitLink(c, "link_ended", l)
}

// end is when a link ends.
func (in EndLink) end(c *alcove.Call, e *edge) (alcove.Time, error) {
	until, err := moment.Of(c, in.ValidUntil, moment.Begin)
	if err != nil {
		return 0, err
	}
	now := c.Time()
	if until == 0 {
		if until = now; e.ended(now) {
			until = e.ValidUntil
		}
	}
	if until < e.ValidFrom {
		return 0, alcove.Errorf(alcove.InvalidArgument, "the link would end at %s, before it begins at %s", until, e.ValidFrom)
	}
	if e.ended(now) && until > now {
		return 0, alcove.Errorf(alcove.InvalidArgument, "the link ended at %s: memory_link begins it anew", e.ValidUntil)
	}
	return until, nil
}

// known is where a node is, or was: links of deleted ones can be ended, too.
func known(c *alcove.Call, id alcove.ID) (alcove.ID, error) {
	n, err := resolve(c, id)
	if n == nil || err != nil {
		return at(c, id), err
	}
	return n.ID, nil
}

// hide removes the target from the source's own links when no link of the two holds any more.
func (t triple) hide(c *alcove.Call, cfg Config, until alcove.Time) error {
	if until > c.Time() {
		return nil
	}
	w := &walk{c: c, budget: cfg.MaxVisits, anyone: true, at: c.Time()}
	hops, err := w.hops(t.from, outward)
	if err != nil || w.truncated {
		return err
	}
	for _, h := range hops {
		if h.Other == t.to {
			return nil
		}
	}
	_, err = c.LinkRemove(alcove.LinkRemoveRequest{Key: t.from.Key, Namespace: t.from.Namespace, To: []string{short(t.from.Namespace, t.to)}})
	if alcove.CodeOf(err) == alcove.NotFound { // it is an entity, or was deleted
		return nil
	}
	return err
}
