package jsonpath

import (
	"errors"
	"math"
	"strconv"

	"github.com/alcove-memory/alcove/sdk/go/scan"
)

// Kind is the kind of a JSON value.
type Kind uint8

// The kinds of JSON values.
const (
	Null Kind = iota
	False
	True
	Number
	String
	Array
	Object
)

// Node is a JSON value. Objects keep the order of their members, and numbers are written as they were read.
type Node struct {
	Kind     Kind
	Text     string   // of a string; of a number, as it is written
	Names    []string // of the members of an object
	Children []*Node  // the elements of an array, or the members of an object
}

// deepest bounds the nesting of documents.
const deepest = 1000

var errMalformed = errors.New("this is not JSON")

// Read reads a document.
func Read(data []byte) (*Node, error) {
	r := reader{data: data}
	n, err := r.value(0)
	if err != nil {
		return nil, err
	}
	if r.blanks(); r.at < len(data) {
		return nil, errMalformed
	}
	return n, nil
}

type reader struct {
	data []byte
	at   int
}

func (r *reader) blanks() {
	for r.at < len(r.data) {
		switch r.data[r.at] {
		case ' ', '\t', '\n', '\r':
			r.at++
		default:
			return
		}
	}
}

// next passes over blanks and returns the next byte; 0 at the end.
func (r *reader) next() byte {
	if r.blanks(); r.at < len(r.data) {
		return r.data[r.at]
	}
	return 0
}

func (r *reader) value(depth int) (*Node, error) {
	if depth > deepest {
		return nil, errors.New("the document is nested more than " + strconv.Itoa(deepest) + " deep")
	}
	switch c := r.next(); c {
	case '{':
		return r.object(depth)
	case '[':
		return r.array(depth)
	case '"':
		text, err := r.text()
		return &Node{Kind: String, Text: text}, err
	default:
		return r.scalar()
	}
}

func (r *reader) text() (string, error) {
	from := r.at
	for r.at++; r.at < len(r.data); r.at++ {
		switch r.data[r.at] {
		case '\\':
			r.at++
		case '"':
			r.at++
			s := scan.New(r.data[from:r.at])
			text := s.String()
			return text, s.End()
		}
	}
	return "", errMalformed
}

func (r *reader) scalar() (*Node, error) {
	from := r.at
	for r.at < len(r.data) {
		switch r.data[r.at] {
		case ' ', '\t', '\n', '\r', ',', ']', '}', ':':
		default:
			r.at++
			continue
		}
		break
	}
	switch word := string(r.data[from:r.at]); word {
	case "null":
		return &Node{}, nil
	case "false":
		return &Node{Kind: False}, nil
	case "true":
		return &Node{Kind: True}, nil
	default:
		s := scan.New(r.data[from:r.at])
		if s.Number(); s.End() != nil {
			return nil, errMalformed
		}
		return &Node{Kind: Number, Text: word}, nil
	}
}

func (r *reader) array(depth int) (*Node, error) {
	n := &Node{Kind: Array}
	for r.at++; ; {
		if r.next() == ']' && len(n.Children) == 0 {
			r.at++
			return n, nil
		}
		v, err := r.value(depth + 1)
		if err != nil {
			return nil, err
		}
		n.Children = append(n.Children, v)
		if end, err := r.goesOn(']'); end || err != nil {
			return n, err
		}
	}
}

// goesOn passes over the comma behind an element, or over the end of the list.
func (r *reader) goesOn(end byte) (ended bool, err error) {
	c := r.next()
	r.at++
	if c != end && c != ',' {
		return false, errMalformed
	}
	return c == end, nil
}

func (r *reader) object(depth int) (*Node, error) {
	n := &Node{Kind: Object}
	for r.at++; ; {
		c := r.next()
		if c == '}' && len(n.Names) == 0 {
			r.at++
			return n, nil
		}
		if c != '"' {
			return nil, errMalformed
		}
		name, err := r.text()
		if err != nil {
			return nil, err
		}
		if r.next() != ':' {
			return nil, errMalformed
		}
		r.at++
		v, err := r.value(depth + 1)
		if err != nil {
			return nil, err
		}
		n.Names, n.Children = append(n.Names, name), append(n.Children, v)
		if end, err := r.goesOn('}'); end || err != nil {
			return n, err
		}
	}
}

// Append appends the value as JSON.
func (n *Node) Append(dst []byte) []byte {
	switch n.Kind {
	case Null:
		return append(dst, "null"...)
	case False:
		return append(dst, "false"...)
	case True:
		return append(dst, "true"...)
	case Number:
		return append(dst, n.Text...)
	case String:
		return scan.AppendString(dst, n.Text)
	case Array:
		return n.appendList(dst, '[', ']')
	default:
		return n.appendList(dst, '{', '}')
	}
}

func (n *Node) appendList(dst []byte, open, end byte) []byte {
	dst = append(dst, open)
	for i, v := range n.Children {
		if i > 0 {
			dst = append(dst, ',')
		}
		if n.Kind == Object {
			dst = append(scan.AppendString(dst, n.Names[i]), ':')
		}
		dst = v.Append(dst)
	}
	return append(dst, end)
}

// member is the place of the member with a name, the last of several; -1: there is none.
func (n *Node) member(name string) int {
	if n.Kind != Object {
		return -1
	}
	for i := len(n.Names) - 1; i >= 0; i-- {
		if n.Names[i] == name {
			return i
		}
	}
	return -1
}

// element is the place of an element, of which negative ones count from the end; -1: there is none.
func (n *Node) element(index int64) int {
	if n.Kind != Array {
		return -1
	}
	if index < 0 {
		index += int64(len(n.Children))
	}
	if index < 0 || index >= int64(len(n.Children)) {
		return -1
	}
	return int(index)
}

func (n *Node) number() float64 {
	v, err := strconv.ParseFloat(n.Text, 64)
	if err != nil && math.IsInf(v, 0) {
		return v
	}
	return v
}

// equal compares two values, nil being nothing.
func (run *run) equal(a, b *Node) bool {
	if run.step() || a == nil || b == nil {
		return a == nil && b == nil
	}
	if a.Kind != b.Kind || len(a.Children) != len(b.Children) {
		return false
	}
	switch a.Kind {
	case Number:
		return a.number() == b.number()
	case String:
		return a.Text == b.Text
	case Array:
		for i := range a.Children {
			if !run.equal(a.Children[i], b.Children[i]) {
				return false
			}
		}
	case Object:
		return run.equalMembers(a, b)
	}
	return true
}

func (run *run) equalMembers(a, b *Node) bool {
	named := make(map[string]*Node, len(b.Names))
	for i, name := range b.Names {
		named[name] = b.Children[i]
	}
	for i, name := range a.Names {
		other, ok := named[name]
		if !ok || !run.equal(a.Children[i], other) {
			return false
		}
	}
	return true
}
