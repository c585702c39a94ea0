package gen

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/types"
	"strconv"
	"strings"

	"github.com/alcove-memory/alcove/abi"
)

// object is a JSON object whose members keep their order.
type object []member

type member struct {
	name  string
	value any
}

// MarshalJSON writes the members in their order.
func (o object) MarshalJSON() ([]byte, error) {
	var out strings.Builder
	out.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			out.WriteByte(',')
		}
		name, err := json.Marshal(m.name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(m.value)
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

func (o object) with(name string, value any) object { return append(o, member{name, value}) }

// direction is who reads a value: a result has all of its members, arguments those that are required.
type direction int

const (
	toGuest direction = iota
	toHost
)

// schema is the JSON Schema of a type.
func (p *pkg) schema(t types.Type, d direction, within []types.Type) (object, error) {
	for _, outer := range within {
		if types.Identical(outer, t) {
			return object{}, nil // a type that contains itself is not described twice
		}
	}
	if inner, ok := p.optional(t); ok {
		return p.schema(inner, d, within)
	}
	switch {
	case p.isOf(t, "ID"), p.isOf(t, "Time"), has(t, "MarshalText"):
		return object{{"type", "string"}}, nil
	case p.isOf(t, "Raw"), isRawMessage(t), encodesItself(t):
		return object{}, nil
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return basic(u, t)
	case *types.Pointer:
		return p.schema(u.Elem(), d, within)
	case *types.Slice:
		items, err := p.schema(u.Elem(), d, append(within, t))
		return object{{"type", "array"}, {"items", items}}, err
	case *types.Map:
		if key, ok := u.Key().Underlying().(*types.Basic); !ok || key.Kind() != types.String {
			return nil, fmt.Errorf("%s: the keys of a map are text", types.TypeString(t, nil))
		}
		values, err := p.schema(u.Elem(), d, append(within, t))
		if len(values) == 0 {
			return object{{"type", "object"}}, err
		}
		return object{{"type", "object"}, {"additionalProperties", values}}, err
	case *types.Struct:
		return p.structSchema(t, d, append(within, t))
	case *types.Interface:
		return object{}, nil
	}
	return nil, fmt.Errorf("%s cannot be JSON", types.TypeString(t, nil))
}

func basic(b *types.Basic, t types.Type) (object, error) {
	switch info := b.Info(); {
	case info&types.IsString != 0:
		return object{{"type", "string"}}, nil
	case info&types.IsBoolean != 0:
		return object{{"type", "boolean"}}, nil
	case info&types.IsInteger != 0:
		return object{{"type", "integer"}}, nil
	case info&types.IsFloat != 0:
		return object{{"type", "number"}}, nil
	}
	return nil, fmt.Errorf("%s cannot be JSON", types.TypeString(t, nil))
}

func isRawMessage(t types.Type) bool {
	n := named(t)
	return n != nil && n.Obj().Name() == "RawMessage"
}

func (p *pkg) structSchema(t types.Type, d direction, within []types.Type) (object, error) {
	list, err := p.fields(t)
	if err != nil {
		return nil, err
	}
	properties, required := object{}, []string{}
	for _, f := range list {
		s, err := p.fieldSchema(f, d, within)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.label, err)
		}
		properties = properties.with(f.name, s)
		if d == toGuest && f.required || d == toHost && !f.omit {
			required = append(required, f.name)
		}
	}
	s := object{{"type", "object"}}
	if len(properties) > 0 {
		s = s.with("properties", properties)
	}
	if len(required) > 0 {
		s = s.with("required", required)
	}
	return s, nil
}

// fieldSchema is the schema of a field's type with what its tag and its comment say.
func (p *pkg) fieldSchema(f field, d direction, within []types.Type) (object, error) {
	if m, ok := f.typ.Underlying().(*types.Map); ok && len(f.values)+len(f.enum) > 0 { // they are about its values
		values, described := f, f.described
		values.typ, values.values, values.described = m.Elem(), withDefault(f.values, ""), ""
		delete(values.values, "default")
		s, err := p.fieldSchema(values, d, within)
		s = object{{"type", "object"}, {"additionalProperties", s}}
		if described != "" {
			s = s.with("description", described)
		}
		return s, err
	}
	s, err := p.schema(f.typ, d, within)
	if err != nil {
		return nil, err
	}
	kind := ""
	for i, m := range s {
		if m.name != "type" {
			continue
		}
		kind, _ = m.value.(string)
		if kind == "array" && f.many && d == toGuest {
			s[i].value = []string{"array", oneOf(s)}
		}
		if f.clear || isPointer(f.typ) && d == toHost && !f.omit {
			s[i].value = []string{kind, "null"}
		}
	}
	if f.opaque && kind != "object" && len(s) > 0 {
		return nil, errors.New("opaque is for structs and maps")
	}
	if f.opaque {
		s = object{{"type", "object"}}
	}
	if s, err = bounds(s, kind, f.values); err != nil {
		return nil, err
	}
	if s, err = f.ofItems(s, kind); err != nil {
		return nil, err
	}
	if len(f.enum) > 0 {
		if kind == "array" {
			for i, m := range s {
				if m.name == "items" {
					s[i].value = object{{"enum", f.enum}}
				}
			}
		} else {
			s = object{{"enum", f.enum}}
		}
	}
	if text, ok := f.values["default"]; ok && d == toGuest {
		value, err := p.literal(f.typ, text)
		if err != nil {
			return nil, fmt.Errorf("default=%w", err)
		}
		s = s.with("default", json.RawMessage(value))
	}
	if f.described != "" {
		s = s.with("description", f.described)
	}
	if f.advanced && (d != toGuest || f.required) {
		return nil, errors.New("advanced is for arguments that are not required")
	}
	if f.advanced {
		s = s.with(abi.AdvancedKeyword, true)
	}
	if f.writeonly && d != toGuest {
		return nil, errors.New("writeonly is for arguments")
	}
	if f.writeonly {
		s = s.with("writeOnly", true)
	}
	if f.committed && (d != toHost || kind != "integer" || len(within) > 1) {
		return nil, errors.New("committed is for a whole number of a tool's result")
	}
	if f.committed {
		s = s.with(abi.CommittedKeyword, true)
	}
	return s, nil
}

func isPointer(t types.Type) bool {
	_, ok := t.Underlying().(*types.Pointer)
	return ok
}

// oneOf is the type of the elements of a list.
func oneOf(s object) string {
	for _, m := range s {
		if items, ok := m.value.(object); ok && m.name == "items" && len(items) > 0 {
			if kind, ok := items[0].value.(string); ok {
				return kind
			}
		}
	}
	return "object"
}

// ofItems adds the bounds of a list's elements.
func (f field) ofItems(s object, kind string) (object, error) {
	for i, m := range s {
		items, ok := m.value.(object)
		if len(f.items) == 0 || kind != "array" || m.name != "items" || !ok || len(items) == 0 {
			continue
		}
		element, _ := items[0].value.(string)
		var err error
		if s[i].value, err = bounds(items, element, f.items); err != nil {
			return nil, fmt.Errorf("items: %w", err)
		}
		return s, nil
	}
	if len(f.items) > 0 {
		return nil, errors.New("items. is for lists")
	}
	return s, nil
}

// bounds are the least and the most of a number, a text's length, or a list's.
func bounds(s object, kind string, values map[string]string) (object, error) {
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
		s = s.with(bound.keyword, json.RawMessage(n))
	}
	return s, nil
}

// literal is a value of a tag as JSON of a type. The elements of a list are separated by |.
func (p *pkg) literal(t types.Type, text string) (string, error) {
	if inner, ok := p.optional(t); ok {
		return p.literal(inner, text)
	}
	switch u := t.Underlying().(type) {
	case *types.Pointer:
		return p.literal(u.Elem(), text)
	case *types.Slice:
		var list []string
		for _, part := range strings.Split(text, "|") {
			if part == "" {
				continue
			}
			one, err := p.literal(u.Elem(), part)
			if err != nil {
				return "", err
			}
			list = append(list, one)
		}
		return "[" + strings.Join(list, ",") + "]", nil
	case *types.Basic:
		if u.Info()&types.IsString == 0 {
			if !isLiteral(u, text) {
				return "", fmt.Errorf("%s is no %s", text, u.Name())
			}
			return text, nil
		}
	}
	data, err := json.Marshal(text)
	return string(data), err
}

// isLiteral reports whether a text is a number, or true or false, as a type wants it.
func isLiteral(b *types.Basic, text string) bool {
	switch info := b.Info(); {
	case info&types.IsBoolean != 0:
		return text == "true" || text == "false"
	case info&types.IsInteger != 0 && strings.ContainsAny(text, ".eE"):
		return false
	}
	_, err := strconv.ParseFloat(text, 64)
	return err == nil && json.Valid([]byte(text))
}
