package meter

import "github.com/alcove-memory/alcove/host/sandbox/wasm"

// Costs, in units of fuel. A unit is about the time of an addition.
const (
	entryCost     = 4  // of a call's frame
	callCost      = 8  // of a call
	importCost    = 64 // of calling the host
	iterationCost = 1  // of each loop iteration
	growCost      = 256
	localsPerOne  = 4 // locals zeroed per unit
	bytesShift    = 6 // log2 of the bytes moved per unit
	pageShift     = 16 - bytesShift
)

// A leaf has no charge of its own. Its callers pay for its longest path, which costs little more than the shortest.
const (
	leafCost     = 64
	leafSlack    = 8
	indirectCost = 12  // maximum of a leaf that may be called indirectly: such calls pay for any leaf of the type
	leafBytes    = 400 // maximum code size
)

// unchecked is the longest path without a fuel check, in units. At worst, when every unit is a load that misses all
// caches, that is a millisecond.
const unchecked = 10_000

// returning is the longest path from a call to the function's end without a fuel check, in units: thousands of calls
// may return in a row.
const returning = 32

// foldedPart bounds what a region pays for regions that may not run: one foldedPart-th of its own price.
const foldedPart = 8

// outlinedHeight is how many nested loops call the host from outside their code. Deeper nesting is rare, and each such
// loop adds blocks around those in it.
const outlinedHeight = 3

// cost returns the maximum cost of an instruction, excluding what depends on its operands.
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
