package meter_test

import (
	"math"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/alcove-memory/alcove/host/sandbox/meter"
	"github.com/alcove-memory/alcove/host/sandbox/wasm"
	"github.com/alcove-memory/alcove/host/testing/asm"
)

// The globals of a counting module.
const (
	price        = "price"        // of the instructions that ran
	instructions = "instructions" // that ran, but for block, loop, else and end
)

// counter instruments a module naively: each instruction adds itself to the globals.
type counter struct {
	from                *wasm.Validated
	price, instructions uint32 // globals
	number              uint32 // local
}

func counting(t testing.TB, module []byte) []byte {
	t.Helper()
	v, err := wasm.Parse(module, wasm.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	globals := uint32(len(v.AllGlobals()))
	c := &counter{from: v, price: globals, instructions: globals + 1}
	m := asm.Module{Module: *v.Module}
	m.Globals, m.Exports = append([]wasm.Global(nil), m.Globals...), append([]wasm.Export(nil), m.Exports...)
	for _, name := range []string{price, instructions} {
		m.Global(wasm.I64, asm.I64(0))
		m.Export(name, wasm.KindGlobal, globals)
		globals++
	}
	m.Codes = nil
	for i := range v.Codes {
		m.Codes = append(m.Codes, c.body(t, i))
	}
	return m.Bytes()
}

func (c *counter) body(t testing.TB, i int) wasm.Code {
	t.Helper()
	original := c.from.Codes[i]
	c.number = uint32(len(c.from.FuncType(c.from.Imported(wasm.KindFunc) + uint32(i)).Params))
	entry := int64(meter.EntryCost)
	for _, g := range original.Locals {
		c.number += g.Count
		entry += int64(g.Count) / meter.LocalsPerOne
	}
	out := c.add(c.price, entry)
	r := original.Instructions(math.MaxInt)
	var in wasm.Instr
	for r.More() {
		if err := r.Next(&in); err != nil {
			t.Fatal(err)
		}
		code := asm.Code(original.Body[in.Start:in.End])
		switch in.Op {
		case wasm.OpElse, wasm.OpEnd, wasm.OpBlock:
		case wasm.OpLoop:
			code = asm.Seq(code, c.add(c.price, meter.IterationCost))
		default:
			code = asm.Seq(c.cost(&in), c.add(c.instructions, 1), code)
		}
		out = append(out, code...)
	}
	return wasm.Code{Locals: append(append([]wasm.LocalGroup(nil), original.Locals...), wasm.LocalGroup{Count: 1, Type: wasm.I32}), Body: out}
}

func (c *counter) add(global uint32, amount int64) asm.Code {
	return asm.SetGlobal(global, asm.Two(wasm.OpI64Add, asm.GetGlobal(global), asm.I64(amount)))
}

// cost adds the cost of an instruction, which may depend on the number on the stack.
func (c *counter) cost(in *wasm.Instr) asm.Code {
	own := meter.Cost(in.Op)
	switch in.Op {
	case wasm.OpCall:
		if in.Index < c.from.Imported(wasm.KindFunc) {
			own += meter.ImportCost
		}
	case wasm.OpMemoryFill, wasm.OpMemoryCopy, wasm.OpMemoryInit:
		return asm.Seq(c.add(c.price, own), c.addNumber(wasm.OpI64ShrU, meter.BytesShift))
	case wasm.OpTableFill, wasm.OpTableCopy, wasm.OpTableInit, wasm.OpTableGrow:
		return asm.Seq(c.add(c.price, own), c.addNumber(wasm.OpI64ShrU, 0))
	case wasm.OpMemoryGrow:
		return asm.Seq(c.add(c.price, own), c.addNumber(wasm.OpI64Shl, meter.PageShift))
	}
	if own == 0 {
		return nil
	}
	return c.add(c.price, own)
}

func (c *counter) addNumber(shift wasm.Opcode, by int64) asm.Code {
	number := asm.Two(shift, asm.Seq(asm.Get(c.number), asm.Op(wasm.OpI64ExtendI32U)), asm.I64(by))
	return asm.Seq(asm.Op(wasm.OpLocalTee, c.number), asm.SetGlobal(c.price, asm.Two(wasm.OpI64Add, asm.GetGlobal(c.price), number)))
}

// ample is more fuel than any test uses.
const ample = 1 << 40

// fuelUsed runs a function of a metered module and returns the fuel that it used.
func fuelUsed(t testing.TB, m api.Module, name string, arguments ...uint64) int64 {
	t.Helper()
	fuel := m.ExportedGlobal(meter.Fuel).(api.MutableGlobal)
	fuel.Set(ample)
	if _, err := m.ExportedFunction(name).Call(t.Context(), arguments...); err != nil {
		t.Fatal(err)
	}
	return ample - int64(fuel.Get())
}

// counted runs a function of a counting module.
func counted(t testing.TB, m api.Module, name string, arguments ...uint64) (units, ran int64) {
	t.Helper()
	units, ran = int64(m.ExportedGlobal(price).Get()), int64(m.ExportedGlobal(instructions).Get())
	if _, err := m.ExportedFunction(name).Call(t.Context(), arguments...); err != nil {
		t.Fatal(err)
	}
	return int64(m.ExportedGlobal(price).Get()) - units, int64(m.ExportedGlobal(instructions).Get()) - ran
}

// TestFuelIsTheCostOfTheCodeThatRan compares the fuel with a count of every instruction. It is never less, and at most
// an eighth more: for code too short to pay by itself.
func TestFuelIsTheCostOfTheCodeThatRan(t *testing.T) {
	plain := wazero.NewRuntimeConfigInterpreter()
	for file, module := range map[string][]byte{"C": read(t, "testdata/programs.wasm"), "Go": buildGo(t)} {
		metered, count := instance(t, rewrite(t, module), plain), instance(t, counting(t, module), plain)
		for _, p := range programs {
			if p.gopher != (file == "Go") {
				continue
			}
			used := fuelUsed(t, metered, p.name, p.few)
			want, ran := counted(t, count, p.name, p.few)
			t.Logf("%s: %d instructions cost %d and used %d: %.3f, %.2f an instruction", p.name, ran, want, used, float64(used)/float64(want), float64(used)/float64(ran))
			if used < want || used > want+want/8 {
				t.Errorf("%s: the code that ran costs %d, and %d was used", p.name, want, used)
			}
		}
	}
}
