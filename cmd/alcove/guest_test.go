package main

import (
	"os"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/alcove-memory/alcove/host/sandbox/asm"
	"github.com/alcove-memory/alcove/host/sandbox/wasm"
)

// trapping is a module without a manifest that traps.
func trapping() []byte {
	m := &asm.Module{}
	m.Memory(1)
	m.Export("alcove_handle", wasm.KindFunc, m.Func(asm.Func{Params: asm.I32s(2), Results: asm.I32s(1), Body: asm.Unreachable()}))
	return m.Bytes()
}

// writeGuest is a command of the scripts: it writes a module, without a manifest, that answers everything with a text, after an
// operation if one is given, or traps.
func writeGuest(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 4 || len(args) == 3 {
		ts.Fatalf("use it as: guest FILE [ANSWER [OPERATION REQUEST]]; without an answer it traps")
	}
	m := &asm.Module{}
	write := m.Import("alcove", "write", asm.I32s(3), asm.I32s(1))
	call := m.Import("alcove", "call", asm.I32s(4), asm.I32s(1))
	m.Memory(1)
	body := asm.Unreachable()
	if len(args) >= 2 {
		m.Put(1024, []byte(args[1]))
		body = nil
		if len(args) == 4 {
			m.Put(8192, []byte(args[2]))
			m.Put(16384, []byte(args[3]))
			body = asm.Drop(asm.Call(call, asm.I32(8192), asm.I32(int32(len(args[2]))), asm.I32(16384), asm.I32(int32(len(args[3])))))
		}
		body = append(body, append(asm.Drop(asm.Call(write, asm.I32(0), asm.I32(1024), asm.I32(int32(len(args[1]))))), asm.I32(0)...)...)
	}
	m.Export("alcove_handle", wasm.KindFunc, m.Func(asm.Func{Params: asm.I32s(2), Results: asm.I32s(1), Body: body}))
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), m.Bytes(), 0o600))
}
