package meter

import (
	"slices"

	"github.com/alcove-memory/alcove/host/sandbox/wasm"
)

// Bytes of locals and body that count as another call.
const (
	localsPerCall = 256
	bodyPerCall   = 8192
)

// findRecursive sets the weight of each function that can be on the stack more than once, as part of a call cycle. The
// depth of all others is bounded by their number.
func (w *rewriter) findRecursive() {
	g := w.calls()
	for _, group := range g.cycles() {
		for _, node := range group {
			if node < len(w.functions) {
				w.functions[node].weight = w.weigh(node)
			}
		}
	}
}

func (w *rewriter) weigh(function int) int32 {
	bytes := 0
	for _, t := range w.from.FuncType(w.imported + uint32(function)).Params {
		bytes += frameBytes(t, 1)
	}
	for _, g := range w.from.Codes[function].Locals {
		bytes += frameBytes(g.Type, int(g.Count))
	}
	return int32(1 + bytes/localsPerCall + len(w.from.Codes[function].Body)/bodyPerCall)
}

func frameBytes(t wasm.ValType, count int) int {
	if t == wasm.V128 {
		return 16 * count
	}
	return 8 * count
}

// graph is the call graph: the successors of each node. Nodes are the functions that the module defines, followed by the
// types of indirect calls, which lead to every referenced function of that type.
type graph [][]int

func (w *rewriter) calls() graph {
	g := make(graph, len(w.functions))
	types := w.signatures()
	nodes := make([]int, len(types))      // by type; 0: none yet
	seen := make([]int, len(w.functions)) // by function: the last caller, plus 1
	for i := range w.functions {
		for _, callee := range w.functions[i].callees {
			if callee >= w.imported && seen[callee-w.imported] != i+1 {
				seen[callee-w.imported] = i + 1
				g[i] = append(g[i], int(callee-w.imported))
			}
		}
		for _, t := range w.functions[i].indirect {
			if nodes[types[t]] == 0 {
				nodes[types[t]] = len(g)
				g = append(g, nil)
			}
			g[i] = append(g[i], nodes[types[t]])
		}
	}
	for f := range w.referenced() {
		if node := nodes[types[w.from.TypeIndex(f)]]; node > 0 && f >= w.imported {
			g[node] = append(g[node], int(f-w.imported))
		}
	}
	return g
}

// signatures returns, for each type, the first type that indirect calls treat as equal.
func (w *rewriter) signatures() []int {
	first, types := map[string]int{}, make([]int, len(w.from.Types))
	for i, t := range w.from.Types {
		name := signature(t)
		if _, ok := first[name]; !ok {
			first[name] = i
		}
		types[i] = first[name]
	}
	return types
}

// signature returns a key that is equal for types that indirect calls treat as equal.
func signature(t wasm.FuncType) string {
	name := make([]byte, 0, len(t.Params)+1+len(t.Results))
	for _, p := range t.Params {
		name = append(name, byte(p))
	}
	name = append(name, 0)
	for _, r := range t.Results {
		name = append(name, byte(r))
	}
	return string(name)
}

// referenced returns the functions that a table can hold.
func (w *rewriter) referenced() map[uint32]bool {
	for _, e := range w.from.Elements {
		for _, f := range e.Funcs {
			w.refs[f] = true
		}
		for _, x := range e.Exprs {
			w.refer(x)
		}
	}
	for _, global := range w.from.Globals {
		w.refer(global.Init)
	}
	return w.refs
}

func (w *rewriter) refer(x wasm.Expr) {
	c := wasm.Code{Body: x.Bytes}
	r := c.Instructions(0)
	var in wasm.Instr
	if r.Next(&in) == nil && in.Op == wasm.OpRefFunc {
		w.refs[in.Index] = true
	}
}

// search is the state of Tarjan's algorithm for strongly connected components. It keeps its own stack, as call graphs
// may be deep.
type search struct {
	graph   graph
	order   []int // of the first visit, from 1
	low     []int // order of the earliest reachable node not yet in a group
	onStack []bool
	stack   []int
	path    []step
	visited int
	groups  [][]int
}

// step is a node on the path and the index of its next successor.
type step struct{ node, next int }

// cycles returns the groups of mutually reachable nodes, including single nodes that succeed themselves.
func (g graph) cycles() [][]int {
	s := &search{graph: g, order: make([]int, len(g)), low: make([]int, len(g)), onStack: make([]bool, len(g))}
	for node := range g {
		if s.order[node] == 0 {
			s.visit(node)
			s.walk()
		}
	}
	return s.groups
}

func (s *search) visit(node int) {
	s.visited++
	s.order[node], s.low[node], s.onStack[node] = s.visited, s.visited, true
	s.stack = append(s.stack, node)
	s.path = append(s.path, step{node: node})
}

func (s *search) walk() {
	for len(s.path) > 0 {
		top := &s.path[len(s.path)-1]
		if top.next < len(s.graph[top.node]) {
			follower := s.graph[top.node][top.next]
			top.next++
			if s.order[follower] == 0 {
				s.visit(follower)
			} else if s.onStack[follower] {
				s.low[top.node] = min(s.low[top.node], s.order[follower])
			}
			continue
		}
		s.finish(top.node)
	}
}

// finish finishes a node: it passes its low to the predecessor, and closes a group.
func (s *search) finish(node int) {
	s.path = s.path[:len(s.path)-1]
	if len(s.path) > 0 {
		before := s.path[len(s.path)-1].node
		s.low[before] = min(s.low[before], s.low[node])
	}
	if s.low[node] != s.order[node] {
		return
	}
	at := len(s.stack) - 1
	for s.stack[at] != node {
		at--
	}
	group := slices.Clone(s.stack[at:])
	s.stack = s.stack[:at]
	for _, n := range group {
		s.onStack[n] = false
	}
	if len(group) > 1 || slices.Contains(s.graph[node], node) {
		s.groups = append(s.groups, group)
	}
}
