package meter

import "github.com/alcove-memory/alcove/host/sandbox/wasm"

// Costs are in units of fuel: one is about the time of an addition.
const (
	entryCost     = 4  // of a call's frame
	callCost      = 8  // of a call
	importCost    = 64 // of calling the host
	iterationCost = 1  // of a loop's next iteration
	growCost      = 256
	localsPerOne  = 4 // locals that are zeroed for one unit
	bytesShift    = 6 // bytes moved for one unit, as a power of two
	pageShift     = 16 - bytesShift
)

// A leaf has no charge of its own. Its callers pay for its longest way, which costs little more than its shortest.
const (
	leafCost     = 64
	leafSlack    = 8
	indirectCost = 12  // the most that a leaf costs which may be called indirectly: such calls pay for any of its type
	leafBytes    = 400 // of code; none is longer
)

// unchecked is how long a way may take without a look at the fuel, in units. At worst, where every unit is a load that
// misses all caches, that is a millisecond.
const unchecked = 10_000

// returning is how long the way from a call to the function's end may take without a look at the fuel: thousands of
// calls may return one after the other.
const returning = 32

// foldedPart is how much of its own price a region may pay for others that may not run: one in so many.
const foldedPart = 8

// outlinedHeight is how many loops, one inside of the other, call the host from outside of their code. More are seldom,
// and each adds blocks to those in it.
const outlinedHeight = 3

// cost is what an instruction costs at most, but for what depends on its operands.
func cost(op wasm.Opcode) int64 {
	switch op {
	case wasm.OpBlock, wasm.OpLoop, wasm.OpEnd, wasm.OpElse, wasm.OpNop, wasm.OpDrop, wasm.OpLocalGet, wasm.OpI32Const, wasm.OpI64Const:
		return 0
	case wasm.OpCall, wasm.OpCallIndirect:
		return callCost
	case wasm.OpI32DivS, wasm.OpI32DivU, wasm.OpI32RemS, wasm.OpI32RemU, wasm.OpI64DivS, wasm.OpI64DivU, wasm.OpI64RemS, wasm.OpI64RemU:
		return 8
	case wasm.OpF32Sqrt, wasm.OpF64Sqrt, wasm.OpF32Div, wasm.OpF64Div, wasm.OpF32x4Sqrt, wasm.OpF64x2Sqrt, wasm.OpF32x4Div, wasm.OpF64x2Div:
		return 8
	case wasm.OpBrTable:
		return 4
	case wasm.OpMemoryGrow, wasm.OpTableGrow:
		return growCost
	case wasm.OpMemoryFill, wasm.OpMemoryCopy, wasm.OpMemoryInit, wasm.OpTableFill, wasm.OpTableCopy, wasm.OpTableInit:
		return 16
	}
	if op >= 0xfd00 {
		return 2
	}
	return 1
}
