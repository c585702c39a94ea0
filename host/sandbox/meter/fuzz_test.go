package meter_test

import (
	"testing"

	"github.com/tetratelabs/wazero"

	"github.com/alcove-memory/alcove/host/sandbox/meter"
	"github.com/alcove-memory/alcove/host/sandbox/wasm"
	"github.com/alcove-memory/alcove/host/testing/spectest"
)

// FuzzRewrite rewrites valid and broken modules: valid ones stay valid, for us and for wazero, and what the module
// exports still has its names and kinds.
func FuzzRewrite(f *testing.F) {
	for i, script := range spectest.Load(f) {
		for j, c := range script.Commands {
			if c.Filename != "" && c.ModuleType != "text" && (i+j)%31 == 0 {
				f.Add(script.File(f, c.Filename))
			}
		}
	}
	r := wazero.NewRuntimeWithConfig(f.Context(), wazero.NewRuntimeConfigInterpreter())
	f.Cleanup(func() { _ = r.Close(f.Context()) })
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := wasm.Parse(b, wasm.Limits{Module: 1 << 16})
		if err != nil {
			return
		}
		out, _, err := meter.Rewrite(v, meter.Options{})
		if err != nil {
			return
		}
		again, err := wasm.Parse(out, wasm.Limits{})
		if err != nil {
			t.Fatalf("the rewritten module is refused: %v", err)
		}
		for i, x := range v.Exports {
			if y := again.Exports[i]; x.Name != y.Name || x.Kind != y.Kind {
				t.Fatalf("export %q became %q", x.Name, y.Name)
			}
			if x.Kind == wasm.KindGlobal && again.Exports[i].Index >= uint32(len(v.AllGlobals())) {
				t.Fatalf("export %q reaches a global of the host", x.Name)
			}
		}
		compiled, err := r.CompileModule(t.Context(), out)
		if err != nil {
			t.Fatalf("wazero refuses the rewritten module: %v", err)
		}
		_ = compiled.Close(t.Context())
	})
}
