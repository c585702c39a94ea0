package hostile

import (
	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/sandbox/wasm"
	"github.com/alcove-memory/alcove/host/testing/asm"
)

// exports are modules with missing or mistyped exports.
func exports() []Case {
	var all []Case
	add := func(name string, class abi.Class, change func(g *guest)) {
		g := newGuest()
		change(g)
		all = append(all, g.ends(name, class))
	}
	refused := func(name string, change func(g *guest)) { add(name, abi.ClassExport, change) }
	i32s := asm.I32s
	handle := func(name string, params, results []wasm.ValType, body asm.Code) {
		refused("alcove_handle "+name, func(g *guest) {
			g.Export("alcove_handle", wasm.KindFunc, g.Func(asm.Func{Params: params, Results: results, Body: body}))
		})
	}
	refused("nothing but a memory", func(*guest) {})
	handle("without parameters", nil, i32s(1), asm.I32(0))
	handle("with a third parameter", i32s(3), i32s(1), asm.I32(0))
	handle("without a result", i32s(2), nil, nil)
	handle("with two results", i32s(2), i32s(2), asm.Seq(asm.I32(0), asm.I32(0)))
	handle("with a result of 64 bits", i32s(2), []wasm.ValType{wasm.I64}, asm.I64(0))
	handle("with parameters of 64 bits", []wasm.ValType{wasm.I64, wasm.I64}, i32s(1), asm.I32(0))
	refused("alcove_handle as a global", func(g *guest) { g.Export("alcove_handle", wasm.KindGlobal, g.Global(wasm.I32, asm.I32(0))) })
	refused("alcove_handle as a memory", func(g *guest) { g.Export("alcove_handle", wasm.KindMemory, 0) })
	refused("no memory at all", func(g *guest) {
		g.handle(asm.I32(0))
		g.Memories, g.Data, g.Exports = nil, nil, g.Exports[1:]
	})
	refused("a memory of another name", func(g *guest) { g.Exports[0].Name = "mem"; g.handle(g.fine()) })
	refused("a function as the memory", func(g *guest) {
		g.Exports[0] = wasm.Export{Name: "memory", Kind: wasm.KindFunc, Index: 0}
		g.handle(g.fine())
	})
	refused("_initialize with a parameter", func(g *guest) {
		g.Export("_initialize", wasm.KindFunc, g.Func(asm.Func{Params: i32s(1)}))
		g.handle(g.fine())
	})
	refused("_initialize with a result", func(g *guest) {
		g.Export("_initialize", wasm.KindFunc, g.Func(asm.Func{Results: i32s(1), Body: asm.I32(0)}))
		g.handle(g.fine())
	})
	refused("_initialize as a global", func(g *guest) {
		g.Export("_initialize", wasm.KindGlobal, g.Global(wasm.I32, asm.I32(0)))
		g.handle(g.fine())
	})
	add("a _start that never ends, and is not run", abi.ClassOK, func(g *guest) {
		g.Export("_start", wasm.KindFunc, g.procedure(asm.Loop(asm.Br(0))))
		g.handle(g.fine())
	})
	add("a _start that traps, and is not run", abi.ClassOK, func(g *guest) {
		g.Export("_start", wasm.KindFunc, g.procedure(asm.Unreachable()))
		g.handle(g.fine())
	})
	add("an import as _start", abi.ClassOK, func(g *guest) {
		g.Export("_start", wasm.KindFunc, g.read)
		g.handle(g.fine())
	})
	add("allocators that trap, and are not run", abi.ClassOK, func(g *guest) {
		for _, name := range []string{"malloc", "free", "cabi_realloc", "__alloc", "__new", "_start"} {
			g.Export(name, wasm.KindFunc, g.procedure(asm.Unreachable()))
		}
		g.handle(g.fine())
	})
	add("everything exported", abi.ClassCPU, func(g *guest) {
		for _, name := range []string{"a", "b", "c"} {
			g.Export(name, wasm.KindFunc, g.read)
			g.Export("g"+name, wasm.KindGlobal, g.Global(wasm.I64, asm.I64(1)))
		}
		g.handle(asm.Loop(asm.SetGlobal(0, asm.I64(1<<60)), asm.SetGlobal(1, asm.I64(1<<60)), asm.SetGlobal(2, asm.I64(1<<60)), asm.Br(0)), g.fine())
	})
	borrowed := newGuest("args_get")
	borrowed.Export("alcove_handle", wasm.KindFunc, borrowed.wasi["args_get"])
	all = append(all, borrowed.ends("an import as alcove_handle", abi.ClassAnswer))
	yields := newGuest("proc_exit")
	yields.Start = new(uint32)
	*yields.Start = yields.procedure()
	yields.Export("_initialize", wasm.KindFunc, *yields.Start)
	yields.handle(yields.fine())
	return append(all, yields.ends("one function as start function and _initialize", abi.ClassOK))
}
