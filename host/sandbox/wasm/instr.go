package wasm

import "encoding/binary"

// immediate is the kind of an opcode's immediates.
type immediate byte

const (
	immNone immediate = iota
	immBlock
	immIndex
	immBranches
	immIndexes
	immTypes
	immMemory
	immZero
	immZeros
	immIndexZero
	immI32
	immI64
	immF32
	immF64
	immReftype
	immV128
	immShuffle
	immLane
	immMemoryLane
)

func (op Opcode) described() *opcodeForm {
	switch low := op & 0xff; op >> 8 {
	case 0:
		return &plainOps[low]
	case 0xfc:
		if int(low) < len(bulkOps) {
			return &bulkOps[low]
		}
	case 0xfd:
		return &vectorOps[low]
	}
	return &opcodeForm{}
}

func (op Opcode) String() string { return op.described().name }

// BlockType is the type of a block: a type index, or at most one result.
type BlockType struct {
	Index  int32   // of a type; -1: none
	Result ValType // without an index: the result; 0: none
}

// Instr is an instruction with its immediates. Only the fields that its opcode uses are set.
type Instr struct {
	Op         Opcode
	Start, End int // its bytes in the body

	Block  BlockType // block, loop, if
	Index  uint32    // local, global, function, type of call_indirect, label, table, segment, br_table's default
	Index2 uint32    // table of call_indirect and table.init (whose Index is the segment); source of table.copy
	Align  uint32    // memory access: power of two
	Offset uint32    // memory access
	Lane   byte
	Value  uint64   // constants: their bits
	Vector [16]byte // v128.const, lanes of i8x16.shuffle
	Type   ValType  // ref.null
	// Targets are br_table's labels except the default; Types those of a typed select. The next call of Next overwrites
	// both.
	Targets []uint32
	Types   []ValType
}

// InstrReader reads the instructions of a function body one by one.
type InstrReader struct {
	body     []byte
	at       int
	offset   int
	branches int
}

// Instructions returns a reader of the body. branches bounds the targets of a br_table.
func (c *Code) Instructions(branches int) InstrReader {
	return InstrReader{body: c.Body, offset: c.Offset, branches: branches}
}

// More reports whether bytes are left.
func (r *InstrReader) More() bool { return r.at < len(r.body) }

// At returns the offset of the next instruction in the body.
func (r *InstrReader) At() int { return r.at }

func (r *InstrReader) bad(at int, format string, values ...any) error {
	return fault(Malformed, r.offset+at, format, values...)
}

// Next reads the next instruction into in. Errors are of type *Error.
func (r *InstrReader) Next(in *Instr) error {
	in.Start = r.at
	if r.at >= len(r.body) {
		return r.bad(r.at, "unexpected end, expected an instruction")
	}
	first := r.body[r.at]
	r.at++
	in.Op = Opcode(first)
	if first >= 0xfb {
		if err := r.prefixed(in, first); err != nil {
			return err
		}
	}
	d := in.Op.described()
	if d.name == "" {
		return r.notAnInstruction(in)
	}
	if d.imm != immNone {
		if err := r.immediates(in, d); err != nil {
			return err
		}
	}
	in.End = r.at
	return nil
}

// prefixed reads the number after an opcode's prefix. It must have its shortest form: decoders that look at one byte only
// read others differently.
func (r *InstrReader) prefixed(in *Instr, first byte) error {
	second, next, ok := uleb32(r.body, r.at)
	if !ok {
		return r.bad(in.Start, "an opcode behind %#02x is not a number", first)
	}
	if shortest := len(AppendU32(nil, second)); next-r.at != shortest {
		return r.bad(in.Start, "opcode %#02x %d is written with %d bytes instead of %d", first, second, next-r.at, shortest)
	}
	if second > 0xff || first != 0xfc && first != 0xfd {
		return r.beyond(in.Start, first, second)
	}
	r.at = next
	in.Op = Opcode(first)<<8 | Opcode(second)
	return nil
}

func (r *InstrReader) beyond(at int, first byte, second uint32) error {
	feature := map[byte]string{0xfb: "garbage collection", 0xfd: "relaxed SIMD", 0xfe: "threads"}[first]
	if feature == "" {
		return r.bad(at, "%#02x %d is not an instruction", first, second)
	}
	return fault(Unsupported, r.offset+at, "instruction %#02x %d is of %s, which is not in WebAssembly 2.0", first, second, feature)
}

func (r *InstrReader) notAnInstruction(in *Instr) error {
	feature := ""
	switch in.Op {
	case 0x12, 0x13:
		feature = "tail calls"
	case 0x14, 0x15, 0xd3, 0xd4, 0xd5, 0xd6:
		feature = "typed function references"
	case 0x06, 0x07, 0x08, 0x09, 0x0a, 0x18, 0x19, 0x1f:
		feature = "exceptions"
	}
	if feature == "" {
		return r.bad(in.Start, "%#02x is not an instruction", uint16(in.Op))
	}
	return fault(Unsupported, r.offset+in.Start, "instruction %#02x is of %s, which are not in WebAssembly 2.0", uint16(in.Op), feature)
}

func (r *InstrReader) u32(in *Instr, what string, into *uint32) error {
	v, next, ok := uleb32(r.body, r.at)
	if !ok {
		return r.bad(r.at, "%s of %s is not a number of 32 bits", what, in.Op)
	}
	r.at, *into = next, v
	return nil
}

func (r *InstrReader) signed(in *Instr, bits int) error {
	v, next, ok := sleb(r.body, r.at, bits)
	if !ok {
		return r.bad(r.at, "the value of %s is not a number of %d bits", in.Op, bits)
	}
	r.at = next
	if in.Value = uint64(v); bits == 32 {
		in.Value = uint64(uint32(v))
	}
	return nil
}

func (r *InstrReader) take(in *Instr, n int) ([]byte, error) {
	if len(r.body)-r.at < n {
		return nil, r.bad(in.Start, "%s needs %d more bytes, and the body ends", in.Op, n)
	}
	b := r.body[r.at : r.at+n]
	r.at += n
	return b, nil
}

func (r *InstrReader) zero(in *Instr) error {
	b, err := r.take(in, 1)
	if err == nil && b[0] != 0 {
		return r.bad(r.at-1, "%s is followed by %#02x, expected a zero byte", in.Op, b[0])
	}
	return err
}

func (r *InstrReader) immediates(in *Instr, d *opcodeForm) error {
	switch d.imm {
	case immIndex:
		return r.u32(in, "the index", &in.Index)
	case immI32:
		return r.signed(in, 32)
	case immI64:
		return r.signed(in, 64)
	case immMemory:
		return r.access(in)
	case immBlock:
		return r.block(in)
	case immBranches:
		return r.targets(in)
	case immIndexes:
		if err := r.u32(in, "the first index", &in.Index); err != nil {
			return err
		}
		return r.u32(in, "the second index", &in.Index2)
	case immZero:
		return r.zero(in)
	case immZeros:
		if err := r.zero(in); err != nil {
			return err
		}
		return r.zero(in)
	case immIndexZero:
		if err := r.u32(in, "the index", &in.Index); err != nil {
			return err
		}
		return r.zero(in)
	case immF32:
		b, err := r.take(in, 4)
		if err == nil {
			in.Value = uint64(binary.LittleEndian.Uint32(b))
		}
		return err
	case immF64:
		b, err := r.take(in, 8)
		if err == nil {
			in.Value = binary.LittleEndian.Uint64(b)
		}
		return err
	}
	return r.rareImmediates(in, d)
}

func (r *InstrReader) rareImmediates(in *Instr, d *opcodeForm) error {
	switch d.imm {
	case immTypes:
		return r.types(in)
	case immReftype:
		b, err := r.take(in, 1)
		if err != nil {
			return err
		}
		if in.Type = ValType(b[0]); !in.Type.IsRef() {
			return r.bad(r.at-1, "%#02x is not a reference type", b[0])
		}
		return nil
	case immV128, immShuffle:
		b, err := r.take(in, 16)
		copy(in.Vector[:], b)
		return err
	case immMemoryLane:
		if err := r.access(in); err != nil {
			return err
		}
	}
	b, err := r.take(in, 1) // immLane too
	if err == nil {
		in.Lane = b[0]
	}
	return err
}

func (r *InstrReader) access(in *Instr) error {
	if err := r.u32(in, "the alignment", &in.Align); err != nil {
		return err
	}
	if in.Align >= 32 {
		return r.bad(in.Start, "%s is aligned to two to the %d", in.Op, in.Align)
	}
	return r.u32(in, "the offset", &in.Offset)
}

// block reads a block type: at most one result as a negative one-byte number, or a 33-bit type index.
func (r *InstrReader) block(in *Instr) error {
	v, next, ok := sleb(r.body, r.at, 33)
	switch t := ValType(v & 0x7f); {
	case !ok:
		return r.bad(r.at, "the type of %s is not a number of 33 bits", in.Op)
	case v >= 0:
		in.Block = BlockType{Index: int32(min(v, 1<<31-1))}
	case next != r.at+1:
		return r.bad(r.at, "%d is not the type of a block", v)
	case t == 0x40:
		in.Block = BlockType{Index: -1}
	case t.valid():
		in.Block = BlockType{Index: -1, Result: t}
	default:
		return r.bad(r.at, "%#02x is not the type of a block", byte(t))
	}
	r.at = next
	return nil
}

func (r *InstrReader) targets(in *Instr) error {
	at := r.at
	var n uint32
	if err := r.u32(in, "the number of targets", &n); err != nil {
		return err
	}
	if uint64(n) > uint64(r.branches) {
		return tooLarge(r.offset+at, "Branches", "the number of targets of br_table", uint64(n), r.branches)
	}
	if int(n) > len(r.body)-r.at {
		return r.bad(at, "%d targets cannot be in the %d bytes that are left", n, len(r.body)-r.at)
	}
	in.Targets = in.Targets[:0]
	for range n {
		var target uint32
		if err := r.u32(in, "a target", &target); err != nil {
			return err
		}
		in.Targets = append(in.Targets, target)
	}
	return r.u32(in, "the default target", &in.Index)
}

func (r *InstrReader) types(in *Instr) error {
	at := r.at
	var n uint32
	if err := r.u32(in, "the number of types", &n); err != nil {
		return err
	}
	b, err := r.take(in, int(min(n, 1<<30)))
	if err != nil {
		return err
	}
	if n != 1 {
		return fault(Invalid, r.offset+at, "select has %d result types, expected one", n)
	}
	if r.at-at != 2 { // the number and the type: wazero always reads the number as one byte
		return r.bad(at, "the number of types is written with %d bytes instead of 1", r.at-at-1)
	}
	in.Types = append(in.Types[:0], ValType(b[0]))
	if !in.Types[0].valid() {
		return r.bad(at, "%#02x is not a type of values", b[0])
	}
	return nil
}
