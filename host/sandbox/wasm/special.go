package wasm

import "slices"

// one returns a preallocated list of one type, for the results of blocks.
func one(t ValType) []ValType {
	switch t {
	case I32:
		return oneI32[:]
	case I64:
		return oneI64[:]
	case F32:
		return oneF32[:]
	case F64:
		return oneF64[:]
	case V128:
		return oneV128[:]
	case FuncRef:
		return oneFuncRef[:]
	case ExternRef:
		return oneExternRef[:]
	}
	return nil
}

var (
	oneI32       = [1]ValType{I32}
	oneI64       = [1]ValType{I64}
	oneF32       = [1]ValType{F32}
	oneF64       = [1]ValType{F64}
	oneV128      = [1]ValType{V128}
	oneFuncRef   = [1]ValType{FuncRef}
	oneExternRef = [1]ValType{ExternRef}
)

// special validates instructions whose type depends on their context or immediates.
func (b *body) special() error {
	switch b.in.Op {
	case OpLocalGet, OpLocalSet, OpLocalTee:
		return b.local()
	case OpGlobalGet, OpGlobalSet:
		return b.global()
	case OpEnd:
		return b.end()
	case OpBlock, OpLoop, OpIf:
		return b.block()
	case OpElse:
		return b.elseBranch()
	case OpBr, OpBrIf, OpBrTable, OpReturn:
		return b.branch()
	case OpCall, OpCallIndirect:
		return b.call()
	case OpDrop:
		_, err := b.any()
		return err
	case OpSelect:
		return b.choose()
	case OpNop:
		return nil
	case OpUnreachable:
		b.never()
		return nil
	}
	return b.reference()
}

func (b *body) local() error {
	if uint64(b.in.Index) >= uint64(len(b.locals)) {
		return b.bad("%s names local %d of %d", b.in.Op, b.in.Index, len(b.locals))
	}
	t := b.locals[b.in.Index]
	if b.in.Op != OpLocalGet {
		if err := b.pop(t); err != nil {
			return err
		}
	}
	if b.in.Op == OpLocalSet {
		return nil
	}
	return b.push(t)
}

func (b *body) global() error {
	if uint64(b.in.Index) >= uint64(len(b.module.globals)) {
		return b.bad("%s names global %d of %d", b.in.Op, b.in.Index, len(b.module.globals))
	}
	g := b.module.globals[b.in.Index]
	if b.in.Op == OpGlobalGet {
		return b.push(g.Type)
	}
	if !g.Mutable {
		return b.bad("global.set writes global %d, which may not change", b.in.Index)
	}
	return b.pop(g.Type)
}

func (b *body) blockTypes() (params, results []ValType, err error) {
	t := b.in.Block
	if t.Index < 0 {
		return nil, one(t.Result), nil
	}
	if int(t.Index) >= len(b.module.Types) {
		return nil, nil, b.bad("%s has type %d of %d", b.in.Op, t.Index, len(b.module.Types))
	}
	f := b.module.Types[t.Index]
	return f.Params, f.Results, nil
}

func (b *body) block() error {
	params, results, err := b.blockTypes()
	if err != nil {
		return err
	}
	if b.in.Op == OpIf {
		if err := b.pop(I32); err != nil {
			return err
		}
	}
	if err := b.popAll(params); err != nil {
		return err
	}
	return b.open(b.in.Op, params, results)
}

func (b *body) elseBranch() error {
	f, err := b.close()
	if err != nil {
		return err
	}
	if f.op != OpIf {
		return fault(Malformed, b.reader.offset+b.in.Start, "else stands in no if")
	}
	return b.open(OpElse, f.params, f.results)
}

func (b *body) end() error {
	f, err := b.close()
	if err != nil {
		return err
	}
	if f.op == OpIf && !slices.Equal(f.params, f.results) {
		return b.bad("an if without else gives other types than it takes")
	}
	return b.pushAll(f.results)
}

func (b *body) branch() error {
	if b.in.Op == OpReturn {
		if err := b.popAll(b.frames[0].results); err != nil {
			return err
		}
		b.never()
		return nil
	}
	if b.in.Op != OpBr {
		if err := b.pop(I32); err != nil {
			return err
		}
	}
	f, err := b.target(b.in.Index)
	if err != nil {
		return err
	}
	label := f.label()
	if b.in.Op == OpBrTable {
		if err := b.alternatives(label); err != nil {
			return err
		}
	}
	if err := b.popAll(label); err != nil {
		return err
	}
	if b.in.Op == OpBrIf {
		return b.pushAll(label)
	}
	b.never()
	return nil
}

// alternatives checks that each target of a br_table accepts the operands. Targets often repeat, so labels with the same
// types are checked once.
func (b *body) alternatives(common []ValType) error {
	var checked []ValType
	for i, label := range b.in.Targets {
		f, err := b.target(label)
		if err != nil {
			return err
		}
		types := f.label()
		if len(types) != len(common) {
			return b.bad("br_table goes to blocks that take %d and %d values", len(types), len(common))
		}
		if len(types) == 0 || i > 0 && &types[0] == &checked[0] {
			continue
		}
		checked = types
		if err := b.peek(types); err != nil {
			return err
		}
	}
	return nil
}

// peek checks that values of the types are on the stack, without popping them.
func (b *body) peek(types []ValType) error {
	f := &b.frames[len(b.frames)-1]
	for i := range types {
		at := len(b.operands) - 1 - i
		if at < f.height {
			if f.unreachable {
				return nil
			}
			return b.bad("%s needs %d values, and there are %d", b.in.Op, len(types), i)
		}
		want, got := types[len(types)-1-i], b.operands[at]
		if got != want && got != unknown {
			return b.bad("%s needs %s, and there is %s", b.in.Op, want, got)
		}
	}
	return nil
}

func (b *body) call() error {
	var t FuncType
	if b.in.Op == OpCall {
		if uint64(b.in.Index) >= uint64(len(b.module.functions)) {
			return b.bad("call names function %d of %d", b.in.Index, len(b.module.functions))
		}
		t = b.module.FuncType(b.in.Index)
	} else {
		table, err := b.table(b.in.Index2)
		if err != nil {
			return err
		}
		if table != FuncRef {
			return b.bad("call_indirect uses a table of %s", table)
		}
		if uint64(b.in.Index) >= uint64(len(b.module.Types)) {
			return b.bad("call_indirect has type %d of %d", b.in.Index, len(b.module.Types))
		}
		if err := b.pop(I32); err != nil {
			return err
		}
		t = b.module.Types[b.in.Index]
	}
	if err := b.popAll(t.Params); err != nil {
		return err
	}
	return b.pushAll(t.Results)
}

// choose validates select without a type, which accepts numbers and vectors only.
func (b *body) choose() error {
	if err := b.pop(I32); err != nil {
		return err
	}
	first, err := b.any()
	if err != nil {
		return err
	}
	second, err := b.any()
	if err != nil {
		return err
	}
	if first.IsRef() || second.IsRef() {
		return b.bad("select without a type chooses between references")
	}
	if first == unknown {
		return b.push(second)
	}
	if second != unknown && first != second {
		return b.bad("select chooses between %s and %s", second, first)
	}
	return b.push(first)
}

func (b *body) reference() error {
	switch b.in.Op {
	case OpSelectTyped:
		if err := b.pop(I32); err != nil {
			return err
		}
		t := b.in.Types[0]
		if err := b.pop(t); err != nil {
			return err
		}
		if err := b.pop(t); err != nil {
			return err
		}
		return b.push(t)
	case OpRefNull:
		return b.push(b.in.Type)
	case OpRefIsNull:
		t, err := b.any()
		if err != nil {
			return err
		}
		if t != unknown && !t.IsRef() {
			return b.bad("ref.is_null needs a reference, and there is %s", t)
		}
		return b.push(I32)
	case OpRefFunc:
		if uint64(b.in.Index) >= uint64(len(b.module.functions)) {
			return b.bad("ref.func names function %d of %d", b.in.Index, len(b.module.functions))
		}
		if !b.module.declared[b.in.Index] {
			return b.bad("ref.func names function %d, which no export, element segment or global declares", b.in.Index)
		}
		return b.push(FuncRef)
	}
	return b.tableAccess()
}

func (b *body) tableAccess() error {
	t, err := b.table(b.in.Index)
	if err != nil {
		return err
	}
	switch b.in.Op {
	case OpTableGet:
		if err := b.pop(I32); err != nil {
			return err
		}
		return b.push(t)
	case OpTableSet:
		if err := b.pop(t); err != nil {
			return err
		}
		return b.pop(I32)
	case OpTableGrow:
		if err := b.pop(I32); err != nil {
			return err
		}
		if err := b.pop(t); err != nil {
			return err
		}
		return b.push(I32)
	case OpTableFill:
		if err := b.pop(I32); err != nil {
			return err
		}
		if err := b.pop(t); err != nil {
			return err
		}
		return b.pop(I32)
	}
	return b.bad("%s cannot be validated", b.in.Op)
}
