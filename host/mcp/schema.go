package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// longestDefault is how many characters a text may have as a default that is advertised; longer ones are prose.
const longestDefault = 32

// position says what a JSON value inside a schema is, and so which of its members are prose.
type position int

const (
	literal      position = iota // copied as it is: enum, const, default…
	rootSchema                   // a whole schema
	schema                       // a schema inside a schema
	schemasNamed                 // an object whose members are schemas: properties, definitions
	schemaList                   // a list of schemas, or one
)

// trimSchema drops from a schema what only people read, because a client shows the rest to a model with every
// request: descriptions, long default texts, and at the top $schema and title. Everything that says which
// arguments are valid stays, in its order.
func trimSchema(raw json.RawMessage) (json.RawMessage, error) {
	var out bytes.Buffer
	if err := trim(&out, raw, rootSchema); err != nil {
		return nil, fmt.Errorf("trim schema: %w", err)
	}
	return out.Bytes(), nil
}

func trim(out *bytes.Buffer, raw json.RawMessage, at position) error {
	raw = bytes.TrimSpace(raw)
	switch {
	case at == literal || len(raw) == 0:
		return json.Compact(out, raw)
	case raw[0] == '[' && at == schemaList:
		return trimList(out, raw)
	case raw[0] == '{':
		if at == schemaList {
			at = schema
		}
		return trimObject(out, raw, at)
	}
	return json.Compact(out, raw) // true and false are schemas too
}

func trimList(out *bytes.Buffer, raw json.RawMessage) error {
	var items []json.RawMessage
	if err := json.Unmarshal(raw, &items); err != nil {
		return err
	}
	out.WriteByte('[')
	for i, item := range items {
		if i > 0 {
			out.WriteByte(',')
		}
		if err := trim(out, item, schema); err != nil {
			return err
		}
	}
	out.WriteByte(']')
	return nil
}

func trimObject(out *bytes.Buffer, raw json.RawMessage, at position) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if _, err := dec.Token(); err != nil {
		return err
	}
	out.WriteByte('{')
	first := true
	for dec.More() {
		token, err := dec.Token()
		if err != nil {
			return err
		}
		name, _ := token.(string)
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return err
		}
		if at != schemasNamed && isProse(name, value, at) {
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
		if err := trim(out, value, inside(at, name)); err != nil {
			return err
		}
	}
	out.WriteByte('}')
	_, err := dec.Token()
	return err
}

// isProse reports whether a member of a schema is there for people.
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

// inside says what a member of a schema is.
func inside(at position, name string) position {
	if at == schemasNamed {
		return schema
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
