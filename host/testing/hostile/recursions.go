package hostile

import (
	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/sandbox/wasm"
	"github.com/alcove-memory/alcove/host/testing/asm"
)

// recursions are guests whose calls nest too deeply or branch exponentially.
func recursions() []Case {
	return append(bottomless(), exponential()...)
}

// bottomless are functions with unbounded recursion.
func bottomless() []Case {
	var all []Case
	add := func(name string, f func(g *guest) uint32) {
		g := newGuest()
		g.handle(asm.Call(f(g)), g.fine())
		all = append(all, g.ends(name, abi.ClassStack))
	}
	add("direct", func(g *guest) uint32 { return g.procedure(asm.Call(g.Next())) })
	add("direct, with work behind it", func(g *guest) uint32 {
		return g.procedure(asm.Call(g.Next()), asm.Set(0, asm.Add(asm.Get(0), asm.I32(1))))
	})
	add("of two functions", func(g *guest) uint32 {
		first := g.procedure(asm.Call(g.Next() + 1))
		g.procedure(asm.Call(first))
		return first
	})
	add("of a ring of fifty functions", func(g *guest) uint32 {
		first := g.Next()
		for i := range uint32(50) {
			g.procedure(asm.Call(first + (i+1)%50))
		}
		return first
	})
	add("through a table", func(g *guest) uint32 {
		g.Table(1)
		g.Fill(g.Next())
		return g.procedure(asm.CallIndirect(g.Type(nil, nil), asm.I32(0)))
	})
	add("with large frames", func(g *guest) uint32 {
		self, body := g.Next(), asm.Code{}
		many := make([]wasm.ValType, 1000)
		for i := range many {
			many[i] = wasm.I64
		}
		for i := range uint32(1000) {
			body = asm.Seq(body, asm.Seq(asm.I64(int64(i)), asm.Op(wasm.OpLocalSet, i)))
		}
		body = asm.Seq(body, asm.Call(self))
		for i := range uint32(1000) {
			body = asm.Seq(body, asm.Drop(asm.Get(i)))
		}
		return g.Func(asm.Func{Locals: many, Body: body})
	})
	add("with a hundred parameters", func(g *guest) uint32 {
		var arguments []asm.Code
		for i := range uint32(100) {
			arguments = append(arguments, asm.Get(i))
		}
		deep := g.Func(asm.Func{Params: asm.I32s(100), Body: asm.Call(g.Next(), arguments...)})
		zeros := make([]asm.Code, 100)
		for i := range zeros {
			zeros[i] = asm.I32(0)
		}
		return g.procedure(asm.Call(deep, zeros...))
	})
	add("with a hundred results", func(g *guest) uint32 {
		deep := g.Func(asm.Func{Results: asm.I32s(100), Body: asm.Call(g.Next())})
		return g.procedure(asm.Call(deep), repeated(100, asm.Op(wasm.OpDrop)))
	})
	start, initialize := newGuest(), newGuest()
	start.starts(asm.Call(start.Next()))
	start.handle(start.fine())
	initialize.initialize(asm.Call(initialize.Next()))
	initialize.handle(initialize.fine())
	self := newGuest()
	self.handle(asm.Call(self.Next(), asm.Get(0), asm.Get(1)))
	all = append(all,
		start.ends("in the start function", abi.ClassStack),
		initialize.ends("in _initialize", abi.ClassStack),
		self.ends("of alcove_handle itself", abi.ClassStack))
	for i := range all {
		all[i].Limits = abi.Limits{CPUMS: 1000} // the stack is large
	}
	return all
}

// exponential are functions without a loop that take exponential time.
func exponential() []Case {
	var all []Case
	// tree makes two calls, each one level lower.
	tree := func(again func(level asm.Code) asm.Code) asm.Code {
		lower := asm.Two(wasm.OpI32Sub, asm.Get(0), asm.I32(1))
		return asm.If(asm.Get(0), again(lower), again(lower))
	}
	add := func(name string, f func(g *guest) uint32) {
		g := newGuest()
		g.handle(asm.Call(f(g), asm.I32(60)), g.fine())
		all = append(all, g.ends(name, abi.ClassCPU))
	}
	one := asm.I32s(1)
	add("exponential, direct", func(g *guest) uint32 {
		self := g.Next()
		return g.Func(asm.Func{Params: one, Body: tree(func(l asm.Code) asm.Code { return asm.Call(self, l) })})
	})
	add("exponential, of two functions", func(g *guest) uint32 {
		first := g.Next()
		g.Func(asm.Func{Params: one, Body: tree(func(l asm.Code) asm.Code { return asm.Call(first+1, l) })})
		g.Func(asm.Func{Params: one, Body: tree(func(l asm.Code) asm.Code { return asm.Call(first, l) })})
		return first
	})
	add("exponential, through a table", func(g *guest) uint32 {
		g.Table(1)
		g.Fill(g.Next())
		typ := g.Type(one, nil)
		return g.Func(asm.Func{Params: one, Body: tree(func(l asm.Code) asm.Code { return asm.CallIndirect(typ, asm.I32(0), l) })})
	})
	add("exponential, without recursion", func(g *guest) uint32 {
		f := g.Func(asm.Func{Params: one, Body: asm.Op(wasm.OpNop)})
		for range 60 {
			f = g.Func(asm.Func{Params: one, Body: repeated(4, asm.Call(f, asm.Get(0)))})
		}
		return f
	})
	add("Ackermann's function", func(g *guest) uint32 {
		self := g.Next() // ack(m, n)
		less := func(l uint32) asm.Code { return asm.Two(wasm.OpI32Sub, asm.Get(l), asm.I32(1)) }
		g.Func(asm.Func{Params: asm.I32s(2), Results: one, Body: asm.Seq(
			asm.If(asm.Seq(asm.Get(0), asm.Op(wasm.OpI32Eqz)), asm.Add(asm.Get(1), asm.I32(1)), asm.Op(wasm.OpReturn)),
			asm.If(asm.Seq(asm.Get(1), asm.Op(wasm.OpI32Eqz)), asm.Call(self, less(0), asm.I32(1)), asm.Op(wasm.OpReturn)),
			asm.Call(self, less(0), asm.Call(self, asm.Get(0), less(1))))})
		return g.Func(asm.Func{Params: one, Body: asm.Drop(asm.Call(self, asm.I32(3), asm.I32(14)))})
	})
	add("a loop at every level", func(g *guest) uint32 {
		self := g.Next()
		return g.Func(asm.Func{Params: one, Body: asm.If(asm.Get(0),
			asm.Loop(asm.Call(self, asm.Two(wasm.OpI32Sub, asm.Get(0), asm.I32(1))), asm.Br(0)))})
	})
	start := newGuest()
	self := start.Next()
	start.Func(asm.Func{Params: one, Body: tree(func(l asm.Code) asm.Code { return asm.Call(self, l) })})
	start.starts(asm.Call(self, asm.I32(60)))
	start.handle(start.fine())
	return append(all, start.ends("exponential, in the start function", abi.ClassCPU))
}
