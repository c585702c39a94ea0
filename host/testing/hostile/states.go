package hostile

import (
	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/sandbox/wasm"
	"github.com/alcove-memory/alcove/host/testing/asm"
)

// states are guests that leave state for the next caller, and trap when they find any. Each is called three
// times.
func states() []Case {
	var all []Case
	add := func(g *guest, name string, class abi.Class, code ...asm.Code) {
		if class == abi.ClassOK {
			code = append(code, g.fine())
		}
		g.handle(code...)
		c := g.ends(name, class)
		c.Requests = 3
		all = append(all, c)
	}
	all = append(all, globals()...)
	one := asm.I32(1)
	for _, at := range []int32{0, 1024, 65535} {
		byteAt := asm.Load(wasm.OpI32Load8U, asm.I32(at))
		add(newGuest(), "a byte of memory at "+decimal(at), abi.ClassOK, expect(byteAt, 0), asm.Store(wasm.OpI32Store8, asm.I32(at), one))
	}
	fill := asm.Seq(asm.I32(2048), asm.I32(255), asm.I32(60_000), asm.Op(wasm.OpMemoryFill, 0))
	add(newGuest(), "much memory", abi.ClassOK, expect(asm.Load(wasm.OpI32Load, asm.I32(40_000)), 0), fill)
	add(newGuest(), "memory that grew", abi.ClassOK, expect(grow(one), 1), asm.Store(wasm.OpI32Store, asm.I32(65536), one))
	read := newGuest()
	add(read, "a request in memory", abi.ClassOK, expect(asm.Load(wasm.OpI32Load8U, asm.I32(5000)), 0),
		expect(asm.Call(read.read, asm.I32(0), asm.I32(5000), asm.I32(2)), 2))
	unread := newGuest()
	unread.Put(text, []byte("config.get"))
	add(unread, "a response that was not read", abi.ClassOK, expect(asm.Call(unread.read, asm.I32(1), asm.I32(5000), one), 0),
		asm.Drop(asm.Call(unread.call, asm.I32(text), asm.I32(10), asm.I32(braces), asm.I32(2))))
	half := newGuest()
	add(half, "a result, and then a trap", abi.ClassTrap, half.fine(), asm.Op(wasm.OpDrop), asm.Unreachable(), asm.I32(0))
	stopped := newGuest()
	global := stopped.Global(wasm.I32, asm.I32(0))
	add(stopped, "what was set before it was stopped", abi.ClassCPU, expect(asm.GetGlobal(global), 0), asm.SetGlobal(global, one), asm.Loop(asm.Br(0)), asm.I32(0))
	data := newGuest()
	segment := data.Passive([]byte("x"))
	add(data, "a data segment that was dropped", abi.ClassOK, asm.I32(2048), asm.I32(0), one, asm.Op(wasm.OpMemoryInit, segment, 0), asm.Op(wasm.OpDataDrop, segment))
	tableStates(add)
	return all
}

// globals are guests that change a global of each type.
func globals() []Case {
	var all []Case
	drop := asm.Op(wasm.OpDrop)
	vector := func(b byte) asm.Code { return asm.Seq(asm.Code{0xfd, 0x0c, b}, make(asm.Code, 15)) }
	null := func(t wasm.ValType) asm.Code { return asm.Op(wasm.OpRefNull, uint32(t)) }
	f32 := func(b byte) asm.Code { return asm.Code{byte(wasm.OpF32Const), 0, 0, 0, b} }
	f64 := func(b byte) asm.Code { return asm.Code{byte(wasm.OpF64Const), 0, 0, 0, 0, 0, 0, 0, b} }
	for _, t := range []struct {
		name          string
		typ           wasm.ValType
		before, after asm.Code
		changed       asm.Code // pushes 0 while the global is unchanged
	}{
		{"i32", wasm.I32, asm.I32(0), asm.I32(1), nil},
		{"i64", wasm.I64, asm.I64(0), asm.I64(1 << 40), asm.Seq(asm.I64(0), asm.Op(wasm.OpI64Ne))},
		{"f32", wasm.F32, f32(0), f32(0x40), asm.Seq(f32(0), asm.Op(wasm.OpF32Ne))},
		{"f64", wasm.F64, f64(0), f64(0x40), asm.Seq(f64(0), asm.Op(wasm.OpF64Ne))},
		{"v128", wasm.V128, vector(0), vector(1), asm.Op(wasm.OpV128AnyTrue)},
		{"funcref", wasm.FuncRef, null(wasm.FuncRef), asm.Op(wasm.OpRefFunc, 3), asm.Seq(asm.Op(wasm.OpRefIsNull), asm.Op(wasm.OpI32Eqz))},
	} {
		g := newGuest()
		global := g.Global(t.typ, t.before)
		f := g.procedure()
		g.Export("f", wasm.KindFunc, f) // ref.func requires an export
		g.Export("g", wasm.KindGlobal, global)
		g.handle(expect(asm.Seq(asm.GetGlobal(global), t.changed), 0), asm.SetGlobal(global, t.after), g.fine())
		c := g.ends("a global of type "+t.name, abi.ClassOK)
		c.Requests = 3
		all = append(all, c)
	}
	// A guest cannot get an externref other than null, so the global can only be set to its old value.
	g := newGuest()
	global := g.Global(wasm.ExternRef, null(wasm.ExternRef))
	g.handle(asm.GetGlobal(global), asm.Op(wasm.OpRefIsNull), drop, asm.SetGlobal(global, null(wasm.ExternRef)), g.fine())
	c := g.ends("a global of type externref", abi.ClassOK)
	c.Requests = 3
	many := newGuest()
	var code asm.Code
	for range 300 {
		g := many.Global(wasm.I32, asm.I32(5))
		code = asm.Seq(code, expect(asm.GetGlobal(g), 5), asm.SetGlobal(g, asm.I32(6)))
	}
	many.handle(code, many.fine())
	m := many.ends("three hundred globals", abi.ClassOK)
	m.Requests = 3
	return append(all, c, m)
}

// tableStates are guests that change a table.
func tableStates(add func(g *guest, name string, class abi.Class, code ...asm.Code)) {
	null := asm.Op(wasm.OpRefNull, uint32(wasm.FuncRef))
	isNull := func(at int32) asm.Code {
		return asm.Seq(asm.I32(at), asm.Op(wasm.OpTableGet, 0), asm.Op(wasm.OpRefIsNull))
	}
	table := func(name string, code func(f uint32) asm.Code) {
		g := newGuest()
		g.Table(10)
		f := g.procedure()
		g.Fill(f)
		g.Elements = append(g.Elements, wasm.Element{Mode: wasm.Passive, Type: wasm.FuncRef, Funcs: []uint32{f}})
		add(g, name, abi.ClassOK, code(f))
	}
	always := func(codes ...asm.Code) func(uint32) asm.Code {
		return func(uint32) asm.Code { return asm.Seq(codes...) }
	}
	table("an element of a table that was removed", always(expect(isNull(0), 0), asm.I32(0), null, asm.Op(wasm.OpTableSet, 0)))
	table("an element of a table that was added", func(f uint32) asm.Code {
		return asm.Seq(expect(isNull(5), 1), asm.I32(5), asm.Op(wasm.OpRefFunc, f), asm.Op(wasm.OpTableSet, 0))
	})
	table("a table that was filled", func(f uint32) asm.Code {
		return asm.Seq(expect(isNull(9), 1), asm.I32(0), asm.Op(wasm.OpRefFunc, f), asm.I32(10), asm.Op(wasm.OpTableFill, 0))
	})
	table("a table that was copied", always(expect(isNull(7), 1), asm.I32(7), asm.I32(0), asm.I32(1), asm.Op(wasm.OpTableCopy, 0, 0)))
	table("a table that grew", always(expect(growTable(0, asm.I32(1)), 10)))
	table("a segment put into a table", always(expect(isNull(3), 1), asm.I32(3), asm.I32(0), asm.I32(1), asm.Op(wasm.OpTableInit, 1, 0)))
	table("an element segment that was dropped", always(asm.I32(3), asm.I32(0), asm.I32(1), asm.Op(wasm.OpTableInit, 1, 0), asm.Op(wasm.OpElemDrop, 1)))
}
