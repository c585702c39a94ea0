package meter_test

import (
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/alcove-memory/alcove/host/sandbox/meter"
	"github.com/alcove-memory/alcove/host/sandbox/wasm"
	"github.com/alcove-memory/alcove/host/testing/asm"
)

// work is code that costs 3 per repetition: get a local, add twice, set.
func work(times int) asm.Code {
	var c asm.Code
	for range times {
		c = asm.Seq(c, asm.Set(0, asm.Add(asm.Add(asm.Get(0), asm.I32(1)), asm.I32(2))))
	}
	return c
}

// one is a module with a function of an i32, exported as run, that calls itself as function 0.
func one(body ...asm.Code) []byte {
	m := &asm.Module{}
	m.Memory(40)
	m.Table(10)
	m.Export("run", wasm.KindFunc, m.Func(asm.Func{Params: asm.I32s(1), Body: asm.Seq(body...)}))
	return m.Bytes()
}

// dispatch is an interpreter's loop over a br_table whose arms differ in cost; local 0 is the number of rounds.
func dispatch(arms int) []byte {
	labels := make([]uint32, arms)
	for i := range labels {
		labels[i] = uint32(i)
	}
	code := asm.BrTable(asm.Two(wasm.OpI32And, asm.Get(0), asm.I32(3)), labels...)
	for i := range arms {
		code = asm.Seq(asm.Block(code), asm.Store(wasm.OpI32Store, asm.I32(0), asm.I32(1)))
		for range 10 * i {
			code = asm.Seq(code, asm.Store(wasm.OpI32Store, asm.I32(0), asm.I32(1)))
		}
		if i < arms-1 {
			code = asm.Seq(code, asm.Br(uint32(arms-1-i)))
		}
	}
	next := asm.BrIf(0, asm.Seq(asm.Two(wasm.OpI32Sub, asm.Get(0), asm.I32(1)), asm.Op(wasm.OpLocalTee, 0)))
	return one(asm.Loop(asm.Block(code), next))
}

// TestFuelByHand has the price of each path counted by hand: 4 for the call, and 1 for each instruction that is not free.
func TestFuelByHand(t *testing.T) {
	long, short := work(20), work(1) // 60 and 3
	fill := asm.Seq(asm.I32(0), asm.I32(1), asm.Get(0), asm.Op(wasm.OpMemoryFill, 0))
	for _, c := range []struct {
		name     string
		module   []byte
		argument uint64
		want     int64
	}{
		{"straight", one(work(30)), 0, 4 + 90},
		{"an arm that is not taken", one(work(30), asm.If(asm.I32(0), long)), 0, 4 + 90 + 1},
		{"an arm that is taken", one(work(30), asm.If(asm.I32(1), long)), 0, 4 + 90 + 1 + 60},
		{"a short arm, paid before", one(work(30), asm.If(asm.I32(0), short)), 0, 4 + 90 + 1 + 3},
		{"past a block", one(work(30), asm.Block(asm.BrIf(0, asm.I32(1)), long), work(5)), 0, 4 + 90 + 1 + 15},
		{"through a block", one(work(30), asm.Block(asm.BrIf(0, asm.I32(0)), long), work(5)), 0, 4 + 90 + 1 + 60 + 15},
		{"out of the function", one(work(30), asm.Block(asm.BrIf(1, asm.I32(1)), long), work(5)), 0, 4 + 90 + 1},
		{"code that never runs", one(work(30), asm.Op(wasm.OpReturn), long, asm.Loop(long)), 0, 4 + 90 + 1},
		{"a loop of 7", one(asm.Loop(long, asm.BrIf(0, asm.Two(wasm.OpI32LtU, asm.Get(0), asm.I32(7*60))))), 0, 4 + 7*(1+60+2)},
		{"four of five arms", dispatch(5), 4, 4 + 4*(1+5+3) + (1 + 1) + (31 + 1) + (21 + 1) + (11 + 1)},
		{"fills behind a block", one(asm.Block(short), fill, fill, fill), 64, 4 + 3 + 3*(16+1)},
	} {
		m := instance(t, rewrite(t, c.module), wazero.NewRuntimeConfigInterpreter())
		if used := fuelUsed(t, m, "run", c.argument); used != c.want {
			t.Errorf("%s: it used %d, want %d", c.name, used, c.want)
		}
	}
}

// TestAnArmOfADispatchLoopCostsTheSameBesideManyOthers compares a loop of five arms with one of a hundred.
func TestAnArmOfADispatchLoopCostsTheSameBesideManyOthers(t *testing.T) {
	var used []int64
	for _, arms := range []int{5, 100} {
		used = append(used, fuelUsed(t, instance(t, rewrite(t, dispatch(arms)), wazero.NewRuntimeConfigInterpreter()), "run", 1000))
	}
	if used[0] != used[1] {
		t.Errorf("with five arms it used %d, and with a hundred %d", used[0], used[1])
	}
}

// TestManyReturnsCheckTheFuel calls itself deeply, and has much to do behind each call.
func TestManyReturnsCheckTheFuel(t *testing.T) {
	const depth = 500
	call := asm.If(asm.Get(0), asm.Call(0, asm.Two(wasm.OpI32Sub, asm.Get(0), asm.I32(1))))
	for name, c := range map[string]struct {
		behind asm.Code
		looks  int
	}{
		"much": {work(50), depth}, "nearly nothing": {work(1), 0},
	} {
		ticks := 0
		m := observe(t, rewrite(t, one(call, c.behind)), wazero.NewRuntimeConfigInterpreter(), func() int64 { ticks++; return 1 })
		if _, err := m.ExportedFunction("run").Call(t.Context(), depth); err != nil {
			t.Fatal(err)
		}
		if onReturn := ticks - depth; onReturn < c.looks || onReturn > c.looks+2 {
			t.Errorf("%s behind each of %d calls: the host was asked %d times on the way back", name, depth, onReturn)
		}
	}
}

// TestLongPathsAreSplit bounds the code between two checks: code without loops and calls, and operations on many bytes.
func TestLongPathsAreSplit(t *testing.T) {
	fill := asm.Seq(asm.I32(0), asm.I32(1), asm.Get(0), asm.Op(wasm.OpMemoryFill, 0))
	known := asm.Seq(asm.I32(0), asm.I32(1), asm.I32(1<<20), asm.Op(wasm.OpMemoryFill, 0))
	var fills, knowns asm.Code
	for range 20 {
		fills, knowns = asm.Seq(fills, asm.Block(asm.BrIf(0, asm.I32(0)), fill)), asm.Seq(knowns, known)
	}
	for name, c := range map[string]struct {
		body  asm.Code
		least int
	}{
		"straight": {work(20_000), 5}, "fills": {fills, 8}, "fills of a known size": {knowns, 8}, "one fill": {fill, 1},
	} {
		t.Run(name, func(t *testing.T) {
			ticks := 0
			m := observe(t, rewrite(t, one(c.body)), wazero.NewRuntimeConfigInterpreter(), func() int64 { ticks++; return 1 })
			if _, err := m.ExportedFunction("run").Call(t.Context(), 1<<20); err != nil {
				t.Fatal(err)
			}
			if ticks < c.least {
				t.Errorf("the host was asked %d times, want %d", ticks, c.least)
			}
			if left := m.ExportedGlobal(meter.Fuel).(api.MutableGlobal).Get(); int64(left) < -overdraft {
				t.Errorf("%d units are left at the end", int64(left))
			}
		})
	}
}
