package jsonpath

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Patterns are I-Regexp, RFC 9485, with ^ and $ as anchors. Each is translated to the syntax of package regexp, which matches in time
// bounded by the product of pattern and text.

// The bounds of a pattern.
const (
	mostAtoms     = 5000 // each counted as often as it is repeated
	propertyAtoms = 20   // counted for \p{…}, whose table is long
	mostRepeats   = 1000 // package regexp's
	deepestGroup  = 50
	mostPatterns  = 100 // that one query keeps compiled
	stepAtoms     = 32  // atoms compared with a character at the cost of one step
)

// pattern is a compiled pattern.
type pattern struct {
	*regexp.Regexp     // nil: the pattern is malformed, or too large
	atoms          int // of which no more than this are compared with each character of a text
}

// matches reports whether a pattern matches a text, all of it or a part. A malformed pattern matches nothing.
func (run *run) matches(source, text string, all bool) bool {
	key := "." + source
	if all {
		key = "^" + source
	}
	p, known := run.patterns[key]
	if !known {
		p = compile(source, all)
		if run.patterns == nil || len(run.patterns) == mostPatterns {
			run.patterns = map[string]pattern{}
		}
		run.patterns[key] = p
		run.left -= len(source) + p.atoms
	}
	if run.left -= p.atoms * (len(text) + 1) / stepAtoms; p.Regexp == nil || run.step() {
		return false
	}
	return p.MatchString(text)
}

// compile compiles a pattern that is to match all of a text, or a part.
func compile(source string, all bool) pattern {
	t := &translator{rest: source}
	atoms := t.alternatives()
	if t.bad || t.rest != "" {
		return pattern{}
	}
	translated := t.out.String()
	if all {
		translated = `^(?:` + translated + `)$`
	}
	compiled, err := regexp.Compile(translated)
	if err != nil {
		return pattern{}
	}
	return pattern{compiled, atoms}
}

// translator reads I-Regexp and writes the same for package regexp. Its methods return how many atoms they read.
type translator struct {
	rest  string
	out   strings.Builder
	depth int
	bad   bool // malformed, or too large
}

// peek returns the next byte; 0 at the end, and once the pattern is bad.
func (t *translator) peek() byte {
	if t.bad || t.rest == "" {
		return 0
	}
	return t.rest[0]
}

func (t *translator) take(b byte) bool {
	if t.bad || t.rest == "" || t.rest[0] != b {
		return false
	}
	t.rest = t.rest[1:]
	return true
}

// copy reads a byte and writes it, if it is the next.
func (t *translator) copy(b byte) bool {
	taken := t.take(b)
	if taken {
		t.out.WriteByte(b)
	}
	return taken
}

// require copies a byte that must be next.
func (t *translator) require(b byte) { t.bad = !t.copy(b) || t.bad }

func (t *translator) rune() rune {
	r, size := utf8.DecodeRuneInString(t.rest)
	t.bad = t.bad || size == 0
	t.rest = t.rest[size:]
	return r
}

// literal writes a character that stands for itself, in brackets and outside.
func (t *translator) literal(r rune) {
	t.out.WriteString(`\x{` + strconv.FormatInt(int64(r), 16) + `}`)
}

// alternatives reads a|b|c.
func (t *translator) alternatives() (atoms int) {
	t.depth++
	t.bad = t.bad || t.depth > deepestGroup
	for more := true; more && !t.bad; more = t.copy('|') {
		atoms += 1 + t.branch()
	}
	t.depth--
	return atoms
}

func (t *translator) branch() (atoms int) {
	for !t.bad && t.rest != "" && t.peek() != '|' && t.peek() != ')' {
		n := t.atom()
		atoms += n * t.quantifier()
		t.bad = t.bad || atoms > mostAtoms
	}
	return atoms
}

func (t *translator) atom() (atoms int) {
	switch t.peek() {
	case '(':
		t.take('(')
		t.out.WriteString("(?:")
		atoms = t.alternatives()
		t.require(')')
		return atoms
	case '.':
		t.take('.')
		t.out.WriteString(`[^\n\r]`)
	case '^', '$':
		t.copy(t.rest[0])
	case '[':
		return t.bracket()
	case '\\':
		if r, isProperty := t.escape(); !isProperty {
			t.literal(r)
			break
		}
		return propertyAtoms
	case '*', '+', '?', ']', '{', '}':
		t.bad = true
	default:
		t.literal(t.rune())
	}
	return 1
}

// quantifier reads what may follow an atom, and returns how often the atom is repeated.
func (t *translator) quantifier() (times int) {
	switch {
	case t.copy('*'), t.copy('+'), t.copy('?'):
	case t.copy('{'):
		return t.counts()
	}
	return 1
}

// counts reads n}, n,} or n,m}.
func (t *translator) counts() (times int) {
	least := t.number()
	most := least
	if t.copy(',') && t.peek() != '}' {
		most = t.number()
	}
	t.require('}')
	t.bad = t.bad || most < least
	return max(1, most)
}

func (t *translator) number() int {
	end := 0
	for end < len(t.rest) && t.rest[end] >= '0' && t.rest[end] <= '9' {
		end++
	}
	n, err := strconv.Atoi(t.rest[:end])
	t.bad = t.bad || err != nil || n > mostRepeats
	t.out.WriteString(strconv.Itoa(n))
	t.rest = t.rest[end:]
	return n
}

// bracket reads a class of characters in brackets.
func (t *translator) bracket() (atoms int) {
	t.require('[')
	t.copy('^')
	if t.take('-') {
		t.literal('-')
		atoms++
	}
	for !t.bad && !t.take(']') {
		if t.take('-') { // only at the end
			t.literal('-')
			t.bad = t.bad || t.peek() != ']'
			atoms++
			continue
		}
		atoms += t.member()
	}
	t.bad = t.bad || atoms == 0
	t.out.WriteByte(']')
	return atoms
}

// member reads a character, a range of characters, or a property.
func (t *translator) member() (atoms int) {
	from, isProperty := t.character()
	if isProperty {
		return propertyAtoms
	}
	t.literal(from)
	if strings.HasPrefix(t.rest, "-") && !strings.HasPrefix(t.rest, "-]") {
		t.copy('-')
		to, isProperty := t.character()
		t.literal(to)
		t.bad = t.bad || isProperty || to < from
	}
	return 1
}

// character reads a character in brackets, or writes a property.
func (t *translator) character() (r rune, isProperty bool) {
	switch t.peek() {
	case '\\':
		return t.escape()
	case '[', ']':
		t.bad = true
	}
	return t.rune(), false
}

// escape reads \n or \., and reads and writes \p{Lu}.
func (t *translator) escape() (r rune, isProperty bool) {
	t.take('\\')
	switch b := t.peek(); b {
	case 'n':
		r = '\n'
	case 'r':
		r = '\r'
	case 't':
		r = '\t'
	case 'p', 'P':
		t.property()
		return 0, true
	case '(', ')', '*', '+', '-', '.', '?', '[', '\\', ']', '^', '{', '|', '}', '$':
		r = rune(b)
	default:
		t.bad = true
		return 0, false
	}
	t.take(t.rest[0])
	return r, false
}

func (t *translator) property() {
	name, rest, closed := strings.Cut(t.rest[1:], "}")
	if !closed || !strings.HasPrefix(name, "{") || !isCategory(name[1:]) {
		t.bad = true
		return
	}
	t.out.WriteString(`\` + t.rest[:1] + name + "}")
	t.rest = rest
}

// isCategory reports whether a name is that of a general category of Unicode, as RFC 9485 lists them.
func isCategory(name string) bool {
	if len(name) == 0 || len(name) > 2 {
		return false
	}
	second := map[byte]string{'L': "lmotu", 'M': "cen", 'N': "dlo", 'P': "cdefios", 'S': "ckmo", 'Z': "lps", 'C': "cfno"}[name[0]]
	return second != "" && (len(name) == 1 || strings.Contains(second, name[1:]))
}
