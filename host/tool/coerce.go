package tool

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/host/internal/jsonrpc"
	"github.com/alcove-memory/alcove/host/internal/schema"
	"github.com/alcove-memory/alcove/host/tool/request"
)

// memberSchemas are what a schema says of an object's members.
type memberSchemas struct {
	Properties map[string]json.RawMessage `json:"properties"`
	Additional json.RawMessage            `json:"additionalProperties"`
	Patterns   json.RawMessage            `json:"patternProperties"`
	Required   []string                   `json:"required"`
}

// describedBy returns what a schema says of members. An invalid schema says nothing.
func describedBy(text json.RawMessage) (m memberSchemas) {
	if err := json.Unmarshal(text, &m); err != nil {
		return memberSchemas{Properties: m.Properties}
	}
	return m
}

// types returns the types of the properties.
func (m memberSchemas) types() map[string]any {
	list := map[string]any{}
	for name, raw := range m.Properties {
		var p struct{ Type any }
		json.Unmarshal(raw, &p) // true: a property of any type
		list[name] = p.Type
	}
	return list
}

// refuseMore reports whether a schema refuses members that it does not name. Such arguments are tolerated, but dropped.
func (m memberSchemas) refuseMore() bool { return string(m.Additional) == "false" && m.Patterns == nil }

// describeMore reports whether a schema describes members that it does not name.
func (m memberSchemas) describeMore() bool {
	return m.Patterns != nil || len(m.Additional) > 0 && string(m.Additional) != "false"
}

// coerce converts the arguments of a call to the types in the tool's schema, where unambiguous, and validates them.
func (t *Tool) coerce(a *request.Arguments) (json.RawMessage, error) {
	t.compiling.Do(func() { t.schema, t.wrong = compileArguments(t.Input) })
	if t.wrong != nil {
		return nil, fmt.Errorf("compile the schema of %s: %w", t.Name, t.wrong)
	}
	given, err := t.object(a.Given())
	if err != nil {
		return nil, fmt.Errorf("encode the arguments of %s: %w", t.Name, err)
	}
	if name := jsonrpc.Twice(given); name != "" { // the schema might check one, and the family read the other
		return nil, Invalid(map[string]any{"parameters": []string{Clip(name, gotLength)}}, "%q is given twice: give it once", Clip(name, gotLength))
	}
	var wrong *schema.Misfit
	if err := t.schema.Check(given); errors.As(err, &wrong) {
		return nil, t.mismatchError(wrong)
	} else if err != nil {
		return nil, Invalid(nil, "the arguments of %s: %v", t.Name, err)
	}
	return given, nil
}

// object returns arguments, converted to their types, as an object in the order of their names.
func (t *Tool) object(members map[string]json.RawMessage) (json.RawMessage, error) {
	size := len("{}")
	for name, raw := range members {
		size += len(name) + len(raw) + len(`"":[],`)
	}
	out := bytes.NewBuffer(make([]byte, 0, size))
	out.WriteByte('{')
	for i, name := range slices.Sorted(maps.Keys(members)) {
		if i > 0 {
			out.WriteByte(',')
		}
		quoted, err := Encode(name)
		if err != nil {
			return nil, err
		}
		out.Write(quoted)
		out.WriteByte(':')
		if err := json.Compact(out, request.Coerced(members[name], t.parameters.Types[name])); err != nil {
			return nil, err
		}
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

// compileArguments compiles a schema as enforced: it allows unknown members.
func compileArguments(raw json.RawMessage) (*schema.Schema, error) {
	if len(raw) == 0 {
		raw = json.RawMessage(`{"type":"object"}`)
	}
	tolerant, err := tolerantSchema(raw)
	if err != nil {
		return nil, err
	}
	return schema.Compile(tolerant)
}

// mismatchError returns an error that names the mistakes in a call's arguments.
func (t *Tool) mismatchError(m *schema.Misfit) error {
	var messages, parameters []string
	for _, f := range m.Faults {
		for _, name := range f.Missing {
			path := strings.TrimPrefix(f.At+"."+name, ".")
			messages, parameters = append(messages, fmt.Sprintf("%s needs %s", t.Name, path)), append(parameters, path)
		}
		if len(f.Missing) == 0 {
			messages, parameters = append(messages, cmp.Or(f.At, t.Name)+": "+f.Says), append(parameters, f.At)
		}
	}
	if m.More > 0 {
		messages = append(messages, fmt.Sprintf("and %d more", m.More))
	}
	return Invalid(map[string]any{"parameters": parameters}, "%s", strings.Join(messages, "; "))
}
