package meter

import (
	"math"

	"github.com/alcove-memory/alcove/host/sandbox/wasm"
)

// functionRewriter is a function being rewritten. It pays for its regions. Callees that use fuel find it in the global.
type functionRewriter struct {
	*rewriter
	*measurement
	signature wasm.FuncType
	out       *code
	next      int         // index into charges
	blocks    []openBlock // open blocks
	last      wasm.Instr
	inlined   int // memory operations that pay inline

	fuelLocal   uint32 // local: the fuel, or its value after the last charge
	number      uint32 // local: number of bytes or references moved
	depthBefore uint32 // local: call depth on entry
}

// body rewrites one function.
func (w *rewriter) body(i int) (wasm.Code, error) {
	original := &w.from.Codes[i]
	f := &functionRewriter{
		rewriter: w, measurement: &w.functions[i], signature: w.from.FuncType(w.imported + uint32(i)),
		out:    &code{bytes: make([]byte, 0, len(original.Body)+len(original.Body)/4+64)},
		blocks: []openBlock{{}},
	}
	locals := uint32(len(f.signature.Params))
	for _, g := range original.Locals {
		locals += g.Count
	}
	f.fuelLocal, f.number, f.depthBefore = locals, locals+1, locals+2
	w.count(f)
	f.enter()
	if err := f.instructions(original); err != nil {
		return wasm.Code{}, err
	}
	groups := append(append([]wasm.LocalGroup(nil), original.Locals...), wasm.LocalGroup{Count: 1, Type: wasm.I64}, wasm.LocalGroup{Count: 2, Type: wasm.I32})
	return wasm.Code{Locals: groups, Body: f.out.bytes}, nil
}

func (w *rewriter) count(f *functionRewriter) {
	w.report.Loops += f.loops
	if f.weight > 0 {
		w.report.Recursive++
	}
	if f.leaf {
		w.report.Leaves++
	} else {
		w.report.Functions++
	}
}

// enter pays for the function. If it needs an epilogue, all exits but return lead to the end of a block that the epilogue
// follows.
func (f *functionRewriter) enter() {
	if f.leaf {
		return
	}
	f.refill()
	f.pay(f.nextCharge())
	f.nest()
	if f.wrapped() {
		f.out.op(wasm.OpBlock)
		f.resultType()
	}
}

// wrapped reports whether the function needs an epilogue: writing back the fuel, or restoring the depth.
func (f *functionRewriter) wrapped() bool { return f.local || f.weight > 0 }

// exit writes the epilogue.
func (f *functionRewriter) exit() {
	f.spill()
	if f.weight > 0 {
		f.out.get(f.depthBefore).index(wasm.OpGlobalSet, f.depthGlobal)
	}
}

// nest saves the call depth and increases it.
func (f *functionRewriter) nest() {
	if f.weight > 0 {
		f.out.index(wasm.OpGlobalGet, f.depthGlobal).tee(f.depthBefore).i32(f.weight).op(wasm.OpI32Add).index(wasm.OpGlobalSet, f.depthGlobal)
	}
}

func (f *functionRewriter) resultType() {
	switch results := f.signature.Results; len(results) {
	case 0:
		f.out.raw(0x40)
	case 1:
		f.out.raw(byte(results[0]))
	default:
		f.out.bytes = wasm.AppendS64(f.out.bytes, int64(f.blockType(results)))
	}
}

// blockType returns the index of a type without parameters and with several results.
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

func (f *functionRewriter) instructions(original *wasm.Code) error {
	r := original.Instructions(math.MaxInt)
	var in wasm.Instr
	copied := 0 // bytes before it are in the output
	for r.More() {
		if err := r.Next(&in); err != nil {
			return err
		}
		if f.entered(in.Start) {
			f.out.raw(original.Body[copied:in.Start]...)
			copied = in.Start
			f.pay(f.nextCharge())
		}
		if !f.keeps(&in) {
			f.out.raw(original.Body[copied:in.Start]...)
			copied = in.End
			f.replace(&in, original.Body[in.Start:in.End])
		}
		f.last = wasm.Instr{Op: in.Op, Value: in.Value}
	}
	f.out.raw(original.Body[copied:]...)
	return nil
}

// keeps reports whether an instruction stays unchanged.
func (f *functionRewriter) keeps(in *wasm.Instr) bool {
	switch in.Op {
	case wasm.OpBlock, wasm.OpIf:
		f.open(false)
		return true
	case wasm.OpEnd:
		if len(f.blocks) > 1 && !f.top().outlined {
			f.close()
			return true
		}
		return false
	case wasm.OpBr, wasm.OpBrIf, wasm.OpBrTable:
		return f.top().added == 0
	case wasm.OpReturn:
		return !f.wrapped()
	case wasm.OpLoop, wasm.OpCall, wasm.OpCallIndirect, wasm.OpRefFunc, wasm.OpMemoryGrow, wasm.OpTableGrow, wasm.OpDataDrop, wasm.OpElemDrop,
		wasm.OpMemoryFill, wasm.OpMemoryCopy, wasm.OpMemoryInit, wasm.OpTableFill, wasm.OpTableCopy, wasm.OpTableInit:
		return false
	}
	return true
}

func (f *functionRewriter) replace(in *wasm.Instr, original []byte) {
	switch in.Op {
	case wasm.OpLoop:
		f.openLoop(in, original)
	case wasm.OpEnd:
		if len(f.blocks) > 1 {
			f.closeLoop()
			return
		}
		if f.wrapped() {
			f.out.op(wasm.OpEnd)
			f.exit()
		}
		f.out.op(wasm.OpEnd)
	case wasm.OpBr, wasm.OpBrIf, wasm.OpBrTable:
		f.branch(in)
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

// replaceBulk pays for operations by the amount they move, and marks irreversible ones.
func (f *functionRewriter) replaceBulk(in *wasm.Instr, original []byte) {
	switch in.Op {
	case wasm.OpMemoryFill:
		f.moveBytes(in, original, f.fill)
	case wasm.OpMemoryCopy:
		f.moveBytes(in, original, f.copy)
	case wasm.OpMemoryInit:
		f.moveBytes(in, original, f.inits[in.Index])
	case wasm.OpTableFill, wasm.OpTableCopy, wasm.OpTableInit:
		f.moveReferences(in, original)
	case wasm.OpMemoryGrow:
		f.payByCount(pageShift, wasm.MaxPages)
		f.grow(original, 0)
	case wasm.OpTableGrow:
		f.payByCount(0, f.tableMost(in.Index))
		f.grow(original, Irreversible)
	default:
		f.drop(original)
	}
}
