package graph

import (
	"slices"

	"github.com/alcove-memory/alcove/guests/lib/moment"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// GraphQuery walks outward from a memory or an entity.
//
// It follows links from their source to their target, breadth first, and lists each node once, by the first link that reached it. Only
// links that hold at valid_at are followed, with allowed_agents only those that one of these agents observed: of an empty list none.
// Deleted memories are not listed, and nothing is reached through them. corrected says that the source is spelled otherwise, truncated that
// limit or graph_max_visits ended the walk.
//
//alcove:title Walk the graph
//alcove:description Everything within some steps of a memory or entity: walk outward along links, as they held at a time.
//alcove:tool read-only
type GraphQuery struct {
	SourceID      alcove.ID `alcove:"required,alias=id"`
	MaxDepth      int       `alcove:"min=1,max=5,default=1,alias=depth"`
	ValidAt       string    // Default: now; any: links of all times.
	AllowedAgents alcove.Optional[[]string]
	Relations     []string `alcove:"many"`
	Limit         int      `alcove:"default=200"`
}

type walked struct {
	Nodes     []reached
	Corrected []correction `json:"corrected,omitzero"`
	Truncated bool         `json:"truncated,omitzero"`
}

// reached is a node and the link that reached it first.
type reached struct {
	ID         alcove.ID
	Kind       string
	Label      string
	State      string `json:"state,omitzero"`
	Depth      int
	From       alcove.ID
	Relation   string
	ValidFrom  alcove.Time `json:"valid_from,omitzero"`
	ValidUntil alcove.Time `json:"valid_until,omitzero"`
	ObservedBy string      `json:"observed_by,omitzero"`
	Confidence float64
}

// Call walks, level by level.
func (in GraphQuery) Call(c *alcove.Call, cfg Config) (out walked, err error) {
	at, err := validAt(c, in.ValidAt)
	if err != nil {
		return out, err
	}
	source, err := resolveNear(c, in.SourceID, &out.Corrected)
	if err != nil {
		return out, err
	}
	agents, some := in.AllowedAgents.Get()
	w := &walk{c: c, budget: cfg.MaxVisits, at: at, relations: in.Relations, agents: agents, anyone: !some}
	b := &breadth{walk: w, limit: bounded(in.Limit, mostListed), seen: map[alcove.ID]bool{source.ID: true}}
	level := []alcove.ID{source.ID}
	for depth := 1; depth <= in.MaxDepth && len(level) > 0 && !b.truncated; depth++ {
		if level, err = b.level(level, depth); err != nil {
			return out, err
		}
	}
	out.Nodes, out.Truncated = b.nodes, w.truncated
	return out, nil
}

// validAt is the instant at which links that are followed hold: now, unless one is given; zero for any.
func validAt(c *alcove.Call, text string) (alcove.Time, error) {
	switch text {
	case "":
		return c.Time(), nil
	case "any":
		return 0, nil
	}
	return moment.Of(c, text, moment.End)
}

// mostListed is how many nodes or links one call lists.
const mostListed = 1000

// bounded is a limit of a listing: at least one, and at most what a call lists.
func bounded(limit, most int) int { return min(max(limit, 1), most) }

// breadth is a walk in which each node is reached once.
type breadth struct {
	*walk
	limit   int
	seen    map[alcove.ID]bool
	nodes   []reached
	asked   int // nodes whose links were read
	answers int // links that they have
}

// enough is how many nodes are read at once.
const enough = 256

// few is how many nodes have about as many links as there is room for new nodes.
func (b *breadth) few(waiting int) int {
	if b.asked == 0 {
		return 1
	}
	room := min(enough, b.limit-len(b.nodes)+1) - waiting
	return min(max(room*b.asked/max(b.answers, 1), 1), enough)
}

// level reaches the nodes behind those of a level, which are the next level.
func (b *breadth) level(from []alcove.ID, depth int) (next []alcove.ID, err error) {
	var waiting []reached
	flush := func() error {
		list, err := b.reach(waiting)
		next, waiting = append(next, list...), waiting[:0]
		return err
	}
	for len(from) > 0 && !b.truncated {
		part := from[:min(b.few(len(waiting)), len(from))]
		from = from[len(part):]
		links, err := b.links(part, whole, outward)
		if err != nil {
			return nil, err
		}
		b.asked += len(part)
		for i, hops := range links {
			b.answers += len(hops)
			waiting = b.discover(waiting, part[i], depth, hops)
		}
		if len(waiting) >= min(enough, b.limit-len(b.nodes)+1) {
			if err := flush(); err != nil {
				return nil, err
			}
		}
	}
	return next, flush()
}

// discover adds the nodes that links from a node reach first.
func (b *breadth) discover(waiting []reached, from alcove.ID, depth int, hops []hop) []reached {
	waiting = slices.Grow(waiting, len(hops))
	for i := range hops {
		h := &hops[i]
		if b.seen[h.Other] {
			continue
		}
		b.seen[h.Other] = true
		waiting = append(waiting, reached{
			ID: h.Other, Depth: depth, From: from, Relation: h.Relation, ValidFrom: h.ValidFrom, ValidUntil: h.ValidUntil,
			ObservedBy: h.ObservedBy, Confidence: h.Confidence,
		})
	}
	return waiting
}

// reach lists those of some nodes that there are.
func (b *breadth) reach(waiting []reached) (next []alcove.ID, err error) {
	ids := make([]alcove.ID, len(waiting))
	for i := range waiting {
		ids[i] = waiting[i].ID
	}
	there, err := existing(b.c, ids)
	if err != nil {
		return nil, err
	}
	b.nodes, next = slices.Grow(b.nodes, len(there)), make([]alcove.ID, 0, len(there))
	for i, n := range there {
		if n == nil {
			continue
		}
		if len(b.nodes) == b.limit {
			b.truncated = true
			break
		}
		r := &waiting[i]
		r.Kind, r.Label, r.State = n.Kind, n.Label, n.State
		b.nodes, next = append(b.nodes, *r), append(next, r.ID)
	}
	return next, nil
}
