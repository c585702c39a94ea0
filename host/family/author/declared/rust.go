package declared

import (
	"fmt"
	"regexp"

	"github.com/alcove-memory/alcove/sdk/go/gen/declare"
)

// rustFile is what a source in Rust declares.
type rustFile struct {
	*source
	structs   map[string]rustStruct
	functions map[string]rustFunction
	depth     int
}

type rustStruct struct {
	line   int
	fields *cursor
}

type rustFunction struct {
	line               int
	parameters, result *cursor
}

// readRust reads the declarations of Rust: object!, functions, and the chain behind Family::new().
func readRust(s *source) error {
	f := &rustFile{source: s, structs: map[string]rustStruct{}, functions: map[string]rustFunction{}}
	var order []string
	var chain *cursor
	for c := s.all(); c.more(); {
		line := c.lineHere()
		switch {
		case c.are("object", "!"):
			in, err := c.inside()
			if err != nil {
				return err
			}
			names, err := f.object(in)
			if err != nil {
				return err
			}
			order = append(order, names...)
		case c.are("mod", "tests"): // calls of theirs are no declarations
			if err := c.upTo("{", ";"); err != nil {
				return err
			}
			if err := c.pass(); err != nil {
				return err
			}
		case c.are("fn", ""):
			if err := f.function(c, line); err != nil {
				return err
			}
		case c.are("Family", ":", ":", "new", "(", ")"):
			if chain == nil {
				chain = &cursor{s, c.i, c.end}
			}
		default:
			c.i++
		}
	}
	for _, name := range order {
		if err := f.configured(name); err != nil {
			return err
		}
	}
	if chain == nil {
		return fmt.Errorf("nothing is served: write Family::new().tool(\"NAME\", function)")
	}
	return f.chain(chain)
}

// object reads the structs of object! {…}.
func (f *rustFile) object(c *cursor) (names []string, err error) {
	for c.more() {
		line := c.lineHere()
		for c.are("#") { // an attribute
			if _, err := c.inside(); err != nil {
				return nil, err
			}
		}
		if c.are("pub") && c.peek(0).text == "(" {
			if _, err := c.inside(); err != nil {
				return nil, err
			}
		}
		if err := c.want("struct"); err != nil {
			return nil, err
		}
		name, err := c.name("the name of a struct")
		if err != nil {
			return nil, err
		}
		if c.peek(0).text != "{" {
			return nil, c.unexpected("the fields of the struct")
		}
		in, err := c.inside()
		if err != nil {
			return nil, err
		}
		f.structs[name] = rustStruct{line, in}
		names = append(names, name)
	}
	return names, nil
}

// function reads NAME(call: &Call, args: T) -> Result<R>, as far as its body.
func (f *rustFile) function(c *cursor, line int) error {
	name := c.tokens[c.i-1].text
	for depth := 0; c.more() && (depth > 0 || c.peek(0).text == "<"); c.i++ { // lifetimes, and types that it is generic over
		switch c.peek(0).text {
		case "<":
			depth++
		case ">":
			if c.tokens[c.i-1].text != "-" {
				depth--
			}
		}
	}
	if c.peek(0).text != "(" {
		return c.unexpected("the parameters of " + name)
	}
	in, err := c.inside()
	if err != nil {
		return err
	}
	begin := c.i
	for c.more() && c.peek(0).text != "{" && c.peek(0).text != ";" {
		c.i++
	}
	if _, twice := f.functions[name]; !twice {
		f.functions[name] = rustFunction{line, in, &cursor{f.source, begin, c.i}}
	}
	return nil
}

// chain reads .tool("name", function).store(function) and so on.
func (f *rustFile) chain(c *cursor) error {
	for c.are(".", "") {
		kind, line := c.tokens[c.i-1].text, c.lineHere()
		if c.peek(0).text != "(" {
			return c.unexpected("what the family serves")
		}
		in, err := c.inside()
		if err != nil {
			return err
		}
		name := ""
		if in.peek(0).kind == quoted {
			name = in.peek(0).text
			in.i += 2
		}
		function := in.peek(0).text
		fn, known := f.functions[function]
		if _, hook := hookNames()[kind]; !known && (kind == "tool" || kind == "job" || hook) {
			return at(line, fmt.Errorf("%.40q is not a function of this file: tools, jobs and hooks are named ones", function))
		}
		h := handler{line: fn.line}
		switch kind {
		case "tool":
			if err := f.signature(fn, &h); err != nil {
				return at(fn.line, fmt.Errorf("%s: %w", function, err))
			}
			err = f.addTool(name, h)
		case "job":
			err = f.addJob(name, h)
		default:
			err = f.addHook(kind, h)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (f *rustFile) signature(fn rustFunction, h *handler) error {
	parameters, err := fn.parameters.elements(true)
	if err != nil {
		return err
	}
	if len(parameters) != 2 {
		return fmt.Errorf("it has %d parameters: a tool takes the call and its arguments", len(parameters))
	}
	p := parameters[1]
	if err := p.upTo(":"); err != nil {
		return err
	}
	p.i++
	if !p.are("(", ")") {
		if h.arguments, err = f.typeOf(p); err != nil {
			return err
		}
	}
	r := fn.result
	for r.more() && !r.are("Result", "<") {
		r.i++
	}
	if !r.more() || r.are("(", ")") {
		return nil
	}
	h.result, err = f.typeOf(r)
	return err
}

// configured reads a struct that is the configuration.
func (f *rustFile) configured(name string) error {
	one, t := f.structs[name], &declare.Type{Kind: declare.Struct, Name: name}
	if _, is := declare.Find(f.directivesAbove(one.line), "config"); is {
		var err error
		if t, err = f.named(name, one.line); err != nil {
			return err
		}
	}
	return f.structOf(t, one.line)
}

var rustInteger = regexp.MustCompile(`^[iu](8|16|32|64|128|size)$`)

// typeOf reads a type.
func (f *rustFile) typeOf(c *cursor) (*declare.Type, error) {
	line := c.lineHere()
	if f.depth++; f.depth > deepest {
		return nil, at(line, fmt.Errorf("types are more than %d deep", deepest))
	}
	defer func() { f.depth-- }()
	for c.are("alcove", ":", ":") || c.are("json", ":", ":") {
	}
	name, err := c.name("a type")
	if err != nil {
		return nil, err
	}
	switch {
	case name == "String":
		return &declare.Type{Kind: declare.Text, Name: name}, nil
	case name == "bool":
		return &declare.Type{Kind: declare.Boolean, Name: name}, nil
	case name == "f32" || name == "f64":
		return &declare.Type{Kind: declare.Float, Name: name}, nil
	case rustInteger.MatchString(name):
		return &declare.Type{Kind: declare.Integer, Name: name}, nil
	case name == "Value":
		return &declare.Type{Name: name}, nil
	case c.are("<"):
		return f.generic(name, c)
	}
	return f.named(name, line)
}

// generic reads Vec<T>, Map<T>, Option<T> and Box<T> behind the <.
func (f *rustFile) generic(name string, c *cursor) (*declare.Type, error) {
	line := c.lineHere()
	elem, err := f.typeOf(c)
	if err != nil {
		return nil, err
	}
	if err := c.want(">"); err != nil {
		return nil, err
	}
	switch name {
	case "Vec":
		return &declare.Type{Kind: declare.List, Name: name, Elem: elem}, nil
	case "Map":
		return &declare.Type{Kind: declare.Map, Name: name, Elem: elem}, nil
	case "Option", "Box":
		return elem, nil
	}
	return nil, at(line, fmt.Errorf("%s<…> cannot be JSON: Vec, Map, Option and Box can", name))
}

func (f *rustFile) named(name string, line int) (*declare.Type, error) {
	if t := f.types[name]; t != nil {
		return t, nil
	}
	one, ok := f.structs[name]
	if !ok {
		return nil, at(line, fmt.Errorf("the type %s is in no object! {…} of this file", name))
	}
	t := &declare.Type{Kind: declare.Struct, Name: name}
	f.types[name] = t
	c, must := *one.fields, true
	for c.more() {
		if c.are(";") {
			must = false
			continue
		}
		field, err := f.fieldOf(name, &c, must)
		if err != nil {
			return nil, err
		}
		if t.Fields = append(t.Fields, field); len(t.Fields) > mostFields {
			return nil, c.unexpected(fmt.Sprintf("the end of the struct, which has at most %d fields,", mostFields))
		}
	}
	return t, nil
}

// fieldOf reads NAME: TYPE, and the comma.
func (f *rustFile) fieldOf(of string, c *cursor, must bool) (d declare.Field, err error) {
	begin := c.i
	c.are("r", "#") // a word of Rust
	if d.Name, err = c.name("the name of a field"); err != nil {
		return d, err
	}
	d.Label = of + "." + d.Name
	if err := c.want(":"); err != nil {
		return d, err
	}
	d.Pointer = c.peek(0).text == "Option" && must
	if d.Type, err = f.typeOf(c); err != nil {
		return d, err
	}
	d.Required, d.Omit, d.Clear = must, !must, d.Pointer
	c.are(",")
	return d, f.field(&d, d.Name, begin)
}
