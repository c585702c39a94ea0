package hostile

import (
	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/sandbox/wasm"
	"github.com/alcove-memory/alcove/host/testing/asm"
)

// validations are modules that can be decoded and violate a rule. Some would become valid if a rewriter added to them
// without looking.
func validations() []Case {
	var all []Case
	code := func(name string, code asm.Code) { all = append(all, doing(name, abi.ClassStructure, code)) }
	drop := asm.Op(wasm.OpDrop)
	code("a global behind the last, where fuel will be", asm.Seq(asm.I64(1<<62), asm.Op(wasm.OpGlobalSet, 0)))
	code("reading the global behind the last", asm.Seq(asm.GetGlobal(0), drop))
	code("a function behind the last, where the rewriter adds its own", asm.Call(4))
	code("a function far behind the last", asm.Call(1<<31))
	code("a table behind the last", asm.Seq(asm.I32(0), asm.Op(wasm.OpTableGet, 0), drop))
	code("a type behind the last", asm.CallIndirect(1000, asm.I32(0)))
	code("a data segment that there is not", asm.Op(wasm.OpDataDrop, 7))
	code("an element segment that there is not", asm.Op(wasm.OpElemDrop, 0))
	code("a local that there is not", asm.Drop(asm.Get(5)))
	code("a label that there is not", asm.Br(1))
	code("a label of br_table that there is not", asm.BrTable(asm.I32(0), 0, 9))
	code("an operand that is missing", drop)
	code("an operand of another type", asm.Seq(asm.I64(0), asm.I32(0), asm.Op(wasm.OpI32Add), drop))
	code("a value that is left", asm.I32(1))
	code("a branch without its value", asm.Seq(asm.Op(wasm.OpBlock, uint32(wasm.I32)), asm.Br(0), asm.Op(wasm.OpEnd), asm.I64(0), asm.Op(wasm.OpI64Add), drop))
	code("an else without an if", asm.Block(asm.Op(wasm.OpElse)))
	code("an end too many", asm.Op(wasm.OpEnd))
	code("an end too few", asm.Op(wasm.OpBlock, 0x40))
	code("an if without an else that should give a value", asm.Seq(asm.I32(1), asm.Op(wasm.OpIf, uint32(wasm.I32)), asm.I32(1), asm.Op(wasm.OpEnd), drop))
	code("an alignment larger than the value", asm.Seq(asm.I32(0), asm.Op(wasm.OpI32Load, 3, 0), drop))
	code("a reference to a function that was not declared", asm.Seq(asm.Op(wasm.OpRefFunc, 0), drop))
	code("a select of references without a type", asm.Seq(asm.Op(wasm.OpRefNull, 0x70), asm.Op(wasm.OpRefNull, 0x70), asm.I32(0), asm.Op(wasm.OpSelect), drop))
	code("nonsense behind unreachable", asm.Seq(asm.Unreachable(), asm.I64(0), asm.Op(wasm.OpI32Eqz), drop))
	return append(all, invalidModules()...)
}

// invalidModules break a rule outside of code.
func invalidModules() []Case {
	var all []Case
	add := func(name string, change func(g *guest)) {
		g := newGuest()
		g.handle(g.fine())
		change(g)
		all = append(all, g.ends(name, abi.ClassStructure))
	}
	fixed := wasm.GlobalType{Type: wasm.I32}
	init := func(c asm.Code) func(g *guest) {
		return func(g *guest) { g.Globals = append(g.Globals, wasm.Global{GlobalType: fixed, Init: asm.Const(c)}) }
	}
	index := func(i uint32) *uint32 { return &i }
	add("a start function with parameters", func(g *guest) { g.Start = index(0) })
	add("a start function that there is not", func(g *guest) { g.Start = index(99) })
	add("two exports of one name", func(g *guest) { g.Export("memory", wasm.KindMemory, 0) })
	add("an export of a function that there is not", func(g *guest) { g.Export("x", wasm.KindFunc, 4) })
	add("an export of a global that there is not, where fuel will be", func(g *guest) { g.Export("x", wasm.KindGlobal, 0) })
	add("an export of a table that there is not", func(g *guest) { g.Export("x", wasm.KindTable, 0) })
	add("a global that is computed", init(asm.Add(asm.I32(1), asm.I32(1))))
	add("a global of another type", init(asm.I64(1)))
	add("a global from one that comes later", init(asm.GetGlobal(0)))
	add("a global without a value", init(nil))
	add("a function of a type that there is not", func(g *guest) { g.Functions[0] = 99 })
	add("an element segment for a table that there is not", func(g *guest) { g.Fill(0) })
	add("an element segment of a function that there is not", func(g *guest) { g.Table(1); g.Fill(4) })
	add("an element segment of another type", func(g *guest) {
		g.Table(1)
		g.Elements = append(g.Elements, wasm.Element{Mode: wasm.Active, At: asm.Const(asm.I32(0)), Type: wasm.ExternRef, Exprs: []wasm.Expr{}})
	})
	add("a data segment for a memory that there is not", func(g *guest) {
		g.Data = append(g.Data, wasm.Data{Mode: wasm.Active, Memory: 1, At: asm.Const(asm.I32(0))})
	})
	add("memory.init without a count of segments", func(g *guest) {
		g.Data = append(g.Data, wasm.Data{Mode: wasm.Passive, Bytes: []byte{1}})
		g.procedure(asm.I32(0), asm.I32(0), asm.I32(0), asm.Op(wasm.OpMemoryInit, 1, 0))
	})
	return all
}
