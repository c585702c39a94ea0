package meter

import (
	"maps"
	"slices"

	"github.com/alcove-memory/alcove/host/sandbox/wasm"
)

// measurement is the result of the first pass over a function.
type measurement struct {
	entry   int64 // of a leaf: the price that its callers pay
	leaf    bool  // no charge of its own
	local   bool  // keeps the fuel in a local variable
	loops   int
	charges []charge // in code order

	callees  []uint32 // functions called directly
	indirect []uint32 // types of indirect calls, without duplicates
	weight   int32    // depth that a call adds; 0: not recursive
}

// measure reads all functions, leaves first, as their callers pay for them.
func (w *rewriter) measure() error {
	w.imported = w.from.Imported(wasm.KindFunc)
	w.functions = make([]measurement, len(w.from.Codes))
	w.written, w.mutated, w.inits, w.refs = map[uint32]bool{}, map[uint32]bool{}, map[uint32]uint32{}, map[uint32]bool{}
	w.declare()
	w.indirectPrice = make([]int64, len(w.from.Types)) // zero while reading leaves, which call nothing
	if err := w.findLeaves(); err != nil {
		return err
	}
	charges := 0
	for i := range w.from.Codes {
		f := &w.functions[i]
		if !f.leaf {
			if err := w.read(i); err != nil {
				return err
			}
		}
		if charges += len(f.charges); charges*chargeBytes > w.options.MaxBytes {
			return w.tooLarge()
		}
	}
	w.findRecursive()
	return nil
}

// findLeaves reads the short functions. A leaf calls nothing, so it depends on no other function.
func (w *rewriter) findLeaves() error {
	for i := range w.from.Codes {
		if len(w.from.Codes[i].Body) > leafBytes {
			continue
		}
		if err := w.read(i); err != nil {
			return err
		}
	}
	w.payForIndirect()
	return nil
}

// payForIndirect finds, for each type, the price of the most expensive leaf that an indirect call may reach.
func (w *rewriter) payForIndirect() {
	types := w.signatures()
	most := make([]int64, len(types))
	for i := range w.functions {
		function := w.imported + uint32(i)
		if f := &w.functions[i]; f.leaf && w.declared[function] {
			t := types[w.from.TypeIndex(function)]
			most[t] = max(most[t], f.entry)
		}
	}
	w.indirectPrice = make([]int64, len(types))
	for i, t := range types {
		w.indirectPrice[i] = most[t]
	}
}

// finish stores the results.
func (r *flow) finish() {
	f, ends := r.f, r.frames[0]
	f.loops = len(r.loops)
	slices.Sort(f.indirect)
	f.indirect = slices.Compact(f.indirect)
	most := int64(leafCost)
	if r.declared[r.imported+uint32(r.index)] {
		most = indirectCost
	}
	f.leaf = !r.busy && f.loops == 0 && ends.reached && ends.ends.most <= most && ends.ends.most-ends.ends.least <= leafSlack
	if f.leaf {
		f.entry = ends.ends.most
		return
	}
	f.charges = fold(r.regions)
	f.local = r.worthLocal(len(f.charges))
}

// worthLocal reports whether to keep the fuel in a local variable, which costs a little around calls, saves a lot in loops
// without calls, and some at each charge.
func (r *flow) worthLocal(charges int) bool {
	tight := slices.ContainsFunc(r.loops, func(l loop) bool { return !l.busy })
	return tight || charges > 2*r.spills+4
}

// declare records the functions that may be called without being named.
func (w *rewriter) declare() {
	w.declared = maps.Clone(w.referenced())
	for _, x := range w.from.Exports {
		if x.Kind == wasm.KindFunc {
			w.declared[x.Index] = true
		}
	}
}
