package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"github.com/alcove-memory/alcove/host/internal/jsontext"
	"github.com/alcove-memory/alcove/host/tool/request"
)

// longestDefault is the longest text default that is advertised, in characters; longer ones are prose.
const longestDefault = 32

// position is the role of a JSON value in a schema, which determines the members that are prose.
type position int

const (
	literal      position = iota // copied unchanged: enum, const, default…
	rootSchema                   // a whole schema
	innerSchema                  // a schema inside a schema
	schemasNamed                 // an object whose members are schemas: properties, definitions
	schemaList                   // a list of schemas, or one
)

// trimSchema drops prose for people from a schema, because a client shows the rest to a model with every request:
// descriptions, long text defaults, and $schema and title at the top. Everything that defines valid arguments stays, in
// order.
func trimSchema(raw json.RawMessage) (json.RawMessage, error) {
	return dropped(raw, func(name string, value json.RawMessage, at position) bool {
		return at != schemasNamed && (name == advancedMark || isProse(name, value, at) || forbidsAdditional(name, value, at) || isUnsupported(name, at))
	})
}

// wholeSchema drops nothing but prose and marks from a schema.
func wholeSchema(raw json.RawMessage) (json.RawMessage, error) {
	return dropped(raw, func(name string, value json.RawMessage, at position) bool {
		return at != schemasNamed && (name == advancedMark || name != "$schema" && isProse(name, value, at))
	})
}

// commonSchema drops the arguments that few calls need from a schema.
func commonSchema(raw json.RawMessage) (json.RawMessage, error) {
	return dropped(raw, func(_ string, value json.RawMessage, at position) bool {
		return at == schemasNamed && isAdvanced(value)
	})
}

// tolerantSchema returns a schema without the members that refuse unknown arguments, as in lists.
func tolerantSchema(raw json.RawMessage) (json.RawMessage, error) {
	return dropped(raw, forbidsAdditional)
}

// modelSchema returns the schema of the arguments without what model APIs do not accept.
func (s Spec) modelSchema() json.RawMessage {
	schema, err := dropped(s.Input, func(name string, _ json.RawMessage, at position) bool {
		return at != schemasNamed && isUnsupported(name, at)
	})
	if err != nil || len(s.Input) == 0 { // a tool with such a schema is not offered
		return json.RawMessage(`{"type":"object"}`)
	}
	return schema
}

// dropped returns a schema without some members of its subschemas.
func dropped(raw json.RawMessage, drop dropFunc) (json.RawMessage, error) {
	var out bytes.Buffer
	if jsontext.Depth(raw) > request.MostNesting {
		return nil, fmt.Errorf("trim schema: it is nested deeper than %d", request.MostNesting)
	}
	var whole json.RawMessage
	if err := json.Unmarshal(raw, &whole); err != nil {
		return nil, fmt.Errorf("trim schema: %w", err)
	}
	if err := drop.trim(&out, raw, rootSchema); err != nil {
		return nil, fmt.Errorf("trim schema: %w", err)
	}
	return out.Bytes(), nil
}

// dropFunc reports whether to drop a member of a schema.
type dropFunc func(name string, value json.RawMessage, at position) bool

// ArgumentsSchema returns the schema of the arguments of a family's tool as lists show it, with all arguments. Clients refuse a whole list
// over a tool whose arguments are not an object.
func ArgumentsSchema(raw json.RawMessage) (json.RawMessage, error) {
	if len(raw) == 0 {
		raw = json.RawMessage(`{"type":"object"}`)
	}
	members, err := request.Members(raw)
	if err != nil {
		return nil, fmt.Errorf("the schema of its arguments must be an object: %w", err)
	}
	trimmed, err := trimSchema(raw)
	if err != nil {
		return nil, err
	}
	switch kind, given := members["type"]; {
	case !given && string(trimmed) == "{}":
		return json.RawMessage(`{"type":"object"}`), nil
	case !given:
		return append(json.RawMessage(`{"type":"object",`), trimmed[1:]...), nil
	case string(kind) != `"object"`:
		return nil, fmt.Errorf("the schema of its arguments must say type object, it says %s", Clip(string(kind), gotLength))
	}
	return trimmed, nil
}

func (d dropFunc) trim(out *bytes.Buffer, raw json.RawMessage, at position) error {
	raw = bytes.TrimSpace(raw)
	switch {
	case at == literal || len(raw) == 0:
		return json.Compact(out, raw)
	case raw[0] == '[' && at == schemaList:
		return d.trimList(out, raw)
	case raw[0] == '{':
		if at == schemaList {
			at = innerSchema
		}
		return d.trimObject(out, raw, at)
	}
	return json.Compact(out, raw) // true and false are schemas, too
}

func (d dropFunc) trimList(out *bytes.Buffer, raw json.RawMessage) error {
	out.WriteByte('[')
	first := true
	for item := range jsontext.Elements(raw) {
		if !first {
			out.WriteByte(',')
		}
		first = false
		if err := d.trim(out, item, innerSchema); err != nil {
			return err
		}
	}
	out.WriteByte(']')
	return nil
}

func (d dropFunc) trimObject(out *bytes.Buffer, raw json.RawMessage, at position) error {
	out.WriteByte('{')
	first := true
	for quoted, value := range jsontext.Members(raw) {
		var name string
		if err := json.Unmarshal(quoted, &name); err != nil {
			return err
		}
		if d(name, value, at) {
			continue
		}
		if !first {
			out.WriteByte(',')
		}
		first = false
		quoted, err := json.Marshal(name)
		if err != nil {
			return err
		}
		out.Write(quoted)
		out.WriteByte(':')
		if err := d.trim(out, value, inside(at, name)); err != nil {
			return err
		}
	}
	out.WriteByte('}')
	return nil
}

// advancedMark marks an argument that few calls need.
const advancedMark = "x-advanced"

// isAdvanced reports whether an argument is rarely needed: lists show it only where its family was loaded, and memory_capabilities always.
func isAdvanced(schema json.RawMessage) bool {
	if !bytes.ContainsAny(schema, `-\`) {
		return false // the name has a hyphen, or an escape for it
	}
	var marked struct {
		Advanced bool `json:"x-advanced"`
	}
	return json.Unmarshal(schema, &marked) == nil && marked.Advanced
}

// isProse reports whether a member of a schema is prose for people.
func isProse(name string, value json.RawMessage, at position) bool {
	switch name {
	case "description":
		return true
	case "$schema", "title":
		return at == rootSchema
	case "default":
		var text string
		return json.Unmarshal(value, &text) == nil && utf8.RuneCountInString(text) > longestDefault
	}
	return false
}

// forbidsAdditional reports whether a schema member refuses unknown arguments, which are tolerated.
func forbidsAdditional(name string, value json.RawMessage, at position) bool {
	return at == rootSchema && (name == "additionalProperties" || name == "unevaluatedProperties") && string(value) == "false"
}

// isUnsupported reports whether model APIs or clients mishandle a schema member: model APIs do not support alternatives at the
// top, and clients would send what x-mcp-header names twice. Arguments are still checked against the full schema.
func isUnsupported(name string, at position) bool {
	switch name {
	case "anyOf", "oneOf", "allOf", "not", "if", "then", "else":
		return at == rootSchema
	}
	return name == "x-mcp-header"
}

// inside returns the position of a schema member.
func inside(at position, name string) position {
	if at == schemasNamed {
		return innerSchema
	}
	switch name {
	case "properties", "patternProperties", "definitions", "$defs", "dependentSchemas":
		return schemasNamed
	case "items", "prefixItems", "anyOf", "oneOf", "allOf", "not", "if", "then", "else", "contains",
		"additionalProperties", "propertyNames", "additionalItems", "unevaluatedItems", "unevaluatedProperties":
		return schemaList
	}
	return literal
}
