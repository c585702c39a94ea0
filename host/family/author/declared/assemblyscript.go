package declared

import (
	"errors"
	"fmt"
	"slices"

	"github.com/alcove-memory/alcove/sdk/go/gen/declare"
)

// asFile is what a source in AssemblyScript declares. Its tools take and give Json: what is in that, interfaces say.
type asFile struct {
	*source
	interfaces map[string]asInterface
	functions  map[string]int
	depth      int
}

type asInterface struct {
	line   int
	fields *cursor
}

// readAssemblyScript reads interfaces, functions, and what a new Family() serves.
func readAssemblyScript(s *source) error {
	f := &asFile{source: s, interfaces: map[string]asInterface{}, functions: map[string]int{}}
	var order []string
	for c := s.all(); c.more(); {
		line := c.lineHere()
		switch {
		case c.are("interface", ""):
			name := c.tokens[c.i-1].text
			if c.peek(0).text != "{" {
				return c.unexpected("the members of the interface")
			}
			in, err := c.inside()
			if err != nil {
				return err
			}
			f.interfaces[name] = asInterface{line, in}
			order = append(order, name)
		case c.are("function", ""):
			f.functions[c.tokens[c.i-1].text] = line
		default:
			c.i++
		}
	}
	for _, name := range order {
		if err := f.configured(name); err != nil {
			return err
		}
	}
	return f.served()
}

// served reads new Family().tool("name", function), and family.store = function behind it.
func (f *asFile) served() error {
	c, variable := f.all(), ""
	for c.more() && !c.are("new", "Family", "(", ")") {
		if c.are("const", "", "=") {
			variable = c.tokens[c.i-2].text
			continue
		}
		c.i++
	}
	if !c.more() {
		return errors.New(`nothing is served: write const family = new Family().tool("NAME", function);`)
	}
	for c.are(".", "") {
		kind := c.tokens[c.i-1].text
		if c.peek(0).text != "(" {
			return c.unexpected("what the family serves")
		}
		in, err := c.inside()
		if err != nil {
			return err
		}
		if in.peek(0).kind != quoted {
			return in.unexpected("the name of the " + kind)
		}
		if err := f.serve(kind, in.peek(0).text, in.peek(2)); err != nil {
			return err
		}
	}
	for c.more() {
		if variable != "" && c.are(variable, ".", "", "=") {
			kind := c.tokens[c.i-2].text
			if _, hook := hookNames()[kind]; hook {
				if err := f.serve(kind, kind, c.peek(0)); err != nil {
					return err
				}
			}
			continue
		}
		c.i++
	}
	return nil
}

func (f *asFile) serve(kind, name string, function token) error {
	line, known := f.functions[function.text]
	if !known {
		return at(function.line, fmt.Errorf("%.40q is not a function of this file: tools, jobs and hooks are named ones", function.text))
	}
	h := handler{line: line}
	if kind == "job" {
		return f.addJob(name, h)
	}
	if kind != "tool" {
		return f.addHook(kind, h)
	}
	said := f.directivesAbove(line)
	for _, one := range []struct {
		directive string
		into      **declare.Type
	}{{"takes", &h.arguments}, {"gives", &h.result}} {
		d, ok := declare.Find(said, one.directive)
		if !ok {
			continue
		}
		var err error
		if *one.into, err = f.named(d.Rest, line); err != nil {
			return err
		}
	}
	return f.addTool(name, h)
}

func (f *asFile) configured(name string) error {
	one, t := f.interfaces[name], &declare.Type{Kind: declare.Struct, Name: name}
	if _, is := declare.Find(f.directivesAbove(one.line), "config"); is {
		var err error
		if t, err = f.named(name, one.line); err != nil {
			return err
		}
	}
	return f.structOf(t, one.line)
}

func (f *asFile) named(name string, line int) (*declare.Type, error) {
	if t := f.types[name]; t != nil {
		return t, nil
	}
	one, ok := f.interfaces[name]
	if !ok {
		return nil, at(line, fmt.Errorf("there is no interface %.40q in this file", name))
	}
	t := &declare.Type{Kind: declare.Struct, Name: name}
	f.types[name] = t
	c := *one.fields
	for c.more() {
		d, err := f.fieldOf(name, &c)
		if err != nil {
			return nil, err
		}
		if t.Fields = append(t.Fields, d); len(t.Fields) > mostFields {
			return nil, c.unexpected(fmt.Sprintf("the end of the interface, which has at most %d members,", mostFields))
		}
	}
	return t, nil
}

// fieldOf reads NAME: TYPE; where a type that may be null need not be given.
func (f *asFile) fieldOf(of string, c *cursor) (d declare.Field, err error) {
	begin := c.i
	if d.Name, err = c.name("the name of a member"); err != nil {
		return d, err
	}
	d.Label = of + "." + d.Name
	if err := c.want(":"); err != nil {
		return d, err
	}
	if d.Type, err = f.typeOf(c); err != nil {
		return d, err
	}
	d.Required = true
	if c.are("|", "null") {
		d.Required, d.Omit = false, true
	}
	if !c.are(";") {
		c.are(",")
	}
	return d, f.field(&d, d.Name, begin)
}

// typeOf reads a type.
func (f *asFile) typeOf(c *cursor) (*declare.Type, error) {
	line := c.lineHere()
	if f.depth++; f.depth > deepest {
		return nil, at(line, fmt.Errorf("types are more than %d deep", deepest))
	}
	defer func() { f.depth-- }()
	name, err := c.name("a type")
	if err != nil {
		return nil, err
	}
	t, err := f.simple(name, c, line)
	if err != nil {
		return nil, err
	}
	for c.are("[", "]") {
		t = &declare.Type{Kind: declare.List, Name: "a list", Elem: t}
	}
	return t, nil
}

func (f *asFile) simple(name string, c *cursor, line int) (*declare.Type, error) {
	switch {
	case name == "string":
		return &declare.Type{Kind: declare.Text, Name: name}, nil
	case name == "bool" || name == "boolean":
		return &declare.Type{Kind: declare.Boolean, Name: name}, nil
	case name == "f32" || name == "f64" || name == "number":
		return &declare.Type{Kind: declare.Float, Name: name}, nil
	case slices.Contains([]string{"i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "isize", "usize"}, name):
		return &declare.Type{Kind: declare.Integer, Name: name}, nil
	case name == "Json":
		return &declare.Type{Name: name}, nil
	case (name == "Array" || name == "Map") && c.are("<"):
		kind := declare.List
		if name == "Map" {
			kind = declare.Map
			if !c.are("string", ",") {
				return nil, c.unexpected("string, the names of a map,")
			}
		}
		elem, err := f.typeOf(c)
		if err != nil {
			return nil, err
		}
		return &declare.Type{Kind: kind, Name: name, Elem: elem}, c.want(">")
	}
	return f.named(name, line)
}
