package meter

import "github.com/alcove-memory/alcove/host/sandbox/wasm"

// openBlock is an open block of the original function.
type openBlock struct {
	outlined bool  // a loop that calls the host from outside its code
	price    int64 // of that loop
	added    uint32
}

// addedBlocks counts the blocks around a loop that calls the host from outside its code:
//
//	block $done
//	  loop $again
//	    block $tick
//	      loop $loop
//	        pay, and br_if $tick if the fuel is below zero
//	        …
//	      end
//	      br $done
//	    end
//	    call tick, and refund the price
//	    br $again
//	  end
//	end
//
// Inside the loop, the call would slow every iteration: state that it may change would be kept in memory. Operands stay
// on the stack, so a loop with parameters cannot be left and re-entered.
const addedBlocks = 3

func (f *functionRewriter) top() *openBlock { return &f.blocks[len(f.blocks)-1] }

func (f *functionRewriter) open(outlined bool) {
	added := f.top().added
	if outlined {
		added += addedBlocks
	}
	f.blocks = append(f.blocks, openBlock{outlined: outlined, added: added})
}

func (f *functionRewriter) close() { f.blocks = f.blocks[:len(f.blocks)-1] }

func (f *functionRewriter) openLoop(in *wasm.Instr, original []byte) {
	if !f.entered(in.End) { // unreachable
		f.open(false)
		f.out.raw(original...)
		return
	}
	r := f.nextCharge()
	f.open(r.outlined)
	if !r.outlined {
		f.out.raw(original...)
		f.pay(r)
		return
	}
	f.top().price = r.price
	typ := original[1:]
	f.out.op(wasm.OpBlock).raw(typ...).op(wasm.OpLoop).raw(typ...).op(wasm.OpBlock).raw(0x40)
	f.out.raw(original...)
	f.payAndCheck(r)
	f.out.index(wasm.OpBrIf, 1)
}

// closeLoop closes a loop and the blocks around it.
func (f *functionRewriter) closeLoop() {
	price := f.top().price
	f.close()
	f.out.op(wasm.OpEnd).index(wasm.OpBr, 2).op(wasm.OpEnd)
	f.tickAround()
	f.take(func(c *code) { c.i64(-price) })
	f.out.index(wasm.OpBr, 0).op(wasm.OpEnd, wasm.OpEnd)
}

// branch retargets a branch to account for the added blocks.
func (f *functionRewriter) branch(in *wasm.Instr) {
	f.out.op(in.Op)
	if in.Op == wasm.OpBrTable {
		f.out.bytes = wasm.AppendU32(f.out.bytes, uint32(len(in.Targets)))
		for _, target := range in.Targets {
			f.out.bytes = wasm.AppendU32(f.out.bytes, f.label(target))
		}
	}
	f.out.bytes = wasm.AppendU32(f.out.bytes, f.label(in.Index))
}

func (f *functionRewriter) label(label uint32) uint32 {
	target := f.blocks[len(f.blocks)-1-int(label)]
	return label + f.top().added - target.added
}
