package jsonpath

import "strings"

// Field is the member of an object at a path of names; nil: there is none.
func (n *Node) Field(path []string) *Node {
	for _, name := range path {
		i := n.member(name)
		if i < 0 {
			return nil
		}
		n = n.Children[i]
	}
	return n
}

// Operator reports whether Holds knows an operator.
func Operator(name string) bool {
	switch name {
	case "eq", "ne", "gt", "gte", "lt", "lte", "in", "contains":
		return true
	}
	return false
}

// Holds compares a value, nil for none, with another: by eq, ne, gt, gte, lt or lte, by in, which takes a list, or by contains, which finds
// a part of a string or an element of a list. Only ne holds for none.
func Holds(value *Node, operator string, other *Node) bool {
	run := &run{left: mostSteps}
	switch {
	case operator == "ne":
		return !run.equal(value, other)
	case value == nil:
		return false
	}
	switch operator {
	case "gt":
		return less(other, value)
	case "gte":
		return less(other, value) || value.Kind >= Number && value.Kind <= String && run.equal(value, other)
	case "lt":
		return less(value, other)
	case "lte":
		return less(value, other) || value.Kind >= Number && value.Kind <= String && run.equal(value, other)
	case "in":
		return run.oneOf(value, other)
	case "contains":
		if value.Kind == String && other.Kind == String {
			return strings.Contains(value.Text, other.Text)
		}
		return run.oneOf(other, value)
	}
	return run.equal(value, other)
}

// oneOf reports whether a value is an element of a list.
func (run *run) oneOf(value, list *Node) bool {
	if list.Kind != Array {
		return false
	}
	for _, x := range list.Children {
		if run.equal(value, x) {
			return true
		}
	}
	return false
}
