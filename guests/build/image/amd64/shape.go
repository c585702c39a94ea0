package amd64

import "bytes"

// shape is what the head of an instruction tells of the rest: a displacement, then an immediate.
type shape struct {
	head  int // bytes of prefixes, opcode, ModRM and SIB
	disp  int // bytes of the displacement: 0, 1 or 4
	imm   int // bytes of the immediate: 0, 1, 2, 4 or 8
	kind  kind
	at    stream // of the displacement
	value stream // of the immediate
}

type kind uint8

const (
	plain   kind = iota
	jump         // to a displacement of 4 bytes, which does not count as immediate
	call         // likewise
	table        // a jump through a register: a table of targets may follow
	exit         // pseudo-instruction: an exit from the guest, head {opExit, register}
	literal      // pseudo-instruction: a byte that is none, head {opLiteral, byte}
)

// Opcodes that do not exist in 64-bit mode.
const (
	opExit    = 0x06
	opLiteral = 0x07
)

// size returns the bytes of an instruction that is no pseudo-instruction.
func (s shape) size() int {
	if s.kind == jump || s.kind == call {
		return s.head + s.disp + 4
	}
	return s.head + s.disp + s.imm
}

// one is the shape of a byte that begins no instruction that the compiler writes.
var one = shape{head: 1}

// shapeOfHead returns the shape of a head, which may be a pseudo-instruction's.
func shapeOfHead(head []byte) shape {
	if len(head) == 2 && head[0] == opExit {
		return shape{head: 2, kind: exit}
	}
	if len(head) == 2 && head[0] == opLiteral {
		return shape{head: 2, kind: literal}
	}
	return shapeOf(head)
}

// shapeOf parses the instruction at the start of b. It reads no byte behind the head.
func shapeOf(b []byte) shape {
	at, wide, word := 0, false, 4
	for at < len(b) && bytes.IndexByte([]byte{0x66, 0xf0, 0xf2, 0xf3}, b[at]) >= 0 {
		if b[at] == 0x66 {
			word = 2
		}
		at++
	}
	if at < len(b) && b[at]&0xf0 == 0x40 {
		wide = b[at]&8 != 0
		at++
	}
	if at >= len(b) {
		return one
	}
	if b[at] == 0x0f {
		return shapeOfTwo(b, at+1)
	}
	return shapeOfOne(b, at, word, wide)
}

// shapeOfOne parses an opcode of one byte. word is the size of a full immediate in bytes.
func shapeOfOne(b []byte, at, word int, wide bool) shape {
	op := b[at]
	at++
	switch {
	case op == 0: // between functions
		return one
	case op < 0x40 && op&7 < 4, op == 0x63, op >= 0x84 && op <= 0x8f, op >= 0xd0 && op <= 0xd3, op == 0xfe:
		return withModRM(b, at, 0)
	case op < 0x40 && op&7 == 4, op == 0xa8, op >= 0xb0 && op <= 0xb7, op == 0x6a:
		return shape{head: at, imm: 1, value: byteValues}
	case op < 0x40 && op&7 == 5, op == 0xa9, op == 0x68:
		return shape{head: at, imm: word, value: otherValues}
	case op >= 0xb8 && op <= 0xbf && wide:
		return shape{head: at, imm: 8}
	case op >= 0xb8 && op <= 0xbf:
		return shape{head: at, imm: word, value: movedValues}
	case op == 0x69, op == 0x81, op == 0xc7:
		return withModRM(b, at, word)
	case op == 0x6b, op == 0x80, op == 0x83, op == 0xc0, op == 0xc1, op == 0xc6:
		return withModRM(b, at, 1)
	case op == 0xf6, op == 0xf7:
		return test(b, at, word)
	case op == 0xff:
		s := withModRM(b, at, 0)
		if s != one && b[at]&0xf8 == 0xe0 {
			s.kind = table
		}
		return s
	case op == 0xe8:
		return shape{head: at, kind: call}
	case op == 0xe9:
		return shape{head: at, kind: jump}
	case op >= 0x50 && op <= 0x5f, op >= 0x90 && op <= 0x99, op == 0xc3, op == 0xcc:
		return shape{head: at}
	}
	return one
}

// test parses TEST, which has an immediate, and NOT, NEG, MUL and DIV, which share its opcode and have none.
func test(b []byte, at, word int) shape {
	switch {
	case at < len(b) && b[at]&0x38 > 8:
		return withModRM(b, at, 0)
	case b[at-1] == 0xf6:
		return withModRM(b, at, 1)
	}
	return withModRM(b, at, word)
}

// shapeOfTwo parses what follows the byte 0F.
func shapeOfTwo(b []byte, at int) shape {
	if at >= len(b) {
		return one
	}
	op := b[at]
	at++
	switch {
	case op == 0x38:
		return withModRM(b, at+1, 0)
	case op == 0x3a:
		return withModRM(b, at+1, 1)
	case op >= 0x80 && op <= 0x8f:
		return shape{head: at, kind: jump}
	case op >= 0x70 && op <= 0x73, op == 0xc2, op >= 0xc4 && op <= 0xc6, op == 0xa4, op == 0xac, op == 0xba:
		return withModRM(b, at, 1)
	case op == 0x0b, op >= 0xc8 && op <= 0xcf, op == 0xa2, op == 0x31, op == 0x05:
		return shape{head: at}
	}
	return withModRM(b, at, 0)
}

// withModRM parses the ModRM byte at b[at], behind the opcode.
func withModRM(b []byte, at, imm int) shape {
	if at >= len(b) {
		return one
	}
	op, mod, base := b[at-1], b[at]>>6, b[at]&7
	s := shape{head: at + 1, imm: imm, at: otherOffsets, value: otherValues}
	if imm == 1 {
		s.value = byteValues
	}
	if op == 0xc7 {
		s.value = storedValues
	}
	if mod == 3 {
		return s
	}
	if base == 4 { // a SIB byte
		if at+1 >= len(b) {
			return one
		}
		if b[at+1]&0x3f == 0x24 {
			s.at = stackStream(op)
		}
		base = b[at+1] & 7
		s.head++
	}
	switch {
	case mod == 1:
		s.disp = 1
	case mod == 2 || base == 5:
		s.disp = 4
	}
	if s.disp == 1 && s.at == otherOffsets {
		s.at = byteOffsets
	}
	return s
}

// stackStream returns the stream of offsets from RSP: stores go through slots in order, and loads do not.
func stackStream(op byte) stream {
	switch op {
	case 0x89:
		return stackStores
	case 0x8b:
		return stackLoads
	}
	return stackOthers
}
