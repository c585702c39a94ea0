package hostile

import (
	"bytes"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/sandbox/wasm"
	"github.com/alcove-memory/alcove/host/testing/asm"
)

// plain is a guest that only answers.
func plain() []byte {
	g := newGuest()
	g.handle(g.fine())
	return g.Bytes()
}

// decoders are ambiguous encodings, and files that are no modules.
func decoders() []Case {
	var all []Case
	add := func(name string, class abi.Class, module []byte) {
		all = append(all, Case{Name: name, Module: module, Class: class})
	}
	good := plain()
	add("nothing", abi.ClassStructure, nil)
	add("another format", abi.ClassStructure, []byte("\x7fELF\x02\x01\x01\x00"))
	add("text", abi.ClassStructure, []byte("(module)"))
	add("only the first four bytes", abi.ClassStructure, good[:4])
	add("another version", abi.ClassStructure, bytes.Replace(good, []byte("\x01\x00\x00\x00"), []byte("\x02\x00\x00\x00"), 1))
	add("a component", abi.ClassStructure, bytes.Replace(good, []byte("\x01\x00\x00\x00"), []byte("\x0d\x00\x01\x00"), 1))
	add("cut in the middle", abi.ClassStructure, good[:len(good)/2])
	add("without its last byte", abi.ClassStructure, good[:len(good)-1])
	add("with a byte behind it", abi.ClassStructure, append(bytes.Clone(good), 0))
	add("twice", abi.ClassStructure, append(bytes.Clone(good), good...))
	add("a section of an unknown kind", abi.ClassStructure, append(bytes.Clone(good), section(13)...))
	add("a section twice", abi.ClassStructure, raw(section(1, 0), section(1, 0)))
	add("sections in another order", abi.ClassStructure, raw(section(3, 0), section(1, 0)))
	add("a section longer than its content", abi.ClassStructure, raw(section(1, 0, 0)))
	add("a section shorter than its content", abi.ClassStructure, raw([]byte{1, 1, 1, 0x60, 0, 0}))
	add("an overlong number", abi.ClassStructure, raw([]byte{1, 0x81, 0x80, 0x80, 0x80, 0x80, 0, 0}))
	add("a number with bits beyond 32", abi.ClassStructure, raw([]byte{1, 0x81, 0x80, 0x80, 0x80, 0x10, 0}))
	add("a padded number", abi.ClassOK, append([]byte(preamble), append([]byte{0, 0x82, 0x80, 0x80, 0x80, 0x00, 1, 'x'}, good[8:]...)...))
	add("a name that is not UTF-8", abi.ClassStructure, raw(section(0, 1, 0xff)))
	add("a name of half a letter", abi.ClassStructure, raw(section(0, 1, 0xc3)))
	add("a type that is not a function", abi.ClassStructure, raw(section(1, 1, 0x5f, 0)))
	add("a type of a later version", abi.ClassStructure, raw(section(1, 1, 0x60, 1, 0x6e, 0)))
	add("a recursive type", abi.ClassStructure, raw(section(1, 1, 0x4e, 1, 0x60, 0, 0)))
	add("a shared memory", abi.ClassStructure, raw(section(5, 1, 3, 1, 2)))
	add("a memory with 64-bit addresses", abi.ClassStructure, raw(section(5, 1, 4, 1)))
	add("two memories", abi.ClassStructure, raw(section(5, 2, 0, 1, 0, 1)))
	add("a memory with unknown flags", abi.ClassStructure, raw(section(5, 1, 0x80, 1)))
	add("a table of numbers", abi.ClassStructure, raw(section(4, 1, 0x7f, 0, 1)))
	add("a global that is neither fixed nor not", abi.ClassStructure, raw(section(6, 1, 0x7f, 2, 0x41, 0, 0x0b)))
	add("a tag section", abi.ClassStructure, raw(section(1, 1, 0x60, 0, 0), section(13, 1, 0, 0)))
	add("an element segment with unknown flags", abi.ClassStructure, raw(section(4, 1, 0x70, 0, 1), section(9, 1, 8, 0)))
	add("a data segment with unknown flags", abi.ClassStructure, raw(section(5, 1, 0, 1), section(11, 1, 3, 0)))
	add("an import of an unknown kind", abi.ClassStructure, raw(section(2, 1, 1, 'a', 1, 'b', 4, 0, 0)))
	add("an export of an unknown kind", abi.ClassStructure, raw(section(7, 1, 1, 'a', 5, 0)))
	for _, p := range strangeCode() {
		add(p.name, abi.ClassStructure, doing("", "", p.code).Module)
	}
	return all
}

// strangeCode are instructions that WebAssembly 2.0 lacks or encodes differently.
func strangeCode() []piece {
	vector := asm.Seq(asm.I32(0), asm.Op(wasm.OpI32x4Splat))
	drop := asm.Op(wasm.OpDrop)
	return []piece{
		// wazero takes one byte behind the prefix, then sees a loop that no decoder counts.
		{"an overlong opcode of vectors that hides a loop", asm.Seq(asm.Code{0xfd, 0x80, 0x03, 0x40, 0x0c, 0x00, 0x0b})},
		{"a padded opcode of vectors", asm.Seq(vector, vector, asm.Code{0xfd, 0xee, 0x80, 0x00}, drop)},
		{"a padded opcode of bulk memory", asm.Seq(asm.I32(0), asm.I32(0), asm.I32(0), asm.Code{0xfc, 0x8b, 0x00, 0})},
		{"an unknown opcode of vectors", asm.Seq(vector, asm.Code{0xfd, 0x9a, 0x01}, drop)},
		{"a relaxed vector instruction", asm.Seq(vector, vector, asm.Code{0xfd, 0x80, 0x02}, drop)},
		{"an unknown opcode of bulk memory", asm.Code{0xfc, 0x12}},
		{"an atomic instruction", asm.Seq(asm.I32(0), asm.I32(0), asm.Code{0xfe, 0x00, 2, 0}, drop)},
		{"an unknown prefix", asm.Code{0xff, 0x00}},
		{"an unknown opcode", asm.Code{0x27}},
		{"a prefix of later versions", asm.Code{0xfb, 0x00, 0x00}},
		{"a tail call", asm.Seq(asm.I32(0), asm.I32(0), asm.Code{0x12, 3})},
		{"a tail call through a table", asm.Seq(asm.I32(0), asm.I32(0), asm.I32(0), asm.Code{0x13, 3, 0})},
		{"a call of a reference", asm.Code{0x14, 0}},
		{"try", asm.Code{0x06, 0x40, 0x0b}},
		{"throw", asm.Code{0x08, 0}},
		{"memory.size of another memory", asm.Seq(asm.Code{byte(wasm.OpMemorySize), 1}, drop)},
		{"memory.grow with a padded zero", asm.Seq(asm.I32(0), asm.Code{byte(wasm.OpMemoryGrow), 0x80, 0}, drop)},
		{"an overlong constant", asm.Seq(asm.Code{byte(wasm.OpI32Const), 0x80, 0x80, 0x80, 0x80, 0x80, 0}, drop)},
		{"a constant whose sign is wrong", asm.Seq(asm.Code{byte(wasm.OpI32Const), 0xff, 0xff, 0xff, 0xff, 0x4f}, drop)},
		{"a constant of 64 bits with more of them", asm.Seq(asm.Code{byte(wasm.OpI64Const), 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x02}, drop)},
		{"a vector constant that is cut", asm.Code{0xfd, 0x0c, 1, 2, 3}},
		{"an instruction that is cut", asm.Code{byte(wasm.OpI32Load), 2}},
		{"a block of an unknown type", asm.Seq(asm.Code{byte(wasm.OpBlock), 0x60}, asm.Op(wasm.OpEnd))},
		{"a block of a type below zero", asm.Seq(asm.Code{byte(wasm.OpBlock), 0x80, 0x7f}, asm.Op(wasm.OpEnd))},
		{"a select of two types", asm.Seq(asm.I32(0), asm.I32(0), asm.I32(0), asm.Code{byte(wasm.OpSelectTyped), 2, 0x7f, 0x7f}, drop)},
		{"a lane out of range", asm.Seq(vector, asm.Code{0xfd, 0x15, 16}, drop)},
		{"a shuffle of lanes out of range", asm.Seq(vector, vector, asm.Code{0xfd, 0x0d}, repeated(16, asm.Code{32}), drop)},
	}
}
