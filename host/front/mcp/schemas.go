package mcp

import (
	"encoding/json"
	"slices"

	"github.com/alcove-memory/alcove/host/tool"
)

// parameter is a property of a tool's input schema.
type parameter struct {
	name        string
	Description string
	Enum        []any
	required    bool
}

// parametersOf returns the properties of a tool's input schema, in the order of the schema.
func parametersOf(t *tool.Tool) (list []parameter) {
	var schema struct {
		Properties json.RawMessage
		Required   []string
	}
	if json.Unmarshal(t.Input, &schema) != nil {
		return nil
	}
	for _, m := range membersOf(schema.Properties) {
		p := parameter{name: m.name, required: slices.Contains(schema.Required, m.name)}
		_ = json.Unmarshal(m.value, &p) // a schema of another form has neither
		list = append(list, p)
	}
	return list
}

func enumOf(t *tool.Tool, argument string) (values []string) {
	for _, p := range parametersOf(t) {
		for _, value := range p.Enum {
			if text, ok := value.(string); ok && p.name == argument {
				values = append(values, text)
			}
		}
	}
	return values
}
