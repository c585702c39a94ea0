package declared

import (
	"fmt"
	"slices"
	"strings"
)

// cursor reads tokens.
type cursor struct {
	*source
	i, end int // the next token, and the one behind the last
}

func (s *source) all() *cursor { return &cursor{s, 0, len(s.tokens)} }

func (c *cursor) more() bool { return c.i < c.end }

// peek is a token further on; the zero token behind the end.
func (c *cursor) peek(n int) token {
	if c.i+n < c.end {
		return c.tokens[c.i+n]
	}
	return token{kind: mark, line: c.lineHere()}
}

// lineHere is the line of the next token, or of the last one.
func (c *cursor) lineHere() int {
	if len(c.tokens) == 0 {
		return 1
	}
	return c.tokens[min(c.i, len(c.tokens)-1)].line
}

// are reports whether the next tokens are words and marks, and passes them if they are. An empty text is any word.
func (c *cursor) are(texts ...string) bool {
	for n, text := range texts {
		if t := c.peek(n); t.kind == quoted || text == "" && t.kind != word || text != "" && t.text != text {
			return false
		}
	}
	c.i += len(texts)
	return true
}

// want passes a word or a mark that has to be next.
func (c *cursor) want(text string) error {
	if !c.are(text) {
		return c.unexpected(fmt.Sprintf("%q", text))
	}
	return nil
}

// name passes a word that has to be next.
func (c *cursor) name(what string) (string, error) {
	t := c.peek(0)
	if t.kind != word {
		return "", c.unexpected(what)
	}
	c.i++
	return t.text, nil
}

func (c *cursor) unexpected(want string) error {
	t := c.peek(0)
	found := fmt.Sprintf("%.40q", t.text)
	if !c.more() {
		found = "the end"
	}
	return &lineError{t.line, fmt.Errorf("it has %s where %s is expected", found, want)}
}

// inside passes what brackets enclose, and is a cursor over it. The opening one is next.
func (c *cursor) inside() (*cursor, error) {
	line, begin := c.lineHere(), c.i+1
	var open []string
	for ; c.more(); c.i++ {
		t := c.tokens[c.i]
		if t.kind != mark {
			continue
		}
		switch i := strings.Index("([{", t.text); {
		case i >= 0:
			open = append(open, string(")]}"[i]))
		case strings.Contains(")]}", t.text):
			if len(open) == 0 || open[len(open)-1] != t.text {
				return nil, &lineError{t.line, fmt.Errorf("%q closes nothing that is open", t.text)}
			}
			open = open[:len(open)-1]
		}
		if len(open) == 0 {
			c.i++
			return &cursor{c.source, begin, c.i - 1}, nil
		}
	}
	return nil, &lineError{line, fmt.Errorf("what begins here has no end: a bracket is missing")}
}

// elements are what commas separate, as cursors. Brackets of a type are no less than and greater than: < and > enclose, too, where asked.
func (c *cursor) elements(angles bool) (list []*cursor, err error) {
	begin, depth := c.i, 0
	for c.more() {
		switch t := c.peek(0); {
		case t.kind == mark && strings.Contains("([{", t.text):
			if _, err := c.inside(); err != nil {
				return nil, err
			}
			continue
		case t.kind == mark && t.text == "<" && angles:
			depth++
		case t.kind == mark && t.text == ">" && angles && depth > 0:
			depth--
		case t.kind == mark && t.text == "," && depth == 0:
			list = append(list, &cursor{c.source, begin, c.i})
			begin = c.i + 1
		}
		c.i++
	}
	if begin < c.i {
		list = append(list, &cursor{c.source, begin, c.i})
	}
	return list, nil
}

// upTo passes tokens up to one of some marks, which is next then. What brackets enclose is passed whole.
func (c *cursor) upTo(marks ...string) error {
	for c.more() {
		t := c.peek(0)
		switch {
		case t.kind == mark && slices.Contains(marks, t.text):
			return nil
		case t.kind == mark && strings.Contains("([{", t.text):
			if _, err := c.inside(); err != nil {
				return err
			}
		default:
			c.i++
		}
	}
	return nil
}

// text is what a cursor has, for errors.
func (c *cursor) text() string {
	var words []string
	for _, t := range c.tokens[c.i:min(c.end, c.i+12)] {
		words = append(words, t.text)
	}
	return strings.Join(words, " ")
}
