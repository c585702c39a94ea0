package declared

import (
	"fmt"
	"slices"
	"strings"
)

// Bounds of a source.
const (
	MostBytes     = 4 << 20
	mostTokens    = 1 << 20
	mostFields    = 512 // of a struct
	mostTypes     = 4096
	deepest       = 64 // types within types
	mostParts     = 1024
	mostWeight    = 16 << 10 // members of what all tools take and give, each as often as schemas have it
	mostLines     = 1024     // of a comment
	mostConstants = 16 << 10 // of Zig
	longestName   = 16       // of a raw text, in bytes
)

// token is a word, a number, a text or a mark of a source. Texts and characters are without their quotes, as they are written between them.
type token struct {
	kind tokenKind
	text string
	line int
}

type tokenKind int

const (
	word tokenKind = iota
	number
	quoted
	mark
)

// comment is a line of a comment, without its marks.
type comment struct {
	text  string
	alone bool // nothing else is in the line before it
}

// dialect is how a language writes what is no declaration.
type dialect struct {
	preprocessor bool // lines that begin with # are no part of the source
	lines        bool // \\ begins a text that ends with the line
	lifetimes    bool // 'a is no text
	templates    bool // ` encloses a text
	raw          bool // R"x(…)x" of C++ and r#"…"# of Rust
	nested       bool // comments within comments
}

// scanner splits a source.
type scanner struct {
	dialect
	text     string
	at, line int
	began    bool // something that is no comment is in this line
	tokens   []token
	comments map[int]comment // by line
}

// scan splits a source into tokens and comments.
func scan(text string, d dialect) (*scanner, error) {
	if len(text) > MostBytes {
		return nil, fmt.Errorf("the source has %d bytes: give at most %d", len(text), MostBytes)
	}
	s := &scanner{dialect: d, text: text, line: 1, comments: map[int]comment{}}
	for s.at < len(s.text) {
		if err := s.next(); err != nil {
			return nil, err
		}
		if len(s.tokens) > mostTokens {
			return nil, s.wrong("the source has more than %d words and marks", mostTokens)
		}
	}
	return s, nil
}

func (s *scanner) wrong(format string, args ...any) error {
	return &lineError{s.line, fmt.Errorf(format, args...)}
}

func (s *scanner) has(prefix string) bool { return strings.HasPrefix(s.text[s.at:], prefix) }

// pass moves on, counting lines.
func (s *scanner) pass(n int) string {
	passed := s.text[s.at : s.at+n]
	if lines := strings.Count(passed, "\n"); lines > 0 {
		s.line += lines
		s.began = false
	}
	s.at += n
	return passed
}

// to is how many bytes there are up to a text, or to the end of the source.
func (s *scanner) to(text string, from int) int {
	if i := strings.Index(s.text[s.at+from:], text); i >= 0 {
		return from + i
	}
	return len(s.text) - s.at
}

func (s *scanner) next() error {
	c := s.text[s.at]
	switch {
	case c == '\n' || c == ' ' || c == '\t' || c == '\r':
		s.pass(1)
	case s.has("//"):
		s.remark(s.pass(s.to("\n", 0)), s.line)
	case s.has("/*"):
		return s.block()
	case c == '#' && s.preprocessor && !s.began:
		s.directive()
	case s.lines && s.has(`\\`):
		s.add(quoted, s.pass(s.to("\n", 0))[2:])
	case s.raw && s.rawText():
	case c == '"' || c == '`' && s.templates:
		return s.quote(c)
	case c == '\'':
		return s.character()
	case letter(c):
		s.add(word, s.pass(s.run(func(c byte) bool { return letter(c) || digit(c) })))
	case digit(c):
		s.add(number, s.pass(s.run(func(c byte) bool { return letter(c) || digit(c) || c == '.' || c == '\'' && s.preprocessor })))
	default:
		s.add(mark, s.pass(1))
	}
	return nil
}

func letter(c byte) bool {
	return c == '_' || c == '$' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= 0x80
}

func digit(c byte) bool { return '0' <= c && c <= '9' }

func (s *scanner) run(of func(byte) bool) (n int) {
	for s.at+n < len(s.text) && of(s.text[s.at+n]) {
		n++
	}
	return n
}

func (s *scanner) add(kind tokenKind, text string) {
	s.tokens, s.began = append(s.tokens, token{kind, text, s.line}), true
}

// remark keeps a line of a comment.
func (s *scanner) remark(text string, line int) {
	text = strings.TrimRight(text, " \t\r")
	for _, marks := range []string{"///", "//!", "//", "/**", "/*!", "/*", "*"} {
		if rest, ok := strings.CutPrefix(strings.TrimLeft(text, " \t"), marks); ok {
			text = rest
			break
		}
	}
	s.comments[line] = comment{strings.TrimPrefix(text, " "), !s.began}
}

func (s *scanner) block() error {
	line, began, depth, n := s.line, s.began, 1, 2
	for depth > 0 {
		switch rest := s.text[s.at+n:]; {
		case rest == "":
			return s.wrong("a comment has no end")
		case strings.HasPrefix(rest, "*/"):
			depth--
			n += 2
		case s.nested && strings.HasPrefix(rest, "/*"):
			depth++
			n += 2
		default:
			n++
		}
	}
	text := strings.TrimSuffix(s.pass(n), "*/")
	for i, one := range strings.Split(text, "\n") {
		s.began = began && i == 0
		s.remark(one, line+i)
	}
	s.began = began && s.line == line
	return nil
}

// directive passes a line of the preprocessor with those that continue it, up to a comment, which ends it.
func (s *scanner) directive() {
	for s.at < len(s.text) {
		line, _, _ := strings.Cut(s.text[s.at:], "\n")
		code, _, remarked := strings.Cut(line, "//")
		s.began = true
		s.pass(len(code))
		if remarked || !strings.HasSuffix(strings.TrimRight(code, " \t\r"), `\`) {
			return
		}
		s.pass(min(1, len(s.text)-s.at))
	}
}

// rawText passes R"x(…)x", r"…" and r#"…"#, if one begins here.
func (s *scanner) rawText() bool {
	rest := s.text[s.at:]
	begin, end := "", ""
	switch {
	case strings.HasPrefix(rest, `R"`):
		name, _, found := strings.Cut(rest[2:min(len(rest), 2+longestName+1)], "(")
		if !found {
			return false
		}
		begin, end = `R"`+name+"(", ")"+name+`"`
	case strings.HasPrefix(rest, `r"`), strings.HasPrefix(rest, `r#`):
		hashes := rest[1 : 1+len(rest[1:])-len(strings.TrimLeft(rest[1:], "#"))]
		if len(hashes) > longestName || !strings.HasPrefix(rest[1+len(hashes):], `"`) {
			return false
		}
		begin, end = "r"+hashes+`"`, `"`+hashes
	default:
		return false
	}
	n := s.to(end, len(begin))
	s.add(quoted, s.pass(n)[len(begin):])
	s.pass(min(len(end), len(s.text)-s.at))
	return true
}

func (s *scanner) quote(c byte) error {
	for n := 1; s.at+n < len(s.text); n++ {
		switch s.text[s.at+n] {
		case '\\':
			n++
		case c:
			line := s.line
			text := s.pass(n + 1)
			s.tokens, s.began = append(s.tokens, token{quoted, text[1:n], line}), true
			return nil
		case '\n':
			if c == '\'' || c == '"' && !s.lifetimes { // Rust's may have lines
				return s.wrong("a text has no end in its line")
			}
		}
	}
	return s.wrong("a text has no end")
}

// character passes 'a', or the mark of a lifetime.
func (s *scanner) character() error {
	if rest := s.text[s.at+1:]; s.lifetimes && len(rest) > 1 && letter(rest[0]) && rest[0] < 0x80 && rest[1] != '\'' {
		s.add(mark, s.pass(1))
		return nil
	}
	return s.quote('\'')
}

// above are the lines of the comment that ends in the line before another, the last ones of a long one.
func (s *scanner) above(line int) (lines []int) {
	for l := line - 1; l > 0 && len(lines) < mostLines; l-- {
		if c, ok := s.comments[l]; !ok || !c.alone {
			break
		}
		lines = append(lines, l)
	}
	slices.Reverse(lines)
	return lines
}

// behind is the comment behind what a line has.
func (s *scanner) behind(line int) (text string, ok bool) {
	c, ok := s.comments[line]
	return c.text, ok && !c.alone
}
