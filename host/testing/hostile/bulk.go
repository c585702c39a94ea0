package hostile

import (
	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/sandbox/wasm"
	"github.com/alcove-memory/alcove/host/testing/asm"
)

// bulks are guests that move much memory with one instruction, or pass it invalid ranges.
func bulks() []Case {
	const all = 64 << 16 // all memory, once grown
	three := func(op wasm.Opcode, a, b, c int32, indexes ...uint32) asm.Code {
		return asm.Seq(asm.I32(a), asm.I32(b), asm.I32(c), asm.Op(op, indexes...))
	}
	fill := func(at, n int32) asm.Code { return three(wasm.OpMemoryFill, at, 7, n, 0) }
	copied := func(to, from, n int32) asm.Code { return three(wasm.OpMemoryCopy, to, from, n, 0, 0) }
	forever := func(c asm.Code) asm.Code { return asm.Loop(c, asm.Br(0)) }
	grown := asm.Drop(grow(asm.I32(63)))
	cases := []Case{
		doing("filling all memory for ever", abi.ClassCPU, grown, forever(fill(0, all))),
		doing("copying all memory for ever", abi.ClassCPU, grown, forever(copied(1, 0, all-1))),
		doing("copying backwards for ever", abi.ClassCPU, grown, forever(copied(0, 1, all-1))),
		doing("filling nothing for ever", abi.ClassCPU, forever(fill(0, 0))),
		doing("ten thousand fills without a loop", abi.ClassCPU, grown, repeated(10_000, fill(0, all))),
		doing("ten thousand fills of as many bytes as there are pages", abi.ClassOK, repeated(10_000, asm.Seq(asm.I32(0), asm.I32(7), asm.Op(wasm.OpMemorySize, 0), asm.Op(wasm.OpMemoryFill, 0)))),
		doing("ten thousand copies of as many bytes as there are pages", abi.ClassOK, repeated(10_000, asm.Seq(asm.I32(8), asm.I32(4), asm.Op(wasm.OpMemorySize, 0), asm.Op(wasm.OpMemoryCopy, 0, 0)))),
		doing("a fill past the end", abi.ClassTrap, fill(65535, 2)),
		doing("a fill of four billion bytes", abi.ClassTrap, fill(0, -1)),
		doing("a fill that wraps", abi.ClassTrap, fill(-16, 32)),
		doing("a fill of nothing past the end", abi.ClassTrap, fill(65537, 0)),
		doing("a fill of nothing at the end", abi.ClassOK, fill(65536, 0)),
		doing("a copy from past the end", abi.ClassTrap, copied(0, 65535, 2)),
		doing("a copy to past the end", abi.ClassTrap, copied(65535, 0, 2)),
		doing("a copy that wraps", abi.ClassTrap, copied(-1, -1, 2)),
		doing("a copy of two billion bytes", abi.ClassTrap, copied(0, 0, 1<<31-1)),
	}
	segment := func(name string, class abi.Class, size int, code func(data uint32) asm.Code) {
		g := newGuest()
		data := g.Passive(make([]byte, size))
		g.handle(code(data), g.fine())
		cases = append(cases, g.ends(name, class))
	}
	initial := func(at, from, n int32) func(uint32) asm.Code {
		return func(data uint32) asm.Code { return three(wasm.OpMemoryInit, at, from, n, data, 0) }
	}
	segment("a segment for ever", abi.ClassCPU, 60_000, func(d uint32) asm.Code { return forever(initial(2048, 0, 60_000)(d)) })
	segment("a segment past its end", abi.ClassTrap, 8, initial(2048, 4, 5))
	segment("a segment past the end of memory", abi.ClassTrap, 8, initial(65532, 0, 8))
	segment("a segment that wraps", abi.ClassTrap, 8, initial(2048, -1, 2))
	segment("a segment that was dropped", abi.ClassTrap, 8, func(d uint32) asm.Code {
		return asm.Seq(asm.Op(wasm.OpDataDrop, d), initial(2048, 0, 1)(d))
	})
	segment("dropping a segment for ever", abi.ClassCPU, 8, func(d uint32) asm.Code { return forever(asm.Op(wasm.OpDataDrop, d)) })
	return append(cases, tableBulks(three, forever)...)
}

// tableBulks are the same with tables.
func tableBulks(three func(wasm.Opcode, int32, int32, int32, ...uint32) asm.Code, forever func(asm.Code) asm.Code) []Case {
	const size = 30_000
	fill := func(at, n int32) asm.Code {
		return asm.Seq(asm.I32(at), asm.Op(wasm.OpRefNull, uint32(wasm.FuncRef)), asm.I32(n), asm.Op(wasm.OpTableFill, 0))
	}
	copied := func(to, from, n int32) asm.Code { return three(wasm.OpTableCopy, to, from, n, 0, 0) }
	var all []Case
	add := func(name string, class abi.Class, code func(elements uint32) asm.Code) {
		g := newGuest()
		g.Table(size)
		f := g.procedure()
		g.Elements = append(g.Elements, wasm.Element{Mode: wasm.Passive, Type: wasm.FuncRef, Funcs: []uint32{f, f, f}})
		g.handle(code(0), g.fine())
		all = append(all, g.ends(name, class))
	}
	always := func(c asm.Code) func(uint32) asm.Code { return func(uint32) asm.Code { return c } }
	add("filling a table for ever", abi.ClassCPU, always(forever(fill(0, size))))
	add("copying a table for ever", abi.ClassCPU, always(forever(copied(1, 0, size-1))))
	add("a table's segment for ever", abi.ClassCPU, func(e uint32) asm.Code { return forever(three(wasm.OpTableInit, 0, 0, 3, e, 0)) })
	add("filling a table past its end", abi.ClassTrap, always(fill(size-1, 2)))
	add("filling a table by four billion", abi.ClassTrap, always(fill(0, -1)))
	add("copying a table past its end", abi.ClassTrap, always(copied(0, size-1, 2)))
	add("copying a table such that it wraps", abi.ClassTrap, always(copied(-1, -1, 2)))
	add("a table's segment past its end", abi.ClassTrap, func(e uint32) asm.Code { return three(wasm.OpTableInit, 0, 1, 3, e, 0) })
	add("a table's segment that was dropped", abi.ClassTrap, func(e uint32) asm.Code {
		return asm.Seq(asm.Op(wasm.OpElemDrop, e), three(wasm.OpTableInit, 0, 0, 1, e, 0))
	})
	return all
}
