package meter

import (
	"math"

	"github.com/alcove-memory/alcove/host/sandbox/wasm"
)

// chunk is the number of bytes moved between fuel checks, and references that of references.
const (
	chunk      = 1 << 20
	references = 1 << 16
)

// mostInline is how many memory operations of one function pay inline. Each adds blocks, whose compile time is superlinear:
// ten thousand took 50 s to compile.
const mostInline = 64

// bulk describes the price of an operation on many bytes or references.
type bulk struct {
	most  uint32 // moved without a fuel check
	fails bool   // at once, with more than most
	price int64  // shift: log2 of the number per unit of fuel
	time  int64  // shift: log2 of the number per unit of time
	table uint32 // destination
	// helped means that a helper pays for an unknown number.
	helped bool
}

func (w *rewriter) bulk(in *wasm.Instr) bulk {
	b := bulk{most: chunk, price: bytesShift, time: bytesShift + 2}
	switch in.Op {
	case wasm.OpTableFill, wasm.OpTableCopy:
		b.table = in.Index
	case wasm.OpTableInit:
		b.table = in.Index2
	default:
		return b
	}
	size := w.tableMost(b.table)
	return bulk{most: min(size, references), fails: size <= references, helped: size > references, time: 5, table: b.table}
}

// known returns the price of an operation whose count is a constant, if the region around it pays.
func (b bulk) known(last *wasm.Instr) (price, time int64, ok bool) {
	switch count := uint32(last.Value); {
	case last.Op != wasm.OpI32Const:
		return 0, 0, false
	case count <= b.most:
		return int64(count) >> b.price, int64(count) >> b.time, true
	default:
		return 0, 0, b.fails
	}
}

// tableMost returns the maximum size of a table.
func (w *rewriter) tableMost(table uint32) uint32 {
	t := w.from.AllTables()[table]
	if imported := len(w.from.AllTables()) - len(w.from.Tables); int(table) >= imported {
		t = w.module.Tables[int(table)-imported]
	}
	if t.HasMax {
		return t.Max
	}
	return math.MaxUint32
}

// moveBytes pays for a memory operation. More than a chunk is left to a helper that checks the fuel.
func (f *functionRewriter) moveBytes(in *wasm.Instr, original []byte, helper uint32) {
	b := f.bulk(in)
	if _, _, ok := b.known(&f.last); ok {
		f.out.raw(original...)
		return
	}
	if f.last.Op == wasm.OpI32Const || f.inlined == mostInline {
		f.around(func() { f.out.call(helper) })
		return
	}
	f.inlined++
	f.out.tee(f.number).get(f.number).i32(int32(b.most)).op(wasm.OpI32GtU, wasm.OpIf)
	f.out.bytes = wasm.AppendS64(f.out.bytes, int64(f.types.three))
	f.around(func() { f.out.call(helper) })
	f.out.op(wasm.OpElse)
	f.take(func(c *code) { c.get(f.number).op(wasm.OpI64ExtendI32U).i64(b.price).op(wasm.OpI64ShrU) })
	f.out.raw(original...).op(wasm.OpEnd)
}

// moveReferences pays for a table operation.
func (f *functionRewriter) moveReferences(in *wasm.Instr, original []byte) {
	b := f.bulk(in)
	switch _, _, ok := b.known(&f.last); {
	case ok:
	case !b.helped:
		f.out.tee(f.number)
		f.take(func(c *code) { f.upTo(b.most) })
	default:
		f.payByCount(0, math.MaxUint32)
	}
	f.out.raw(original...)
}

// upTo pushes the number as an i64, or 0 if it exceeds most: the operation then fails or traps at once.
func (f *functionRewriter) upTo(most uint32) {
	f.out.get(f.number).op(wasm.OpI64ExtendI32U).i64(0).get(f.number).i32(int32(most)).op(wasm.OpI32LeU, wasm.OpSelect)
}

// payByCount pays for the number in the i32 on the stack, and leaves it there.
func (f *functionRewriter) payByCount(shift int64, most uint32) {
	f.out.tee(f.number)
	f.upTo(most)
	f.out.i64(shift).op(wasm.OpI64Shl)
	f.around(func() { f.out.call(f.charge) })
}

// grow marks what a growth changed, or its refusal.
func (f *functionRewriter) grow(original []byte, changed int32) {
	f.out.raw(original...)
	f.out.tee(f.number)
	f.out.i32(Refused).i32(changed).get(f.number).i32(-1).op(wasm.OpI32Eq, wasm.OpSelect)
	f.out.index(wasm.OpGlobalGet, f.changed).i32(Irreversible).op(wasm.OpI32And, wasm.OpI32Or).index(wasm.OpGlobalSet, f.changed)
}

// drop marks that a segment was dropped.
func (f *functionRewriter) drop(original []byte) {
	f.out.i32(Irreversible).index(wasm.OpGlobalSet, f.changed)
	f.out.raw(original...)
}
