package hostile

import (
	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/sandbox/wasm"
	"github.com/alcove-memory/alcove/host/testing/asm"
)

func grow(pages asm.Code) asm.Code { return asm.Seq(pages, asm.Op(wasm.OpMemoryGrow, 0)) }

func growTable(table uint32, by asm.Code) asm.Code {
	return asm.Seq(asm.Op(wasm.OpRefNull, uint32(wasm.FuncRef)), by, asm.Op(wasm.OpTableGrow, table))
}

// growths are guests that request more memory or larger tables than they may have.
func growths() []Case {
	touch := asm.Loop( // writes to each page of 4 KiB
		asm.Store(wasm.OpI32Store8, asm.Get(2), asm.I32(1)),
		asm.Set(2, asm.Add(asm.Get(2), asm.I32(4096))),
		asm.BrIf(0, asm.Two(wasm.OpI32LtU, asm.Get(2), asm.Two(wasm.OpI32Shl, asm.Op(wasm.OpMemorySize, 0), asm.I32(16)))))
	all := []Case{
		doing("memory by one page for ever", abi.ClassCPU, asm.Loop(asm.Drop(grow(asm.I32(1))), asm.Br(0))),
		doing("memory by nothing for ever", abi.ClassCPU, asm.Loop(asm.Drop(grow(asm.I32(0))), asm.Br(0))),
		doing("memory until it fails, and then a trap", abi.ClassMemory,
			asm.Loop(asm.BrIf(0, asm.Two(wasm.OpI32Ne, grow(asm.I32(1)), asm.I32(-1)))), asm.Unreachable()),
		doing("memory until it fails", abi.ClassOK, asm.Loop(asm.BrIf(0, asm.Two(wasm.OpI32Ne, grow(asm.I32(1)), asm.I32(-1)))), expect(asm.Op(wasm.OpMemorySize, 0), 64)),
		doing("memory to all that there can be", abi.ClassOK, expect(grow(asm.I32(65535)), -1)),
		doing("memory by four billion pages", abi.ClassOK, expect(grow(asm.I32(-1)), -1)),
		doing("memory one page beyond the limit", abi.ClassOK, expect(grow(asm.I32(64)), -1)),
		doing("memory to the limit, all of it touched", abi.ClassOK, expect(grow(asm.I32(63)), 1), touch),
		doing("a store beyond what was refused", abi.ClassMemory, asm.Drop(grow(asm.I32(64))), asm.Store(wasm.OpI32Store, asm.I32(64<<16), asm.I32(1))),
		initialized("memory to the limit in _initialize", abi.ClassOK, expect(grow(asm.I32(63)), 1)),
		initialized("memory beyond the limit in _initialize", abi.ClassMemory, expect(grow(asm.I32(64)), 1)),
		initialized("memory for ever in _initialize", abi.ClassCPU, asm.Loop(asm.Drop(grow(asm.I32(1))), asm.Br(0))),
		tables("a table by 500 million", abi.ClassOK, expect(growTable(0, asm.I32(500_000_000)), -1)),
		tables("a table by four billion", abi.ClassOK, expect(growTable(0, asm.I32(-1)), -1)),
		tables("a table by one for ever", abi.ClassCPU, asm.Loop(asm.Drop(growTable(0, asm.I32(1))), asm.Br(0))),
		tables("a table by nothing for ever", abi.ClassCPU, asm.Loop(asm.Drop(growTable(0, asm.I32(0))), asm.Br(0))),
		tables("a table by half of what is left, twice", abi.ClassOK, asm.Drop(growTable(0, asm.I32(30_000))), asm.Drop(growTable(0, asm.I32(30_000)))),
		tables("a table until it fails, and then a trap", abi.ClassMemory,
			asm.Loop(asm.BrIf(0, asm.Two(wasm.OpI32Ne, growTable(0, asm.I32(1000)), asm.I32(-1)))), asm.Unreachable()),
	}
	for code, class := range []abi.Class{abi.ClassExit, abi.ClassMemory} {
		g := newGuest("proc_exit")
		g.handle(asm.Drop(grow(asm.I32(64))), invoke(g, "proc_exit", []int32{int32(code)}), g.fine())
		all = append(all, g.ends("memory beyond the limit, and then an exit with "+decimal(int32(code)), class))
	}
	return append(all, declared()...)
}

// initialized is a guest that runs code in _initialize and then answers.
func initialized(name string, class abi.Class, code ...asm.Code) Case {
	g := newGuest()
	g.initialize(code...)
	g.handle(g.fine())
	return g.ends(name, class)
}

// tables is a guest with a table of 10 functions, of which the first is set.
func tables(name string, class abi.Class, code ...asm.Code) Case {
	g := newGuest()
	g.Table(10)
	g.Fill(g.procedure())
	g.handle(asm.Seq(code...), g.fine())
	return g.ends(name, class)
}

// declared are modules whose initial sizes are too large.
func declared() []Case {
	var all []Case
	memory := func(name string, class abi.Class, r wasm.Range) {
		g := newGuest()
		g.Memories[0] = r
		g.handle(g.fine())
		all = append(all, g.ends(name, class))
	}
	memory("a memory that begins at the limit", abi.ClassOK, wasm.Range{Min: 64})
	memory("a memory that begins one page beyond the limit", abi.ClassDeclared, wasm.Range{Min: 65})
	memory("a memory that begins with 4 GiB", abi.ClassDeclared, wasm.Range{Min: 65536})
	memory("a memory of more than 4 GiB", abi.ClassStructure, wasm.Range{Min: 65537})
	memory("a memory of four billion pages", abi.ClassStructure, wasm.Range{Min: 1<<32 - 1})
	memory("a memory that may become 4 GiB", abi.ClassOK, wasm.Range{Min: 1, Max: 65536, HasMax: true})
	memory("a memory that may become larger than 4 GiB", abi.ClassStructure, wasm.Range{Min: 1, Max: 65537, HasMax: true})
	memory("a memory whose maximum is below its minimum", abi.ClassStructure, wasm.Range{Min: 2, Max: 1, HasMax: true})
	memory("a memory without pages", abi.ClassTrap, wasm.Range{})
	table := func(name string, class abi.Class, sizes ...wasm.Range) {
		g := newGuest()
		for _, s := range sizes {
			g.Tables = append(g.Tables, wasm.Table{Type: wasm.FuncRef, Range: s})
		}
		g.handle(g.fine())
		all = append(all, g.ends(name, class))
	}
	half := wasm.Range{Min: 40_000}
	table("a table of 500 million", abi.ClassDeclared, wasm.Range{Min: 500_000_000})
	table("a table of four billion", abi.ClassDeclared, wasm.Range{Min: 1<<32 - 1})
	table("two tables that are too large together", abi.ClassDeclared, half, half)
	table("a table as large as it may be", abi.ClassOK, wasm.Range{Min: 65536})
	table("a table that may become four billion", abi.ClassOK, wasm.Range{Max: 1<<32 - 1, HasMax: true})
	table("a table whose maximum is below its minimum", abi.ClassStructure, wasm.Range{Min: 2, Max: 1, HasMax: true})
	table("a hundred tables", abi.ClassStructure, make([]wasm.Range, 100)...)
	return all
}
