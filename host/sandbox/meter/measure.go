package meter

import (
	"math"
	"slices"

	"github.com/alcove-memory/alcove/host/sandbox/wasm"
)

// measured is what a first reading of a function finds.
type measured struct {
	entry int64 // cost of what is in no loop
	loops []turn
	calls []callee
	leaf  bool // no charge of its own

	indirect []uint32 // types of indirect calls, each once
	weight   int32    // how much deeper it makes the stack; 0: it is not recursive
}

// turn is one turn of a loop.
type turn struct {
	cost   int64 // without the loops in it
	parent int32 // the loop around it; -1: none
	busy   bool  // it calls something that uses fuel, perhaps in a loop in it
}

// callee is a function that is called directly.
type callee struct {
	function uint32
	loop     int32 // that the call is in; -1: none
}

// tight reports whether a loop calls nothing: then it is worth keeping the fuel in a local variable, which costs a
// little around calls and saves much in loops.
func (f *measured) tight() bool {
	return slices.ContainsFunc(f.loops, func(t turn) bool { return !t.busy })
}

// callsIn marks a loop, and those around it.
func (f *measured) callsIn(loop int32) {
	for ; loop >= 0 && !f.loops[loop].busy; loop = f.loops[loop].parent { // those around a busy one are busy
		f.loops[loop].busy = true
	}
}

func (f *measured) pay(loop int32, price int64) {
	if loop < 0 {
		f.entry += price
		return
	}
	f.loops[loop].cost += price
}

// measure reads all functions. Callers pay for leaves, so those are known before.
func (w *rewriter) measure() error {
	w.imported = w.from.Imported(wasm.KindFunc)
	w.functions, w.indirectIn = make([]measured, len(w.from.Codes)), make([]*measured, len(w.from.Types))
	w.written, w.mutated, w.inits, w.refs = map[uint32]bool{}, map[uint32]bool{}, map[uint32]uint32{}, map[uint32]bool{}
	loops := 0
	for i := range w.from.Codes {
		if err := w.measureOne(i); err != nil {
			return err
		}
		if loops += len(w.functions[i].loops); loops*loopBytes > w.options.MaxBytes {
			return w.tooLarge()
		}
	}
	for i := range w.functions {
		w.payForCallees(&w.functions[i])
	}
	w.findRecursive()
	return nil
}

func (w *rewriter) measureOne(i int) error {
	c, f := &w.from.Codes[i], &w.functions[i]
	for _, g := range c.Locals {
		f.entry += int64(g.Count) / localsPerOne
	}
	r := c.Instructions(math.MaxInt)
	var in wasm.Instr
	var around []int32 // of each open block: the loop around it
	loop, busy := int32(-1), false
	for r.More() {
		if err := r.Next(&in); err != nil {
			return err
		}
		switch in.Op {
		case wasm.OpBlock, wasm.OpIf:
			around = append(around, loop)
		case wasm.OpLoop:
			around = append(around, loop)
			f.loops = append(f.loops, turn{cost: 1, parent: loop})
			loop = int32(len(f.loops) - 1)
		case wasm.OpEnd:
			if len(around) > 0 {
				loop, around = around[len(around)-1], around[:len(around)-1]
			}
		default:
			busy = w.notice(&in, f, loop) || busy
		}
		f.pay(loop, cost(in.Op))
	}
	f.leaf = !busy && len(f.loops) == 0 && f.entry <= leafCost-entryCost
	f.entry += entryCost
	return nil
}

// notice remembers what an instruction does beyond its cost, and tells whether it calls or moves much.
func (w *rewriter) notice(in *wasm.Instr, f *measured, loop int32) (busy bool) {
	switch in.Op {
	case wasm.OpCall:
		f.calls = append(f.calls, callee{in.Index, loop})
		return true
	case wasm.OpDataDrop:
		w.drops = true
		return false
	case wasm.OpRefFunc:
		w.refs[in.Index] = true
		return false
	case wasm.OpCallIndirect:
		if w.indirectIn[in.Index] != f {
			w.indirectIn[in.Index] = f
			f.indirect = append(f.indirect, in.Index)
		}
	case wasm.OpMemoryGrow, wasm.OpMemoryFill, wasm.OpMemoryCopy:
	case wasm.OpMemoryInit:
		w.inits[in.Index] = 0
	case wasm.OpTableInit:
		w.mutated[in.Index2] = true
	case wasm.OpTableFill, wasm.OpTableGrow, wasm.OpTableCopy:
		w.mutated[in.Index] = true
	case wasm.OpTableSet:
		w.mutated[in.Index] = true
		return false
	case wasm.OpGlobalSet:
		w.written[in.Index] = true
		return false
	default:
		return false
	}
	f.callsIn(loop)
	return true
}

// payForCallees adds what called leaves and the host cost.
func (w *rewriter) payForCallees(f *measured) {
	for _, c := range f.calls {
		switch {
		case c.function < w.imported:
			f.pay(c.loop, importCost)
			f.callsIn(c.loop)
		case w.isLeaf(c.function):
			f.pay(c.loop, w.functions[c.function-w.imported].entry)
		default:
			f.callsIn(c.loop)
		}
	}
}

// isLeaf reports whether a call of a function leaves the fuel alone.
func (w *rewriter) isLeaf(function uint32) bool {
	return function >= w.imported && w.functions[function-w.imported].leaf
}
