package asm

import "github.com/alcove-memory/alcove/host/sandbox/wasm"

// Code is a sequence of instructions in the binary format.
type Code []byte

// Seq concatenates codes.
func Seq(codes ...Code) Code {
	var all Code
	for _, c := range codes {
		all = append(all, c...)
	}
	return all
}

// Op returns an instruction with indexes as immediates.
func Op(op wasm.Opcode, indexes ...uint32) Code {
	c := Code{byte(op)}
	if op > 0xff {
		c = wasm.AppendU32(Code{byte(op >> 8)}, uint32(op&0xff))
	}
	for _, i := range indexes {
		c = wasm.AppendU32(c, i)
	}
	return c
}

// I32 pushes a constant.
func I32(v int32) Code { return wasm.AppendS64(Code{byte(wasm.OpI32Const)}, int64(v)) }

// U32 pushes a constant, such as an address.
func U32(v uint32) Code { return I32(int32(v)) }

// I64 pushes a constant.
func I64(v int64) Code { return wasm.AppendS64(Code{byte(wasm.OpI64Const)}, v) }

// Get pushes the value of a local.
func Get(local uint32) Code { return Op(wasm.OpLocalGet, local) }

// Set sets a local.
func Set(local uint32, value Code) Code { return Seq(value, Op(wasm.OpLocalSet, local)) }

// GetGlobal pushes the value of a global.
func GetGlobal(global uint32) Code { return Op(wasm.OpGlobalGet, global) }

// SetGlobal sets a global.
func SetGlobal(global uint32, value Code) Code { return Seq(value, Op(wasm.OpGlobalSet, global)) }

// Call calls a function.
func Call(function uint32, arguments ...Code) Code {
	return Seq(Seq(arguments...), Op(wasm.OpCall, function))
}

// CallIndirect calls the function at an index of table 0.
func CallIndirect(typ uint32, index Code, arguments ...Code) Code {
	return Seq(Seq(arguments...), index, Op(wasm.OpCallIndirect, typ, 0))
}

// void is the type of a block without results.
const void = 0x40

// Block returns a block without results. A branch to it goes to its end.
func Block(body ...Code) Code {
	return Seq(Op(wasm.OpBlock, void), Seq(body...), Op(wasm.OpEnd))
}

// Loop returns a loop without results. A branch to it goes to its beginning.
func Loop(body ...Code) Code { return Seq(Op(wasm.OpLoop, void), Seq(body...), Op(wasm.OpEnd)) }

// If runs code if a condition holds.
func If(condition Code, then ...Code) Code {
	return Seq(condition, Op(wasm.OpIf, void), Seq(then...), Op(wasm.OpEnd))
}

// Br branches to a label.
func Br(label uint32) Code { return Op(wasm.OpBr, label) }

// BrIf branches if a condition holds.
func BrIf(label uint32, condition Code) Code { return Seq(condition, Op(wasm.OpBrIf, label)) }

// BrTable branches to the label at an index. The last label is the default.
func BrTable(index Code, labels ...uint32) Code {
	return Seq(index, Op(wasm.OpBrTable, uint32(len(labels)-1)), index32(labels))
}

func index32(list []uint32) Code {
	var c Code
	for _, i := range list {
		c = wasm.AppendU32(c, i)
	}
	return c
}

// Two applies an instruction to two values.
func Two(op wasm.Opcode, a, b Code) Code { return Seq(a, b, Op(op)) }

// Add adds two i32 values.
func Add(a, b Code) Code { return Two(wasm.OpI32Add, a, b) }

// Drop discards a value.
func Drop(value Code) Code { return Seq(value, Op(wasm.OpDrop)) }

// Load loads without an offset, with byte alignment.
func Load(op wasm.Opcode, at Code) Code { return Seq(at, Op(op, 0, 0)) }

// Store stores without an offset, with byte alignment.
func Store(op wasm.Opcode, at, value Code) Code { return Seq(at, value, Op(op, 0, 0)) }

// Unreachable traps.
func Unreachable() Code { return Op(wasm.OpUnreachable) }
