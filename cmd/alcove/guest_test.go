package main

import (
	"os"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/sandbox/wasm"
	"github.com/alcove-memory/alcove/host/testing/asm"
)

const guestUse = `use it as one of:
guest FILE [ANSWER [OPERATION REQUEST]]  answers everything with a text, after an operation if one is given; without an answer it traps
guest -passes FILE OPERATION REQUEST     calls an operation, and answers with its response, or with its error
guest -panics FILE TEXT                  prints a text and traps, in a function named main.brew
guest -imports FILE MODULE NAME          imports a function of one i32, which it never calls
guest -command FILE                      exports _start, as a program does
guest -debug FILE                        has more for debuggers than code`

// trapping is a module without a manifest that traps.
func trapping() []byte {
	m := &asm.Module{}
	answeringGuest(m, nil)
	return m.Bytes()
}

// writeGuest is a command of the scripts: it writes a module without a manifest.
func writeGuest(ts *testscript.TestScript, neg bool, args []string) {
	form := ""
	if len(args) > 0 && args[0][0] == '-' {
		form, args = args[0], args[1:]
	}
	counts := map[string][]int{"": {1, 2, 4}, "-passes": {3}, "-panics": {2}, "-imports": {3}, "-command": {1}, "-debug": {1}}
	right := false
	for _, n := range counts[form] {
		right = right || n == len(args)
	}
	if neg || !right {
		ts.Fatalf("guest %q: %s", args, guestUse)
	}
	m := &asm.Module{}
	switch form {
	case "-passes":
		passingGuest(m, args[1], args[2])
	case "-panics":
		panickingGuest(m, args[1])
	case "-imports":
		m.Import(args[1], args[2], asm.I32s(1), asm.I32s(1))
		answeringGuest(m, []string{"{}"})
	case "-command":
		answeringGuest(m, []string{"{}"})
		m.Export("_start", wasm.KindFunc, m.Func(asm.Func{}))
	case "-debug":
		answeringGuest(m, []string{"{}"})
		m.Custom(".debug_info", make([]byte, 1<<20))
	default:
		answeringGuest(m, args[1:])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), m.Bytes(), 0o600))
}

// handles makes the body that of the function that the host calls.
func handles(m *asm.Module, body asm.Code) {
	m.Export("alcove_handle", wasm.KindFunc, m.Func(asm.Func{Params: asm.I32s(2), Results: asm.I32s(1), Locals: asm.I32s(1), Body: body}))
}

// putAt puts a text into the memory, and returns its address and length.
func putAt(m *asm.Module, at int32, text string) asm.Code {
	m.Put(at, []byte(text))
	return asm.Seq(asm.I32(at), asm.I32(int32(len(text))))
}

func answeringGuest(m *asm.Module, args []string) {
	write := m.Import("alcove", "write", asm.I32s(3), asm.I32s(1))
	call := m.Import("alcove", "call", asm.I32s(4), asm.I32s(1))
	m.Memory(1)
	if len(args) == 0 {
		handles(m, asm.Unreachable())
		return
	}
	var body asm.Code
	if len(args) == 3 {
		body = asm.Drop(asm.Call(call, putAt(m, 8192, args[1]), putAt(m, 16384, args[2])))
	}
	handles(m, asm.Seq(body, asm.Drop(asm.Call(write, asm.I32(0), putAt(m, 1024, args[0]))), asm.I32(0)))
}

func passingGuest(m *asm.Module, operation, request string) {
	read := m.Import("alcove", "read", asm.I32s(3), asm.I32s(1))
	write := m.Import("alcove", "write", asm.I32s(3), asm.I32s(1))
	call := m.Import("alcove", "call", asm.I32s(4), asm.I32s(1))
	m.Memory(2)
	const n = 2 // the local with the response's length; an error's is below zero
	failed := asm.Two(wasm.OpI32LtS, asm.Get(n), asm.I32(0))
	handles(m, asm.Seq(
		asm.Set(n, asm.Call(call, putAt(m, 8192, operation), putAt(m, 16384, request))),
		asm.Drop(asm.Call(write, asm.I32(0), asm.I32(1<<16), asm.Call(read, asm.I32(1), asm.I32(1<<16), asm.I32(1<<15)))),
		failed))
}

func panickingGuest(m *asm.Module, text string) {
	stderr := m.Import(abi.WASIModule, "fd_write", asm.I32s(4), asm.I32s(1))
	m.Memory(1)
	putAt(m, 1024, text+"\n")
	brew := m.Func(asm.Func{Body: asm.Seq(
		asm.Store(wasm.OpI32Store, asm.I32(0), asm.I32(1024)),
		asm.Store(wasm.OpI32Store, asm.I32(4), asm.I32(int32(len(text)+1))),
		asm.Drop(asm.Call(stderr, asm.I32(2), asm.I32(0), asm.I32(1), asm.I32(8))),
		asm.Unreachable())})
	handles(m, asm.Seq(asm.Call(brew), asm.I32(0)))
	const name = "main.brew"
	functions := wasm.AppendName(wasm.AppendU32([]byte{1}, brew), name)
	m.Custom("name", append(wasm.AppendU32([]byte{1}, uint32(len(functions))), functions...))
}
