package jsonpath

import (
	"unicode"
	"unicode/utf8"
)

// The regular expressions are those of RFC 9485, I-Regexp, run as automata: their time is bounded by the product of pattern and text.

// The bounds of a pattern.
const (
	mostInstructions = 5000
	deepestGroup     = 50
	mostPatterns     = 100 // that one query keeps compiled
)

type opcode uint8

const (
	matchClass opcode = iota
	split
	jump
	atStart
	atEnd
	done
)

// instruction is one of a program; split goes on at both x and y.
type instruction struct {
	op    opcode
	class *class
	x, y  int
}

type program struct{ code []instruction }

// class is a set of characters.
type class struct {
	negated bool
	ranges  []rune // pairs
	tables  []table
	dot     bool
}

type table struct {
	*unicode.RangeTable
	negated bool
}

func (c *class) has(r rune) bool {
	if c.dot {
		return r != '\n' && r != '\r'
	}
	for i := 0; i < len(c.ranges); i += 2 {
		if r >= c.ranges[i] && r <= c.ranges[i+1] {
			return !c.negated
		}
	}
	for _, t := range c.tables {
		if unicode.Is(t.RangeTable, r) != t.negated {
			return !c.negated
		}
	}
	return c.negated
}

// matches reports whether a pattern matches a text, all of it or a part. A malformed pattern matches nothing.
func (run *run) matches(pattern, text string, all bool) bool {
	key := pattern
	if all {
		key = "^" + key
	} else {
		key = "." + key
	}
	p, known := run.regexps[key]
	if !known {
		p = compile(pattern, all)
		if run.regexps == nil || len(run.regexps) == mostPatterns {
			run.regexps = map[string]*program{}
		}
		run.left -= len(pattern)
		if p != nil {
			run.left -= len(p.code)
		}
		run.regexps[key] = p
	}
	return p != nil && p.run(run, text, all)
}

// run simulates all threads of the program at once.
func (p *program) run(run *run, text string, all bool) bool {
	t := threads{program: p, run: run, length: len(text), seen: make([]int, len(p.code))}
	at := 0
	for step := 1; ; step++ {
		if step == 1 || !all {
			t.add(0, at, step)
		}
		if t.done && (!all || at == len(text)) {
			return true
		}
		if at == len(text) || all && len(t.now) == 0 || run.tooMuch {
			return false
		}
		r, size := utf8.DecodeRuneInString(text[at:])
		at += size
		before := t.now
		t.now, t.next, t.done = t.next[:0], before[:0], false
		for _, pc := range before {
			if run.step() {
				return false
			}
			if i := &p.code[pc]; i.class.has(r) {
				t.add(pc+1, at, step+1)
			}
		}
	}
}

// threads are where a program goes on: at the instructions that take a character.
type threads struct {
	*program
	run       *run
	now, next []int
	seen      []int // the step in which an instruction was last reached
	stack     []int
	length    int
	done      bool
}

func (t *threads) add(pc, at, step int) {
	t.stack = append(t.stack[:0], pc)
	for len(t.stack) > 0 {
		pc := t.stack[len(t.stack)-1]
		t.stack = t.stack[:len(t.stack)-1]
		if t.seen[pc] == step || t.run.step() {
			continue
		}
		t.seen[pc] = step
		switch i := &t.code[pc]; i.op {
		case matchClass:
			t.now = append(t.now, pc)
		case split:
			t.stack = append(t.stack, i.y, i.x)
		case jump:
			t.stack = append(t.stack, i.x)
		case atStart:
			if at == 0 {
				t.stack = append(t.stack, pc+1)
			}
		case atEnd:
			if at == t.length {
				t.stack = append(t.stack, pc+1)
			}
		case done:
			t.done = true
		}
	}
}

// compile compiles a pattern; nil: it is malformed, or too large.
func compile(pattern string, all bool) *program {
	c := &compiler{text: pattern}
	c.alternatives()
	if c.at < len(pattern) {
		c.bad = true
	}
	if all {
		c.emit(instruction{op: atEnd})
	}
	c.emit(instruction{op: done})
	if c.bad {
		return nil
	}
	return &program{c.code}
}

type compiler struct {
	text  string
	at    int
	depth int
	code  []instruction
	bad   bool
}

func (c *compiler) emit(i instruction) int {
	if len(c.code) >= mostInstructions {
		c.bad = true
		return 0
	}
	c.code = append(c.code, i)
	return len(c.code) - 1
}

func (c *compiler) peek() byte {
	if c.bad || c.at >= len(c.text) {
		return 0
	}
	return c.text[c.at]
}

func (c *compiler) take(b byte) bool {
	if !c.bad && c.at < len(c.text) && c.text[c.at] == b {
		c.at++
		return true
	}
	return false
}

// alternatives compiles a|b|c. Each but the last is split L1, L2; L1: a; jump end; L2: …
func (c *compiler) alternatives() {
	if c.depth++; c.depth > deepestGroup {
		c.bad = true
	}
	defer func() { c.depth-- }()
	var ends []int
	for !c.bad {
		from := len(c.code)
		c.branch()
		if !c.take('|') {
			break
		}
		c.insert(from, instruction{op: split, x: from + 1})
		ends = append(ends, c.emit(instruction{op: jump}))
		if !c.bad {
			c.code[from].y = len(c.code)
		}
	}
	for _, at := range ends {
		if !c.bad {
			c.code[at].x = len(c.code)
		}
	}
}

// insert inserts an instruction before a part that was compiled last.
func (c *compiler) insert(at int, i instruction) {
	if c.emit(instruction{}); c.bad {
		return
	}
	copy(c.code[at+1:], c.code[at:])
	shift(c.code[at+1:], at, 1)
	c.code[at] = i
}

// shift moves the targets of a part by n, which are in or right behind it.
func shift(part []instruction, from, n int) {
	for i := range part {
		if part[i].op == split || part[i].op == jump {
			if part[i].x >= from {
				part[i].x += n
			}
			if part[i].op == split && part[i].y >= from {
				part[i].y += n
			}
		}
	}
}

func (c *compiler) branch() {
	for !c.bad && c.at < len(c.text) {
		switch c.peek() {
		case '|', ')':
			return
		}
		from := len(c.code)
		c.atom()
		c.quantifier(from)
	}
}

func (c *compiler) atom() {
	switch b := c.peek(); b {
	case '(':
		c.at++
		c.alternatives()
		if !c.take(')') {
			c.bad = true
		}
	case '.':
		c.at++
		c.emit(instruction{class: &class{dot: true}})
	case '^':
		c.at++
		c.emit(instruction{op: atStart})
	case '$':
		c.at++
		c.emit(instruction{op: atEnd})
	case '[':
		c.at++
		c.emit(instruction{class: c.bracket()})
	case '\\':
		set := &class{}
		c.escape(set)
		c.emit(instruction{class: set})
	case '*', '+', '?', ']', '{', '}':
		c.bad = true
	default:
		r, size := utf8.DecodeRuneInString(c.text[c.at:])
		c.at += size
		c.emit(instruction{class: &class{ranges: []rune{r, r}}})
	}
}

// quantifier compiles what follows an atom, whose code begins at from.
func (c *compiler) quantifier(from int) {
	least, most := 1, 1
	switch {
	case c.take('*'):
		least, most = 0, -1
	case c.take('+'):
		most = -1
	case c.take('?'):
		least = 0
	case c.take('{'):
		least, most = c.times()
	default:
		return
	}
	if c.bad {
		return
	}
	atom := append([]instruction(nil), c.code[from:]...)
	c.code = c.code[:from]
	for range least {
		c.again(atom, from)
	}
	if most < 0 { // L1: split L2, end; L2: atom; jump L1
		start := c.emit(instruction{op: split})
		c.again(atom, from)
		c.emit(instruction{op: jump, x: start})
		if !c.bad {
			c.code[start].x, c.code[start].y = start+1, len(c.code)
		}
		return
	}
	var skips []int
	for i := least; i < most && !c.bad; i++ {
		skips = append(skips, c.emit(instruction{op: split}))
		c.again(atom, from)
	}
	for _, at := range skips {
		if !c.bad {
			c.code[at].x, c.code[at].y = at+1, len(c.code)
		}
	}
}

// again emits a copy of an atom that was compiled at from.
func (c *compiler) again(atom []instruction, from int) {
	at := len(c.code)
	if at+len(atom) > mostInstructions {
		c.bad = true
		return
	}
	c.code = append(c.code, atom...)
	shift(c.code[at:], from, at-from)
}

// times reads {n}, {n,} or {n,m}; -1: without end.
func (c *compiler) times() (least, most int) {
	least = c.number()
	most = least
	if c.take(',') {
		if most = -1; c.peek() != '}' {
			most = c.number()
		}
	}
	if !c.take('}') || most >= 0 && most < least {
		c.bad = true
	}
	return least, most
}

func (c *compiler) number() (n int) {
	from := c.at
	for b := c.peek(); b >= '0' && b <= '9'; b = c.peek() {
		if n = n*10 + int(b-'0'); n > mostInstructions {
			c.bad = true
		}
		c.at++
	}
	if c.at == from {
		c.bad = true
	}
	return n
}

// bracket reads the rest of a character class in brackets.
func (c *compiler) bracket() *class {
	set := &class{negated: c.take('^')}
	if c.take('-') {
		set.ranges = append(set.ranges, '-', '-')
	}
	for !c.bad && !c.take(']') {
		if c.at >= len(c.text) {
			c.bad = true
			break
		}
		if c.take('-') { // only at the end
			set.ranges = append(set.ranges, '-', '-')
			c.bad = c.bad || c.peek() != ']'
			continue
		}
		c.member(set)
	}
	if len(set.ranges)+len(set.tables) == 0 {
		c.bad = true
	}
	return set
}

// member reads a character, a range, or an escape of a set.
func (c *compiler) member(set *class) {
	from, isSet := c.character(set)
	if isSet || c.bad {
		return
	}
	to := from
	if c.peek() == '-' && c.at+1 < len(c.text) && c.text[c.at+1] != ']' {
		c.at++
		if to, isSet = c.character(&class{}); isSet || to < from {
			c.bad = true
		}
	}
	set.ranges = append(set.ranges, from, to)
}

// character reads one inside of brackets, or adds the set of an escape.
func (c *compiler) character(set *class) (r rune, isSet bool) {
	switch c.peek() {
	case '\\':
		one := &class{}
		c.escape(one)
		if len(one.tables) > 0 {
			set.tables = append(set.tables, one.tables...)
			return 0, true
		}
		if c.bad {
			return 0, false
		}
		return one.ranges[0], false
	case '[', ']':
		c.bad = true
		return 0, false
	}
	r, size := utf8.DecodeRuneInString(c.text[c.at:])
	c.at += size
	return r, false
}

// escape reads \n, \. or \p{Lu}.
func (c *compiler) escape(set *class) {
	c.at++
	b := c.peek()
	c.at++
	switch b {
	case 'n':
		b = '\n'
	case 'r':
		b = '\r'
	case 't':
		b = '\t'
	case 'p', 'P':
		c.property(set, b == 'P')
		return
	case '(', ')', '*', '+', '-', '.', '?', '[', '\\', ']', '^', '{', '|', '}', '$':
	default:
		c.bad = true
	}
	set.ranges = append(set.ranges, rune(b), rune(b))
}

func (c *compiler) property(set *class, negated bool) {
	if !c.take('{') {
		c.bad = true
		return
	}
	from := c.at
	for c.peek() != '}' && c.peek() != 0 {
		c.at++
	}
	found := category(c.text[from:c.at])
	if found == nil || !c.take('}') {
		c.bad = true
		return
	}
	set.tables = append(set.tables, table{found, negated})
}

// category is a general category of Unicode.
func category(name string) *unicode.RangeTable {
	switch name {
	case "L":
		return unicode.L
	case "Lu":
		return unicode.Lu
	case "Ll":
		return unicode.Ll
	case "Lt":
		return unicode.Lt
	case "Lm":
		return unicode.Lm
	case "Lo":
		return unicode.Lo
	case "M":
		return unicode.M
	case "Mn":
		return unicode.Mn
	case "Mc":
		return unicode.Mc
	case "Me":
		return unicode.Me
	case "N":
		return unicode.N
	case "Nd":
		return unicode.Nd
	case "Nl":
		return unicode.Nl
	case "No":
		return unicode.No
	case "P":
		return unicode.P
	case "Pc":
		return unicode.Pc
	case "Pd":
		return unicode.Pd
	case "Ps":
		return unicode.Ps
	case "Pe":
		return unicode.Pe
	case "Pi":
		return unicode.Pi
	case "Pf":
		return unicode.Pf
	case "Po":
		return unicode.Po
	case "S":
		return unicode.S
	case "Sm":
		return unicode.Sm
	case "Sc":
		return unicode.Sc
	case "Sk":
		return unicode.Sk
	case "So":
		return unicode.So
	case "Z":
		return unicode.Z
	case "Zs":
		return unicode.Zs
	case "Zl":
		return unicode.Zl
	case "Zp":
		return unicode.Zp
	case "C":
		return unicode.C
	case "Cc":
		return unicode.Cc
	case "Cf":
		return unicode.Cf
	case "Co":
		return unicode.Co
	}
	return nil
}
