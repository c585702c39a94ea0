package jsonpath

import (
	"errors"
	"strconv"
)

var errNotSingular = errors.New("only a path of single names and indexes, such as $.a.b[0], can be changed")

// Set puts a value where the query points, and returns the document. Objects on the way that are missing are made, and the index after
// the last element appends.
func (q *Query) Set(root, value *Node) (*Node, error) {
	if !q.Singular() {
		return nil, errNotSingular
	}
	place := &root
	for i := range q.segments {
		s := &q.segments[i].selectors[0]
		if *place == nil {
			if s.kind == byIndex {
				return nil, errors.New("there is no list at " + q.until(i) + " that could have an element " + strconv.FormatInt(s.index, 10))
			}
			*place = &Node{Kind: Object}
		}
		var err error
		if place, err = q.child(*place, i); err != nil {
			return nil, err
		}
	}
	*place = value
	return root, nil
}

// child is the place of a segment's child, which is new and nil when there was none.
func (q *Query) child(n *Node, segment int) (**Node, error) {
	s := &q.segments[segment].selectors[0]
	if s.kind == byName {
		if n.Kind != Object {
			return nil, errors.New("the value at " + q.until(segment) + " is no object, so it has no member " + strconv.Quote(s.name))
		}
		i := n.member(s.name)
		if i < 0 {
			i = len(n.Names)
			n.Names, n.Children = append(n.Names, s.name), append(n.Children, nil)
		}
		return &n.Children[i], nil
	}
	if n.Kind != Array {
		return nil, errors.New("the value at " + q.until(segment) + " is no list, so it has no element " + strconv.FormatInt(s.index, 10))
	}
	i := n.element(s.index)
	switch {
	case i >= 0:
	case s.index == int64(len(n.Children)):
		i = len(n.Children)
		n.Children = append(n.Children, nil)
	default:
		return nil, errors.New("the list at " + q.until(segment) + " has " + strconv.Itoa(len(n.Children)) + " elements, and " + strconv.FormatInt(s.index, 10) +
			" is neither one of them nor the next")
	}
	return &n.Children[i], nil
}

// Delete removes the value that the query points at, and reports whether there was one. The root cannot be removed.
func (q *Query) Delete(root *Node) (deleted bool, err error) {
	if !q.Singular() {
		return false, errNotSingular
	}
	if len(q.segments) == 0 {
		return false, errors.New("$ is the whole document")
	}
	n, last := root, len(q.segments)-1
	for i := range q.segments {
		s := &q.segments[i].selectors[0]
		at := n.member(s.name)
		if s.kind == byIndex {
			at = n.element(s.index)
		}
		switch {
		case at < 0:
			return false, nil
		case i < last:
			n = n.Children[at]
			continue
		case n.Kind == Object:
			n.Names = append(n.Names[:at:at], n.Names[at+1:]...)
		}
		n.Children = append(n.Children[:at:at], n.Children[at+1:]...)
	}
	return true, nil
}

// until is the path of the first segments of a singular query.
func (q *Query) until(n int) string {
	path := "$"
	for i := range q.segments[:n] {
		switch s := &q.segments[i].selectors[0]; s.kind {
		case byName:
			path += "[" + strconv.Quote(s.name) + "]"
		default:
			path += "[" + strconv.FormatInt(s.index, 10) + "]"
		}
	}
	return path
}
