package meter

import "github.com/alcove-memory/alcove/host/sandbox/wasm"

// notice pays for an instruction that does not branch, and records its effects.
func (r *flow) notice(in *wasm.Instr) {
	switch in.Op {
	case wasm.OpCall, wasm.OpCallIndirect:
		r.call(in)
		return
	case wasm.OpMemoryFill, wasm.OpMemoryCopy, wasm.OpMemoryInit, wasm.OpTableFill, wasm.OpTableCopy, wasm.OpTableInit:
		r.moves(in)
		return
	}
	r.pay(in.Start, cost(in.Op), cost(in.Op))
	switch in.Op {
	case wasm.OpMemoryGrow, wasm.OpTableGrow:
		r.calls(in)
		if in.Op == wasm.OpTableGrow {
			r.mutated[in.Index] = true
		}
	case wasm.OpTableSet:
		r.mutated[in.Index] = true
	case wasm.OpGlobalSet:
		r.written[in.Index] = true
	case wasm.OpDataDrop:
		r.drops = true
	case wasm.OpRefFunc:
		r.refs[in.Index] = true
	}
}

// call pays for a call, and for the callee if it is a leaf. Other callees check the fuel on entry, but may return some time
// after their last check: many returns in a row take as long as one span.
func (r *flow) call(in *wasm.Instr) {
	price, leaf := cost(in.Op), false
	if in.Op == wasm.OpCallIndirect {
		r.f.indirect = append(r.f.indirect, in.Index)
		price += r.indirectPrice[in.Index]
	} else {
		r.f.callees = append(r.f.callees, in.Index)
		if leaf = r.isLeaf(in.Index); leaf {
			price += r.functions[in.Index-r.imported].entry
		} else if in.Index < r.imported {
			price += importCost
		}
	}
	r.pay(in.Start, price, price)
	r.busy = true
	if leaf || r.now == none {
		return
	}
	r.spills++
	r.callsIn(r.loop)
	r.resume(in.End, r.now, span{r.span.least, max(r.span.most, unchecked-returning)})
}

// calls records a call of a helper that checks the fuel.
func (r *flow) calls(in *wasm.Instr) {
	r.busy = true
	if r.now == none {
		return
	}
	r.spills++
	r.callsIn(r.loop)
	r.resume(in.End, r.now, span{r.span.least, 0})
}

// moves pays for an operation on many bytes or references, as far as their number is known.
func (r *flow) moves(in *wasm.Instr) {
	b := r.bulk(in)
	switch in.Op {
	case wasm.OpMemoryInit:
		r.inits[in.Index] = 0
	case wasm.OpTableInit, wasm.OpTableFill, wasm.OpTableCopy:
		r.mutated[b.table] = true
	}
	price, time, ok := b.known(&r.last)
	if !ok {
		time = int64(b.most) >> b.time
		r.busy = true
	}
	r.pay(in.Start, cost(in.Op)+price, cost(in.Op)+time)
	if !ok && b.helped {
		r.calls(in)
	}
}

// isLeaf reports whether a function does not access the fuel.
func (w *rewriter) isLeaf(function uint32) bool {
	return function >= w.imported && w.functions[function-w.imported].leaf
}
