package network

import (
	"slices"

	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// walk reads links, up to as many as a call may look at.
type walk struct {
	c         *alcove.Call
	budget    int
	truncated bool // more links were there to look at
	at        alcove.Time
	relations []string // empty: all
	agents    []string // of links that are followed
	anyone    bool     // links of all agents are
}

// hops are the links of a node in a direction that the walk follows, in the order of their keys.
func (w *walk) hops(of alcove.ID, d direction) (list []hop, err error) {
	p := prefix(d, of)
	for item, err := range edges.In(of.Namespace).All(w.c, p) {
		if outOfReach(err) {
			return list, nil
		}
		if err != nil {
			return nil, err
		}
		if w.budget == 0 {
			w.truncated = true
			return list, nil
		}
		w.budget--
		if h, ok := readHop(&item, p); ok && w.follows(&h) {
			list = append(list, h)
		}
	}
	return list, nil
}

func (w *walk) follows(h *hop) bool {
	return h.holds(w.at) && (len(w.relations) == 0 || slices.Contains(w.relations, h.Relation)) && (w.anyone || slices.Contains(w.agents, h.ObservedBy))
}
