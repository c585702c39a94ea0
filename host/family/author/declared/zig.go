package declared

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/alcove-memory/alcove/sdk/go/gen/declare"
)

// zigFile is what a source in Zig declares.
type zigFile struct {
	*source
	constants map[string]*cursor // what the outermost names stand for
	depth     int                // types within types that are being read
}

// readZig reads the declarations of Zig.
func readZig(s *source) error {
	f := &zigFile{source: s, constants: map[string]*cursor{}}
	var served []func() error // once all names are known
	for c := s.all(); c.more(); {
		line := c.lineHere()
		public := c.are("pub")
		switch {
		case c.are("const", "tools", "="), c.are("const", "jobs", "="):
			list := c.tokens[c.i-2].text
			in, err := c.structBody()
			if err != nil {
				return err
			}
			served = append(served, func() error { return f.functions(list, in) })
		case c.are("const", ""), c.are("var", ""):
			name := c.tokens[c.i-1].text
			if err := c.upTo("=", ";"); err != nil {
				return err
			}
			begin := c.i + 1
			if err := c.upTo(";"); err != nil {
				return err
			}
			value := &cursor{s, begin, c.i}
			f.constants[name] = value
			if len(served) > mostConstants {
				return at(line, fmt.Errorf("the source has more than %d constants and functions", mostConstants))
			}
			served = append(served, func() error { return f.constant(name, line) })
			c.i++
		case c.are("fn", ""):
			name := c.tokens[c.i-1].text
			if _, err := c.results(); err != nil {
				return err
			}
			if public {
				served = append(served, func() error { return s.addHook(name, handler{line: line}) })
			}
		default:
			if err := c.pass(); err != nil {
				return err
			}
		}
	}
	for _, serve := range served {
		if err := serve(); err != nil {
			return err
		}
	}
	return nil
}

// pass passes a token, or what brackets enclose.
func (c *cursor) pass() error {
	if t := c.peek(0); t.kind == mark && strings.Contains("([{", t.text) {
		_, err := c.inside()
		return err
	}
	c.i++
	return nil
}

// structBody passes struct {…} and is a cursor over what is in it.
func (c *cursor) structBody() (*cursor, error) {
	if !c.are("struct") || c.peek(0).text != "{" {
		return nil, c.unexpected("struct {…}")
	}
	return c.inside()
}

// functions reads the tools, or the jobs, that a struct has public.
func (f *zigFile) functions(list string, c *cursor) error {
	for c.more() {
		line := c.lineHere()
		if !c.are("pub", "fn") {
			if err := c.pass(); err != nil {
				return err
			}
			continue
		}
		name, err := c.identifier("the name of a function")
		if err != nil {
			return err
		}
		h := handler{line: line}
		if err := f.signature(c, &h); err != nil {
			return at(line, fmt.Errorf("%s: %w", name, err))
		}
		add := f.addTool
		if list == "jobs" {
			add = f.addJob
		}
		if err := add(name, h); err != nil {
			return err
		}
	}
	return nil
}

// identifier is a name, also one in quotes: @"tea.pour-out".
func (c *cursor) identifier(what string) (string, error) {
	if c.peek(0).text == "@" && c.peek(1).kind == quoted {
		c.i += 2
		return c.tokens[c.i-1].text, nil
	}
	return c.name(what)
}

// signature reads (c: *Call, in: T) !R {…}.
func (f *zigFile) signature(c *cursor, h *handler) error {
	if c.peek(0).text != "(" {
		return c.unexpected("the parameters")
	}
	in, err := c.inside()
	if err != nil {
		return err
	}
	parameters, err := in.elements(false)
	if err != nil {
		return err
	}
	if len(parameters) > 1 {
		p := parameters[1]
		if err := p.upTo(":"); err != nil {
			return err
		}
		p.i++
		p.are("?") // a payload may be null
		if h.arguments, err = f.typeOf(p); err != nil {
			return err
		}
	}
	result, err := c.results()
	if err != nil {
		return err
	}
	for result.more() && !result.are("!") { // the errors
		result.i++
	}
	if result.are("void") {
		return nil
	}
	h.result, err = f.typeOf(result)
	return err
}

// results passes what is between a function's parameters and its body, and the body. A result that is a struct has braces, too.
func (c *cursor) results() (*cursor, error) {
	begin := c.i
	for c.more() && c.peek(0).text != "{" && c.peek(0).text != ";" {
		if c.are("struct") || c.are("enum") || c.peek(0).text == "(" || c.peek(0).text == "[" {
			if _, err := c.inside(); err != nil {
				return nil, err
			}
			continue
		}
		c.i++
	}
	result := &cursor{c.source, begin, c.i}
	return result, c.pass()
}

// constant reads a struct, for the directives above it.
func (f *zigFile) constant(name string, line int) error {
	t := &declare.Type{Kind: declare.Struct, Name: name}
	if _, is := declare.Find(f.directivesAbove(line), "config"); is {
		var err error
		if t, err = f.named(name, line); err != nil {
			return err
		}
	}
	return f.structOf(t, line)
}

func (f *zigFile) named(name string, line int) (*declare.Type, error) {
	if t := f.types[name]; t != nil {
		return t, nil
	}
	value, ok := f.constants[name]
	if !ok {
		return nil, at(line, fmt.Errorf("the type %s is not in this file", name))
	}
	t := &declare.Type{Name: name}
	f.types[name] = t // one that contains itself finds itself
	read := *value
	got, err := f.typeOf(&read)
	if err != nil {
		return nil, err
	}
	*t = *got
	t.Name = name
	return t, nil
}

var zigInteger = regexp.MustCompile(`^([iu][0-9]{1,5}|[iu]size|c_int|c_uint)$`)

// typeOf reads a type.
func (f *zigFile) typeOf(c *cursor) (*declare.Type, error) {
	line := c.lineHere()
	if f.depth++; f.depth > deepest {
		return nil, at(line, fmt.Errorf("types are more than %d deep", deepest))
	}
	defer func() { f.depth-- }()
	switch {
	case c.are("[", "]"), c.are("["):
		if c.tokens[c.i-1].text == "[" { // [3]f32, [:0]const u8
			if err := c.upTo("]"); err != nil {
				return nil, err
			}
			c.i++
		}
		c.are("const")
		if c.are("u8") {
			return &declare.Type{Kind: declare.Text, Name: "text"}, nil
		}
		elem, err := f.typeOf(c)
		return &declare.Type{Kind: declare.List, Name: "a list", Elem: elem}, err
	case c.are("?"), c.are("*"):
		c.are("const")
		return f.typeOf(c)
	case c.are("alcove", "."):
		return f.ofSDK(c)
	case c.are("struct"):
		return f.aStruct(c)
	case c.are("enum"):
		return f.enum(c)
	case c.peek(0).kind == word:
		return f.simple(c)
	}
	return nil, c.unexpected("a type")
}

func (f *zigFile) simple(c *cursor) (*declare.Type, error) {
	line := c.lineHere()
	name, err := c.name("a type")
	if err != nil {
		return nil, err
	}
	switch {
	case name == "bool":
		return &declare.Type{Kind: declare.Boolean, Name: name}, nil
	case name == "f16" || name == "f32" || name == "f64":
		return &declare.Type{Kind: declare.Float, Name: name}, nil
	case zigInteger.MatchString(name):
		return &declare.Type{Kind: declare.Integer, Name: name}, nil
	}
	return f.named(name, line)
}

// ofSDK reads Value, Map(T), and other types of the SDK, which are objects.
func (f *zigFile) ofSDK(c *cursor) (*declare.Type, error) {
	name, err := c.name("a type of the SDK")
	if err != nil || name == "Value" {
		return &declare.Type{Name: name}, err
	}
	t := &declare.Type{Kind: declare.Map, Name: name, Elem: &declare.Type{}}
	if name == "Map" && c.peek(0).text == "(" {
		in, err := c.inside()
		if err != nil {
			return nil, err
		}
		t.Elem, err = f.typeOf(in)
		return t, err
	}
	return t, nil
}

func (f *zigFile) enum(c *cursor) (*declare.Type, error) {
	if c.peek(0).text == "(" { // its tag
		if _, err := c.inside(); err != nil {
			return nil, err
		}
	}
	if c.peek(0).text != "{" {
		return nil, c.unexpected("the values of the enum")
	}
	in, err := c.inside()
	if err != nil {
		return nil, err
	}
	values, err := in.elements(false)
	t := &declare.Type{Kind: declare.Text, Name: "enum"}
	for _, v := range values {
		name, wrong := v.identifier("a value of the enum")
		if wrong != nil {
			return nil, wrong
		}
		t.Enum = append(t.Enum, name)
	}
	return t, err
}

// aStruct reads the fields of a struct; what else it declares is passed.
func (f *zigFile) aStruct(c *cursor) (*declare.Type, error) {
	if c.peek(0).text != "{" {
		return nil, c.unexpected("the fields of a struct")
	}
	in, err := c.inside()
	if err != nil {
		return nil, err
	}
	t := &declare.Type{Kind: declare.Struct, Name: "struct"}
	for in.more() {
		if in.are("pub") || in.peek(0).text == "const" || in.peek(0).text == "fn" {
			if err := in.upTo(";", "{"); err != nil {
				return nil, err
			}
			if err := in.pass(); err != nil {
				return nil, err
			}
			continue
		}
		one, err := f.fieldOf(in)
		if err != nil {
			return nil, err
		}
		if t.Fields = append(t.Fields, one); len(t.Fields) > mostFields {
			return nil, in.unexpected(fmt.Sprintf("the end of the struct, which has at most %d fields,", mostFields))
		}
	}
	return t, nil
}

// fieldOf reads NAME: TYPE = DEFAULT, and the comma.
func (f *zigFile) fieldOf(c *cursor) (d declare.Field, err error) {
	begin := c.i
	if d.Name, err = c.identifier("the name of a field"); err != nil {
		return d, err
	}
	d.Label = d.Name
	if err := c.want(":"); err != nil {
		return d, err
	}
	optional := c.peek(0).text == "?"
	if d.Type, err = f.typeOf(c); err != nil {
		return d, err
	}
	d.Enum, d.Required, d.Pointer, d.Clear = d.Type.Enum, true, optional, optional
	if c.are("=") {
		value := c.i
		if err := c.upTo(","); err != nil {
			return d, err
		}
		d.Required, d.Omit, d.Clear = false, true, false
		if value := literal(&cursor{f.source, value, c.i}); value != "" {
			d.Values = map[string]string{"default": value}
		}
	}
	c.are(",")
	return d, f.field(&d, d.Name, begin)
}

// literal is a default as options write it; empty: it is none of text, a number, true, false and .name.
func literal(c *cursor) string {
	minus := ""
	if c.are("-") {
		minus = "-"
	}
	c.are(".")
	t := c.peek(0)
	if c.end-c.i != 1 || t.text == "null" || t.kind == mark {
		return ""
	}
	return minus + t.text
}
