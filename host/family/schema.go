package family

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/sandbox"
)

// mostSchemas is how many compiled schemas are kept; then they are compiled anew.
const mostSchemas = 2000

// schemas compiles schemas, and keeps them.
type schemas struct {
	mu   sync.Mutex
	kept map[string]*jsonschema.Schema // by their text
}

func (s *schemas) compiled(text json.RawMessage) (*jsonschema.Schema, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if schema := s.kept[string(text)]; schema != nil {
		return schema, nil
	}
	schema, err := compile(text)
	if err != nil {
		return nil, err
	}
	if s.kept == nil || len(s.kept) >= mostSchemas {
		s.kept = map[string]*jsonschema.Schema{}
	}
	s.kept[string(text)] = schema
	return schema, nil
}

// settingSchema says which values a key of the configuration takes.
func settingSchema(c abi.Setting) json.RawMessage {
	if len(c.Schema) > 0 {
		return c.Schema
	}
	return json.RawMessage(fmt.Sprintf(`{"type":%q}`, typeOf(c.Default)))
}

// typeOf is the type of a JSON value, as a schema says it.
func typeOf(value json.RawMessage) string {
	switch value = bytes.TrimSpace(value); {
	case len(value) == 0 || value[0] == 'n':
		return "null"
	case value[0] == '{':
		return "object"
	case value[0] == '[':
		return "array"
	case value[0] == '"':
		return "string"
	case value[0] == 't' || value[0] == 'f':
		return "boolean"
	}
	return "number"
}

// nowhere loads no schema from anywhere.
type nowhere struct{}

func (nowhere) Load(url string) (any, error) {
	return nil, errors.New("a schema may not refer to others: " + url)
}

func compile(schema json.RawMessage) (*jsonschema.Schema, error) {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return nil, err
	}
	compiler := jsonschema.NewCompiler()
	compiler.UseLoader(nowhere{})
	if err := compiler.AddResource("mem:///schema", value); err != nil {
		return nil, err
	}
	return compiler.Compile("mem:///schema")
}

// validate says in what a value does not fit a schema, field by field.
func validate(schema *jsonschema.Schema, data json.RawMessage) error {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return fmt.Errorf("it is not valid JSON: %w", err)
	}
	err = schema.Validate(value)
	var failed *jsonschema.ValidationError
	if !errors.As(err, &failed) {
		return err
	}
	return errors.New(strings.Join(faults(failed, nil), "; "))
}

// mostFaults is how many faults are told at once.
const mostFaults = 5

// faults are the innermost reasons of a failed validation.
func faults(e *jsonschema.ValidationError, list []string) []string {
	if len(list) >= mostFaults {
		return list
	}
	if len(e.Causes) == 0 {
		where := strings.Join(e.InstanceLocation, ".")
		what := e.ErrorKind.LocalizedString(message.NewPrinter(language.English))
		if where != "" {
			what = where + ": " + what
		}
		return append(list, what)
	}
	for _, cause := range e.Causes {
		list = faults(cause, list)
	}
	return list
}

// longestArguments is how deep arguments may be nested.
const longestArguments = 512

// checkArguments refuses arguments that do not fit a tool's input schema.
func (x *family) checkArguments(t *abi.Tool, arguments json.RawMessage) error {
	schema, err := x.schemas.compiled(t.InputSchema)
	if err != nil {
		return fmt.Errorf("the input schema of %s: %w", t.Name, err)
	}
	if depth := memory.Nesting(arguments); depth > longestArguments {
		return &memory.Error{Code: memory.InvalidArgument, Message: fmt.Sprintf("the arguments of %s are nested %d deep: at most %d are allowed", t.Name, depth, longestArguments)}
	}
	if err := validate(schema, arguments); err != nil {
		return &memory.Error{Code: memory.InvalidArgument, Message: fmt.Sprintf("the arguments of %s are not valid: %v", t.Name, err),
			Details: map[string]any{"input_schema": t.InputSchema}}
	}
	return nil
}

// checkOutput refuses a result that is not what the tool's manifest says.
func (x *family) checkOutput(t *abi.Tool, output json.RawMessage) error {
	if len(t.OutputSchema) == 0 {
		return nil
	}
	schema, err := x.schemas.compiled(t.OutputSchema)
	if err != nil {
		return fmt.Errorf("the output schema: %w", err)
	}
	if depth := memory.Nesting(output); depth > longestArguments {
		return fmt.Errorf("it is nested %d deep", depth)
	}
	return validate(schema, output)
}

// checkManifest refuses what is no manifest.
func checkManifest(data []byte) error {
	_, err := sandbox.ParseManifest(data)
	return err
}
