package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// property is what the top of a schema says of a parameter.
type property struct {
	Type any `json:"type"`
}

func propertiesOf(schema json.RawMessage) map[string]property {
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	json.Unmarshal(schema, &s) // what is no schema has no properties
	list := map[string]property{}
	for name, raw := range s.Properties {
		var p property
		json.Unmarshal(raw, &p) // true is a property of any type
		list[name] = p
	}
	return list
}

// refusesMore reports whether a schema knows all members by name and refuses others. Those are tolerated all the same, and
// left out.
func refusesMore(schema json.RawMessage) bool {
	var s struct {
		Additional json.RawMessage `json:"additionalProperties"`
		Patterns   json.RawMessage `json:"patternProperties"`
	}
	return json.Unmarshal(schema, &s) == nil && string(s.Additional) == "false" && s.Patterns == nil
}

// fit makes the arguments of a call what the tool's schema asks for, where it is plain what is meant, and checks them.
func (t *familyTool) fit(a *arguments) (json.RawMessage, error) {
	t.compiling.Do(func() { t.schema, t.wrong = compileArguments(t.Input) })
	if t.wrong != nil {
		return nil, fmt.Errorf("compile the schema of %s: %w", t.Name, t.wrong)
	}
	members := map[string]json.RawMessage{}
	types := propertiesOf(t.Input)
	strict := refusesMore(t.Input)
	for name, raw := range a.members {
		if p, known := types[name]; known || !strict {
			members[name] = meant(raw, p.Type)
		}
	}
	given, err := encode(members)
	if err != nil {
		return nil, fmt.Errorf("encode the arguments of %s: %w", t.Name, err)
	}
	instance, err := jsonschema.UnmarshalJSON(bytes.NewReader(given))
	if err != nil {
		return nil, invalid(nil, "the arguments of %s must be a JSON object: %v", t.Name, err)
	}
	var wrong *jsonschema.ValidationError
	if err := t.schema.Validate(instance); errors.As(err, &wrong) {
		return nil, mistakes(t.Name, wrong)
	} else if err != nil {
		return nil, fmt.Errorf("check the arguments of %s: %w", t.Name, err)
	}
	return given, nil
}

// meant is an argument as its type has it, if it says that in another form: "10" for 10, "tag" for ["tag"].
func meant(raw json.RawMessage, kind any) json.RawMessage {
	text, isText := stringOf(raw)
	text = strings.TrimSpace(text)
	switch kind {
	case "integer", "number":
		if isText && json.Valid([]byte(text)) && numeral(json.RawMessage(text)) == text {
			return json.RawMessage(text)
		}
	case "boolean":
		if word := strings.ToLower(text); isText && (word == "true" || word == "false") {
			return json.RawMessage(word)
		}
	case "string":
		if len(raw) > 0 && (raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9') {
			return json.RawMessage(`"` + string(raw) + `"`)
		}
	case "object":
		if isText && strings.HasPrefix(text, "{") && json.Valid([]byte(text)) {
			return json.RawMessage(text)
		}
	case "array":
		if isText && strings.HasPrefix(text, "[") && json.Valid([]byte(text)) {
			return json.RawMessage(text)
		}
		if len(raw) > 0 && raw[0] != '[' && string(raw) != "null" {
			return slices.Concat(json.RawMessage("["), raw, json.RawMessage("]"))
		}
	}
	return raw
}

// noSchemas refuses what a schema wants to read from elsewhere.
type noSchemas struct{}

func (noSchemas) Load(url string) (any, error) {
	return nil, fmt.Errorf("it refers to %.100q: schemas must stand alone", url)
}

// compileArguments compiles a schema as it is enforced: unknown members pass.
func compileArguments(raw json.RawMessage) (*jsonschema.Schema, error) {
	if len(raw) == 0 {
		raw = json.RawMessage(`{"type":"object"}`)
	}
	tolerant, err := tolerantSchema(raw)
	if err != nil {
		return nil, err
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(tolerant))
	if err != nil {
		return nil, err
	}
	compiler := jsonschema.NewCompiler()
	compiler.UseLoader(noSchemas{})
	if err := compiler.AddResource("arguments.json", document); err != nil {
		return nil, err
	}
	return compiler.Compile("arguments.json")
}

// mistakes is the error that names what is wrong with the arguments of a call.
func mistakes(tool string, e *jsonschema.ValidationError) error {
	var messages, parameters []string
	for _, leaf := range leaves(e) {
		at := strings.Join(leaf.InstanceLocation, ".")
		if missing, ok := leaf.ErrorKind.(*kind.Required); ok {
			for _, name := range missing.Missing {
				path := strings.TrimPrefix(at+"."+name, ".")
				messages, parameters = append(messages, fmt.Sprintf("%s needs %s", tool, clip(path, gotLength))), append(parameters, path)
			}
			continue
		}
		messages = append(messages, fmt.Sprintf("%s: %s", or(clip(at, gotLength), tool), clip(said(leaf), 4*gotLength)))
		parameters = append(parameters, at)
	}
	if more := len(messages) - maxProblems; more > 0 {
		messages = append(messages[:maxProblems], fmt.Sprintf("and %d more", more))
	}
	return invalid(map[string]any{"parameters": parameters[:min(len(parameters), maxProblems)]}, "%s", strings.Join(messages, "; "))
}

// leaves are the errors that say something; the others only say where those are.
func leaves(e *jsonschema.ValidationError) []*jsonschema.ValidationError {
	if len(e.Causes) == 0 {
		return []*jsonschema.ValidationError{e}
	}
	var list []*jsonschema.ValidationError
	for _, cause := range e.Causes {
		list = append(list, leaves(cause)...)
	}
	return list
}

// said is what an error says of the value that it is about, without where that is.
func said(e *jsonschema.ValidationError) string {
	here := *e
	here.InstanceLocation = nil
	return strings.TrimPrefix(here.Error(), "at '': ")
}
