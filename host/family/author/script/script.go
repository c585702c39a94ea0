// Package script makes the module of a family that is written in a language which is not compiled: an engine with the family's source.
package script

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/sdk/go/gen/declare"
)

// Module is an engine with a family's source, without a manifest.
func Module(engine []byte, s Source) ([]byte, error) {
	// What the engine reads: the name of the file, a zero byte, and its text.
	source := append(append([]byte(filepath.Base(s.Name)), 0), s.Text...)
	if most := abi.DefaultModuleLimits().SourceBytes; int64(len(source)) > most {
		return nil, fmt.Errorf("the source has %d bytes, and %s is %d: import less", len(source), abi.LimitSourceBytes, most)
	}
	return sandbox.WithSource(engine, source)
}

// describing asks an engine for the manifest of its family. No manifest can have a tool of that name.
const describing = `{"tool":"alcove:manifest","arguments":{},"config":{},"context":{"family":"","caller":"","namespace":"","branch":"","now":"1970-01-01T00:00:00Z","request_id":""}}`

// loading are the limits of a source while it tells its manifest: packages are evaluated, and what it will ask for is not known yet.
func loading() abi.Limits {
	return abi.Limits{CPUMS: 10_000, WallMS: 30_000, MemoryPages: abi.MaxLimits().MemoryPages}
}

// Manifest runs a module of an engine in a sandbox, without any right, until it tells its family's manifest. An error of the author's names
// file and line.
func Manifest(ctx context.Context, config sandbox.Config, module []byte) (manifest []byte, err error) {
	var said printed
	config.Log = slog.New(&said)
	box, err := sandbox.New(config)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, box.Close()) }()
	m, err := box.Admit(ctx, module, sandbox.Options{Bare: true, Limits: loading()})
	if err != nil {
		return nil, err
	}
	result, err := m.Call(ctx, sandbox.Request{Kind: abi.KindTool, Payload: []byte(describing)})
	if err != nil {
		return nil, err
	}
	if result.Error != nil {
		return nil, &LoadError{Message: strings.TrimPrefix(result.Error.Message, "panic: "), Printed: said.text.String()}
	}
	return complete(result.Output)
}

// complete is a manifest as the declarations of other languages give it.
func complete(defined []byte) ([]byte, error) {
	m, err := abi.ParseManifest(defined)
	if err != nil {
		return nil, err
	}
	for i := range m.Tools {
		t := &m.Tools[i]
		declare.Annotate(&t.Annotations, declare.Short(m.Name, t.Name))
		if string(t.InputSchema) == `{"type":"object","properties":{}}` {
			t.InputSchema = json.RawMessage(`{"type":"object"}`)
		}
	}
	data, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("write the family's manifest: %w", err)
	}
	return declare.Pretty(data)
}

// LoadError is the error of a source that failed while it was loaded.
type LoadError struct {
	Message string
	Printed string // by the source, with the stack of the error
}

func (e *LoadError) Error() string { return "load the family: " + e.Message }

// printed collects the lines that a guest prints, also while it starts.
type printed struct{ text strings.Builder }

func (p *printed) Enabled(context.Context, slog.Level) bool { return true }
func (p *printed) WithAttrs([]slog.Attr) slog.Handler       { return p }
func (p *printed) WithGroup(string) slog.Handler            { return p }

// Handle implements slog.Handler.
func (p *printed) Handle(_ context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "line" {
			p.text.WriteString(a.Value.String() + "\n")
		}
		return true
	})
	return nil
}
