// Package jsonpath finds and changes values inside JSON documents by JSONPath, RFC 9535.
//
// Every query ends: what one may visit, find and compare is bounded, whatever the query and the document.
package jsonpath

import "errors"

// Query is a JSONPath.
type Query struct {
	segments []segment
	relative bool // it begins with @
}

// segment selects children of the nodes before it, or of those and all their descendants.
type segment struct {
	descends  bool
	selectors []selector
}

type selectorKind uint8

const (
	byName selectorKind = iota
	byIndex
	bySlice
	byFilter
	everyChild
)

type selector struct {
	kind       selectorKind
	name       string
	index      int64
	start, end *int64 // of a slice
	step       int64
	filter     expression
}

// Singular reports whether the query finds one value at most, whatever the document: its segments are single names and indexes.
func (q *Query) Singular() bool {
	for _, s := range q.segments {
		if s.descends || len(s.selectors) != 1 || s.selectors[0].kind > byIndex {
			return false
		}
	}
	return true
}

// The bounds of one query.
const (
	mostSteps = 2_000_000 // nodes that are visited and compared, and steps of regular expressions
	mostFound = 100_000
)

// ErrTooMuch is the error of a query that would visit or find too much.
var ErrTooMuch = errors.New("the query visits or finds too much: at most 2000000 steps and 100000 values")

// run is the evaluation of a query.
type run struct {
	root     *Node
	left     int  // steps
	tooMuch  bool // there are none left
	patterns map[string]pattern
}

// step counts a step, and reports whether there are none left.
func (run *run) step() bool {
	if run.left--; run.left < 0 {
		run.tooMuch = true
	}
	return run.tooMuch
}

// Select finds what the query selects in a document, in the order of the RFC.
func (q *Query) Select(root *Node) ([]*Node, error) {
	run := &run{root: root, left: mostSteps}
	found := run.query(q, root)
	if run.tooMuch {
		return nil, ErrTooMuch
	}
	return found, nil
}

// query evaluates a query; a relative one begins at current.
func (run *run) query(q *Query, current *Node) []*Node {
	at := run.root
	if q.relative {
		at = current
	}
	found := []*Node{at}
	for i := range q.segments {
		var next []*Node
		for _, n := range found {
			next = run.segment(&q.segments[i], n, next)
			if run.tooMuch {
				return nil
			}
		}
		found = next
	}
	return found
}

func (run *run) segment(s *segment, n *Node, found []*Node) []*Node {
	for i := range s.selectors {
		found = run.selector(&s.selectors[i], n, found)
	}
	if run.step() || !s.descends {
		return found
	}
	for _, child := range n.Children {
		found = run.segment(s, child, found)
		if run.tooMuch {
			return nil
		}
	}
	return found
}

func (run *run) selector(s *selector, n *Node, found []*Node) []*Node {
	switch s.kind {
	case byName:
		if run.step(); n.Kind == Object && len(n.Names) > 64 {
			run.left -= len(n.Names) / 64
		}
		if i := n.member(s.name); i >= 0 {
			found = run.add(found, n.Children[i])
		}
	case byIndex:
		if i := n.element(s.index); i >= 0 {
			found = run.add(found, n.Children[i])
		}
	case bySlice:
		found = run.slice(s, n, found)
	case byFilter:
		for _, child := range n.Children {
			if run.tooMuch {
				return nil
			}
			if s.filter.holds(run, child) {
				found = run.add(found, child)
			}
		}
	case everyChild:
		for _, child := range n.Children {
			found = run.add(found, child)
		}
	}
	return found
}

func (run *run) add(found []*Node, n *Node) []*Node {
	if run.step() || len(found) == mostFound {
		run.tooMuch = true
		return nil
	}
	return append(found, n)
}

// slice is section 2.3.4.2.2 of the RFC.
func (run *run) slice(s *selector, n *Node, found []*Node) []*Node {
	if n.Kind != Array || s.step == 0 {
		return found
	}
	length := int64(len(n.Children))
	from, to := int64(0), length
	if s.step < 0 {
		from, to = length-1, -length-1
	}
	if s.start != nil {
		from = *s.start
	}
	if s.end != nil {
		to = *s.end
	}
	from, to = fromEnd(from, length), fromEnd(to, length)
	if s.step > 0 {
		from, to = min(max(from, 0), length), min(max(to, 0), length)
		for i := from; i < to; i += s.step {
			found = run.add(found, n.Children[i])
		}
		return found
	}
	from, to = min(max(from, -1), length-1), min(max(to, -1), length-1)
	for i := from; i > to; i += s.step {
		found = run.add(found, n.Children[i])
	}
	return found
}

func fromEnd(i, length int64) int64 {
	if i < 0 {
		return i + length
	}
	return i
}
