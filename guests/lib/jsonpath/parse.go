package jsonpath

import (
	"strconv"
	"unicode/utf8"
)

// The bounds of a path.
const (
	longestPath   = 8192 // bytes
	deepestFilter = 64   // filters, parentheses and functions inside each other
)

// SyntaxError tells where a path is malformed.
type SyntaxError struct {
	At      int // bytes from the beginning
	Problem string
}

// Error tells it.
func (e *SyntaxError) Error() string {
	return "the path is malformed at character " + strconv.Itoa(e.At+1) + ": " + e.Problem
}

// Parse reads a path.
func Parse(path string) (q *Query, err error) {
	if len(path) > longestPath {
		return nil, &SyntaxError{longestPath, "it is longer than " + strconv.Itoa(longestPath) + " bytes"}
	}
	if !utf8.ValidString(path) {
		return nil, &SyntaxError{0, "it is not UTF-8"}
	}
	p := &parser{text: path}
	if !p.take("$") {
		p.fail("it begins with $")
	}
	q = &Query{}
	p.segments(q)
	if p.err == nil && p.at < len(path) {
		p.fail("a segment is expected, such as .name, [0] or ..name")
	}
	if p.err != nil {
		return nil, p.err
	}
	return q, nil
}

type parser struct {
	text  string
	at    int
	depth int
	err   error // the first one; afterwards nothing is read
}

func (p *parser) fail(problem string) {
	if p.err == nil {
		p.err = &SyntaxError{p.at, problem}
	}
}

// deeper enters what nests, and reports whether it may.
func (p *parser) deeper() bool {
	if p.depth++; p.depth > deepestFilter {
		p.fail("it is nested more than " + strconv.Itoa(deepestFilter) + " deep")
	}
	return p.err == nil
}

func (p *parser) peek() byte {
	if p.err != nil || p.at >= len(p.text) {
		return 0
	}
	return p.text[p.at]
}

// take passes over a word if it is next.
func (p *parser) take(word string) bool {
	if p.err != nil || len(p.text)-p.at < len(word) || p.text[p.at:p.at+len(word)] != word {
		return false
	}
	p.at += len(word)
	return true
}

func (p *parser) need(word string) {
	if !p.take(word) {
		p.fail(word + " is expected")
	}
}

func (p *parser) blanks() {
	for {
		switch p.peek() {
		case ' ', '\t', '\n', '\r':
			p.at++
		default:
			return
		}
	}
}

// segments reads segments as long as there are some. Blanks behind the last one are not passed over.
func (p *parser) segments(q *Query) {
	for p.err == nil {
		before := p.at
		p.blanks()
		switch {
		case p.take(".."):
			q.segments = append(q.segments, segment{true, p.after("..")})
		case p.take("."):
			q.segments = append(q.segments, segment{false, p.after(".")})
		case p.peek() == '[':
			q.segments = append(q.segments, segment{false, p.brackets()})
		default:
			p.at = before
			return
		}
	}
}

// after reads the selectors behind one or two dots.
func (p *parser) after(dots string) []selector {
	switch {
	case p.take("*"):
		return []selector{{kind: everyChild}}
	case dots == ".." && p.peek() == '[':
		return p.brackets()
	}
	return []selector{{kind: byName, name: p.shorthand()}}
}

func (p *parser) shorthand() string {
	from := p.at
	for p.err == nil && p.at < len(p.text) {
		c := p.text[p.at]
		letter := c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= utf8.RuneSelf
		if !letter && (p.at == from || c < '0' || c > '9') {
			break
		}
		p.at++
	}
	if p.at == from {
		p.fail("a name is expected, or *")
	}
	return p.text[from:p.at]
}

func (p *parser) brackets() (list []selector) {
	p.need("[")
	for p.err == nil {
		p.blanks()
		list = append(list, p.selector())
		p.blanks()
		if p.take("]") {
			return list
		}
		if !p.take(",") {
			p.fail(", or ] is expected")
		}
	}
	return list
}

func (p *parser) selector() selector {
	switch c := p.peek(); {
	case c == '*':
		p.at++
		return selector{kind: everyChild}
	case c == '"' || c == '\'':
		return selector{kind: byName, name: p.quoted()}
	case c == '?':
		p.at++
		p.blanks()
		return selector{kind: byFilter, filter: p.or()}
	case c == ':' || c == '-' || c >= '0' && c <= '9':
		return p.indexOrSlice()
	}
	p.fail("a selector is expected: a quoted name, an index, a slice, * or ?filter")
	return selector{}
}

func (p *parser) indexOrSlice() selector {
	start := p.integer()
	before := p.at
	p.blanks()
	if !p.take(":") {
		p.at = before
		if start == nil {
			p.fail("an index is expected")
			return selector{}
		}
		return selector{kind: byIndex, index: *start}
	}
	p.blanks()
	s := selector{kind: bySlice, start: start, end: p.integer(), step: 1}
	before = p.at
	p.blanks()
	if !p.take(":") {
		p.at = before
		return s
	}
	before = p.at
	p.blanks()
	if step := p.integer(); step != nil {
		s.step = *step
	} else {
		p.at = before
	}
	return s
}

// furthest is the largest integer of I-JSON, which RFC 9535 allows in paths.
const furthest = 1<<53 - 1

// integer reads an integer; nil: there is none.
func (p *parser) integer() *int64 {
	from := p.at
	p.take("-")
	digits := p.at
	for c := p.peek(); c >= '0' && c <= '9'; c = p.peek() {
		p.at++
	}
	text := p.text[from:p.at]
	switch {
	case p.err != nil || text == "":
		return nil
	case p.at == digits:
		p.fail("digits are expected")
		return nil
	case p.text[digits] == '0' && text != "0":
		p.at = from
		p.fail("an integer has no leading 0, and 0 no sign")
		return nil
	}
	v, err := strconv.ParseInt(text, 10, 64)
	if err != nil || v > furthest || v < -furthest {
		p.at = from
		p.fail("the integer is beyond 2^53-1")
		return nil
	}
	return &v
}

// quoted reads a string in single or double quotes.
func (p *parser) quoted() string {
	quote := p.peek()
	p.at++
	var out []byte
	for p.err == nil {
		c := p.peek()
		switch {
		case p.at >= len(p.text):
			p.fail("the string has no end")
		case c == quote:
			p.at++
			return string(out)
		case c == '\\':
			p.at++
			out = p.escape(out, quote)
		case c < ' ':
			p.fail("a control character has to be escaped")
		default:
			out = append(out, c)
			p.at++
		}
	}
	return ""
}

func (p *parser) escape(out []byte, quote byte) []byte {
	c := p.peek()
	p.at++
	switch c {
	case 'b':
		return append(out, '\b')
	case 'f':
		return append(out, '\f')
	case 'n':
		return append(out, '\n')
	case 'r':
		return append(out, '\r')
	case 't':
		return append(out, '\t')
	case '/', '\\':
		return append(out, c)
	case 'u':
		return utf8.AppendRune(out, p.unicode())
	}
	if c == quote {
		return append(out, c)
	}
	p.at--
	p.fail("an unknown escape")
	return out
}

func (p *parser) unicode() rune {
	r := p.hex()
	switch {
	case r >= 0xdc00 && r <= 0xdfff:
		p.fail("half of a surrogate pair")
	case r >= 0xd800 && r <= 0xdbff:
		if !p.take(`\u`) {
			p.fail("half of a surrogate pair")
			return r
		}
		low := p.hex()
		if low < 0xdc00 || low > 0xdfff {
			p.fail("half of a surrogate pair")
		}
		return (r-0xd800)<<10 + (low - 0xdc00) + 0x10000
	}
	return r
}

func (p *parser) hex() (r rune) {
	for range 4 {
		c := p.peek()
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 + rune(c-'0')
		case c >= 'a' && c <= 'f':
			r = r<<4 + rune(c-'a') + 10
		case c >= 'A' && c <= 'F':
			r = r<<4 + rune(c-'A') + 10
		default:
			p.fail("four hexadecimal digits are expected")
			return 0
		}
		p.at++
	}
	return r
}
