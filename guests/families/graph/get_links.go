package graph

import (
	"strconv"
	"strings"

	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// GetLinks lists the links of a memory or an entity.
//
// Links that a memory has without a relation, as memory_store makes them, are listed as related_to with untyped, behind the others.
//
//alcove:title List links
//alcove:description Links of a memory or entity, in both directions.
//alcove:tool read-only
type GetLinks struct {
	ID        alcove.ID `alcove:"required"`
	Direction string    `alcove:"enum=both|out|in,default=both"`
	Relation  string
	Limit     int    `alcove:"default=200"`
	Cursor    string // next_cursor of the page before.
}

type links struct {
	Links      []linkShown
	NextCursor string       `json:"next_cursor,omitzero"`
	Corrected  []correction `json:"corrected,omitzero"`
	Truncated  bool         `json:"truncated,omitzero"`
}

// linkShown is a link as tools answer it.
type linkShown struct {
	SourceID   alcove.ID
	TargetID   alcove.ID
	Relation   string
	ValidFrom  alcove.Time `json:"valid_from,omitzero"`
	ValidUntil alcove.Time `json:"valid_until,omitzero"`
	ObservedBy string      `json:"observed_by,omitzero"`
	Confidence float64
	Untyped    bool `json:"untyped,omitzero"`
}

// show is the link of a node as tools answer it.
func (h *hop) show(of alcove.ID, d direction) linkShown {
	l := linkShown{of, h.Other, h.Relation, h.ValidFrom, h.ValidUntil, h.ObservedBy, h.Confidence, false}
	if d == inward {
		l.SourceID, l.TargetID = l.TargetID, l.SourceID
	}
	return l
}

// Call lists them.
func (in GetLinks) Call(c *alcove.Call) (out links, err error) {
	in.Limit = bounded(in.Limit, mostListed)
	n, err := resolveNear(c, in.ID, &out.Corrected)
	if err != nil {
		return out, err
	}
	after := in.Cursor
	for _, d := range []direction{outward, inward} {
		p := prefix(d, n.ID)
		skip := d == outward && strings.HasPrefix(after, string(inward)) // the page before was among those behind
		if skip || in.Direction != "both" && in.Direction != string(d) {
			continue
		}
		if !strings.HasPrefix(after, p) {
			after = ""
		}
		if strings.HasPrefix(in.Cursor, untyped) {
			continue
		}
		if err := in.page(c, n, d, p, after, &out); out.Truncated || err != nil {
			return out, err
		}
	}
	if n.Kind == kindMemory && (in.Relation == "" || in.Relation == related) {
		err = in.untyped(c, n, &out)
	}
	if !out.Truncated {
		out.NextCursor = ""
	}
	return out, err
}

// untyped begins the cursor of a page of links without a relation.
const untyped = "untyped|"

// page lists the links in a direction behind a key, as far as the page has room.
func (in GetLinks) page(c *alcove.Call, n *node, d direction, p, after string, out *links) error {
	if in.Relation != "" {
		p += escaped(in.Relation) + "|"
	}
	r := alcove.RecordListRequest{Collection: edges.Name, Namespace: n.ID.Namespace, Prefix: p, After: after, Limit: min(in.Limit+1, 1000)}
	for record, err := range c.Records(r) {
		if err != nil {
			return err
		}
		if len(out.Links) == in.Limit {
			out.Truncated = true
			return nil
		}
		item, err := edges.Item(record)
		if err != nil {
			return err
		}
		if h, ok := readHop(&item, prefix(d, n.ID)); ok {
			out.Links, out.NextCursor = append(out.Links, h.show(n.ID, d)), record.Key
		}
	}
	return nil
}

// mostUntyped is how many memories that refer to one are listed.
const mostUntyped = 1000

// untyped lists the links that are in memories alone.
func (in GetLinks) untyped(c *alcove.Call, n *node, out *links) error {
	own, err := c.LinkList(alcove.LinkListRequest{Key: n.ID.Key, Namespace: n.ID.Namespace, Limit: mostUntyped})
	if err != nil {
		return err
	}
	typed := map[[2]alcove.ID]bool{}
	w := &walk{c: c, budget: 100_000, anyone: true}
	for _, d := range []direction{outward, inward} {
		hops, err := w.hops(n.ID, d)
		if err != nil {
			return err
		}
		for i := range hops {
			l := hops[i].show(n.ID, d)
			typed[[2]alcove.ID{l.SourceID, l.TargetID}] = true
		}
	}
	at, _ := strconv.Atoi(strings.TrimPrefix(in.Cursor, untyped))
	count := 0
	add := func(source, target alcove.ID) {
		if typed[[2]alcove.ID{source, target}] || out.Truncated {
			return
		}
		if count++; count <= at {
			return
		}
		if len(out.Links) == in.Limit {
			out.Truncated, out.NextCursor = true, untyped+strconv.Itoa(count-1)
			return
		}
		out.Links = append(out.Links, linkShown{SourceID: source, TargetID: target, Relation: related, Confidence: 1, Untyped: true})
	}
	for _, to := range own.Links {
		if in.Direction != string(inward) {
			add(n.ID, in.of(n, to))
		}
	}
	for _, from := range own.LinkedFrom {
		if in.Direction != string(outward) {
			add(in.of(n, from), n.ID)
		}
	}
	return nil
}

// of is the id that a memory's own links name.
func (in GetLinks) of(n *node, name string) alcove.ID {
	id := alcove.ParseID(name)
	if id.Namespace == "" {
		id.Namespace = n.ID.Namespace
	}
	return id
}
