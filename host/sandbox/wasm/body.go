package wasm

// body validates function bodies one after another, by the algorithm of the specification's appendix: a stack of value
// types, unknown in unreachable code, and a stack of open blocks.
type body struct {
	module   *Validated
	limits   Limits
	reader   InstrReader
	in       Instr
	locals   []ValType
	operands []ValType
	frames   []frame
}

// frame is an open block.
type frame struct {
	op          Opcode
	params      []ValType
	results     []ValType
	height      int // of the value stack below it
	unreachable bool
}

// label returns the types that a branch to the block takes.
func (f *frame) label() []ValType {
	if f.op == OpLoop {
		return f.params
	}
	return f.results
}

func (b *body) check(t FuncType, c *Code) error {
	b.reader = c.Instructions(b.limits.Branches)
	b.operands, b.frames = b.operands[:0], b.frames[:0]
	if err := b.declare(t, c); err != nil {
		return err
	}
	b.frames = append(b.frames, frame{op: OpBlock, results: t.Results})
	for len(b.frames) > 0 {
		if err := b.reader.Next(&b.in); err != nil {
			return err
		}
		if err := b.step(); err != nil {
			return err
		}
	}
	if b.reader.More() {
		return fault(Malformed, c.Offset+b.reader.At(), "instructions follow the end of the function")
	}
	return nil
}

func (b *body) declare(t FuncType, c *Code) error {
	b.locals = append(b.locals[:0], t.Params...)
	for _, g := range c.Locals {
		if len(b.locals)+int(g.Count) > b.limits.Locals {
			return tooLarge(c.Offset, "Locals", "the number of a function's locals", uint64(len(b.locals))+uint64(g.Count), b.limits.Locals)
		}
		for range g.Count {
			b.locals = append(b.locals, g.Type)
		}
	}
	return nil
}

func (b *body) bad(format string, values ...any) error {
	return fault(Invalid, b.reader.offset+b.in.Start, format, values...)
}

func (b *body) push(t ValType) error {
	if len(b.operands) >= b.limits.Operands {
		return tooLarge(b.reader.offset+b.in.Start, "Operands", "the number of values on the stack", uint64(len(b.operands))+1, b.limits.Operands)
	}
	b.operands = append(b.operands, t)
	return nil
}

func (b *body) pushAll(types []ValType) error {
	for _, t := range types {
		if err := b.push(t); err != nil {
			return err
		}
	}
	return nil
}

// any pops a value of any type.
func (b *body) any() (ValType, error) {
	f := &b.frames[len(b.frames)-1]
	if len(b.operands) == f.height {
		if f.unreachable {
			return unknown, nil
		}
		return 0, b.bad("%s needs a value, and the stack is empty", b.in.Op)
	}
	t := b.operands[len(b.operands)-1]
	b.operands = b.operands[:len(b.operands)-1]
	return t, nil
}

func (b *body) pop(want ValType) error {
	got, err := b.any()
	if err != nil {
		return err
	}
	if got != want && got != unknown && want != unknown {
		return b.bad("%s needs %s, and there is %s", b.in.Op, want, got)
	}
	return nil
}

func (b *body) popAll(types []ValType) error {
	f := &b.frames[len(b.frames)-1]
	for i := len(types) - 1; i >= 0; i-- {
		if f.unreachable && len(b.operands) == f.height {
			return nil // any types: a call with many parameters costs nothing there
		}
		if err := b.pop(types[i]); err != nil {
			return err
		}
	}
	return nil
}

func (b *body) open(op Opcode, params, results []ValType) error {
	if len(b.frames) > b.limits.Nesting {
		return tooLarge(b.reader.offset+b.in.Start, "Nesting", "how deep blocks are nested", uint64(len(b.frames)), b.limits.Nesting)
	}
	b.frames = append(b.frames, frame{op: op, params: params, results: results, height: len(b.operands)})
	return b.pushAll(params)
}

func (b *body) close() (frame, error) {
	f := b.frames[len(b.frames)-1]
	if err := b.popAll(f.results); err != nil {
		return f, err
	}
	if len(b.operands) != f.height {
		return f, b.bad("a block leaves %d values too many", len(b.operands)-f.height)
	}
	b.frames = b.frames[:len(b.frames)-1]
	return f, nil
}

// never marks the rest of the block as unreachable.
func (b *body) never() {
	f := &b.frames[len(b.frames)-1]
	b.operands = b.operands[:f.height]
	f.unreachable = true
}

func (b *body) target(label uint32) (*frame, error) {
	if uint64(label) >= uint64(len(b.frames)) {
		return nil, b.bad("%s goes %d blocks out, and there are %d", b.in.Op, label, len(b.frames))
	}
	return &b.frames[len(b.frames)-1-int(label)], nil
}

// signature applies an instruction with fixed operand and result types.
func (b *body) signature(signature string) error {
	colon := 0
	for signature[colon] != ':' {
		colon++
	}
	for i := colon - 1; i >= 0; i-- {
		if err := b.pop(letter(signature[i])); err != nil {
			return err
		}
	}
	for i := colon + 1; i < len(signature); i++ {
		if err := b.push(letter(signature[i])); err != nil {
			return err
		}
	}
	return nil
}

func letter(c byte) ValType {
	switch c {
	case 'i':
		return I32
	case 'I':
		return I64
	case 'f':
		return F32
	case 'F':
		return F64
	}
	return V128
}

func (b *body) step() error {
	d := b.in.Op.described()
	if d.signature == "" {
		return b.special()
	}
	if d.imm != immNone {
		if err := b.operandsOf(d); err != nil {
			return err
		}
	}
	return b.signature(d.signature)
}

// operandsOf checks the immediates of instructions with fixed types.
func (b *body) operandsOf(d *opcodeForm) error {
	switch d.imm {
	case immMemory, immMemoryLane:
		if b.in.Align > uint32(d.size) {
			return b.bad("%s is aligned to %d bytes, more than it reads or writes", b.in.Op, uint64(1)<<b.in.Align)
		}
		if d.imm == immMemoryLane && int(b.in.Lane) >= 16>>d.size {
			return b.bad("%s names lane %d of %d", b.in.Op, b.in.Lane, 16>>d.size)
		}
		return b.memory()
	case immLane:
		if b.in.Lane >= d.size {
			return b.bad("%s names lane %d of %d", b.in.Op, b.in.Lane, d.size)
		}
	case immShuffle:
		for _, lane := range b.in.Vector {
			if lane >= 32 {
				return b.bad("%s names lane %d of 32", b.in.Op, lane)
			}
		}
	case immZero, immZeros:
		return b.memory()
	case immIndexZero:
		if err := b.memory(); err != nil {
			return err
		}
		return b.segment(b.module.DataCount)
	case immIndexes:
		return b.tables()
	case immIndex:
		return b.indexed()
	}
	return nil
}

func (b *body) memory() error {
	if len(b.module.memories) == 0 {
		return b.bad("%s needs a memory, and there is none", b.in.Op)
	}
	return nil
}

// segment checks a data segment index, which is valid only in a module with a data count section.
func (b *body) segment(announced *uint32) error {
	if announced == nil {
		return fault(Malformed, b.reader.offset+b.in.Start, "%s needs a section that announces the number of data segments", b.in.Op)
	}
	if b.in.Index >= *announced {
		return b.bad("%s names data segment %d of %d", b.in.Op, b.in.Index, *announced)
	}
	return nil
}

func (b *body) elementSegment() (ValType, error) {
	if uint64(b.in.Index) >= uint64(len(b.module.Elements)) {
		return 0, b.bad("%s names element segment %d of %d", b.in.Op, b.in.Index, len(b.module.Elements))
	}
	return b.module.Elements[b.in.Index].Type, nil
}

func (b *body) table(index uint32) (ValType, error) {
	if uint64(index) >= uint64(len(b.module.tables)) {
		return 0, b.bad("%s names table %d of %d", b.in.Op, index, len(b.module.tables))
	}
	return b.module.tables[index].Type, nil
}

// tables checks table.copy and table.init.
func (b *body) tables() (err error) {
	var from, to ValType
	if b.in.Op == OpTableCopy {
		if to, err = b.table(b.in.Index); err == nil {
			from, err = b.table(b.in.Index2)
		}
	} else {
		if from, err = b.elementSegment(); err == nil {
			to, err = b.table(b.in.Index2)
		}
	}
	if err == nil && from != to {
		return b.bad("%s moves %s into a table of %s", b.in.Op, from, to)
	}
	return err
}

func (b *body) indexed() (err error) {
	switch b.in.Op {
	case OpDataDrop:
		return b.segment(b.module.DataCount)
	case OpElemDrop:
		_, err = b.elementSegment()
	case OpTableSize:
		_, err = b.table(b.in.Index)
	}
	return err
}
