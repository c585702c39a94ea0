package rest

import (
	"net/http"

	"github.com/alcove-memory/alcove/host/tool"
)

// object is a JSON object of the document.
type object = map[string]any

// document serves the OpenAPI document of all that the caller may use.
func (s *Server) document(w http.ResponseWriter, r *http.Request) {
	s.write(r.Context(), w, s.describe(s.offered(r)))
}

// describe returns an OpenAPI 3.1 document: a path for each tool, and those that serve all of them.
func (s *Server) describe(tools []*tool.Tool) object {
	paths := object{
		"/operation":       object{"post": operationPath()},
		"/operation/tools": object{"get": toolsPath()},
		"/openapi.json":    object{"get": plainPath("getDocument", "This document.", "application/json", object{"type": "object"})},
		"/metrics":         object{"get": plainPath("getMetrics", "Metrics in the text format of Prometheus.", "text/plain", object{"type": "string"})},
		"/healthz":         object{"get": openPath("getHealth", "Whether the server should be restarted.")},
		"/readyz":          object{"get": openPath("getReadiness", "Whether requests are served at once.")},
	}
	schemas := sharedSchemas()
	for _, t := range tools {
		if paths["/operation/"+t.Spelling] != nil {
			continue // it is called by /operation
		}
		paths["/operation/"+t.Spelling] = object{"post": toolPath(t)}
		schemas[paramsName(t)] = embedded(t.Export().InputSchema, paramsName(t))
		schemas[resultName(t)] = resultSchema(t)
	}
	return object{
		"openapi": "3.1.0",
		"info": object{"title": "Alcove", "version": s.options.Version,
			"description": "Memory for AI agents: stored, searched, branched and rewound. Every tool is an operation."},
		"servers":    []object{{"url": "/"}},
		"security":   []object{{"token": []string{}}},
		"paths":      paths,
		"components": object{"schemas": schemas, "parameters": parameters(), "responses": responses(), "securitySchemes": security()},
	}
}

func paramsName(t *tool.Tool) string { return t.Spelling + ".params" }
func resultName(t *tool.Tool) string { return t.Spelling + ".result" }

// security describes the token.
func security() object {
	return object{"token": object{"type": "http", "scheme": "bearer", "description": "The token in the file \"token\" of the data directory."}}
}

func operationPath() object {
	return object{
		"operationId": "operate", "summary": "Run an operation: a call of a tool, a chain of calls, or a batch.",
		"parameters":  []object{reference("parameters", "IdempotencyKey"), reference("parameters", "Agent")},
		"requestBody": object{"required": true, "content": content(reference("schemas", "Operation"))},
		"responses":   answers(reference("schemas", "Answer")),
	}
}

func toolPath(t *tool.Tool) object {
	family := t.Family
	if family == "" {
		family = tool.CoreFamily
	}
	list := []object{}
	for _, name := range []string{"Timeout", "DryRun", "Namespace", "Branch", "IdempotencyKey", "Agent"} {
		list = append(list, reference("parameters", name))
	}
	path := object{
		"operationId": t.Spelling, "summary": t.Description, "tags": []string{family}, "parameters": list,
		"requestBody": object{"content": content(reference("schemas", paramsName(t)))},
		"responses": answers(object{"allOf": []object{
			reference("schemas", "Answer"), {"type": "object", "properties": object{"result": reference("schemas", resultName(t))}},
		}}),
	}
	if t.Docs != "" {
		path["description"] = t.Docs
	}
	return path
}

func toolsPath() object {
	return object{
		"operationId": "listTools", "summary": "The tools that the caller may use, in the form of model APIs.",
		"responses": answers(object{"type": "object", "required": []string{"tools"}, "properties": object{
			"tools": object{"type": "array", "items": reference("schemas", "Tool")},
		}}),
	}
}

func plainPath(id, summary, kind string, schema object) object {
	return object{"operationId": id, "summary": summary, "responses": object{
		"200": object{"description": summary, "content": object{kind: object{"schema": schema}}}, "default": reference("responses", "Refused"),
	}}
}

// openPath needs no token.
func openPath(id, summary string) object {
	path := plainPath(id, summary, "text/plain", object{"type": "string"})
	path["security"] = []object{}
	return path
}

func reference(kind, name string) object { return object{"$ref": "#/components/" + kind + "/" + name} }

func content(schema object) object { return object{"application/json": object{"schema": schema}} }

func answers(schema object) object {
	return object{"200": object{"description": "The answer.", "content": content(schema)}, "default": reference("responses", "Refused")}
}

func responses() object {
	return object{"Refused": object{"description": "The request was not served.", "content": content(object{
		"type": "object", "required": []string{"error"}, "properties": object{"error": reference("schemas", "Error")},
	})}}
}

func parameters() object {
	option := func(name, description string, schema object) object {
		return object{"name": name, "in": "query", "description": description, "schema": schema}
	}
	header := func(name, description string, schema object) object {
		return object{"name": name, "in": "header", "description": description, "schema": schema}
	}
	return object{
		"Timeout":        option("timeout_ms", "End what takes longer, in milliseconds.", object{"type": "integer", "minimum": 1, "maximum": 600000}),
		"DryRun":         option("dry_run", "Say what would be done, and write nothing.", object{"type": "boolean"}),
		"Namespace":      option("namespace", "Where, unless the params say.", object{"type": "string"}),
		"Branch":         option("branch", "On which branch, unless the params say.", object{"type": "string"}),
		"IdempotencyKey": header(idempotencyKey, "A repetition with the same key and agent writes nothing again for a day.", object{"type": "string", "maxLength": longestKey}),
		"Agent":          header("Alcove-Agent", "Who writes, as kept with each memory.", object{"type": "string"}),
	}
}
