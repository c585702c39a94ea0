package scan

// place is a pointer to a type that is a Value.
type place[T any] interface {
	*T
	Value
}

type function[T any] struct {
	at   *T
	code func(*T, *Coder)
}

func (v *function[T]) CodeJSON(c *Coder) { v.code(v.at, c) }

// Of is what a function reads or writes.
//
//go:noinline
func Of[T any](at *T, code func(*T, *Coder)) Value { return &function[T]{at, code} }

// elements are the elements of a list. Only appending to one and looking into it needs to know their type.
type elements interface {
	// empty makes the list one of none: nil, or not.
	empty(null bool)
	// codeElement reads or writes an element, which it appends if it is the next one.
	codeElement(i int, c *Coder)
}

// list reads elements or writes so many. Null is nil, and a value that is no list is read as a list of one.
func (c *Coder) list(l elements, n int) {
	if c.Scanner == nil {
		c.Writer.List(n, func(i int) { l.codeElement(i, c) })
		return
	}
	null := c.Scanner.Null()
	if l.empty(null); null {
		return
	}
	for i := range c.Scanner.Many() {
		l.codeElement(i, c)
	}
}

type list[T any, P place[T]] []T

// List is a list of values. Null is nil, and a value that is no list is read as a list of one.
func List[T any, P place[T]](at *[]T) Value { return (*list[T, P])(at) }

func (l *list[T, P]) CodeJSON(c *Coder) { c.list(l, len(*l)) }

func (l *list[T, P]) empty(null bool) {
	if *l = nil; !null {
		*l = []T{}
	}
}

func (l *list[T, P]) codeElement(i int, c *Coder) {
	if i == len(*l) {
		*l = append(*l, *new(T))
	}
	P(&(*l)[i]).CodeJSON(c)
}

type listOf[T any] struct {
	at   *[]T
	code func(*T, *Coder)
}

// ListOf is a list of what a function reads or writes.
//
//go:noinline
func ListOf[T any](at *[]T, code func(*T, *Coder)) Value { return &listOf[T]{at, code} }

func (l *listOf[T]) CodeJSON(c *Coder) { c.list(l, len(*l.at)) }

func (l *listOf[T]) empty(null bool) {
	if *l.at = nil; !null {
		*l.at = []T{}
	}
}

func (l *listOf[T]) codeElement(i int, c *Coder) {
	if i == len(*l.at) {
		*l.at = append(*l.at, *new(T))
	}
	l.code(&(*l.at)[i], c)
}

type members[T any, P place[T]] map[string]T

// Map is an object of values, which are written in the order of their names. Null is nil.
func Map[T any, P place[T]](at *map[string]T) Value { return (*members[T, P])(at) }

func (m *members[T, P]) CodeJSON(c *Coder) {
	codeMap((*map[string]T)(m), c, func(v *T, c *Coder) { P(v).CodeJSON(c) })
}

type membersOf[T any] struct {
	at   *map[string]T
	code func(*T, *Coder)
}

// MapOf is an object of what a function reads or writes.
//
//go:noinline
func MapOf[T any](at *map[string]T, code func(*T, *Coder)) Value { return &membersOf[T]{at, code} }

func (m *membersOf[T]) CodeJSON(c *Coder) { codeMap(m.at, c, m.code) }

//go:noinline
func codeMap[T any](at *map[string]T, c *Coder, code func(*T, *Coder)) {
	if c.Scanner == nil {
		WriteMap(c.Writer, *at, func(v T) { code(&v, c) })
		return
	}
	if *at = nil; c.Scanner.Null() {
		return
	}
	*at = map[string]T{}
	for key := range c.Scanner.Fields() {
		var v T
		code(&v, c)
		(*at)[key] = v
	}
}

type member[T any] struct {
	of   map[string]T
	name string
	code func(*T, *Coder)
}

// Member is a member of a map.
//
//go:noinline
func Member[T any](of map[string]T, name string, code func(*T, *Coder)) Value {
	return &member[T]{of, name, code}
}

func (m *member[T]) CodeJSON(c *Coder) {
	v := m.of[m.name]
	m.code(&v, c)
	m.of[m.name] = v
}

type pointer[T any, P place[T]] struct{ at **T }

// Pointer is a value, or null, which is nil.
func Pointer[T any, P place[T]](at **T) Value { return pointer[T, P]{at} }

func (p pointer[T, P]) CodeJSON(c *Coder) { CodePointer[T, P](p.at, c) }

// CodePointer reads or writes a value, or null, which is nil.
func CodePointer[T any, P place[T]](at **T, c *Coder) {
	codePointer(at, c, func(v *T, c *Coder) { P(v).CodeJSON(c) })
}

//go:noinline
func codePointer[T any](at **T, c *Coder, code func(*T, *Coder)) {
	switch {
	case c.Scanner == nil && *at == nil:
		c.Writer.Null()
		return
	case c.Scanner != nil && c.Scanner.Null():
		*at = nil
		return
	case c.Scanner != nil:
		*at = new(T)
	}
	code(*at, c)
}

type pointerTo[T any] struct {
	at   **T
	code func(*T, *Coder)
}

// PointerTo is what a function reads or writes, or null, which is nil.
//
//go:noinline
func PointerTo[T any](at **T, code func(*T, *Coder)) Value { return &pointerTo[T]{at, code} }

func (p *pointerTo[T]) CodeJSON(c *Coder) { codePointer(p.at, c, p.code) }
