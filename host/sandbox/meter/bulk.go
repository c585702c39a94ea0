package meter

import (
	"math"

	"github.com/alcove-memory/alcove/host/sandbox/wasm"
)

// chunk is how many bytes are moved without a look at the fuel, and references how many references.
const (
	chunk      = 1 << 20
	references = 1 << 16
)

// mostInline is how many operations on memory of one function pay in line. Each makes blocks that compilers take more than
// linear time for: ten thousand of them took 50 s to compile.
const mostInline = 64

// bulk is how an operation on many bytes or references is paid.
type bulk struct {
	most  uint32 // that are moved without a look at the fuel
	fails bool   // with more than that, at once
	price int64  // shift: so many for one unit, as a power of two
	time  int64  // shift: so many for the time of one unit
	table uint32 // that is written to
	// helped says that a helper pays for a number that is not known.
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

// known is the price of an operation that follows a constant, if it is paid with the instructions around it.
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

// tableMost is how large a table can become.
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

// moveBytes pays for an operation on memory. More than a chunk is left to a function that looks at the fuel.
func (f *metered) moveBytes(in *wasm.Instr, original []byte, helper uint32) {
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

// moveReferences pays for an operation on a table.
func (f *metered) moveReferences(in *wasm.Instr, original []byte) {
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

// upTo gives the number, or nothing for more than most: that fails or traps at once.
func (f *metered) upTo(most uint32) {
	f.out.get(f.number).op(wasm.OpI64ExtendI32U).i64(0).get(f.number).i32(int32(most)).op(wasm.OpI32LeU, wasm.OpSelect)
}

// payByCount pays for the i32 on the stack, and leaves it there.
func (f *metered) payByCount(shift int64, most uint32) {
	f.out.tee(f.number)
	f.upTo(most)
	f.out.i64(shift).op(wasm.OpI64Shl)
	f.around(func() { f.out.call(f.charge) })
}

// grow marks that something grew, or that it was refused.
func (f *metered) grow(original []byte) {
	f.mark()
	f.out.raw(original...)
	f.out.tee(f.number).i32(-1).op(wasm.OpI32Eq).when(func(c *code) { c.i32(2).index(wasm.OpGlobalSet, f.changed) })
	f.out.get(f.number)
}

func (f *metered) mark() { f.out.i32(1).index(wasm.OpGlobalSet, f.changed) }
