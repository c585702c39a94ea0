package declare

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/alcove-memory/alcove/abi"
)

// Object is a JSON object whose members keep their order.
type Object []Member

// Member is a member of an Object.
type Member struct {
	Name  string
	Value any
}

// MarshalJSON writes the members in their order.
func (o Object) MarshalJSON() ([]byte, error) {
	var out strings.Builder
	out.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			out.WriteByte(',')
		}
		name, err := json.Marshal(m.Name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(m.Value)
		if err != nil {
			return nil, err
		}
		out.Write(name)
		out.WriteByte(':')
		out.Write(value)
	}
	out.WriteByte('}')
	return []byte(out.String()), nil
}

// With is the object with another member behind the others.
func (o Object) With(name string, value any) Object { return append(o, Member{name, value}) }

// Direction is who reads a value: a result has all of its members, arguments those that are required.
type Direction int

// The directions.
const (
	ToGuest Direction = iota
	ToHost
)

// Kind is what a type is in JSON.
type Kind string

// The kinds of types.
const (
	Any     Kind = "" // any JSON
	Text    Kind = "string"
	Boolean Kind = "boolean"
	Integer Kind = "integer"
	Float   Kind = "number"
	List    Kind = "array"
	Map     Kind = "map"    // an object of any names
	Struct  Kind = "object" // an object of some names
)

// Type is a type of any language, as JSON has it.
type Type struct {
	Kind   Kind
	Name   string   // for errors
	Elem   *Type    // of a list or a map
	Fields []Field  // of a struct
	Enum   []string // of text: its only values
}

// Field is a member of a struct.
type Field struct {
	Options
	Type    *Type
	Label   string // for errors
	Pointer bool   // the value may be null in results
}

// Schema is the JSON Schema of a field: of its type, with what its options say.
func (f Field) Schema(d Direction) (Object, error) { return f.schema(d, nil) }

// Schema is the JSON Schema of a type.
func (t *Type) Schema(d Direction) (Object, error) { return t.schema(d, nil) }

func (t *Type) schema(d Direction, within []*Type) (Object, error) {
	if slices.Contains(within, t) {
		return Object{}, nil // a type that contains itself is not described twice
	}
	switch t.Kind {
	case Any:
		return Object{}, nil
	case List:
		items, err := t.Elem.schema(d, append(within, t))
		return Object{{"type", "array"}, {"items", items}}, err
	case Map:
		values, err := t.Elem.schema(d, append(within, t))
		if len(values) == 0 {
			return Object{{"type", "object"}}, err
		}
		return Object{{"type", "object"}, {"additionalProperties", values}}, err
	case Struct:
		return t.object(d, append(within, t))
	}
	if len(t.Enum) > 0 {
		return Object{{"enum", t.Enum}}, nil
	}
	return Object{{"type", string(t.Kind)}}, nil
}

func (t *Type) object(d Direction, within []*Type) (Object, error) {
	properties, required := Object{}, []string{}
	for _, f := range t.Fields {
		s, err := f.schema(d, within)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Label, err)
		}
		properties = properties.With(f.Name, s)
		if d == ToGuest && f.Required || d == ToHost && !f.Omit {
			required = append(required, f.Name)
		}
	}
	s := Object{{"type", "object"}}
	if len(properties) > 0 {
		s = s.With("properties", properties)
	}
	if len(required) > 0 {
		s = s.With("required", required)
	}
	return s, nil
}

// schema is the schema of a field's type with what its tag and its comment say.
func (f Field) schema(d Direction, within []*Type) (Object, error) {
	if f.Type.Kind == Map && len(f.Values)+len(f.Enum) > 0 { // they are about its values
		values, described := f, f.Described
		values.Type, values.Values, values.Described = f.Type.Elem, maps.Clone(f.Values), ""
		delete(values.Values, "default")
		s, err := values.schema(d, within)
		s = Object{{"type", "object"}, {"additionalProperties", s}}
		if described != "" {
			s = s.With("description", described)
		}
		return s, err
	}
	s, err := f.Type.schema(d, within)
	if err != nil {
		return nil, err
	}
	kind := ""
	for i, m := range s {
		if m.Name != "type" {
			continue
		}
		kind, _ = m.Value.(string)
		if kind == "array" && f.Many && d == ToGuest {
			s[i].Value = []string{"array", oneOf(s)}
		}
		if f.Clear || f.Pointer && d == ToHost && !f.Omit {
			s[i].Value = []string{kind, "null"}
		}
	}
	if f.Opaque && kind != "object" && len(s) > 0 {
		return nil, errors.New("opaque is for structs and maps")
	}
	if f.Opaque {
		s = Object{{"type", "object"}}
	}
	if s, err = bounds(s, kind, f.Values); err != nil {
		return nil, err
	}
	if s, err = f.ofItems(s, kind); err != nil {
		return nil, err
	}
	if len(f.Enum) > 0 {
		if kind == "array" {
			for i, m := range s {
				if m.Name == "items" {
					s[i].Value = Object{{"enum", f.Enum}}
				}
			}
		} else {
			s = Object{{"enum", f.Enum}}
		}
	}
	if text, ok := f.Values["default"]; ok && d == ToGuest {
		value, err := f.Type.Literal(text)
		if err != nil {
			return nil, fmt.Errorf("default=%w", err)
		}
		s = s.With("default", json.RawMessage(value))
	}
	if f.Described != "" {
		s = s.With("description", f.Described)
	}
	if f.Advanced && (d != ToGuest || f.Required) {
		return nil, errors.New("advanced is for arguments that are not required")
	}
	if f.Advanced {
		s = s.With(abi.AdvancedKeyword, true)
	}
	if f.Writeonly && d != ToGuest {
		return nil, errors.New("writeonly is for arguments")
	}
	if f.Writeonly {
		s = s.With("writeOnly", true)
	}
	if f.Committed && (d != ToHost || kind != "integer" || len(within) > 1) {
		return nil, errors.New("committed is for a whole number of a tool's result")
	}
	if f.Committed {
		s = s.With(abi.CommittedKeyword, true)
	}
	return s, nil
}

// oneOf is the type of the elements of a list.
func oneOf(s Object) string {
	for _, m := range s {
		if items, ok := m.Value.(Object); ok && m.Name == "items" && len(items) > 0 {
			if kind, ok := items[0].Value.(string); ok {
				return kind
			}
		}
	}
	return "object"
}

// ofItems adds the bounds of a list's elements.
func (f Field) ofItems(s Object, kind string) (Object, error) {
	for i, m := range s {
		items, ok := m.Value.(Object)
		if len(f.Items) == 0 || kind != "array" || m.Name != "items" || !ok || len(items) == 0 {
			continue
		}
		element, _ := items[0].Value.(string)
		var err error
		if s[i].Value, err = bounds(items, element, f.Items); err != nil {
			return nil, fmt.Errorf("items: %w", err)
		}
		return s, nil
	}
	if len(f.Items) > 0 {
		return nil, errors.New("items. is for lists")
	}
	return s, nil
}

// bounds are the least and the most of a number, a text's length, or a list's.
func bounds(s Object, kind string, values map[string]string) (Object, error) {
	names := map[string][2]string{"string": {"minLength", "maxLength"}, "array": {"minItems", "maxItems"}, "object": {"minProperties", "maxProperties"}, "integer": {"minimum", "maximum"}, "number": {"minimum", "maximum"}}[kind]
	for _, bound := range []struct {
		name, keyword string
		numeric       bool
	}{{"min", names[0], false}, {"above", "exclusiveMinimum", true}, {"max", names[1], false}, {"below", "exclusiveMaximum", true}} {
		value, given := values[bound.name]
		switch {
		case !given:
			continue
		case bound.numeric && kind != "number" && kind != "integer":
			return nil, fmt.Errorf("%s= is for numbers", bound.name)
		case bound.keyword == "":
			return nil, fmt.Errorf("%s= is for numbers, text and lists", bound.name)
		}
		n, err := number(bound.name, value)
		if err != nil {
			return nil, err
		}
		s = s.With(bound.keyword, json.RawMessage(n))
	}
	return s, nil
}

// Literal is a value of a tag as JSON of a type. The elements of a list are separated by |.
func (t *Type) Literal(text string) (string, error) {
	switch t.Kind {
	case List:
		var list []string
		for _, part := range strings.Split(text, "|") {
			if part == "" {
				continue
			}
			one, err := t.Elem.Literal(part)
			if err != nil {
				return "", err
			}
			list = append(list, one)
		}
		return "[" + strings.Join(list, ",") + "]", nil
	case Boolean, Integer, Float:
		if !t.isLiteral(text) {
			return "", fmt.Errorf("%s is no %s", text, t.Name)
		}
		return text, nil
	}
	data, err := json.Marshal(text)
	return string(data), err
}

// isLiteral reports whether a text is a number, or true or false, as a type wants it.
func (t *Type) isLiteral(text string) bool {
	switch {
	case t.Kind == Boolean:
		return text == "true" || text == "false"
	case t.Kind == Integer && strings.ContainsAny(text, ".eE"):
		return false
	}
	_, err := strconv.ParseFloat(text, 64)
	return err == nil && json.Valid([]byte(text))
}
