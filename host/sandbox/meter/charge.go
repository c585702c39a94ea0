package meter

import "github.com/alcove-memory/alcove/host/sandbox/wasm"

// nextCharge returns the next charge and advances past it.
func (f *functionRewriter) nextCharge() charge {
	f.next++
	return f.charges[f.next-1]
}

// entered reports whether a paying region begins at a byte of the body.
func (f *functionRewriter) entered(at int) bool {
	return f.next < len(f.charges) && int(f.charges[f.next].at) == at
}

// pay subtracts a region's price, and ticks if the region checks the fuel and it is below zero.
func (f *functionRewriter) pay(r charge) {
	if !r.checks {
		f.take(func(c *code) { c.i64(r.price) })
		return
	}
	f.payAndCheck(r)
	f.out.when(func(*code) { f.tickAround() })
}

// payAndCheck subtracts a region's price and pushes whether the fuel is below zero.
func (f *functionRewriter) payAndCheck(r charge) {
	f.getFuel()
	f.out.i64(r.price).op(wasm.OpI64Sub).tee(f.fuelLocal)
	if !f.local {
		f.out.index(wasm.OpGlobalSet, f.fuel).get(f.fuelLocal)
	}
	f.out.i64(0).op(wasm.OpI64LtS)
}

// take subtracts an i64 amount from the fuel.
func (f *functionRewriter) take(amount func(*code)) {
	f.getFuel()
	amount(f.out)
	f.out.op(wasm.OpI64Sub)
	if f.local {
		f.out.set(f.fuelLocal)
	} else {
		f.out.index(wasm.OpGlobalSet, f.fuel)
	}
}

func (f *functionRewriter) getFuel() {
	if f.local {
		f.out.get(f.fuelLocal)
	} else {
		f.out.index(wasm.OpGlobalGet, f.fuel)
	}
}

func (f *functionRewriter) tickAround() { f.around(func() { f.out.call(f.tick()) }) }

// around wraps code that itself uses the fuel global.
func (f *functionRewriter) around(do func()) {
	f.spill()
	do()
	f.refill()
}

// spill writes the fuel local back to the global; refill reads it again.
func (f *functionRewriter) spill() {
	if f.local {
		f.out.get(f.fuelLocal).index(wasm.OpGlobalSet, f.fuel)
	}
}

func (f *functionRewriter) refill() {
	if f.local {
		f.out.index(wasm.OpGlobalGet, f.fuel).set(f.fuelLocal)
	}
}
