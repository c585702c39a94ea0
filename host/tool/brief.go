package tool

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/alcove-memory/alcove/host/internal/jsontext"
)

// inBrief are the optional parameters that brief lists keep: what a call is about, or what one of several forms of a call needs. A client
// reads a brief list with every request, so the list of them is short; memory_capabilities shows all parameters.
func inBrief() []string {
	return []string{
		"key", "value", "changes", "tags", "query", "pattern", "name", "source", "compare", "family", "intent", "method", "params", // of core tools, and of many families
		"type", "factType", "relation", "from", "into", "useful", "useless", "tier", "filters", "scopeIds", "keys", "items", "include_schema",
	}
}

// briefSchema returns the schema of a tool's arguments, as lists show it, with the required parameters and the optional ones of a list,
// without bounds of lengths. Whatever it leaves out can be given, too, and is checked.
func briefSchema(schema json.RawMessage, optional []string) json.RawMessage {
	var asks struct{ Required []string }
	if json.Unmarshal(schema, &asks) != nil {
		return schema
	}
	brief := filtered(schema, func(name string, value json.RawMessage) json.RawMessage {
		if name != "properties" {
			return value
		}
		return filtered(value, func(name string, value json.RawMessage) json.RawMessage {
			if slices.Contains(asks.Required, name) || slices.Contains(optional, name) {
				return value
			}
			return nil
		})
	})
	short, err := dropped(brief, func(name string, value json.RawMessage, at position) bool {
		return at == innerSchema && boundsLength(name) || at == rootSchema && name == "properties" && string(value) == "{}"
	})
	if err != nil {
		return schema
	}
	return short
}

// boundsLength reports whether a member of a schema bounds how long a text, a list or an object is, or how a text is written.
func boundsLength(name string) bool {
	switch name {
	case "minLength", "maxLength", "pattern", "format", "minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties":
		return true
	}
	return false
}

// filtered returns an object with its members as keep returns them, without those for which it returns nil.
func filtered(object json.RawMessage, keep func(name string, value json.RawMessage) json.RawMessage) json.RawMessage {
	var out bytes.Buffer
	out.WriteByte('{')
	for quoted, value := range jsontext.Members(object) {
		var name string
		if json.Unmarshal(quoted, &name) != nil {
			continue
		}
		if value = keep(name, value); value == nil {
			continue
		}
		if out.Len() > 1 {
			out.WriteByte(',')
		}
		out.Write(quoted)
		out.WriteByte(':')
		out.Write(value)
	}
	out.WriteByte('}')
	return out.Bytes()
}
