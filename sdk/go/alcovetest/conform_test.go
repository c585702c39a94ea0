package alcovetest_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/host/sandbox/wasm"
	"github.com/alcove-memory/alcove/host/testing/asm"
	"github.com/alcove-memory/alcove/sdk/go/alcovetest"
)

// A module that answers {} to tools, and an error to all else, keeps its contract: each check passed, or says why it was skipped.
func TestConform(t *testing.T) {
	m := &asm.Module{}
	write := m.Import("alcove", "write", asm.I32s(3), asm.I32s(1))
	m.Memory(1)
	m.Put(0, []byte(`{}{"code":"not_found","message":"no such kind"}`))
	say := func(at, length int32) asm.Code {
		return asm.Drop(asm.Call(write, asm.I32(0), asm.I32(at), asm.I32(length)))
	}
	isTool := asm.Two(wasm.OpI32Eq, asm.Get(0), asm.I32(1))
	m.Export("alcove_handle", wasm.KindFunc, m.Func(asm.Func{Params: asm.I32s(2), Results: asm.I32s(1), Body: asm.Seq(
		asm.If(isTool, say(0, 2), asm.I32(0), asm.Op(wasm.OpReturn)), say(2, 45), asm.I32(1),
	)}))
	packed, err := sandbox.Pack(m.Bytes(), []byte(`{"abi":1,"name":"nothing","version":"1.0.0","description":"Does nothing.",
		"tools":[{"name":"do_nothing","description":"Do nothing.","input_schema":{"type":"object","properties":{"n":{"type":"integer"}}}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "nothing.wasm")
	if err := os.WriteFile(path, packed, 0o600); err != nil {
		t.Fatal(err)
	}
	report := alcovetest.Conform(t, path)
	if len(report.Checks) != 6 || report.Failed() || report.Costs[0].Calls != 25 {
		t.Errorf("Conform = %+v, want 6 checks passed and the costs of 25 calls", report)
	}
}
