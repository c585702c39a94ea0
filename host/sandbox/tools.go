package sandbox

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/sandbox/meter"
	"github.com/alcove-memory/alcove/host/sandbox/wasm"
)

// Report describes a module without running it.
type Report struct {
	Digest        string        `json:"digest"` // SHA-256, hexadecimal digits
	Bytes         int           `json:"bytes"`
	Functions     int           `json:"functions"`
	Imports       []string      `json:"imports"`
	MemoryPages   uint32        `json:"memory_pages"`   // initial
	TableElements int64         `json:"table_elements"` // initial, over all tables
	Limits        abi.Limits    `json:"limits"`         // of its requests
	Manifest      *abi.Manifest `json:"manifest"`       // nil: it has none
	SourceBytes   int           `json:"source_bytes,omitempty"`
}

// Check validates a module as Admit does before metering, and describes it. A *Refusal means that the module is at fault.
func Check(module []byte, options Options) (*Report, error) { return Hash(module).Check(options) }

// Check is Check for bytes that were hashed.
func (b Binary) Check(options Options) (*Report, error) {
	a := &admission{options: options, binary: b.bytes, digest: b.digest}
	if err := a.check(); err != nil {
		return nil, err
	}
	r := &Report{
		Digest: b.Digest(), Bytes: len(b.bytes), Functions: len(a.module.Functions), Imports: []string{},
		Limits: a.limits, Manifest: a.manifest, SourceBytes: len(a.source),
	}
	for _, i := range a.module.Imports {
		r.Imports = append(r.Imports, i.Module+"."+i.Name)
	}
	for _, m := range a.module.Memories {
		r.MemoryPages += m.Min
	}
	for _, t := range a.module.Tables {
		r.TableElements += int64(t.Min)
	}
	return r, nil
}

// Metered returns the metered form of a module. A *Refusal means that the module is at fault.
func Metered(module []byte) ([]byte, meter.Report, error) {
	a := &admission{binary: module}
	for _, step := range []func() error{a.checkSize, a.checkStructure, a.checkReserved, a.checkDeclared} {
		if err := step(); err != nil {
			return nil, meter.Report{}, err
		}
	}
	if err := a.rewrite(); err != nil {
		return nil, meter.Report{}, err
	}
	return a.rewritten, a.metering, nil
}

// Pack sets the manifest of a module, replacing an existing one, and checks that the result can be admitted.
func Pack(module, manifest []byte) ([]byte, error) {
	p, err := PackStubbed(module, manifest)
	if err != nil {
		return nil, err
	}
	return p.Module, nil
}

// Advice is what the author of a module should change though it can be admitted; empty: nothing.
func Advice(module []byte) string { return debugAdvice(module) }

// Packed is a module with its manifest.
type Packed struct {
	Module []byte
	Report *Report // as Check returns it
	// Stubs are the imports of WASI that were replaced by functions that answer "not supported". Libraries bring such imports for files,
	// the network and the environment, mostly without calling them.
	Stubs []Stub
}

// PackStubbed is Pack, and tells what it replaced.
func PackStubbed(module, manifest []byte) (*Packed, error) {
	module, stubs := stubbed(module)
	out, err := pack(module, manifest)
	if err != nil {
		return nil, err
	}
	report, err := Check(out, Options{})
	if err != nil {
		return nil, err
	}
	return &Packed{out, report, stubs}, nil
}

// pack sets the manifest of a module.
func pack(module, manifest []byte) ([]byte, error) {
	if err := (&admission{binary: module}).checkSize(); err != nil {
		return nil, err
	}
	m, err := wasm.Decode(module, structural())
	if err != nil {
		return nil, fmt.Errorf("read the module: %w; %s", err, structureAdvice(module))
	}
	if err := startAdvice(m); err != nil {
		return nil, err
	}
	if _, err := ParseManifest(manifest); err != nil {
		return nil, err
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, manifest); err != nil {
		return nil, fmt.Errorf("read the manifest: %w", err)
	}
	out, err := without(module, abi.Section)
	if err != nil {
		return nil, err
	}
	section, err := withoutSchema(compact.Bytes())
	if err != nil {
		return nil, fmt.Errorf("read the manifest: %w", err)
	}
	content := append(wasm.AppendName(nil, abi.Section), section...)
	out = wasm.AppendU32(append(out, customSection), uint32(len(content)))
	return append(out, content...), nil
}

// SourceOf returns the source of a module that was checked; nil: it has none.
func SourceOf(module []byte) []byte {
	_, _, sources, _ := bodyOf(module)
	if len(sources) == 0 {
		return nil
	}
	return sources[0]
}

// WithSource sets the source of a module, replacing an existing one. The module is an engine, which reads it.
func WithSource(module, source []byte) ([]byte, error) {
	out, err := without(module, abi.SourceSection)
	if err != nil {
		return nil, err
	}
	content := append(wasm.AppendName(nil, abi.SourceSection), source...)
	out = wasm.AppendU32(append(out, customSection), uint32(len(content)))
	return append(out, content...), nil
}

// withoutSchema returns a compact manifest without its member $schema, which is for editors: a module with it would be refused by hosts
// that are older than that member.
func withoutSchema(manifest []byte) ([]byte, error) {
	decoder := json.NewDecoder(bytes.NewReader(manifest))
	if _, err := decoder.Token(); err != nil {
		return nil, err
	}
	for decoder.More() {
		from := decoder.InputOffset() // behind the brace, or before the comma
		name, err := decoder.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return nil, err
		}
		if name != "$schema" {
			continue
		}
		rest := manifest[decoder.InputOffset():]
		if manifest[from] != ',' {
			rest = bytes.TrimPrefix(rest, []byte(","))
		}
		return slices.Concat(manifest[:from], rest), nil
	}
	return manifest, nil
}

// customSection is the id of custom sections.
const customSection = 0

// without returns a copy of a module without the custom sections of a name.
func without(module []byte, name string) ([]byte, error) {
	const head = 8
	out, rest := append([]byte(nil), module[:head]...), module[head:]
	prefix := wasm.AppendName(nil, name)
	for len(rest) > 0 {
		size, n := binary.Uvarint(rest[1:])
		if n <= 0 || size > uint64(len(rest)-1-n) {
			return nil, fmt.Errorf("read the module: a section ends behind its end")
		}
		end := 1 + n + int(size)
		if rest[0] != customSection || !bytes.HasPrefix(rest[1+n:end], prefix) {
			out = append(out, rest[:end]...)
		}
		rest = rest[end:]
	}
	return out, nil
}
