package sandbox

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/sandbox/wasm"
)

// checkManifest reads the module's manifest.
func (a *admission) checkManifest() error {
	sections := customs(a.module, abi.Section)
	switch {
	case len(sections) > 1:
		return refuse(abi.ClassManifest, "pack it again", "it has %d sections %s", len(sections), abi.Section)
	case len(sections) == 0 && a.options.Bare:
		return nil
	case len(sections) == 0:
		return refuse(abi.ClassManifest, "pack it: alcove family pack", "it has no section %s", abi.Section)
	}
	parse := ParseManifest
	if a.rewritten != nil {
		parse = abi.ParseManifest // it was checked against the schema when the module was admitted first
	}
	manifest, err := parse(sections[0])
	if err != nil {
		r := refuse(abi.ClassManifest, "correct it and pack it again", "the manifest is not valid")
		r.Err = err
		return r
	}
	a.manifest = manifest
	a.limits = resolve(manifest.Limits, a.options.Limits)
	return nil
}

func customs(m *wasm.Module, name string) [][]byte {
	var found [][]byte
	for _, c := range m.Customs {
		if c.Name == name {
			found = append(found, c.Bytes)
		}
	}
	return found
}

// ParseManifest reads a manifest, and checks it against the schema and against what that cannot say. The schemas in
// it must be valid, and refer to nothing outside of themselves.
func ParseManifest(data []byte) (*abi.Manifest, error) {
	manifest, err := abi.ParseManifest(data) // bounds its size and depth, too
	if err != nil {
		return nil, err
	}
	schemas := jsonschema.NewCompiler()
	schemas.UseLoader(nowhere{})
	schema, err := compileSchema(schemas, "manifest.schema.json", abi.ManifestSchema())
	if err != nil {
		return nil, err
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("read the manifest: %w", err)
	}
	if err := schema.Validate(value); err != nil {
		return nil, fmt.Errorf("the manifest does not fit its schema: %w", err)
	}
	return manifest, checkSchemas(schemas, manifest)
}

// checkSchemas checks those of the tools.
func checkSchemas(schemas *jsonschema.Compiler, manifest *abi.Manifest) error {
	for i, t := range manifest.Tools {
		if _, err := compileSchema(schemas, fmt.Sprintf("input/%d", i), t.InputSchema); err != nil {
			return fmt.Errorf("tool %s: the input schema: %w", t.Name, err)
		}
		if len(t.OutputSchema) == 0 {
			continue
		}
		if _, err := compileSchema(schemas, fmt.Sprintf("output/%d", i), t.OutputSchema); err != nil {
			return fmt.Errorf("tool %s: the output schema: %w", t.Name, err)
		}
	}
	return nil
}

// nowhere loads no schema from anywhere.
type nowhere struct{}

func (nowhere) Load(url string) (any, error) {
	return nil, errors.New("a schema may not refer to others: " + url)
}

func compileSchema(schemas *jsonschema.Compiler, name string, data []byte) (*jsonschema.Schema, error) {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("read the schema: %w", err)
	}
	if err := schemas.AddResource("mem:///"+name, value); err != nil {
		return nil, fmt.Errorf("read the schema: %w", err)
	}
	return schemas.Compile("mem:///" + name)
}
