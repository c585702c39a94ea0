package main

import (
	"bytes"
	"encoding/json"
)

// schemaOf is a JSON Schema whose members are written in a fixed order.
type schemaOf struct {
	Schema      string               `json:"$schema,omitempty"`
	ID          string               `json:"$id,omitempty"`
	Ref         string               `json:"$ref,omitempty"`
	Description string               `json:"description,omitempty"`
	Type        any                  `json:"type,omitempty"`
	AnyOf       []*schemaOf          `json:"anyOf,omitempty"`
	Enum        []string             `json:"enum,omitempty"`
	Minimum     *float64             `json:"minimum,omitempty"`
	Maximum     *float64             `json:"maximum,omitempty"`
	MinItems    *float64             `json:"minItems,omitempty"`
	MaxItems    *float64             `json:"maxItems,omitempty"`
	Items       *schemaOf            `json:"items,omitempty"`
	Properties  map[string]*schemaOf `json:"properties,omitempty"`
	Required    []string             `json:"required,omitempty"`
	Additional  any                  `json:"additionalProperties,omitempty"` // false, or the schema of a map's values
	Defs        map[string]*schemaOf `json:"$defs,omitempty"`
}

// schemas writes the JSON Schema of every message, request and response, each under its name in $defs.
func schemas(s source) ([]byte, error) {
	root := schemaOf{Schema: "https://json-schema.org/draft/2020-12/schema", ID: "https://alcove.dev/abi/1/operations.schema.json",
		Description: "Messages of the ABI, and requests and responses of its operations, each under its name.", Defs: map[string]*schemaOf{}}
	closed := s.parts(s.requests()) // where an unknown field is an error
	for _, o := range append(s.ofOperations(), s.ofGuests()...) {
		root.Defs[o.Name] = s.schema(o, closed[o.Name])
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	err := encoder.Encode(root)
	return out.Bytes(), err
}

func (s source) schema(m structure, closed bool) *schemaOf {
	out := &schemaOf{Description: m.Doc, Type: "object", Properties: map[string]*schemaOf{}}
	if closed {
		out.Additional = false
	}
	for _, f := range s.flat(m.Fields) {
		out.Properties[f.Name] = f.schema()
		if f.Type == "code" {
			for _, code := range s.Errors {
				out.Properties[f.Name].Enum = append(out.Properties[f.Name].Enum, code.Name)
			}
		}
		if !f.Optional {
			out.Required = append(out.Required, f.Name)
		}
	}
	return out
}

func (f field) schema() *schemaOf {
	t := f.must()
	out := t.schema()
	out.Description = f.comment()
	if t.list {
		out.MinItems, out.MaxItems = f.Min, f.Max
		if out.Items != nil {
			out.Items.Enum = f.Enum
		}
		return out
	}
	out.Minimum, out.Maximum, out.Enum = f.Min, f.Max, f.Enum
	return out
}

func (t *shape) schema() *schemaOf {
	switch {
	case t.list:
		return &schemaOf{Type: "array", Items: t.of.schema()}
	case t.dict:
		return &schemaOf{Type: "object", Additional: t.of.schema()}
	case t.isStructure() && t.nullable:
		return &schemaOf{AnyOf: []*schemaOf{{Ref: "#/$defs/" + t.name}, {Type: "null"}}}
	case t.isStructure():
		return &schemaOf{Ref: "#/$defs/" + t.name}
	case t.name == "json", t.name == "any":
		return &schemaOf{}
	}
	zero := 0.0
	switch t.name {
	case "uint":
		return &schemaOf{Type: "integer", Minimum: &zero}
	case "int":
		return &schemaOf{Type: "integer"}
	case "bool":
		return &schemaOf{Type: "boolean"}
	case "string", "code", "hook":
		return &schemaOf{Type: "string"}
	}
	return &schemaOf{Type: "number"}
}
