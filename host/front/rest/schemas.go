package rest

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/alcove-memory/alcove/host/tool"
)

// sharedSchemas are the schemas of what all tools have in common.
func sharedSchemas() object {
	text, whole := object{"type": "string"}, object{"type": "integer"}
	step := object{"oneOf": []object{reference("schemas", "Operation"), {"type": "array", "items": reference("schemas", "Operation"), "maxItems": 15}}}
	return object{
		"Operation": object{
			"type": "object", "description": "A call (method), or a batch of operations. It has one of the two.",
			"properties": object{
				"version": object{"type": "string", "const": "1.0"},
				"method":  object{"type": "string", "description": "The name of a tool: memory_store, memory.store or store."},
				"params":  object{"type": "object", "description": "Its arguments. {\"$result\": \"/results/0/key\"} is that part of the result before, or of step N with \"step\": N."},
				"batch":   object{"type": "array", "maxItems": 100, "items": reference("schemas", "Operation"), "description": "Operations to run in parallel."},
				"then":    step,
				"options": object{"type": "object", "additionalProperties": false, "properties": object{
					"timeout_ms": object{"type": "integer", "minimum": 1, "maximum": 600000},
					"dry_run":    object{"type": "boolean"}, "namespace": text, "branch": text,
				}},
				"metadata": object{"type": "object", "properties": object{"request_id": object{"type": "string", "maxLength": longestKey}}},
			},
			"oneOf": []object{{"required": []string{"method"}}, {"required": []string{"batch"}}},
		},
		"Answer": object{
			"type": "object", "required": []string{"version", "metadata"},
			"properties": object{
				"version": object{"type": "string", "const": "1.0"}, "method": text,
				"result": object{"description": "What the tool answered; of a batch, a list of outcomes."},
				"error":  reference("schemas", "Error"),
				"steps":  object{"type": "array", "items": reference("schemas", "Outcome"), "description": "The steps of a chain before the last."},
				"metadata": object{"type": "object", "required": []string{"request_id", "timestamp", "duration_ms"}, "properties": object{
					"request_id": text, "timestamp": object{"type": "string", "format": "date-time"}, "duration_ms": object{"type": "number"},
					"dry_run": object{"type": "boolean"}, "version": whole, "proposal": text, "notes": object{"type": "array", "items": text},
				}},
			},
		},
		"Outcome": object{
			"type": "object", "description": "The answer to a step of a chain or an operation of a batch.",
			"properties": object{
				"method": text, "result": object{}, "error": reference("schemas", "Error"),
				"steps":    object{"type": "array", "items": reference("schemas", "Outcome")},
				"metadata": object{"type": "object", "properties": object{"version": whole, "proposal": text, "notes": object{"type": "array", "items": text}}},
			},
		},
		"Error": object{
			"type": "object", "required": []string{"code", "message"},
			"properties": object{"code": text, "message": text, "retryable": object{"type": "boolean"}, "details": object{"type": "object"}},
		},
		"Tool": object{
			"type": "object", "required": []string{"name", "description", "input_schema"},
			"properties": object{"name": text, "description": text, "input_schema": object{"type": "object"}},
		},
		"DryRun": object{
			"type": "object", "required": []string{"dry_run", "would"}, "description": "What a call would do.",
			"properties": object{"dry_run": object{"type": "boolean", "const": true}, "would": object{"type": "object"}},
		},
	}
}

// resultSchema returns the schema of a tool's result. A dry run of a core tool that writes has another.
func resultSchema(t *tool.Tool) any {
	if len(t.Output) == 0 {
		return object{}
	}
	if t.Family == "" && !t.Annotations.ReadOnly {
		return object{"anyOf": []any{embedded(t.Output, resultName(t)+"/anyOf/0"), reference("schemas", "DryRun")}}
	}
	return embedded(t.Output, resultName(t))
}

// embedded returns a schema as a part of the document's schemas: references into itself lead to where it is. A schema that
// cannot be part of another document becomes that of any value.
func embedded(schema json.RawMessage, path string) any {
	decoder := json.NewDecoder(bytes.NewReader(schema))
	decoder.UseNumber()
	var value any
	if decoder.Decode(&value) != nil {
		return object{}
	}
	if moved, ok := move(value, "#/components/schemas/"+path); ok {
		return moved
	}
	return object{}
}

// move rewrites the references in a schema whose root is moved to a place in another document. False: it has one that cannot be
// rewritten.
func move(value any, to string) (any, bool) {
	switch v := value.(type) {
	case object:
		for name, member := range v {
			text, isText := member.(string)
			switch {
			case name == "const" || name == "enum" || name == "default" || name == "examples" || name == "example":
			case isText && (name == "$schema" || name == "$id" || name == "$comment"):
				delete(v, name)
			case isText && (name == "$anchor" || name == "$dynamicRef" || name == "$dynamicAnchor"):
				return nil, false
			case isText && name == "$ref":
				if text != "#" && !strings.HasPrefix(text, "#/") {
					return nil, false
				}
				v[name] = to + text[1:]
			default:
				moved, ok := move(member, to)
				if !ok {
					return nil, false
				}
				v[name] = moved
			}
		}
	case []any:
		for i, member := range v {
			moved, ok := move(member, to)
			if !ok {
				return nil, false
			}
			v[i] = moved
		}
	}
	return value, true
}
