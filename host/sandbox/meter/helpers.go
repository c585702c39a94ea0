package meter

import "github.com/alcove-memory/alcove/host/sandbox/wasm"

// layHelpers assigns the added functions their indexes, after all others.
func (w *rewriter) layHelpers() {
	next := w.imported + 1 + uint32(len(w.from.Codes))
	add := func() uint32 { next++; return next - 1 }
	w.charge, w.fill, w.copy = add(), add(), add()
	for segment := range uint32(len(w.from.Data)) {
		if _, used := w.inits[segment]; used {
			w.inits[segment] = add()
		}
	}
	w.module.Exports = append(w.module.Exports,
		wasm.Export{Name: Save, Kind: wasm.KindFunc, Index: add()},
		wasm.Export{Name: Restore, Kind: wasm.KindFunc, Index: add()})
}

// addHelpers writes the added functions in the same order.
func (w *rewriter) addHelpers() {
	w.addFunction(w.types.amount, nil, w.chargeBody())
	temporaries := []wasm.LocalGroup{{Count: 1, Type: wasm.I64}}
	if len(w.from.AllMemories()) == 0 { // never called
		w.addFunction(w.types.three, nil, newCode())
		w.addFunction(w.types.three, nil, newCode())
	} else {
		w.addFunction(w.types.three, temporaries, w.fillBody())
		w.addFunction(w.types.three, temporaries, w.copyBody())
	}
	for segment := range uint32(len(w.from.Data)) {
		if _, used := w.inits[segment]; used {
			w.addFunction(w.types.three, temporaries, w.initBody(segment))
		}
	}
	w.addFunction(w.types.none, nil, w.saveBody())
	w.addFunction(w.types.none, nil, w.restoreBody())
}

func (w *rewriter) addFunction(t uint32, locals []wasm.LocalGroup, c *code) {
	w.module.Functions = append(w.module.Functions, t)
	w.module.Codes = append(w.module.Codes, wasm.Code{Locals: locals, Body: c.op(wasm.OpEnd).bytes})
}

// chargeBody subtracts the amount in local 0 from the fuel.
func (w *rewriter) chargeBody() *code {
	return newCode().
		index(wasm.OpGlobalGet, w.fuel).get(0).op(wasm.OpI64Sub).tee(0).index(wasm.OpGlobalSet, w.fuel).
		get(0).i64(0).op(wasm.OpI64LtS).when(func(c *code) { c.call(w.tick()) })
}

// Locals of the helpers that move bytes in chunks. The first three are the operation's operands; from may be the fill byte.
const (
	to    = 0
	from  = 1
	size  = 2
	total = 3 // an i64
)

// payFor pays for the number of bytes in the i32 on the stack.
func (w *rewriter) payFor(c *code) {
	c.op(wasm.OpI64ExtendI32U).i64(bytesShift).op(wasm.OpI64ShrU).call(w.charge)
}

// beyond pushes 1 if address plus size exceeds the i64 length on the stack.
func beyond(c *code, address uint32) {
	c.set(total)
	c.get(address).op(wasm.OpI64ExtendI32U).get(size).op(wasm.OpI64ExtendI32U).op(wasm.OpI64Add).get(total).op(wasm.OpI64GtU)
}

func memoryBytes(c *code) {
	c.op(wasm.OpMemorySize).raw(0).op(wasm.OpI64ExtendI32U).i64(16).op(wasm.OpI64Shl)
}

// whole runs an operation in one piece and returns if it would trap: a trap writes nothing.
func (w *rewriter) whole(c *code, operation func(*code), traps ...func(*code)) {
	for i, trap := range traps {
		trap(c)
		if i > 0 {
			c.op(wasm.OpI32Or)
		}
	}
	c.when(func(c *code) {
		c.get(to).get(from).get(size)
		operation(c)
		c.op(wasm.OpReturn)
	})
}

// short runs an operation on at most a chunk and returns.
func (w *rewriter) short(c *code, operation func(*code)) {
	c.get(size).i32(chunk).op(wasm.OpI32LeU).when(func(c *code) {
		w.rest(c, operation)
		c.op(wasm.OpReturn)
	})
}

func toBeyond(c *code) { memoryBytes(c); beyond(c, to) }

// advance adds a chunk to a local.
func advance(c *code, local uint32) { c.get(local).i32(chunk).op(wasm.OpI32Add).set(local) }

func shorten(c *code) { c.get(size).i32(chunk).op(wasm.OpI32Sub).set(size) }

func (w *rewriter) payForChunk(c *code) {
	c.i32(chunk)
	w.payFor(c)
}

// forwards runs an operation chunk by chunk, then on the rest. advances are the locals to advance.
func (w *rewriter) forwards(c *code, operation func(*code), advances ...uint32) {
	c.repeat(func(c *code) {
		w.payForChunk(c)
		c.get(to).get(from).i32(chunk)
		operation(c)
		for _, local := range advances {
			advance(c, local)
		}
		shorten(c)
		c.get(size).i32(chunk).op(wasm.OpI32GtU)
	})
	w.rest(c, operation)
}

// rest runs an operation on the remaining bytes, at most a chunk.
func (w *rewriter) rest(c *code, operation func(*code)) {
	c.get(size)
	w.payFor(c)
	c.get(to).get(from).get(size)
	operation(c)
}

func (w *rewriter) fillBody() *code {
	c, fill := newCode(), func(c *code) { c.op(wasm.OpMemoryFill).raw(0) }
	w.whole(c, fill, toBeyond)
	w.short(c, fill)
	w.forwards(c, fill, to)
	return c
}

// copyBody copies backwards if the destination follows the source, as they may overlap.
func (w *rewriter) copyBody() *code {
	c, move := newCode(), func(c *code) { c.op(wasm.OpMemoryCopy).raw(0, 0) }
	w.whole(c, move, toBeyond, func(c *code) { memoryBytes(c); beyond(c, from) })
	w.short(c, move)
	c.get(to).get(from).op(wasm.OpI32GtU).when(func(c *code) {
		c.repeat(func(c *code) {
			w.payForChunk(c)
			shorten(c)
			c.get(to).get(size).op(wasm.OpI32Add).get(from).get(size).op(wasm.OpI32Add).i32(chunk)
			move(c)
			c.get(size).i32(chunk).op(wasm.OpI32GtU)
		})
		w.rest(c, move)
		c.op(wasm.OpReturn)
	})
	w.forwards(c, move, to, from)
	return c
}

func (w *rewriter) initBody(segment uint32) *code {
	c := newCode()
	init := func(c *code) { c.index(wasm.OpMemoryInit, segment).raw(0) }
	length := int64(len(w.from.Data[segment].Bytes))
	w.whole(c, init, toBeyond, func(c *code) { c.i64(length); beyond(c, from) })
	w.short(c, init)
	w.forwards(c, init, to, from)
	return c
}

// saveBody copies globals and tables. A table may have grown since instantiation; its copy is grown to match.
func (w *rewriter) saveBody() *code {
	c := newCode()
	for _, g := range sorted(w.shadows) {
		c.index(wasm.OpGlobalGet, g).index(wasm.OpGlobalSet, w.shadows[g])
	}
	for _, t := range sorted(w.copies) {
		shadow := w.copies[t]
		c.op(wasm.OpRefNull).raw(byte(w.from.AllTables()[t].Type))
		c.index(wasm.OpTableSize, t).index(wasm.OpTableSize, shadow).op(wasm.OpI32Sub)
		c.index(wasm.OpTableGrow, shadow).op(wasm.OpDrop)
		c.i32(0).i32(0).index(wasm.OpTableSize, t).index(wasm.OpTableCopy, shadow, t)
	}
	return c
}

func (w *rewriter) restoreBody() *code {
	c := newCode()
	for _, g := range sorted(w.shadows) {
		c.index(wasm.OpGlobalGet, w.shadows[g]).index(wasm.OpGlobalSet, g)
	}
	for _, t := range sorted(w.copies) {
		c.i32(0).i32(0).index(wasm.OpTableSize, w.copies[t]).index(wasm.OpTableCopy, t, w.copies[t])
	}
	return c
}
