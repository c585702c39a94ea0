package graph

import (
	"slices"

	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// ExportGraph writes the graph of the namespace for other tools.
//
// Nodes are all entities and themes, and the memories that have links; edges are the links, and part_of from each fact and entity of a theme
// to it. In the formats graphml and dot the graph is the text document, and nodes and edges are empty. A graph of more nodes or edges than
// limit is an error.
//
//alcove:camel
//alcove:title Export the graph
//alcove:description Export nodes and edges as json, GraphML or Graphviz dot, for other tools.
//alcove:tool read-only
type ExportGraph struct {
	Format         string `alcove:"enum=json|graphml|dot,default=json"`
	IncludeContent bool   `alcove:"default=true"` // What the memories say.
	Limit          int    `alcove:"default=5000"`
}

//alcove:camel
type exported struct {
	Nodes       []exportedNode
	Edges       []exportedEdge
	Document    string `json:"document,omitzero"`
	GeneratedAt alcove.Time
}

//alcove:camel
type exportedNode struct {
	ID      alcove.ID
	Kind    string
	Label   string
	Content string `json:"content,omitzero"`
}

//alcove:camel
type exportedEdge struct {
	From       alcove.ID
	To         alcove.ID
	Relation   string
	ValidFrom  alcove.Time `json:"validFrom,omitzero"`
	ValidUntil alcove.Time `json:"validUntil,omitzero"`
	ObservedBy string      `json:"observedBy,omitzero"`
	Confidence float64
}

// Call exports the graph.
func (in ExportGraph) Call(c *alcove.Call) (out exported, err error) {
	in.Limit = bounded(in.Limit, mostExported)
	g := graph{c: c, in: in, there: map[alcove.ID]bool{}}
	for _, add := range []func() error{g.entities, g.links, g.themes} {
		if err := add(); err != nil {
			return out, err
		}
	}
	out = exported{Nodes: g.nodes, Edges: g.edges, GeneratedAt: c.Time()}
	switch in.Format {
	case "graphml":
		out.Document, out.Nodes, out.Edges = out.graphML(), nil, nil
	case "dot":
		out.Document, out.Nodes, out.Edges = out.dot(), nil, nil
	}
	return out, nil
}

// mostExported is how many nodes, and how many edges, one call exports.
const mostExported = 50_000

// graph is one that is read for an export.
type graph struct {
	c     *alcove.Call
	in    ExportGraph
	nodes []exportedNode
	edges []exportedEdge
	there map[alcove.ID]bool
}

func (g *graph) node(n exportedNode) error {
	if g.there[n.ID] {
		return nil
	}
	if len(g.nodes) == g.in.Limit {
		return alcove.Errorf(alcove.Exhausted, "the graph has more than %d nodes: raise limit", g.in.Limit)
	}
	g.there[n.ID], g.nodes = true, append(g.nodes, n)
	return nil
}

func (g *graph) edge(e exportedEdge) error {
	if len(g.edges) == g.in.Limit {
		return alcove.Errorf(alcove.Exhausted, "the graph has more than %d links: raise limit", g.in.Limit)
	}
	g.edges = append(g.edges, e)
	return nil
}

func (g *graph) entities() error {
	for item, err := range entities.All(g.c, "") {
		if err != nil {
			return err
		}
		if item.Value.Archived() {
			continue
		}
		if err := g.node(exportedNode{ID: item.ID, Kind: kindEntity, Label: item.Value.Name}); err != nil {
			return err
		}
	}
	return nil
}

// links adds the links between nodes that there are, and the memories that have some.
func (g *graph) links() error {
	var list []exportedEdge
	var ends []alcove.ID
	p := string(outward) + "|"
	for item, err := range edges.All(g.c, p) {
		if err != nil {
			return err
		}
		if len(list) > g.in.Limit {
			break // of the first ones each may lead to what was deleted: edge counts those that do not
		}
		from, ok := source(&item)
		if !ok {
			continue
		}
		h, ok := readHop(&item, prefix(outward, from))
		if ok {
			list = append(list, exportedEdge{from, h.Other, h.Relation, h.ValidFrom, h.ValidUntil, h.ObservedBy, h.Confidence})
			ends = append(ends, from, h.Other)
		}
	}
	if err := g.memories(ends); err != nil {
		return err
	}
	for _, e := range list {
		if g.there[e.From] && g.there[e.To] {
			if err := g.edge(e); err != nil {
				return err
			}
		}
	}
	return nil
}

// memories adds the memories among some nodes.
func (g *graph) memories(ids []alcove.ID) error {
	slices.SortFunc(ids, compareIDs)
	ids = slices.DeleteFunc(slices.Compact(ids), func(id alcove.ID) bool { return g.there[id] })
	for part := range slices.Chunk(ids, enough) {
		there, err := existing(g.c, part)
		if err != nil {
			return err
		}
		for i, id := range part {
			n := there[i]
			if n == nil {
				continue
			}
			out := exportedNode{ID: id, Kind: n.Kind, Label: n.Label}
			if g.in.IncludeContent {
				out.Content = n.Text
			}
			if err := g.node(out); err != nil {
				return err
			}
		}
	}
	return nil
}

func (g *graph) themes() error {
	for item, err := range themes.All(g.c, "") {
		if err != nil {
			return err
		}
		if item.Value.Archived() {
			continue
		}
		n := exportedNode{ID: item.ID, Kind: kindTheme, Label: item.Value.Name}
		if g.in.IncludeContent {
			n.Content = item.Value.Description
		}
		if err := g.node(n); err != nil {
			return err
		}
		members := slices.Concat(item.Value.FactIDs, item.Value.EntityIDs)
		if err := g.memories(slices.Clone(members)); err != nil {
			return err
		}
		for _, id := range members {
			if !g.there[id] {
				continue
			}
			if err := g.edge(exportedEdge{From: id, To: item.ID, Relation: "part_of", Confidence: 1}); err != nil {
				return err
			}
		}
	}
	return nil
}
