package hostile

import (
	"fmt"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/sandbox/wasm"
	"github.com/alcove-memory/alcove/host/testing/asm"
)

// preamble begins every module.
const preamble = "\x00asm\x01\x00\x00\x00"

// raw is a module of the given sections.
func raw(sections ...[]byte) []byte {
	out := []byte(preamble)
	for _, s := range sections {
		out = append(out, s...)
	}
	return out
}

// section is a section with the given content.
func section(id byte, content ...byte) []byte {
	return append(wasm.AppendU32([]byte{id}, uint32(len(content))), content...)
}

// many are counts beyond any module's size.
func many() []struct {
	name  string
	value uint32
} {
	return []struct {
		name  string
		value uint32
	}{{"four billion", 1<<32 - 1}, {"two billion", 1 << 31}, {"a hundred million", 100_000_000}}
}

// counts are modules of a few bytes that claim very large counts.
func counts() []Case {
	var all []Case
	add := func(name string, sections ...[]byte) {
		all = append(all, Case{Name: name, Module: raw(sections...), Class: abi.ClassStructure})
	}
	sections := []string{1: "types", 2: "imports", 3: "functions", 4: "tables", 5: "memories", 6: "globals", 7: "exports", 9: "element segments", 10: "bodies", 11: "data segments"}
	for id, name := range sections {
		if name == "" {
			continue
		}
		for _, m := range many() {
			add(fmt.Sprintf("%s %s", m.name, name), section(byte(id), wasm.AppendU32(nil, m.value)...))
		}
	}
	void := section(1, 1, 0x60, 0, 0)
	one := section(3, 1, 0)
	for _, m := range many() {
		n := wasm.AppendU32(nil, m.value)
		with := func(before []byte, after ...byte) []byte { return append(append(before, n...), after...) }
		add(m.name+" parameters", section(1, with([]byte{1, 0x60})...))
		add(m.name+" results", section(1, with([]byte{1, 0x60, 0})...))
		add(m.name+" letters in a name", section(2, with([]byte{1})...))
		add(m.name+" letters in the name of a section", section(0, with(nil)...))
		add(m.name+" functions in an element segment", section(4, 1, 0x70, 0, 1), section(9, with([]byte{1, 0, 0x41, 0, 0x0b})...))
		add(m.name+" bytes in a data segment", section(5, 1, 0, 1), section(11, with([]byte{1, 0, 0x41, 0, 0x0b})...))
		add(m.name+" bytes in a body", void, one, section(10, with([]byte{1})...))
		add(m.name+" bytes in a section", with([]byte{1}))
		add(m.name+" groups of locals", void, one, section(10, with([]byte{1, 10})...))
		body := append(wasm.AppendU32(nil, uint32(len(n)+3)), with([]byte{1}, 0x7f, 0x0b)...)
		add(m.name+" locals", void, one, section(10, append([]byte{1}, body...)...))
		labels := append(append([]byte{0, 0x41, 0, 0x0e}, n...), 0, 0x0b)
		add(m.name+" labels of a br_table", void, one, section(10, append(wasm.AppendU32([]byte{1}, uint32(len(labels))), labels...)...))
	}
	half := wasm.AppendU32(nil, 1<<31)
	overflow := asm.Seq(asm.Code{2}, half, asm.Code{byte(wasm.I32)}, half, asm.Code{byte(wasm.I64), 0x0b}) // two groups, and the end
	add("locals whose number wraps", void, one, section(10, append(wasm.AppendU32([]byte{1}, uint32(len(overflow))), overflow...)...))
	add("more functions than bodies", void, section(3, 2, 0, 0), section(10, 1, 2, 0, 0x0b))
	add("more bodies than functions", void, one, section(10, 2, 2, 0, 0x0b, 2, 0, 0x0b))
	add("bodies without functions", void, section(10, 1, 2, 0, 0x0b))
	add("functions without bodies", void, one)
	add("a wrong count of data segments", section(5, 1, 0, 1), section(12, 2), section(11, 1, 0, 0x41, 0, 0x0b, 0))
	add("a thousand custom sections", repeatedSection(1000, section(0, 1, 'x')))
	return append(all, nameSections()...)
}

func repeatedSection(n int, s []byte) []byte {
	var all []byte
	for range n {
		all = append(all, s...)
	}
	return all
}

// nameSections claim very many names. Names are for debuggers: the host drops them unread.
func nameSections() []Case {
	var all []Case
	for id, what := range []string{"the module", "functions", "locals"} {
		g := newGuest()
		g.handle(g.fine())
		huge := wasm.AppendU32(nil, 1<<32-1)
		g.Custom("name", append([]byte{byte(id), byte(len(huge))}, huge...))
		all = append(all, g.ends("four billion names for "+what, abi.ClassOK))
	}
	return all
}

// compileBombs are valid modules that compile slowly, or would if they were admitted.
func compileBombs() []Case {
	var all []Case
	body := func(name string, class abi.Class, code asm.Code) {
		all = append(all, doing(name, class, code))
	}
	nested := func(n int, op wasm.Opcode, before, inside asm.Code) asm.Code {
		var code asm.Code
		for range n {
			code = append(append(code, before...), asm.Op(op, 0x40)...)
		}
		return asm.Seq(code, inside, repeated(n, asm.Op(wasm.OpEnd)))
	}
	nop := asm.Op(wasm.OpNop)
	for _, n := range []int{50_000, 2_000} {
		class := map[bool]abi.Class{true: abi.ClassStructure, false: abi.ClassOK}[n > 10_000]
		body(fmt.Sprintf("%d nested blocks", n), class, nested(n, wasm.OpBlock, nil, nop))
		body(fmt.Sprintf("%d nested loops", n), class, nested(n, wasm.OpLoop, nil, nop))
		body(fmt.Sprintf("%d nested ifs", n), class, nested(n, wasm.OpIf, asm.Get(0), nop))
	}
	wide := func(n uint32) asm.Code { return asm.Block(asm.BrTable(asm.Get(0), make([]uint32, n+1)...)) }
	body("a br_table of 100000 labels", abi.ClassStructure, wide(100_000))
	body("a br_table of 19000 labels", abi.ClassOK, wide(19_000))
	body("values of 100000 constants", abi.ClassStructure, asm.Seq(repeated(100_000, asm.I32(1)), repeated(100_000, asm.Op(wasm.OpDrop))))
	body("a body of three megabytes", abi.ClassStructure, repeated(3<<20, nop))
	body("half a megabyte of additions", abi.ClassOK, asm.Seq(asm.I32(0), repeated(100_000, asm.Seq(asm.Get(0), asm.Op(wasm.OpI32Add))), asm.Op(wasm.OpDrop)))
	body("ten thousand calls", abi.ClassOK, repeated(10_000, asm.Drop(asm.Call(1, asm.I32(1), asm.I32(0), asm.I32(0)))))
	// Metering enlarges these most.
	swelling := newGuest()
	swelling.Table(1)
	grow := asm.Seq(asm.Op(wasm.OpRefNull, uint32(wasm.FuncRef)), asm.I32(0), asm.Op(wasm.OpTableGrow, 0), asm.Op(wasm.OpDrop))
	swelling.handle(repeated(2_000_000/len(grow), grow), swelling.fine())
	body("two megabytes of loops", abi.ClassCompile, repeated(660_000, asm.Loop()))
	all = append(all, swelling.ends("two megabytes of growth", abi.ClassCompile), slowest())
	return append(append(all, wideModules()...), largeModules()...)
}

// largeModules have as much code as is allowed, and more, of the kinds that cost most to check and to meter.
func largeModules() []Case {
	var all []Case
	add := func(name string, class abi.Class, bodies int, code asm.Code) {
		g := newGuest()
		g.Table(1)
		for range bodies {
			g.procedure(code)
		}
		g.handle(g.fine())
		all = append(all, g.ends(name, class))
	}
	const size = 2_000_000
	grow := asm.Seq(asm.Op(wasm.OpRefNull, uint32(wasm.FuncRef)), asm.I32(0), asm.Op(wasm.OpTableGrow, 0), asm.Op(wasm.OpDrop))
	add("sixteen megabytes of loops", abi.ClassCompile, 8, repeated(size/3, asm.Loop()))
	add("sixteen megabytes of growth", abi.ClassCompile, 8, repeated(size/len(grow), grow))
	add("eighteen megabytes of nothing", abi.ClassStructure, 9, repeated(size, asm.Op(wasm.OpNop)))
	return all
}

// wideModules have very many items of one kind.
func wideModules() []Case {
	var all []Case
	add := func(name string, class abi.Class, make func(g *guest)) {
		g := newGuest()
		make(g)
		g.handle(g.fine())
		all = append(all, g.ends(name, class))
	}
	add("a hundred thousand parameters", abi.ClassStructure, func(g *guest) { g.Func(asm.Func{Params: asm.I32s(100_000)}) })
	add("a hundred thousand results", abi.ClassStructure, func(g *guest) { g.Type(nil, asm.I32s(100_000)) })
	add("a hundred parameters and results", abi.ClassOK, func(g *guest) {
		g.Func(asm.Func{Params: asm.I32s(100), Results: asm.I32s(100), Body: asm.Unreachable()})
	})
	add("fifty thousand locals", abi.ClassStructure, func(g *guest) { g.Func(asm.Func{Locals: asm.I32s(50_000)}) })
	add("four thousand locals", abi.ClassOK, func(g *guest) { g.Func(asm.Func{Locals: asm.I32s(4000)}) })
	add("ten thousand functions of ten thousand locals", abi.ClassStructure, func(g *guest) {
		typ := g.Type(nil, nil)
		for range 10_000 {
			g.Functions = append(g.Functions, typ)
			g.Codes = append(g.Codes, wasm.Code{Locals: []wasm.LocalGroup{{Count: 10_000, Type: wasm.I64}}, Body: []byte{byte(wasm.OpEnd)}})
		}
	})
	add("twenty thousand globals", abi.ClassStructure, func(g *guest) {
		for range 20_000 {
			g.Global(wasm.I32, asm.I32(0))
		}
	})
	add("twenty thousand types", abi.ClassStructure, func(g *guest) { g.Types = append(g.Types, make([]wasm.FuncType, 20_000)...) })
	add("twenty thousand imports", abi.ClassStructure, func(g *guest) {
		for range 20_000 {
			g.Imports = append(g.Imports, g.Imports[0])
		}
	})
	add("twenty thousand exports", abi.ClassStructure, func(g *guest) {
		for i := range 20_000 {
			g.Export(fmt.Sprint("x", i), wasm.KindFunc, 0)
		}
	})
	add("five hundred exports of globals", abi.ClassOK, func(g *guest) {
		for i := range uint32(500) {
			g.Export(fmt.Sprint("x", i), wasm.KindGlobal, g.Global(wasm.I64, asm.I64(1)))
		}
	})
	add("twenty thousand element segments", abi.ClassStructure, func(g *guest) {
		g.Table(1)
		for range 20_000 {
			g.Fill(0)
		}
	})
	add("two hundred thousand data segments", abi.ClassStructure, func(g *guest) {
		for range 200_000 {
			g.Data = append(g.Data, wasm.Data{Mode: wasm.Passive})
		}
	})
	add("two hundred thousand functions", abi.ClassStructure, func(g *guest) {
		typ := g.Type(nil, nil)
		for range 200_000 {
			g.Functions = append(g.Functions, typ)
			g.Codes = append(g.Codes, wasm.Code{Body: []byte{byte(wasm.OpEnd)}})
		}
	})
	add("five thousand functions", abi.ClassOK, func(g *guest) {
		for range 5000 {
			g.procedure()
		}
	})
	add("a name of a hundred thousand letters", abi.ClassStructure, func(g *guest) {
		g.Export(string(make([]byte, 100_000)), wasm.KindFunc, 0)
	})
	return append(all, Case{Name: "a module beyond the size limit", Module: section(0, make([]byte, 34<<20)...), Class: abi.ClassSize})
}

// slowest compiles as slowly as the limits allow: the host must stop the compiler.
func slowest() Case {
	const depth = 4000
	labels := make([]uint32, depth)
	for i := range labels {
		labels[i] = uint32(i)
	}
	code := repeated(depth, asm.Op(wasm.OpBlock, 0x40))
	for range 80 {
		code = asm.Seq(code, asm.Block(asm.BrIf(0, asm.Get(0)), asm.BrTable(asm.Get(0), labels...)))
	}
	code = asm.Seq(code, repeated(depth, asm.Op(wasm.OpEnd)))
	g := newGuest()
	for range 20 {
		g.procedure(code)
	}
	g.handle(g.fine())
	return g.ends("wide br_tables in deep blocks", abi.ClassCompile)
}
