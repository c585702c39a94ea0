package meter

import "github.com/alcove-memory/alcove/host/sandbox/wasm"

// Costs are in units of fuel: one is about the time of an addition.
const (
	entryCost    = 4  // of a call's frame
	callCost     = 8  // of a call
	importCost   = 64 // of calling the host
	growCost     = 256
	leafCost     = 64 // the most that a function without a charge of its own may cost
	localsPerOne = 4  // locals that are zeroed for one unit
	bytesShift   = 6  // bytes moved for one unit, as a power of two
	pageShift    = 16 - bytesShift
)

// chunk is how many bytes are moved without a look at the fuel.
const chunk = 1 << 20

// cost is what an instruction costs at most, but for what depends on its operands.
func cost(op wasm.Opcode) int64 {
	switch op {
	case wasm.OpBlock, wasm.OpLoop, wasm.OpEnd, wasm.OpElse, wasm.OpNop, wasm.OpDrop, wasm.OpLocalGet, wasm.OpI32Const, wasm.OpI64Const:
		return 0
	case wasm.OpCall:
		return callCost
	case wasm.OpCallIndirect:
		return callCost + leafCost
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
