package graph

import (
	"iter"
	"slices"
	"strings"

	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/go/scan"
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
func (w *walk) hops(of alcove.ID, d direction) ([]hop, error) {
	list, err := w.links([]alcove.ID{of}, whole, d)
	return list[0], err
}

// detail is how much of a link is read.
type detail bool

const (
	whole detail = true
	ends  detail = false // where it begins and ends, and its relation
)

// links are the links of each of some nodes in some directions that the walk follows.
func (w *walk) links(of []alcove.ID, how detail, ds ...direction) (list [][]hop, err error) {
	list = make([][]hop, len(of))
	for namespace, nodes := range byNamespace(of) {
		owners := make(map[string]int, len(ds)*len(nodes))
		r := alcove.RecordScanRequest{Collection: edges.Name, Namespace: namespace, Values: how == whole, Prefixes: make([]string, 0, len(ds)*len(nodes))}
		for _, i := range nodes {
			for _, d := range ds {
				p := prefix(d, of[i])
				owners[p], r.Prefixes = i, append(r.Prefixes, p)
			}
		}
		for page, err := range w.c.Scan(r) {
			if outOfReach(err) {
				break
			}
			if err == nil {
				err = w.take(page, namespace, owners, list)
			}
			if w.truncated || err != nil {
				return list, err
			}
		}
	}
	return list, nil
}

// take adds the links of a page to those of their nodes, which owners has by their prefixes.
func (w *walk) take(page *alcove.RecordScanResponse, namespace string, owners map[string]int, list [][]hop) error {
	for i, key := range page.Keys {
		if w.budget == 0 {
			w.truncated = true
			return nil
		}
		w.budget--
		at := strings.IndexByte(key, '|') + 1
		at += strings.IndexByte(key[at:], '|') + 1
		var h hop
		switch {
		case page.Values != nil:
			if err := scan.Decode(page.Values[i], &h.edge); err != nil {
				return alcove.Errorf(alcove.Internal, "read the link %s: %v", key, err)
			}
		case isHashed(key):
			e, _, err := edges.In(namespace).Get(w.c, key)
			if err != nil {
				return err
			}
			h.edge = e
		}
		if owner, ok := owners[key[:at]]; ok && h.name(namespace, key[at:]) && w.follows(&h) {
			if list[owner] == nil {
				list[owner] = make([]hop, 0, usualLinks)
			}
			list[owner] = append(list[owner], h)
		}
	}
	return nil
}

// usualLinks is room for the links of most nodes.
const usualLinks = 12

// byNamespace groups the places of ids in a list, in the order in which namespaces come first.
func byNamespace(ids []alcove.ID) iter.Seq2[string, []int] {
	return func(yield func(string, []int) bool) {
		groups := map[string][]int{}
		var namespaces []string
		for i, id := range ids {
			if groups[id.Namespace] == nil {
				namespaces = append(namespaces, id.Namespace)
			}
			groups[id.Namespace] = append(groups[id.Namespace], i)
		}
		for _, namespace := range namespaces {
			if !yield(namespace, groups[namespace]) {
				return
			}
		}
	}
}

func (w *walk) follows(h *hop) bool {
	return h.holds(w.at) && (len(w.relations) == 0 || slices.Contains(w.relations, h.Relation)) && (w.anyone || slices.Contains(w.agents, h.ObservedBy))
}
