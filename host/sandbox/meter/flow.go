package meter

import (
	"math"

	"github.com/alcove-memory/alcove/host/sandbox/wasm"
)

// frame is an open block.
type frame struct {
	op      wasm.Opcode
	region  int32 // current when it was opened
	opened  span
	ends    span  // of all paths to its end
	reached bool  // its end is reachable
	leads   int   // outermost frame that a branch inside targets
	arm     int32 // of an if: region of the first arm
}

// loop is a reachable loop.
type loop struct {
	region int32
	around int32
	busy   bool // it, or a nested loop, calls something that uses fuel
	height int  // of the loops nested in it
	plain  bool // it has no parameters
}

// flow reads a function and splits it into regions. Each instruction belongs to the region that pays for it: after a
// block whose paths all lead to its end, that is the region before the block; otherwise, a new one.
type flow struct {
	*rewriter
	f       *measurement
	index   int // of the function's Code
	regions []region
	frames  []frame
	loops   []loop
	loop    int32
	now     int32 // current region
	span    span
	since   straight
	last    wasm.Instr // previous instruction, without its lists
	busy    bool       // cannot be a leaf: it has calls, bulk moves or fuel checks
	spills  int        // calls before which a fuel local is written back
}

// read measures a function.
func (w *rewriter) read(i int) error {
	c := &w.from.Codes[i]
	price := int64(entryCost)
	for _, g := range c.Locals {
		price += int64(g.Count) / localsPerOne
	}
	w.functions[i] = measurement{}
	r := &w.flow
	*r = flow{
		rewriter: w, f: &w.functions[i], index: i, loop: none, now: none,
		regions: r.regions[:0], frames: r.frames[:0], loops: r.loops[:0],
	}
	r.frames = append(r.frames, frame{op: wasm.OpBlock, region: none, arm: none})
	r.begin(0)
	r.check()
	r.pay(0, price, price)
	if err := r.instructions(c); err != nil {
		return err
	}
	r.finish()
	return nil
}

func (r *flow) instructions(c *wasm.Code) error {
	reader := c.Instructions(math.MaxInt)
	var in wasm.Instr
	for reader.More() {
		if err := reader.Next(&in); err != nil {
			return err
		}
		r.step(&in)
		r.last = wasm.Instr{Op: in.Op, Value: in.Value}
	}
	return nil
}

func (r *flow) step(in *wasm.Instr) {
	switch in.Op {
	case wasm.OpBlock:
		r.open(in)
	case wasm.OpLoop:
		r.openLoop(in)
	case wasm.OpIf:
		r.pay(in.Start, cost(in.Op), cost(in.Op))
		r.open(in)
		r.arm(in)
	case wasm.OpElse:
		r.otherArm(in)
	case wasm.OpEnd:
		r.close(in)
	case wasm.OpBr, wasm.OpBrIf, wasm.OpBrTable, wasm.OpReturn, wasm.OpUnreachable:
		r.pay(in.Start, cost(in.Op), cost(in.Op))
		r.branch(in)
	default:
		r.notice(in)
	}
}

func (r *flow) open(in *wasm.Instr) {
	r.frames = append(r.frames, frame{op: in.Op, region: r.now, opened: r.span, leads: len(r.frames), arm: none})
}

func (r *flow) openLoop(in *wasm.Instr) {
	r.open(in)
	if r.now == none {
		return
	}
	r.begin(in.End)
	r.check()
	plain := in.Block.Index < 0 || len(r.from.Types[in.Block.Index].Params) == 0
	r.loops = append(r.loops, loop{region: r.now, around: r.loop, plain: plain})
	r.loop = int32(len(r.loops) - 1)
	r.pay(in.End, iterationCost, iterationCost)
}

// arm begins a region inside an if.
func (r *flow) arm(in *wasm.Instr) {
	f := &r.frames[len(r.frames)-1]
	if f.region == none {
		return
	}
	r.now, r.span = f.region, f.opened
	r.begin(in.End)
	if f.arm != none {
		r.regions[f.arm].other, r.regions[r.now].second = r.now, true
	}
	f.arm = r.now
}

func (r *flow) otherArm(in *wasm.Instr) {
	f := &r.frames[len(r.frames)-1]
	r.arrive(f)
	f.op = wasm.OpElse
	r.arm(in)
}

// arrive records that a frame's end is reached from here.
func (r *flow) arrive(f *frame) {
	switch {
	case r.now == none:
	case f.reached:
		f.ends = f.ends.join(r.span)
	default:
		f.reached, f.ends = true, r.span
	}
}

func (r *flow) close(in *wasm.Instr) {
	index := len(r.frames) - 1
	f := &r.frames[index]
	r.arrive(f)
	if f.op == wasm.OpIf { // without else
		r.now, r.span = f.region, f.opened
		r.arrive(f)
	}
	if index == 0 {
		return
	}
	r.frames = r.frames[:index]
	r.closeLoop(f)
	outer := &r.frames[index-1]
	outer.leads = min(outer.leads, f.leads)
	if !f.reached {
		r.now = none
		return
	}
	r.resume(in.End, f.region, f.ends)
	if f.leads < index {
		r.begin(in.End)
	}
}

func (r *flow) closeLoop(f *frame) {
	if f.op != wasm.OpLoop || f.region == none {
		return
	}
	closed := &r.loops[r.loop]
	r.regions[closed.region].outlined = closed.plain && closed.height < outlinedHeight
	if r.loop = closed.around; r.loop != none {
		around := &r.loops[r.loop]
		around.height = max(around.height, closed.height+1)
	}
}

// branch follows the targets of an instruction. Code after it in the same block runs only if no branch is taken.
func (r *flow) branch(in *wasm.Instr) {
	if r.now == none {
		return
	}
	switch in.Op {
	case wasm.OpReturn:
		r.lead(len(r.frames) - 1)
	case wasm.OpBr, wasm.OpBrIf:
		r.lead(int(in.Index))
	case wasm.OpBrTable:
		r.lead(int(in.Index))
		for _, target := range in.Targets {
			r.lead(int(target))
		}
	}
	if in.Op == wasm.OpBrIf {
		r.begin(in.End)
		return
	}
	r.now = none
}

// lead records a branch to a label.
func (r *flow) lead(label int) {
	top := len(r.frames) - 1
	target := top - label
	r.frames[top].leads = min(r.frames[top].leads, target)
	if f := &r.frames[target]; f.op != wasm.OpLoop {
		r.arrive(f)
	}
}

// callsIn marks a loop and those around it as busy.
func (r *flow) callsIn(at int32) {
	for ; at != none && !r.loops[at].busy; at = r.loops[at].around { // those around a busy one are busy
		r.loops[at].busy = true
	}
}
