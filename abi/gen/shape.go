package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// structure is a JSON object that operations share.
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
var scalars = map[string]string{"string": "string", "bool": "bool", "int": "int", "uint": "uint64", "float": "float64", "float32": "float32", "json": "json.RawMessage"}

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

// messages are all objects that Go types are made for, in the order of the document: structures, then requests and
// responses.
func (s source) messages() []structure {
	all := slices.Clone(s.Types)
	for _, op := range s.Ops {
		all = append(all,
			structure{op.Name + "_request", "The request of " + op.Name + ": " + op.Doc + ".", op.Request},
			structure{op.Name + "_response", "The response of " + op.Name + ".", op.Response})
	}
	return all
}

// checkMessages finds types and fields that cannot be meant.
func (s source) checkMessages() error {
	for _, m := range s.messages() {
		seen := map[string]bool{}
		for _, f := range m.Fields {
			if err := s.checkField(f); err != nil {
				return fmt.Errorf("%s: %w", m.Name, err)
			}
		}
		for _, f := range s.flat(m.Fields) {
			if seen[f.Name] {
				return fmt.Errorf("%s: the field %s is there twice", m.Name, f.Name)
			}
			seen[f.Name] = true
		}
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
	case len(f.Enum) > 0 && leaf.name != "string":
		return fmt.Errorf("field %s: only strings have an enum", f.Name)
	}
	return nil
}
