package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// structure is a JSON object: one that messages share, or a message.
type structure struct {
	Name   string  `json:"name"`
	Doc    string  `json:"doc"`
	Fields []field `json:"fields"`
}

// operation is a call of the host.
type operation struct {
	Name     string   `json:"name"`
	Needs    string   `json:"needs"` // the capability; empty: every family may call it
	Doc      string   `json:"doc"`
	Errors   []string `json:"errors"` // beside denied and internal, which every operation may answer
	Request  []field  `json:"request"`
	Response []field  `json:"response"`
}

// message is what host and guest send each other outside of operations.
type message struct {
	To       string `json:"to"`       // who reads it: guest, host or either
	Handlers bool   `json:"handlers"` // those of guests answer it whole
	structure
}

func (m message) toGuest() bool { return m.To == "guest" || m.To == "either" }
func (m message) toHost() bool  { return m.To == "host" || m.To == "either" }

// field is a member of an object, or stands for all fields of the structure that it includes.
type field struct {
	Include  string   `json:"include"`
	Name     string   `json:"name"`
	Type     string   `json:"type"`
	Optional bool     `json:"optional"` // may be absent
	Explicit bool     `json:"explicit"` // absent and zero differ
	Min      *float64 `json:"min"`      // of a number, or of the elements of a list
	Max      *float64 `json:"max"`
	Default  string   `json:"default"` // what an absent field stands for
	Enum     []string `json:"enum"`    // of a string, or of the elements of a list
	Doc      string   `json:"doc"`
}

// shape is a parsed type: a scalar, a structure, or a list or map of another shape.
type shape struct {
	name     string // of a scalar or a structure
	list     bool
	dict     bool // a map with string keys
	nullable bool
	of       *shape // of a list or a map
}

// scalars are the types that are no structures, with their Go types.
var scalars = map[string]string{"string": "string", "bool": "bool", "int": "int", "uint": "uint64", "float": "float64", "float32": "float32",
	"json": "json.RawMessage", "any": "any", "code": "Code", "hook": "Hook"}

var typeName = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// parseShape reads a type: a name, []T, map[T], or T? for what may be null.
func parseShape(text string) (*shape, error) {
	if rest, ok := strings.CutPrefix(text, "[]"); ok {
		of, err := parseShape(rest)
		return &shape{list: true, of: of}, err
	}
	if rest, ok := strings.CutPrefix(text, "map["); ok && strings.HasSuffix(rest, "]") {
		of, err := parseShape(rest[:len(rest)-1])
		return &shape{dict: true, of: of}, err
	}
	name, nullable := strings.CutSuffix(text, "?")
	if !typeName.MatchString(name) {
		return nil, fmt.Errorf("%q is no type", text)
	}
	return &shape{name: name, nullable: nullable}, nil
}

// leaf is the scalar or structure that a shape is made of.
func (t *shape) leaf() *shape {
	for t.of != nil {
		t = t.of
	}
	return t
}

func (t *shape) isStructure() bool { return t.of == nil && scalars[t.name] == "" }

// must is the shape of a field of a checked source.
func (f field) must() *shape {
	t, err := parseShape(f.Type)
	if err != nil {
		panic(err)
	}
	return t
}

// goType is the Go type of a field.
func (f field) goType() string {
	t := f.must()
	if f.Explicit || f.Optional && t.isStructure() {
		return "*" + t.goType()
	}
	return t.goType()
}

func (t *shape) goType() string {
	switch {
	case t.list:
		return "[]" + t.of.goType()
	case t.dict:
		return "map[string]" + t.of.goType()
	case !t.isStructure():
		return scalars[t.name]
	case t.nullable:
		return "*" + pascal(t.name)
	}
	return pascal(t.name)
}

// structureOf is a structure by its name.
func (s source) structureOf(name string) (structure, bool) {
	i := slices.IndexFunc(s.Types, func(t structure) bool { return t.Name == name })
	if i < 0 {
		return structure{}, false
	}
	return s.Types[i], true
}

// flat are the fields of an object, with those of included structures in their place.
func (s source) flat(fields []field) []field {
	var all []field
	for _, f := range fields {
		if f.Include == "" {
			all = append(all, f)
			continue
		}
		included, _ := s.structureOf(f.Include)
		all = append(all, s.flat(included.Fields)...)
	}
	return all
}

// ofOperations returns the objects that operations are made of, in the order of the document: types, then requests and
// responses.
func (s source) ofOperations() []structure {
	messages := s.exchanges()
	return append(s.typesIn(messages), messages...)
}

// exchanges are the requests and responses of operations.
func (s source) exchanges() []structure {
	var all []structure
	for _, op := range s.Ops {
		all = append(all, op.request(), op.response())
	}
	return all
}

// ofGuests returns the objects that the other messages are made of and no operation is, types first.
func (s source) ofGuests() []structure {
	operations := map[string]bool{}
	for _, t := range s.ofOperations() {
		operations[t.Name] = true
	}
	var messages []structure
	for _, m := range s.Messages {
		messages = append(messages, m.structure)
	}
	types := slices.DeleteFunc(s.typesIn(messages), func(t structure) bool { return operations[t.Name] })
	return append(types, messages...)
}

func (op operation) request() structure {
	return structure{op.Name + "_request", "The request of " + op.Name + ": " + op.Doc + ".", op.Request}
}

func (op operation) response() structure {
	return structure{op.Name + "_response", "The response of " + op.Name + ".", op.Response}
}

// typesIn returns the types that some objects are made of, those that they include too, in the order of the document.
func (s source) typesIn(objects []structure) []structure {
	used := map[string]bool{}
	var visit func(fields []field)
	visit = func(fields []field) {
		for _, f := range fields {
			name := f.Include
			if name == "" {
				name = f.must().leaf().name
			}
			if t, ok := s.structureOf(name); ok && !used[name] {
				used[name] = true
				visit(t.Fields)
			}
		}
	}
	for _, o := range objects {
		visit(o.Fields)
	}
	return slices.DeleteFunc(slices.Clone(s.Types), func(t structure) bool { return !used[t.Name] })
}

// requests are those of the operations.
func (s source) requests() []structure {
	var all []structure
	for _, op := range s.Ops {
		all = append(all, op.request())
	}
	return all
}

// readByHost returns the names of the objects that the host reads.
func (s source) readByHost() map[string]bool {
	messages := s.requests()
	for _, m := range s.Messages {
		if m.toHost() {
			messages = append(messages, m.structure)
		}
	}
	return s.parts(messages)
}

// readByGuest returns the names of the objects that a guest reads.
func (s source) readByGuest() map[string]bool {
	var messages []structure
	for _, op := range s.Ops {
		messages = append(messages, op.response())
	}
	for _, m := range s.Messages {
		if m.toGuest() {
			messages = append(messages, m.structure)
		}
	}
	return s.parts(messages)
}

// parts returns the names of objects and of the types of their fields. What is only included is no part: its fields are.
func (s source) parts(objects []structure) map[string]bool {
	var flat []structure
	for _, o := range append(s.typesIn(objects), objects...) {
		o.Fields = s.flat(o.Fields)
		flat = append(flat, o)
	}
	set := map[string]bool{}
	for _, o := range objects {
		set[o.Name] = true
	}
	for _, o := range s.typesIn(flat) {
		set[o.Name] = true
	}
	return set
}

// checkMessages finds messages, types and fields that contradict themselves or each other.
func (s source) checkMessages() error {
	for _, m := range s.Messages {
		if !m.toGuest() && !m.toHost() {
			return fmt.Errorf("message %s is to %q: it is one of guest, host, either", m.Name, m.To)
		}
	}
	objects := slices.Clone(s.Types)
	for _, m := range s.Messages {
		objects = append(objects, m.structure)
	}
	for _, op := range s.Ops {
		objects = append(objects, op.request(), op.response())
	}
	for _, o := range objects {
		if err := s.checkObject(o); err != nil {
			return fmt.Errorf("%s: %w", o.Name, err)
		}
	}
	used := s.typesIn(objects[len(s.Types):])
	for _, t := range s.Types {
		if !slices.ContainsFunc(used, func(u structure) bool { return u.Name == t.Name }) {
			return fmt.Errorf("type %s: no message has it", t.Name)
		}
	}
	return nil
}

func (s source) checkObject(o structure) error {
	for _, f := range o.Fields {
		if err := s.checkField(f); err != nil {
			return err
		}
	}
	seen := map[string]bool{}
	for _, f := range s.flat(o.Fields) {
		if seen[f.Name] {
			return fmt.Errorf("the field %s appears twice", f.Name)
		}
		seen[f.Name] = true
	}
	return nil
}

func (s source) checkField(f field) error {
	if f.Include != "" {
		if _, ok := s.structureOf(f.Include); !ok {
			return fmt.Errorf("it includes the unknown type %s", f.Include)
		}
		return nil
	}
	t, err := parseShape(f.Type)
	if err != nil {
		return fmt.Errorf("field %s: %w", f.Name, err)
	}
	leaf := t.leaf()
	if _, known := s.structureOf(leaf.name); !known && leaf.isStructure() {
		return fmt.Errorf("field %s has the unknown type %s", f.Name, leaf.name)
	}
	switch {
	case f.Doc == "":
		return fmt.Errorf("field %s has no doc", f.Name)
	case f.Explicit && (!f.Optional || t.of != nil):
		return fmt.Errorf("field %s: only an optional scalar can be explicit", f.Name)
	case len(f.Enum) > 0 && leaf.name != "string" && leaf.name != "hook":
		return fmt.Errorf("field %s: only strings have an enum", f.Name)
	}
	return nil
}
