package asm_test

import (
	"context"
	"testing"

	"github.com/tetratelabs/wazero"

	"github.com/alcove-memory/alcove/host/sandbox/wasm"
	"github.com/alcove-memory/alcove/host/testing/asm"
)

func TestAWrittenModuleRuns(t *testing.T) {
	m := &asm.Module{}
	m.Memory(1)
	m.Put(8, []byte{5})
	counter := m.Global(wasm.I32, asm.I32(0))
	double := m.Func(asm.Func{Params: asm.I32s(1), Results: asm.I32s(1), Body: asm.Add(asm.Get(0), asm.Get(0))})
	m.Table(1)
	m.Fill(double)
	count := asm.Loop(
		asm.SetGlobal(counter, asm.Add(asm.GetGlobal(counter), asm.I32(1))),
		asm.BrIf(0, asm.Two(wasm.OpI32LtU, asm.GetGlobal(counter), asm.I32(10))))
	run := m.Func(asm.Func{Results: asm.I32s(1), Body: asm.Seq(
		count,
		asm.Block(asm.BrTable(asm.I32(0), 0, 0), asm.Unreachable()),
		asm.If(asm.Two(wasm.OpI32Ne, asm.Load(wasm.OpI32Load, asm.I32(8)), asm.I32(5)), asm.Unreachable()),
		asm.CallIndirect(0, asm.I32(0), asm.GetGlobal(counter)))})
	m.Export("run", wasm.KindFunc, run)

	ctx := context.Background()
	r := wazero.NewRuntime(ctx)
	defer r.Close(ctx)
	instance, err := r.Instantiate(ctx, m.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	got, err := instance.ExportedFunction("run").Call(ctx)
	if err != nil || got[0] != 20 {
		t.Errorf("it gives %v, %v; want 20", got, err)
	}
}
