package sandbox

import (
	"fmt"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/internal/schema"
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
	manifest, err := ParseManifest(sections[0])
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

// ParseManifest parses a manifest and checks it against its schema and the rules that the schema cannot express. The
// manifest's schemas must be valid and self-contained.
func ParseManifest(data []byte) (*abi.Manifest, error) {
	manifest, err := abi.ParseManifest(data) // also bounds its size and depth
	if err != nil {
		return nil, err
	}
	fits, err := schema.Compile(abi.ManifestSchema())
	if err != nil {
		return nil, fmt.Errorf("the schema of manifests: %w", err)
	}
	if err := fits.Check(data); err != nil {
		return nil, fmt.Errorf("the manifest does not fit its schema: %w", err)
	}
	return manifest, checkSchemas(manifest)
}

// checkSchemas checks the tools' schemas.
func checkSchemas(manifest *abi.Manifest) error {
	for _, t := range manifest.Tools {
		if _, err := schema.Compile(t.InputSchema); err != nil {
			return fmt.Errorf("tool %s: the input schema: %w", t.Name, err)
		}
		if len(t.OutputSchema) == 0 {
			continue
		}
		if _, err := schema.Compile(t.OutputSchema); err != nil {
			return fmt.Errorf("tool %s: the output schema: %w", t.Name, err)
		}
	}
	return nil
}
