package hostile

import (
	"math"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/sandbox/wasm"
	"github.com/alcove-memory/alcove/host/testing/asm"
)

// traps are guests that trap in every way, in handlers, start functions and host calls. The next request succeeds.
func traps() []Case {
	var all []Case
	code := func(name string, code ...asm.Code) { all = append(all, doing(name, abi.ClassTrap, code...)) }
	drop := asm.Op(wasm.OpDrop)
	nan := asm.Seq(asm.Code{byte(wasm.OpF64Const)}, make(asm.Code, 6), asm.Code{0xf8, 0x7f})
	code("unreachable", asm.Unreachable())
	code("division by zero", asm.Two(wasm.OpI32DivS, asm.I32(1), asm.Get(2)), drop)
	code("remainder of zero", asm.Two(wasm.OpI64RemU, asm.I64(1), asm.I64(0)), drop)
	code("a quotient that is too large", asm.Two(wasm.OpI32DivS, asm.I32(math.MinInt32), asm.I32(-1)), drop)
	code("not a number as an integer", nan, asm.Op(wasm.OpI32TruncF64S), drop)
	code("a load past the end", asm.Load(wasm.OpI32Load, asm.I32(65533)), drop)
	code("a load with an offset that wraps", asm.I32(-1), asm.Op(wasm.OpI32Load, 0, 1<<32-1), drop)
	code("a vector load past the end", asm.I32(65521), asm.Op(wasm.OpV128Load, 0, 0), drop)
	code("a store past the end", asm.Store(wasm.OpI64Store, asm.I32(65529), asm.I64(1)))
	code("a store at a negative address", asm.Store(wasm.OpI32Store8, asm.I32(-1), asm.I32(1)))
	g := newGuest()
	g.handle(g.fine(), drop, asm.Unreachable())
	all = append(all, g.ends("after the result was written", abi.ClassTrap))
	g = newGuest()
	g.Put(text, []byte("config.get"))
	g.handle(asm.Drop(asm.Call(g.call, asm.I32(text), asm.I32(10), asm.I32(braces), asm.I32(2))), asm.Unreachable())
	all = append(all, g.ends("after a host call", abi.ClassTrap))
	g = newGuest()
	f := g.procedure(asm.Unreachable())
	for range 100 {
		f = g.procedure(asm.Call(f))
	}
	g.handle(asm.Call(f), g.fine())
	all = append(all, g.ends("a hundred calls deep", abi.ClassTrap))
	for _, p := range []piece{{"unreachable", asm.Unreachable()}, {"division by zero", asm.Drop(asm.Two(wasm.OpI32DivU, asm.I32(1), asm.Get(0)))}} {
		start := newGuest()
		start.starts(p.code)
		start.handle(start.fine())
		all = append(all, start.ends(p.name+" in the start function", abi.ClassTrap), initialized(p.name+" in _initialize", abi.ClassTrap, p.code))
	}
	return append(append(all, indirect()...), segments()...)
}

// indirect are invalid calls through tables.
func indirect() []Case {
	var all []Case
	add := func(name string, index asm.Code, params int) {
		g := newGuest()
		g.Table(4)
		g.Fill(g.procedure())
		typ := g.Type(asm.I32s(params), nil)
		var arguments []asm.Code
		for range params {
			arguments = append(arguments, asm.I32(0))
		}
		g.handle(asm.CallIndirect(typ, index, arguments...), g.fine())
		all = append(all, g.ends(name, abi.ClassTrap))
	}
	add("an indirect call of another type", asm.I32(0), 1)
	add("an indirect call of nothing", asm.I32(1), 0)
	add("an indirect call past the end of the table", asm.I32(4), 0)
	add("an indirect call with a negative index", asm.I32(-1), 0)
	drop := asm.Op(wasm.OpDrop)
	null := asm.Op(wasm.OpRefNull, uint32(wasm.FuncRef))
	removed := newGuest()
	removed.Table(1)
	removed.Fill(removed.procedure())
	void := removed.Functions[0]
	removed.handle(asm.I32(0), null, asm.Op(wasm.OpTableSet, 0), asm.CallIndirect(void, asm.I32(0)), removed.fine())
	return append(all, removed.ends("a call of what was just removed", abi.ClassTrap),
		tables("table.get past the end", abi.ClassTrap, asm.I32(10), asm.Op(wasm.OpTableGet, 0), drop),
		tables("table.set past the end", abi.ClassTrap, asm.I32(-1), null, asm.Op(wasm.OpTableSet, 0)))
}

// segments do not fit when the instance is made. Table segments are checked at admission: wazero would
// skip such a segment and all later ones instead of trapping.
func segments() []Case {
	var all []Case
	for _, at := range []int32{65530, 65536, -1, math.MinInt32} {
		g := newGuest()
		g.handle(g.fine())
		g.Put(at, []byte("1234567"))
		all = append(all, g.ends("a data segment at "+decimal(at), abi.ClassTrap))
	}
	for _, at := range []int32{4, -1} {
		g := newGuest()
		f := g.procedure()
		g.handle(g.fine())
		g.Table(4)
		g.Elements = append(g.Elements, wasm.Element{Mode: wasm.Active, At: asm.Const(asm.I32(at)), Type: wasm.FuncRef, Funcs: []uint32{f}})
		all = append(all, g.ends("an element segment at "+decimal(at), abi.ClassStructure))
	}
	return all
}
