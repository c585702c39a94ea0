package meter_test

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/alcove-memory/alcove/host/sandbox/wasm"
	"github.com/alcove-memory/alcove/host/testing/asm"
)

// generator makes random valid modules that end: functions and loops count down a global, and return once it is
// below zero.
type generator struct {
	*rand.Rand
	asm.Module
	signatures []wasm.FuncType // of the functions
	elements   []uint32        // of the table
	locals     []wasm.ValType  // of the function being generated
	results    []wasm.ValType  // of the function being generated
	labels     [][]wasm.ValType
	size       int // instructions left to generate
}

// Globals of every generated module.
const (
	countdown   = 0 // global
	numbers     = 1 // global: i32; the next one is i64
	tableSize   = 10
	memoryPages = 40
)

// generate makes a module whose functions are exported as f0, f1, …
func generate(seed uint64) ([]byte, []wasm.FuncType) {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 7))}
	g.Global(wasm.I32, asm.I32(int32(g.IntN(3000))))
	g.Global(wasm.I32, asm.I32(5))
	g.Global(wasm.I64, asm.I64(6))
	for i := range 3 {
		g.Export(fmt.Sprintf("g%d", i), wasm.KindGlobal, uint32(i))
	}
	g.Memory(memoryPages)
	g.Memories[0].HasMax, g.Memories[0].Max = true, memoryPages+3
	g.Table(tableSize)
	g.Passive([]byte("a segment of bytes"))
	for range 1 + g.IntN(6) {
		g.signatures = append(g.signatures, wasm.FuncType{Params: g.types(3), Results: g.types(3)})
	}
	for range tableSize - 2 {
		g.elements = append(g.elements, uint32(g.IntN(len(g.signatures))))
	}
	for i := range g.signatures {
		g.Export(fmt.Sprintf("f%d", i), wasm.KindFunc, uint32(i))
		g.function(i)
	}
	g.Fill(g.elements...)
	return g.Bytes(), g.signatures
}

func (g *generator) one() wasm.ValType { return []wasm.ValType{wasm.I32, wasm.I64}[g.IntN(2)] }

func (g *generator) types(fewer int) []wasm.ValType {
	var list []wasm.ValType
	for range g.IntN(fewer) {
		list = append(list, g.one())
	}
	return list
}

func (g *generator) function(i int) {
	t := g.signatures[i]
	own := append(g.types(3), wasm.I32, wasm.I64)
	g.locals, g.results, g.size = append(slices.Clone(t.Params), own...), t.Results, 20+g.IntN(150)
	if g.IntN(4) == 0 {
		g.size = 1 + g.IntN(8) // perhaps a leaf
	}
	g.labels = [][]wasm.ValType{t.Results}
	var body asm.Code
	if g.size > 10 || g.IntN(2) == 0 {
		body = g.down()
	}
	g.Func(asm.Func{Params: t.Params, Results: t.Results, Locals: own, Body: asm.Seq(body, g.statements(4), g.values(t.Results, 3))})
}

// down counts down, and returns below zero.
func (g *generator) down() asm.Code {
	var results asm.Code
	for _, t := range g.results {
		results = asm.Seq(results, g.constant(t))
	}
	return asm.Seq(asm.SetGlobal(countdown, asm.Two(wasm.OpI32Sub, asm.GetGlobal(countdown), asm.I32(1))),
		asm.If(asm.Two(wasm.OpI32LtS, asm.GetGlobal(countdown), asm.I32(0)), results, asm.Op(wasm.OpReturn)))
}

func (g *generator) constant(t wasm.ValType) asm.Code {
	n := int64(g.IntN(300) - 100)
	if g.IntN(8) == 0 {
		n = int64(g.Uint64()) >> 33
	}
	if t == wasm.I32 {
		return asm.I32(int32(n))
	}
	return asm.I64(n)
}

func (g *generator) local(t wasm.ValType) uint32 {
	for {
		if i := g.IntN(len(g.locals)); g.locals[i] == t {
			return uint32(i)
		}
	}
}

func (g *generator) values(types []wasm.ValType, depth int) asm.Code {
	var c asm.Code
	for _, t := range types {
		c = asm.Seq(c, g.value(t, depth))
	}
	return c
}

// pick generates one of several pieces of code.
func (g *generator) pick(choices ...func() asm.Code) asm.Code {
	g.size--
	return choices[g.IntN(len(choices))]()
}

func (g *generator) value(t wasm.ValType, depth int) asm.Code {
	simple := []func() asm.Code{
		func() asm.Code { return g.constant(t) },
		func() asm.Code { return asm.Get(g.local(t)) },
		func() asm.Code { return asm.GetGlobal(g.global(t)) },
	}
	if depth == 0 || g.size <= 0 {
		return g.pick(simple...)
	}
	all := append(simple,
		func() asm.Code { return asm.Two(g.binary(t), g.value(t, depth-1), g.value(t, depth-1)) },
		func() asm.Code { return asm.Two(g.binary(t), g.value(t, depth-1), g.value(t, depth-1)) },
		func() asm.Code { return asm.Seq(g.value(t, depth-1), asm.Op(wasm.OpLocalTee, g.local(t))) },
		func() asm.Code {
			return asm.Seq(g.value(t, depth-1), g.value(t, depth-1), g.value(wasm.I32, depth-1), asm.Op(wasm.OpSelect))
		},
		func() asm.Code { return g.block(nil, []wasm.ValType{t}, depth-1) },
		func() asm.Code { return g.call([]wasm.ValType{t}, depth-1) },
	)
	if t == wasm.I32 {
		all = append(all,
			func() asm.Code { return asm.Seq(g.value(t, depth-1), asm.Op(wasm.OpI32Eqz)) },
			func() asm.Code { return asm.Load(wasm.OpI32Load, g.address(depth-1)) },
			func() asm.Code { return asm.Seq(g.value(wasm.I64, depth-1), asm.Op(wasm.OpI32WrapI64)) },
			g.rare(func() asm.Code { return asm.Seq(asm.I32(int32(g.IntN(4))), asm.Op(wasm.OpMemoryGrow, 0)) }),
		)
	} else {
		all = append(all, func() asm.Code { return asm.Seq(g.value(wasm.I32, depth-1), asm.Op(wasm.OpI64ExtendI32U)) })
	}
	return g.pick(all...)
}

func (g *generator) global(t wasm.ValType) uint32 {
	if t == wasm.I32 {
		return numbers
	}
	return numbers + 1
}

func (g *generator) binary(t wasm.ValType) wasm.Opcode {
	i := g.IntN(6)
	if i == 5 && g.IntN(5) > 0 {
		i = 0 // a division may trap
	}
	if t == wasm.I32 {
		return []wasm.Opcode{wasm.OpI32Add, wasm.OpI32Sub, wasm.OpI32Mul, wasm.OpI32And, wasm.OpI32Xor, wasm.OpI32DivU}[i]
	}
	return []wasm.Opcode{wasm.OpI64Add, wasm.OpI64Sub, wasm.OpI64Mul, wasm.OpI64And, wasm.OpI64Xor, wasm.OpI64DivU}[i]
}

// rare generates code seldom, else a number.
func (g *generator) rare(code func() asm.Code) func() asm.Code {
	return func() asm.Code {
		if g.IntN(10) > 0 {
			return g.constant(wasm.I32)
		}
		return code()
	}
}

// address is nearly always within memory.
func (g *generator) address(depth int) asm.Code {
	if g.IntN(50) == 0 {
		return g.value(wasm.I32, depth)
	}
	return asm.Two(wasm.OpI32And, g.value(wasm.I32, depth), asm.I32(0xffff))
}

func (g *generator) statements(depth int) asm.Code {
	var c asm.Code
	for range 1 + g.IntN(6) {
		if g.size > 0 {
			c = asm.Seq(c, g.statement(depth))
		}
	}
	return c
}

func (g *generator) statement(depth int) asm.Code {
	t := g.one()
	set := func() asm.Code { return asm.Set(g.local(t), g.value(t, 2)) }
	if depth == 0 {
		return g.pick(set)
	}
	block := func() asm.Code {
		results := g.types(3)
		return asm.Seq(g.block(g.types(3), results, depth-1), drops(len(results)))
	}
	return g.pick(set, block, block, block,
		func() asm.Code { return asm.SetGlobal(g.global(t), g.value(t, 2)) },
		func() asm.Code { return asm.Store(wasm.OpI32Store, g.address(1), g.value(wasm.I32, 2)) },
		func() asm.Code { return g.call(nil, depth-1) },
		func() asm.Code { return g.branchIf() }, func() asm.Code { return g.branchIf() }, g.branch, g.branchTable, g.bulk,
	)
}

// block is a block, loop or if with parameters and results.
func (g *generator) block(params, results []wasm.ValType, depth int) asm.Code {
	typ := wasm.AppendS64(nil, int64(g.Type(params, results)))
	arguments := g.values(params, 1)
	var takes asm.Code
	for _, t := range slices.Backward(params) {
		takes = asm.Seq(takes, asm.Op(wasm.OpLocalSet, g.local(t)))
	}
	op := []wasm.Opcode{wasm.OpBlock, wasm.OpLoop, wasm.OpIf}[g.IntN(3)]
	inside := func() asm.Code {
		label := results
		if op == wasm.OpLoop {
			label = params
		}
		g.labels = append(g.labels, label)
		defer func() { g.labels = g.labels[:len(g.labels)-1] }()
		return asm.Seq(takes, g.statements(depth), g.values(results, min(depth, 2)))
	}
	var c asm.Code
	switch op {
	case wasm.OpBlock:
		c = asm.Seq(arguments, asm.Op(op), typ, inside())
	case wasm.OpLoop:
		takes = asm.Seq(takes, g.down())
		c = asm.Seq(arguments, asm.Op(op), typ, inside())
	default:
		c = asm.Seq(arguments, g.value(wasm.I32, 1), asm.Op(op), typ, inside())
		if len(params)+len(results) > 0 || g.IntN(2) == 0 {
			c = asm.Seq(c, asm.Op(wasm.OpElse), inside())
		}
	}
	return asm.Seq(c, asm.Op(wasm.OpEnd))
}

func drops(n int) asm.Code {
	var c asm.Code
	for range n {
		c = asm.Seq(c, asm.Op(wasm.OpDrop))
	}
	return c
}

// call calls a function, directly or indirectly, and leaves a value of the type.
func (g *generator) call(wanted []wasm.ValType, depth int) asm.Code {
	f := uint32(g.IntN(len(g.signatures)))
	element := g.IntN(len(g.elements))
	indirect := g.IntN(3) == 0
	if indirect {
		f = g.elements[element]
	}
	t := g.signatures[f]
	arguments := g.values(t.Params, min(depth, 1))
	call := asm.Call(f)
	if indirect {
		call = asm.CallIndirect(g.Type(t.Params, t.Results), asm.I32(int32(element)))
	}
	return asm.Seq(arguments, call, drops(len(t.Results)), g.values(wanted, 0))
}

func (g *generator) label() (uint32, []wasm.ValType) {
	i := g.IntN(len(g.labels))
	return uint32(i), g.labels[len(g.labels)-1-i]
}

// branch branches if a condition holds.
func (g *generator) branch() asm.Code {
	condition := g.value(wasm.I32, 1)
	g.labels = append(g.labels, nil) // of the if
	defer func() { g.labels = g.labels[:len(g.labels)-1] }()
	switch g.IntN(20) {
	case 0:
		return asm.If(condition, asm.Unreachable())
	case 1, 2, 3:
		return asm.If(condition, g.values(g.results, 1), asm.Op(wasm.OpReturn))
	}
	label, types := g.label()
	return asm.If(condition, g.values(types, 1), asm.Br(label))
}

func (g *generator) branchIf() asm.Code {
	label, types := g.label()
	return asm.Seq(g.values(types, 1), g.value(wasm.I32, 2), asm.Op(wasm.OpBrIf, label), drops(len(types)))
}

// branchTable branches to labels of equal types.
func (g *generator) branchTable() asm.Code {
	label, types := g.label()
	labels := []uint32{label}
	for i := range g.labels {
		if slices.Equal(g.labels[len(g.labels)-1-i], types) {
			labels = append(labels, uint32(i))
		}
	}
	return asm.Seq(g.values(types, 1), asm.BrTable(g.value(wasm.I32, 1), labels...))
}

// bulk moves many bytes or references, with a constant or computed count.
func (g *generator) bulk() asm.Code {
	size := asm.I32(int32(g.IntN(5000)))
	switch g.IntN(12) {
	case 0:
		size = asm.I32(1<<20 + int32(g.IntN(100)))
	case 1, 2, 3, 4, 5:
		size = asm.Two(wasm.OpI32And, g.value(wasm.I32, 1), asm.I32(0xfff))
	case 6:
		size = asm.Two(wasm.OpI32Add, asm.Two(wasm.OpI32And, g.value(wasm.I32, 1), asm.I32(0xfff)), asm.I32(1<<20-0x800))
	}
	small := asm.I32(int32(g.IntN(4)))
	if g.IntN(2) == 0 {
		small = asm.Two(wasm.OpI32And, g.value(wasm.I32, 1), asm.I32(3))
	}
	null := asm.Op(wasm.OpRefNull, uint32(wasm.FuncRef))
	return g.pick(
		func() asm.Code {
			return asm.Seq(g.address(1), g.value(wasm.I32, 1), size, asm.Op(wasm.OpMemoryFill, 0))
		},
		func() asm.Code { return asm.Seq(g.address(1), g.address(1), size, asm.Op(wasm.OpMemoryCopy, 0, 0)) },
		func() asm.Code { return asm.Seq(g.address(1), small, small, asm.Op(wasm.OpMemoryInit, 0, 0)) },
		func() asm.Code { return asm.Seq(small, null, small, asm.Op(wasm.OpTableFill, 0)) },
		func() asm.Code { return asm.Seq(small, small, small, asm.Op(wasm.OpTableCopy, 0, 0)) },
		func() asm.Code { return asm.Seq(null, small, asm.Op(wasm.OpTableGrow, 0), asm.Op(wasm.OpDrop)) },
	)
}
