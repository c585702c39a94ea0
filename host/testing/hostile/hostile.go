// Package hostile makes modules that attack a host, each with the class that it must end in, and families that overload it.
package hostile

import (
	"fmt"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/sandbox/wasm"
	"github.com/alcove-memory/alcove/host/testing/asm"
)

// Case is a module, its calls, and their outcome.
type Case struct {
	Name     string
	Module   []byte
	Packed   bool       // it needs a manifest; others are admitted bare
	Limits   abi.Limits // to be admitted with; zero fields: those of Limits
	Kind     abi.Kind   // zero: a tool call
	Payload  string     // empty: {}
	Requests int        // number of calls, all with the same outcome; zero: one
	Class    abi.Class
	Output   string // of ClassOK; empty: {}
}

// Limits are low, so that endless cases end soon.
func Limits() abi.Limits {
	return abi.Limits{CPUMS: 25, WallMS: 2000, MemoryPages: 64, HostCalls: 500, OutputBytes: 128 << 10, CallBytes: 60 << 10}
}

// over returns limits with the case's own applied.
func over(limits, said abi.Limits) abi.Limits {
	own := map[string]int64{}
	said.Each(func(name string, value *int64) { own[name] = *value })
	limits.Each(func(name string, value *int64) {
		if own[name] > 0 {
			*value = own[name]
		}
	})
	return limits
}

// Corpus returns all cases. Their names are unique.
func Corpus() []Case {
	var all []Case
	for _, group := range []struct {
		name  string
		cases func() []Case
	}{
		{"loop", loops}, {"recursion", recursions}, {"growth", growths}, {"bulk", bulks}, {"count", counts},
		{"compile", compileBombs}, {"edge", edges}, {"decoder", decoders}, {"validation", validations}, {"flood", floods},
		{"pointer", pointers}, {"trap", traps}, {"name", names}, {"import", imports}, {"wasi", wasis},
		{"state", states}, {"manifest", manifests}, {"export", exports}, {"answer", answers},
	} {
		for _, c := range group.cases() {
			c.Name = group.name + ": " + c.Name
			c.Limits = over(Limits(), c.Limits)
			all = append(all, c)
		}
	}
	return all
}

// guest is a module being built, with the imports of the ABI and one page of memory.
type guest struct {
	asm.Module
	read, write, call uint32
	wasi              map[string]uint32
}

// newGuest makes a guest that also imports functions of WASI.
func newGuest(wasi ...string) *guest {
	g := &guest{wasi: map[string]uint32{}}
	for _, f := range abi.Imports() {
		g.Import(abi.Module, f.Name, types(f.Params), types(f.Results))
	}
	g.read, g.write, g.call = 0, 1, 2
	for _, f := range abi.WASI() {
		for _, name := range wasi {
			if f.Name == name {
				g.wasi[name] = g.Import(abi.WASIModule, name, types(f.Params), types(f.Results))
			}
		}
	}
	if len(g.wasi) != len(wasi) {
		panic(fmt.Sprintf("hostile: not all of %v are on the list of WASI", wasi))
	}
	g.Memory(1)
	g.Put(braces, []byte("{}"))
	return g
}

func types(list []abi.ValueType) []wasm.ValType {
	var all []wasm.ValType
	for _, t := range list {
		all = append(all, wasm.ValType(t))
	}
	return all
}

// braces is the address of an empty object to answer with, text that of a test's own data.
const (
	braces = 16
	text   = 1024
)

// fine writes an empty object as the result and pushes status 0.
func (g *guest) fine() asm.Code { return g.wrote(braces, 2, 0) }

// wrote writes bytes as the result and pushes a status.
func (g *guest) wrote(at, length, status int32) asm.Code {
	return asm.Seq(asm.Drop(asm.Call(g.write, asm.I32(0), asm.I32(at), asm.I32(length))), asm.I32(status))
}

// handle adds alcove_handle, whose code pushes a status. Locals 0 and 1 are its parameters; 2 to 4 are i32.
func (g *guest) handle(code ...asm.Code) {
	f := asm.Func{Params: asm.I32s(2), Results: asm.I32s(1), Locals: asm.I32s(3), Body: asm.Seq(code...)}
	g.Export("alcove_handle", wasm.KindFunc, g.Func(f))
}

// procedure adds a function without parameters and results. Locals 0 to 2 are i32.
func (g *guest) procedure(code ...asm.Code) uint32 {
	return g.Func(asm.Func{Locals: asm.I32s(3), Body: asm.Seq(code...)})
}

// initialize adds _initialize.
func (g *guest) initialize(code ...asm.Code) {
	g.Export("_initialize", wasm.KindFunc, g.procedure(code...))
}

// starts adds the start function.
func (g *guest) starts(code ...asm.Code) {
	start := g.procedure(code...)
	g.Start = &start
}

// ends is a case of a guest that is called once.
func (g *guest) ends(name string, class abi.Class) Case {
	return Case{Name: name, Module: g.Bytes(), Class: class}
}

// doing is a guest that runs code and then answers.
func doing(name string, class abi.Class, code ...asm.Code) Case {
	g := newGuest()
	g.handle(asm.Seq(code...), g.fine())
	return g.ends(name, class)
}

// expect traps unless code pushes the number.
func expect(code asm.Code, want int32) asm.Code {
	return asm.If(asm.Two(wasm.OpI32Ne, code, asm.I32(want)), asm.Unreachable())
}
