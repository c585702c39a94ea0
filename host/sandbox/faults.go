package sandbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/internal/schema"
)

// mostFaults bounds the faults of form that Faults lists.
const mostFaults = 100

// Fault is one thing that is wrong with a manifest.
type Fault struct {
	Line int // in the manifest; 0: not known
	Err  error
}

// Faults reads a manifest as far as possible, and lists what ParseManifest would refuse. The manifest is nil if its text cannot be read.
func Faults(data []byte) (*abi.Manifest, []Fault, error) {
	m, err := abi.ReadManifest(data)
	if err != nil {
		return nil, []Fault{{Err: err}}, nil
	}
	list, err := formFaults(m, data)
	if err != nil {
		return nil, nil, err
	}
	m.Capabilities = slices.DeleteFunc(m.Capabilities, func(r abi.Request) bool { return r.Name.Scope() == "" }) // a fault of form
	for _, err := range m.Faults() {
		list = append(list, Fault{Err: err})
	}
	return m, append(list, schemaFaults(m, data)...), nil
}

// formFaults lists where a manifest does not fit its schema.
func formFaults(m *abi.Manifest, data []byte) (list []Fault, err error) {
	fits, err := schema.Compile(abi.ManifestSchema())
	if err != nil {
		return nil, fmt.Errorf("the schema of manifests: %w", err)
	}
	var wrong *schema.Misfit
	if err := fits.CheckUpTo(data, mostFaults); err != nil && !errors.As(err, &wrong) {
		return []Fault{{Err: err}}, nil
	} else if err == nil {
		return nil, nil
	}
	for _, f := range wrong.Faults {
		of := subject(m, f.Path)
		for _, name := range f.Missing {
			list = append(list, Fault{lineOf(data, f.Path), fmt.Errorf("%s%s is missing: add it", of, name)})
		}
		for _, name := range f.Unknown {
			list = append(list, Fault{lineOf(data, append(slices.Clone(f.Path), name)), errors.New(of + unknownField(f.Path, name))})
		}
		if len(f.Missing)+len(f.Unknown) == 0 {
			list = append(list, Fault{lineOf(data, f.Path), errors.New(of + f.Says)})
		}
	}
	if wrong.More > 0 {
		list = append(list, Fault{Err: fmt.Errorf("it has %d more faults: correct these first", wrong.More)})
	}
	return list, nil
}

// unknownField says that a part of a manifest has no field of a name.
func unknownField(path []string, name string) string {
	if len(path) == 3 && path[2] == "annotations" { // MCP's, in camel case
		return fmt.Sprintf("unknown field %.64q: the fields are title, readOnlyHint, destructiveHint, idempotentHint and openWorldHint", name)
	}
	return abi.UnknownField(name)
}

// subject names the part of a manifest that a path leads to, as in "tool notes_add: input_schema: ".
func subject(m *abi.Manifest, path []string) string {
	var parts []string
	if len(path) > 1 && path[0] == "tools" {
		name := "tool " + path[1]
		if i, err := strconv.Atoi(path[1]); err == nil && i < len(m.Tools) {
			name = fmt.Sprintf("tool %.64s", m.Tools[i].Name)
			if m.Tools[i].Name == "" {
				name = fmt.Sprintf("tool %d", i+1)
			}
		}
		parts, path = append(parts, name), path[2:]
	}
	if len(path) > 0 {
		parts = append(parts, fmt.Sprintf("%.200s", strings.Join(path, ".")))
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, ": ") + ": "
}

// schemaFaults lists the tools' schemas that are none.
func schemaFaults(m *abi.Manifest, data []byte) (list []Fault) {
	for i, t := range m.Tools {
		for _, s := range []struct {
			kind string
			text json.RawMessage
		}{{"input", t.InputSchema}, {"output", t.OutputSchema}} {
			if !bytes.HasPrefix(s.text, []byte("{")) {
				continue // a fault of form
			}
			if _, err := schema.Compile(s.text); err != nil {
				list = append(list, Fault{lineOf(data, []string{"tools", strconv.Itoa(i), s.kind + "_schema"}), fmt.Errorf("tool %s: the %s schema: %w", t.Name, s.kind, err)})
			}
		}
	}
	return list
}

// lineOf is the line of the value in JSON that a path of members and indexes leads to; 0: there is none.
func lineOf(data []byte, path []string) int {
	decoder := json.NewDecoder(bytes.NewReader(data))
	for {
		token, err := decoder.Token()
		if err != nil {
			return 0
		}
		if len(path) == 0 {
			return 1 + bytes.Count(data[:decoder.InputOffset()], []byte("\n"))
		}
		switch token {
		case json.Delim('{'):
			err = toMember(decoder, path[0])
		case json.Delim('['):
			err = toElement(decoder, path[0])
		default:
			return 0
		}
		if err != nil {
			return 0
		}
		path = path[1:]
	}
}

// toMember reads an object up to the value of a member.
func toMember(decoder *json.Decoder, name string) error {
	for decoder.More() {
		token, err := decoder.Token()
		if err != nil || token == name {
			return err
		}
		if err := decoder.Decode(new(json.RawMessage)); err != nil {
			return err
		}
	}
	return fmt.Errorf("there is no member %s", name)
}

// toElement reads a list up to an element.
func toElement(decoder *json.Decoder, index string) error {
	n, err := strconv.Atoi(index)
	for ; err == nil && n > 0; n-- {
		err = decoder.Decode(new(json.RawMessage))
	}
	return err
}
