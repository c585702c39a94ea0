package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/sandbox/wasm"
)

// linked is a module of four functions: jump, invoke_v, one that calls jump and gives a number, and a leaf.
func linked() wasm.Module {
	number := wasm.FuncType{Results: []wasm.ValType{wasm.I32}}
	call := func(f byte) []byte { return []byte{byte(wasm.OpCall), f} }
	end := []byte{byte(wasm.OpEnd)}
	one := []byte{byte(wasm.OpI32Const), 1, byte(wasm.OpEnd)}
	return wasm.Module{
		Types: []wasm.FuncType{{}, number}, Functions: []uint32{0, 0, 1, 1}, Memories: []wasm.Range{{Min: 1}},
		Globals: []wasm.Global{{GlobalType: wasm.GlobalType{Type: wasm.I32}, Init: wasm.Expr{Bytes: []byte{byte(wasm.OpI32Const), 8, byte(wasm.OpEnd)}}}},
		Exports: []wasm.Export{{Name: flag, Kind: wasm.KindGlobal}, {Name: jumps, Index: 0}, {Name: "invoke_v", Index: 1}, {Name: "run", Index: 2}},
		Codes: []wasm.Code{
			{Body: end},
			{Body: append(append(call(2), byte(wasm.OpDrop)), end...)},
			{Body: append(call(0), one...)},
			{Body: one},
		},
	}
}

func TestAFunctionReturnsAfterACallThatAJumpLeft(t *testing.T) {
	from := linked()
	rewritten, err := Unwinding(wasm.Encode(&from))
	if err != nil {
		t.Fatal(err)
	}
	m, err := wasm.Parse(rewritten, wasm.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	returns := []byte{byte(wasm.OpI32Const), 8, byte(wasm.OpI32Load), 2, 0, byte(wasm.OpIf), 0x40, byte(wasm.OpI32Const), 0, byte(wasm.OpReturn), byte(wasm.OpEnd)}
	if want := append(append([]byte{byte(wasm.OpCall), 0}, returns...), byte(wasm.OpI32Const), 1, byte(wasm.OpEnd)); !bytes.Equal(m.Codes[2].Body, want) {
		t.Errorf("the caller is %x, want %x", m.Codes[2].Body, want)
	}
	for i, who := range map[int]string{0: "jump", 1: "who catches", 3: "a leaf"} {
		if !bytes.Equal(m.Codes[i].Body, from.Codes[i].Body) {
			t.Errorf("%s is %x, want it as it was, %x", who, m.Codes[i].Body, from.Codes[i].Body)
		}
	}
	if len(m.Exports) != 1 || m.Exports[0].Name != "run" {
		t.Errorf("the exports are %+v, want run alone", m.Exports)
	}
}

func TestAModuleThatDoesNotTellHowIsRefused(t *testing.T) {
	from := linked()
	from.Exports = from.Exports[1:]
	if _, err := Unwinding(wasm.Encode(&from)); err == nil || !strings.Contains(err.Error(), "does not export unwinding") {
		t.Errorf("Unwinding: %v, want an error that names what is missing", err)
	}
}
