package meter

import (
	"math"

	"github.com/alcove-memory/alcove/host/sandbox/wasm"
)

// metered is a function being rewritten. A function with a tight loop keeps the fuel in a local variable and writes
// it back before anything else may use fuel; others use the global.
type metered struct {
	*rewriter
	*measured
	signature wasm.FuncType
	out       *code
	local     bool
	fuel64    uint32 // local: the fuel, or what was just left of it
	count     uint32 // local: how many bytes or references are moved
	loop      int    // loops met so far
	depth     uint32 // open blocks

	depthBefore uint32 // local: how deep calls were nested before
}

// body rewrites one function.
func (w *rewriter) body(i int) (wasm.Code, error) {
	original := &w.from.Codes[i]
	f := &metered{
		rewriter: w, measured: &w.functions[i], signature: w.from.FuncType(w.imported + uint32(i)),
		out: &code{bytes: make([]byte, 0, len(original.Body)+len(original.Body)/8+64)},
	}
	f.local = f.tight()
	locals := uint32(len(f.signature.Params))
	for _, g := range original.Locals {
		locals += g.Count
	}
	f.fuel64, f.count, f.depthBefore = locals, locals+1, locals+2
	w.count(f)
	f.enter()
	if err := f.instructions(original); err != nil {
		return wasm.Code{}, err
	}
	groups := append(append([]wasm.LocalGroup(nil), original.Locals...), wasm.LocalGroup{Count: 1, Type: wasm.I64}, wasm.LocalGroup{Count: 2, Type: wasm.I32})
	return wasm.Code{Locals: groups, Body: f.out.bytes}, nil
}

func (w *rewriter) count(f *metered) {
	w.report.Loops += len(f.loops)
	if f.weight > 0 {
		w.report.Recursive++
	}
	if f.leaf {
		w.report.Leaves++
	} else {
		w.report.Functions++
	}
}

// enter pays for the function. Where something is to be done on the way out, all ways but return lead through the end
// of a block, behind which it is done.
func (f *metered) enter() {
	if f.leaf {
		return
	}
	if f.local {
		f.out.index(wasm.OpGlobalGet, f.fuel).set(f.fuel64)
	}
	f.pay64(f.entry)
	f.nest()
	if f.wrapped() {
		f.out.op(wasm.OpBlock)
		f.resultType()
	}
}

// wrapped says whether something is to be done on the way out: writing back the fuel, or counting down.
func (f *metered) wrapped() bool { return f.local || f.weight > 0 }

// exit is what is done on the way out.
func (f *metered) exit() {
	f.spill()
	if f.weight > 0 {
		f.out.get(f.depthBefore).index(wasm.OpGlobalSet, f.depthGlobal)
	}
}

// nest counts how deep calls are nested, and remembers how deep it was before.
func (f *metered) nest() {
	if f.weight > 0 {
		f.out.index(wasm.OpGlobalGet, f.depthGlobal).tee(f.depthBefore).i32(f.weight).op(wasm.OpI32Add).index(wasm.OpGlobalSet, f.depthGlobal)
	}
}

func (f *metered) resultType() {
	switch results := f.signature.Results; len(results) {
	case 0:
		f.out.raw(0x40)
	case 1:
		f.out.raw(byte(results[0]))
	default:
		f.out.bytes = wasm.AppendS64(f.out.bytes, int64(f.blockType(results)))
	}
}

// blockType is the index of a type that takes nothing and gives several values.
func (w *rewriter) blockType(results []wasm.ValType) uint32 {
	name := make([]byte, len(results))
	for i, t := range results {
		name[i] = byte(t)
	}
	index, ok := w.results[string(name)]
	if !ok {
		index = w.addType(wasm.FuncType{Results: results})
		w.results[string(name)] = index
	}
	return index
}

// pay64 takes a price and calls the host when the fuel falls below zero.
func (f *metered) pay64(price int64) {
	if f.local {
		f.out.get(f.fuel64)
	} else {
		f.out.index(wasm.OpGlobalGet, f.fuel)
	}
	f.out.i64(price).op(wasm.OpI64Sub).tee(f.fuel64)
	if !f.local {
		f.out.index(wasm.OpGlobalSet, f.fuel).get(f.fuel64)
	}
	f.out.i64(0).op(wasm.OpI64LtS).when(func(c *code) {
		f.spill()
		c.call(f.tick())
		f.refill()
	})
}

// spill writes the fuel back, and refill reads it again.
func (f *metered) spill() {
	if f.local {
		f.out.get(f.fuel64).index(wasm.OpGlobalSet, f.fuel)
	}
}

func (f *metered) refill() {
	if f.local {
		f.out.index(wasm.OpGlobalGet, f.fuel).set(f.fuel64)
	}
}

func (f *metered) instructions(original *wasm.Code) error {
	r := original.Instructions(math.MaxInt)
	var in wasm.Instr
	copied := 0 // instructions up to here are in the output
	for r.More() {
		if err := r.Next(&in); err != nil {
			return err
		}
		if f.keeps(&in) {
			continue
		}
		f.out.raw(original.Body[copied:in.Start]...)
		copied = in.End
		f.replace(&in, original.Body[in.Start:in.End])
	}
	f.out.raw(original.Body[copied:]...)
	return nil
}

// keeps reports whether an instruction stays as it is.
func (f *metered) keeps(in *wasm.Instr) bool {
	switch in.Op {
	case wasm.OpBlock, wasm.OpIf:
		f.depth++
		return true
	case wasm.OpEnd:
		if f.depth > 0 {
			f.depth--
			return true
		}
		return false
	case wasm.OpReturn:
		return !f.wrapped()
	case wasm.OpLoop, wasm.OpCall, wasm.OpCallIndirect, wasm.OpRefFunc, wasm.OpMemoryGrow, wasm.OpTableGrow, wasm.OpDataDrop, wasm.OpElemDrop,
		wasm.OpMemoryFill, wasm.OpMemoryCopy, wasm.OpMemoryInit, wasm.OpTableFill, wasm.OpTableCopy, wasm.OpTableInit:
		return false
	}
	return true
}

func (f *metered) replace(in *wasm.Instr, original []byte) {
	switch in.Op {
	case wasm.OpLoop:
		f.depth++
		f.out.raw(original...)
		f.pay64(f.loops[f.loop].cost)
		f.loop++
	case wasm.OpEnd: // of the function
		if f.wrapped() {
			f.out.op(wasm.OpEnd)
			f.exit()
		}
		f.out.op(wasm.OpEnd)
	case wasm.OpReturn:
		f.exit()
		f.out.op(wasm.OpReturn)
	case wasm.OpRefFunc:
		f.out.index(wasm.OpRefFunc, f.moved(in.Index))
	case wasm.OpCall:
		if f.isLeaf(in.Index) {
			f.out.call(f.moved(in.Index))
			return
		}
		f.around(func() { f.out.call(f.moved(in.Index)) })
	case wasm.OpCallIndirect:
		f.around(func() { f.out.raw(original...) })
	default:
		f.replaceBulk(in, original)
	}
}

// around is for what uses fuel of its own accord.
func (f *metered) around(do func()) {
	f.spill()
	do()
	f.refill()
}

// replaceBulk pays for operations by how much they move, and marks those that cannot be taken back.
func (f *metered) replaceBulk(in *wasm.Instr, original []byte) {
	switch in.Op {
	case wasm.OpMemoryFill:
		f.around(func() { f.out.call(f.fill) })
	case wasm.OpMemoryCopy:
		f.around(func() { f.out.call(f.copy) })
	case wasm.OpMemoryInit:
		f.around(func() { f.out.call(f.inits[in.Index]) })
	case wasm.OpTableFill, wasm.OpTableCopy:
		f.payByCount(0, f.tableMost(in.Index))
		f.out.raw(original...)
	case wasm.OpTableInit:
		f.payByCount(0, f.tableMost(in.Index2))
		f.out.raw(original...)
	case wasm.OpMemoryGrow:
		f.payByCount(pageShift, wasm.MaxPages)
		f.grow(original)
	case wasm.OpTableGrow:
		f.payByCount(0, f.tableMost(in.Index))
		f.grow(original)
	default: // drops
		f.mark()
		f.out.raw(original...)
	}
}

func (f *metered) mark() { f.out.i32(1).index(wasm.OpGlobalSet, f.changed) }

// grow marks that something grew, or that it was refused.
func (f *metered) grow(original []byte) {
	f.mark()
	f.out.raw(original...)
	f.out.tee(f.count).i32(-1).op(wasm.OpI32Eq).when(func(c *code) { c.i32(2).index(wasm.OpGlobalSet, f.changed) })
	f.out.get(f.count)
}

// tableMost is how large a table can become.
func (f *metered) tableMost(table uint32) uint32 {
	t := f.from.AllTables()[table]
	if imported := len(f.from.AllTables()) - len(f.from.Tables); int(table) >= imported {
		t = f.module.Tables[int(table)-imported]
	}
	if t.HasMax {
		return t.Max
	}
	return math.MaxUint32
}

// payByCount pays for the i32 on the stack, and leaves it there. More than most fails or traps at once, for nothing.
func (f *metered) payByCount(shift int64, most uint32) {
	f.out.tee(f.count).get(f.count).op(wasm.OpI64ExtendI32U)
	if shift > 0 {
		f.out.i64(shift).op(wasm.OpI64Shl)
	}
	if most < math.MaxUint32 {
		f.out.i64(0).get(f.count).i32(int32(most)).op(wasm.OpI32LeU, wasm.OpSelect)
	}
	f.around(func() { f.out.call(f.charge) })
}
