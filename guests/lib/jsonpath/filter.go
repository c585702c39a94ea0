package jsonpath

import (
	"strconv"
	"unicode/utf8"
)

// expression is a logical expression of a filter.
type expression interface {
	holds(run *run, current *Node) bool
}

type anyOf []expression

func (list anyOf) holds(run *run, current *Node) bool {
	for _, e := range list {
		if run.step() {
			return false
		}
		if e.holds(run, current) {
			return true
		}
	}
	return false
}

type allOf []expression

func (list allOf) holds(run *run, current *Node) bool {
	for _, e := range list {
		if run.step() || !e.holds(run, current) {
			return false
		}
	}
	return true
}

type not struct{ expression }

func (n not) holds(run *run, current *Node) bool { return !n.expression.holds(run, current) }

// exists is a query that finds something.
type exists struct{ *Query }

func (e exists) holds(run *run, current *Node) bool { return len(run.query(e.Query, current)) > 0 }

// operand is what is compared, or given to a function: a literal, a query or a function.
type operand struct {
	literal  *Node
	query    *Query
	function *function
}

// value is the value of a literal, a singular query or a function; nil: nothing.
func (o *operand) value(run *run, current *Node) *Node {
	switch {
	case o.literal != nil:
		return o.literal
	case o.function != nil:
		return o.function.value(run, current)
	}
	if found := run.query(o.query, current); len(found) == 1 {
		return found[0]
	}
	return nil
}

type comparison struct {
	left, right operand
	operator    string
}

func (c *comparison) holds(run *run, current *Node) bool {
	a, b := c.left.value(run, current), c.right.value(run, current)
	switch c.operator {
	case "==":
		return run.equal(a, b)
	case "!=":
		return !run.equal(a, b)
	case "<":
		return less(a, b)
	case ">":
		return less(b, a)
	case "<=":
		return less(a, b) || run.equal(a, b)
	default:
		return less(b, a) || run.equal(a, b)
	}
}

func less(a, b *Node) bool {
	switch {
	case a == nil || b == nil || a.Kind != b.Kind:
		return false
	case a.Kind == Number:
		return a.number() < b.number()
	}
	return a.Kind == String && a.Text < b.Text
}

// function is a call of one of the five functions of RFC 9535.
type function struct {
	name      string
	arguments []operand
}

// logical reports whether a function tests; the others have values.
func logical(name string) bool { return name == "match" || name == "search" }

// takesNodes reports whether the argument of a function is a query of any number of nodes.
func takesNodes(name string) bool { return name == "count" || name == "value" }

func (f *function) value(run *run, current *Node) *Node {
	if takesNodes(f.name) {
		found := run.query(f.arguments[0].query, current)
		switch {
		case f.name == "count":
			return &Node{Kind: Number, Text: strconv.Itoa(len(found))}
		case len(found) == 1:
			return found[0]
		}
		return nil
	}
	v := f.arguments[0].value(run, current)
	if v == nil || v.Kind < String {
		return nil
	}
	n := len(v.Children)
	if v.Kind == String {
		n = utf8.RuneCountInString(v.Text)
	}
	return &Node{Kind: Number, Text: strconv.Itoa(n)}
}

func (f *function) holds(run *run, current *Node) bool {
	text, pattern := f.arguments[0].value(run, current), f.arguments[1].value(run, current)
	if text == nil || pattern == nil || text.Kind != String || pattern.Kind != String {
		return false
	}
	return run.matches(pattern.Text, text.Text, f.name == "match")
}

func (p *parser) or() expression {
	if !p.deeper() {
		return nil
	}
	defer func() { p.depth-- }()
	list := anyOf{p.and()}
	for p.err == nil && p.between("||") {
		list = append(list, p.and())
	}
	if len(list) == 1 {
		return list[0]
	}
	return list
}

func (p *parser) and() expression {
	list := allOf{p.basic()}
	for p.err == nil && p.between("&&") {
		list = append(list, p.basic())
	}
	if len(list) == 1 {
		return list[0]
	}
	return list
}

// between passes over an operator and the blanks around it, if it is next.
func (p *parser) between(operator string) bool {
	before := p.at
	p.blanks()
	if !p.take(operator) {
		p.at = before
		return false
	}
	p.blanks()
	return true
}

func (p *parser) basic() expression {
	negated := p.take("!")
	if negated {
		p.blanks()
	}
	var e expression
	if p.take("(") {
		p.blanks()
		e = p.or()
		p.blanks()
		p.need(")")
	} else {
		e = p.test(negated)
	}
	if negated {
		return not{e}
	}
	return e
}

// operators are those of comparisons, the longer ones first.
var operators = [...]string{"==", "!=", "<=", ">=", "<", ">"}

// test reads a comparison, or a test of existence or by a function. After ! it is no comparison.
func (p *parser) test(negated bool) expression {
	from := p.at
	left := p.operand()
	for _, operator := range operators {
		if negated || !p.between(operator) {
			continue
		}
		p.comparable(left, from)
		from = p.at
		right := p.operand()
		p.comparable(right, from)
		return &comparison{left, right, operator}
	}
	switch {
	case left.query != nil:
		return exists{left.query}
	case left.function != nil && logical(left.function.name):
		return left.function
	}
	p.failAt(from, "a value alone is no test: compare it")
	return nil
}

func (p *parser) failAt(at int, problem string) {
	if p.err == nil {
		p.at = at
		p.fail(problem)
	}
}

// comparable checks that an operand has a value.
func (p *parser) comparable(o operand, at int) {
	switch {
	case o.query != nil && !o.query.Singular():
		p.failAt(at, "only a path of single names and indexes can be compared")
	case o.function != nil && logical(o.function.name):
		p.failAt(at, o.function.name+" is a test, and no value that could be compared")
	}
}

func (p *parser) operand() operand {
	switch c := p.peek(); {
	case c == '@' || c == '$':
		if !p.deeper() {
			return operand{}
		}
		defer func() { p.depth-- }()
		p.at++
		q := &Query{relative: c == '@'}
		p.segments(q)
		return operand{query: q}
	case c == '"' || c == '\'':
		return operand{literal: &Node{Kind: String, Text: p.quoted()}}
	case c == '-' || c >= '0' && c <= '9':
		return operand{literal: p.numeral()}
	case c >= 'a' && c <= 'z':
		return p.word()
	}
	p.fail("a value, a path that begins with @ or $, or a function is expected")
	return operand{}
}

// word reads true, false, null or a function.
func (p *parser) word() operand {
	from := p.at
	for c := p.peek(); c >= 'a' && c <= 'z' || c == '_' || c >= '0' && c <= '9'; c = p.peek() {
		p.at++
	}
	name := p.text[from:p.at]
	switch name {
	case "true":
		return operand{literal: &Node{Kind: True}}
	case "false":
		return operand{literal: &Node{Kind: False}}
	case "null":
		return operand{literal: &Node{Kind: Null}}
	case "length", "count", "value", "match", "search":
		return operand{function: p.call(name)}
	}
	p.failAt(from, "there is no function of this name: there are length, count, match, search and value")
	return operand{}
}

func (p *parser) call(name string) *function {
	f := &function{name: name}
	p.need("(")
	if !p.deeper() {
		return f
	}
	defer func() { p.depth-- }()
	wanted := 1
	if logical(name) {
		wanted = 2
	}
	for i := 0; i < wanted && p.err == nil; i++ {
		if p.blanks(); i > 0 {
			p.need(",")
			p.blanks()
		}
		from := p.at
		o := p.operand()
		if !takesNodes(name) {
			p.comparable(o, from)
		} else if o.query == nil {
			p.failAt(from, name+" takes a path")
		}
		f.arguments = append(f.arguments, o)
	}
	p.blanks()
	p.need(")")
	return f
}

// numeral reads a number as JSON writes it.
func (p *parser) numeral() *Node {
	from := p.at
	p.take("-")
	p.whole(from)
	if p.take(".") {
		p.digits()
	}
	if p.take("e") || p.take("E") {
		if !p.take("-") {
			p.take("+")
		}
		p.digits()
	}
	return &Node{Kind: Number, Text: p.text[from:p.at]}
}

func (p *parser) whole(from int) {
	first := p.peek()
	start := p.at
	p.digits()
	if first == '0' && p.at > start+1 {
		p.failAt(from, "a number has no leading 0")
	}
}

func (p *parser) digits() {
	from := p.at
	for c := p.peek(); c >= '0' && c <= '9'; c = p.peek() {
		p.at++
	}
	if p.at == from {
		p.fail("digits are expected")
	}
}
