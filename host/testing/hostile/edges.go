package hostile

import (
	"fmt"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/sandbox/wasm"
	"github.com/alcove-memory/alcove/host/testing/asm"
)

// edges are modules exactly at a limit, and modules one above it.
func edges() []Case {
	var all []Case
	l := abi.DefaultModuleLimits()
	both := func(name string, most int64, fill func(g *guest, n int)) {
		for more := range 2 {
			g := newGuest()
			fill(g, int(most)+more)
			if g.Exported("alcove_handle") == nil {
				g.handle(g.fine())
			}
			c := g.ends(fmt.Sprintf("%s at the limit", name), abi.ClassOK)
			if more > 0 {
				c = g.ends(name+" above the limit", abi.ClassStructure)
			}
			all = append(all, c)
		}
	}
	void := func(g *guest) uint32 { return g.Type(nil, nil) }
	both("types", l.Types, func(g *guest, n int) {
		g.handle(g.fine())
		for len(g.Types) < n {
			void(g)
		}
	})
	both("parameters", l.Params, func(g *guest, n int) { g.Func(asm.Func{Params: asm.I32s(n)}) })
	both("results", l.Results, func(g *guest, n int) { g.Func(asm.Func{Results: asm.I32s(n), Body: asm.Unreachable()}) })
	both("imports", l.Imports, func(g *guest, n int) {
		for len(g.Imports) < n {
			g.Imports = append(g.Imports, g.Imports[0])
		}
	})
	both("tables", l.Tables, func(g *guest, n int) {
		set := asm.Seq(asm.I32(0), asm.Op(wasm.OpRefNull, uint32(wasm.FuncRef)))
		for range n {
			g.procedure(set, asm.Op(wasm.OpTableSet, g.Table(1))) // a table that is written is copied
		}
	})
	both("globals", l.Globals, func(g *guest, n int) {
		for range n {
			g.Global(wasm.I32, asm.I32(0))
		}
		g.handle(asm.SetGlobal(0, asm.I32(1)), g.fine())
	})
	both("exports", l.Exports, func(g *guest, n int) {
		g.handle(g.fine())
		for i := len(g.Exports); i < n; i++ {
			g.Export(fmt.Sprint("x", i), wasm.KindFunc, 0)
		}
	})
	both("element segments", l.Elements, func(g *guest, n int) {
		g.Table(1)
		for range n {
			g.Fill(0)
		}
	})
	both("data segments", l.Data, func(g *guest, n int) {
		for len(g.Data) < n {
			g.Put(braces, []byte("{}"))
		}
	})
	both("locals", l.Locals, func(g *guest, n int) { g.group(n) })
	both("operands", l.Operands, func(g *guest, n int) {
		g.procedure(repeated(n, asm.I32(1)), repeated(n, asm.Op(wasm.OpDrop)))
	})
	both("bytes of a body", l.BodyBytes, func(g *guest, n int) {
		g.Functions = append(g.Functions, void(g))
		body := append(repeated(n-2, asm.Op(wasm.OpNop)), byte(wasm.OpEnd)) // the count of local groups is one byte more
		g.Codes = append(g.Codes, wasm.Code{Body: body})
	})
	both("nested blocks", l.Nesting, func(g *guest, n int) {
		g.procedure(repeated(n, asm.Op(wasm.OpBlock, 0x40)), repeated(n, asm.Op(wasm.OpEnd)))
	})
	both("labels", l.Branches, func(g *guest, n int) { g.procedure(asm.BrTable(asm.I32(0), make([]uint32, n+1)...)) })
	both("custom sections", l.Customs, func(g *guest, n int) {
		for range n {
			g.Custom("x", nil)
		}
	})
	both("letters in a name", l.NameBytes, func(g *guest, n int) { g.Export(string(make([]byte, n)), wasm.KindFunc, 0) })
	return all
}

// group adds a function with the given number of 64-bit locals.
func (g *guest) group(locals int) {
	g.Functions = append(g.Functions, g.Type(nil, nil))
	groups := []wasm.LocalGroup{{Count: uint32(locals), Type: wasm.I64}}
	g.Codes = append(g.Codes, wasm.Code{Locals: groups, Body: []byte{byte(wasm.OpEnd)}})
}
