package hostile

import (
	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/sandbox/wasm"
	"github.com/alcove-memory/alcove/host/testing/asm"
)

// piece is named code.
type piece struct {
	name string
	code asm.Code
}

// endless are loops that do not end. They use the i32 locals 2 and 3.
func endless() []piece {
	one := asm.I32(1)
	next := asm.Set(2, asm.Add(asm.Get(2), one))
	blocks := func(n int, inside asm.Code) asm.Code {
		for range n {
			inside = asm.Block(inside)
		}
		return inside
	}
	return []piece{
		{"br", asm.Loop(asm.Br(0))},
		{"br_if on a constant", asm.Loop(asm.BrIf(0, one))},
		{"br_if on what is computed", asm.Loop(next, asm.BrIf(0, asm.Two(wasm.OpI32Or, asm.Get(2), one)))},
		{"br_table by index", asm.Loop(asm.BrTable(asm.I32(0), 0, 0))},
		{"br_table by default", asm.Loop(asm.BrTable(asm.I32(-1), 0, 0, 0))},
		{"br_table without labels", asm.Loop(asm.BrTable(asm.Get(2), 0))},
		{"nested, the outer one", asm.Loop(asm.Loop(asm.Set(3, asm.Two(wasm.OpI32RemU, asm.Add(asm.Get(3), one), asm.I32(7))), asm.BrIf(0, asm.Get(3))), asm.Br(0))},
		{"nested, the inner one", asm.Loop(asm.Loop(asm.Br(0)))},
		{"nested, to the outer from the inner", asm.Loop(asm.Loop(asm.Br(1)))},
		{"out of a hundred blocks", asm.Loop(blocks(100, asm.Br(100)))},
		{"from both arms of an if", asm.Loop(asm.Get(2), asm.Op(wasm.OpIf, 0x40), asm.Br(1), asm.Op(wasm.OpElse), asm.Br(1), asm.Op(wasm.OpEnd))},
		{"with a value", asm.Seq(asm.I32(0), asm.Op(wasm.OpLoop, uint32(wasm.I32)), asm.I32(5), asm.Op(wasm.OpDrop), asm.Br(0), asm.Op(wasm.OpEnd), asm.Op(wasm.OpDrop), asm.Op(wasm.OpDrop))},
		{"behind a loop that ends", asm.Seq(asm.Loop(next, asm.BrIf(0, asm.Two(wasm.OpI32LtU, asm.Get(2), asm.I32(1000)))), asm.Loop(asm.Br(0)))},
		{"that divides", asm.Loop(asm.Set(2, asm.Two(wasm.OpI32DivU, asm.I32(-1), asm.Two(wasm.OpI32Or, asm.Get(2), one))), asm.Br(0))},
		{"that loads and stores", asm.Loop(asm.Store(wasm.OpI32Store, asm.I32(64), asm.Add(asm.Load(wasm.OpI32Load, asm.I32(64)), one)), asm.Br(0))},
		{"that misses every cache", asm.Loop(asm.Set(2, asm.Two(wasm.OpI32And, asm.Add(asm.Two(wasm.OpI32Mul, asm.Get(2), asm.I32(1103515245)), asm.I32(12345)), asm.I32(0xfff8))),
			asm.Store(wasm.OpI64Store, asm.Get(2), asm.I64(1)), asm.Br(0))},
		{"of vectors", asm.Loop(asm.Drop(asm.Seq(asm.Get(2), asm.Op(wasm.OpI32x4Splat), asm.Get(3), asm.Op(wasm.OpI32x4Splat), asm.Op(wasm.OpI32x4Mul))), asm.Br(0))},
		{"of square roots", asm.Loop(asm.Drop(asm.Seq(asm.Get(2), asm.Op(wasm.OpF64ConvertI32S), asm.Op(wasm.OpF64Sqrt))), asm.Br(0))},
		{"with much straight code", asm.Loop(repeated(2000, next), asm.Br(0))},
	}
}

func repeated(n int, c asm.Code) asm.Code {
	var all asm.Code
	for range n {
		all = append(all, c...)
	}
	return all
}

// loops are guests that loop for ever, in every place where code can run.
func loops() []Case {
	var all []Case
	for _, l := range endless() {
		all = append(all, doing(l.name, abi.ClassCPU, l.code))
	}
	for _, l := range endless()[:7] {
		all = append(all, elsewhere(l)...)
	}
	spin := asm.Loop(asm.Br(0))
	fuel := doing("br until the fuel is used up", abi.ClassFuel, spin)
	fuel.Limits = abi.Limits{Fuel: 1_000_000}
	wall := doing("br until the deadline", abi.ClassWall, spin)
	wall.Limits = abi.Limits{WallMS: 20, CPUMS: 5000}
	return append(all, fuel, wall, countdown())
}

// countdown is a loop of some centuries.
func countdown() Case {
	g := newGuest()
	body := asm.Loop(
		asm.Seq(asm.Get(0), asm.I64(1), asm.Op(wasm.OpI64Sub), asm.Op(wasm.OpLocalTee, 0), asm.I64(0), asm.Op(wasm.OpI64Ne)),
		asm.Op(wasm.OpBrIf, 0))
	count := g.Func(asm.Func{Params: []wasm.ValType{wasm.I64}, Body: body})
	g.handle(asm.Call(count, asm.I64(1<<62)), g.fine())
	return g.ends("counting down from 2 to the 62", abi.ClassCPU)
}

// elsewhere places a loop outside of alcove_handle.
func elsewhere(l piece) []Case {
	shifted := l.code // procedures have i32 locals 0 to 2, so the code's local 3 does not exist there
	if l.name == "nested, the outer one" {
		shifted = asm.Loop(asm.Loop(asm.BrIf(0, asm.Get(2))), asm.Br(0))
	}
	callee := newGuest()
	callee.handle(asm.Call(callee.procedure(shifted)), callee.fine())
	indirect := newGuest()
	f := indirect.procedure(shifted)
	indirect.Table(1)
	indirect.Fill(f)
	indirect.handle(asm.CallIndirect(indirect.Functions[f-indirect.Imported(wasm.KindFunc)], asm.I32(0)), indirect.fine())
	start := newGuest()
	start.starts(shifted)
	start.handle(start.fine())
	initialize := newGuest()
	initialize.initialize(shifted)
	initialize.handle(initialize.fine())
	late := newGuest()
	late.handle(late.fine(), asm.Op(wasm.OpDrop), l.code, asm.I32(0))
	return []Case{
		callee.ends(l.name+", in a function that is called", abi.ClassCPU),
		indirect.ends(l.name+", in a function that is called through a table", abi.ClassCPU),
		start.ends(l.name+", in the start function", abi.ClassCPU),
		initialize.ends(l.name+", in _initialize", abi.ClassCPU),
		late.ends(l.name+", after the result was written", abi.ClassCPU),
	}
}
