package wasm

import "math"

// Validated is a module that passed validation. Only Validate creates one.
type Validated struct {
	*Module
	functions []uint32     // types of all functions, imports first
	tables    []Table      // likewise
	memories  []Range      // likewise
	globals   []GlobalType // likewise
	imported  [4]uint32    // by kind
	declared  []bool       // functions that ref.func may name in bodies
}

// FuncType returns the type of the function with an index, imports first.
func (v *Validated) FuncType(function uint32) FuncType { return v.Types[v.functions[function]] }

// TypeIndex returns the type index of a function.
func (v *Validated) TypeIndex(function uint32) uint32 { return v.functions[function] }

// AllTables returns the tables, imports first.
func (v *Validated) AllTables() []Table { return v.tables }

// AllMemories returns the memories, at most one.
func (v *Validated) AllMemories() []Range { return v.memories }

// AllGlobals returns the globals, imports first.
func (v *Validated) AllGlobals() []GlobalType { return v.globals }

// MaxPages is the maximum size of a memory, in pages of 64 KiB.
const MaxPages = 1 << 16

// Validate validates a module by the specification. Errors are of type *Error.
func Validate(m *Module, l Limits) (*Validated, error) {
	v := &Validated{Module: m}
	for _, step := range []func() error{
		v.imports, v.checkDefined, v.sizes, v.globalValues, v.exports, v.start, v.elements, v.dataSegments,
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return v, v.bodies(l.withDefaults())
}

// Parse decodes and validates a module.
func Parse(b []byte, l Limits) (*Validated, error) {
	m, err := Decode(b, l)
	if err != nil {
		return nil, err
	}
	return Validate(m, l)
}

func (v *Validated) imports() error {
	for _, i := range v.Imports {
		switch i.Kind {
		case KindFunc:
			if int(i.Func) >= len(v.Types) {
				return fault(Invalid, i.Offset, "an import has type %d of %d", i.Func, len(v.Types))
			}
			v.functions = append(v.functions, i.Func)
		case KindTable:
			v.tables = append(v.tables, i.Table)
		case KindMemory:
			v.memories = append(v.memories, i.Memory)
		case KindGlobal:
			v.globals = append(v.globals, i.Global)
		}
		v.imported[i.Kind]++
	}
	return nil
}

func (v *Validated) checkDefined() error {
	for i, t := range v.Functions {
		if int(t) >= len(v.Types) {
			return fault(Invalid, v.Codes[i].Offset, "function %d has type %d of %d", len(v.functions), t, len(v.Types))
		}
		v.functions = append(v.functions, t)
	}
	v.tables = append(v.tables, v.Tables...)
	v.memories = append(v.memories, v.Memories...)
	v.declared = make([]bool, len(v.functions))
	return nil
}

func (v *Validated) sizes() error {
	for i, t := range v.tables {
		if t.HasMax && t.Max < t.Min {
			return fault(Invalid, 0, "table %d has %d elements at first and %d at most", i, t.Min, t.Max)
		}
	}
	if len(v.memories) > 1 {
		return fault(Unsupported, 0, "there are %d memories, and several are not in WebAssembly 2.0", len(v.memories))
	}
	for _, m := range v.memories {
		if m.Min > MaxPages || m.HasMax && m.Max > MaxPages {
			return fault(Invalid, 0, "the memory has more than %d pages", MaxPages)
		}
		if m.HasMax && m.Max < m.Min {
			return fault(Invalid, 0, "the memory has %d pages at first and %d at most", m.Min, m.Max)
		}
	}
	return nil
}

// globalValues checks the initial values of globals, which may refer to imported globals only.
func (v *Validated) globalValues() error {
	for _, g := range v.Globals {
		if err := v.constant(g.Init, g.Type); err != nil {
			return err
		}
	}
	for _, g := range v.Globals {
		v.globals = append(v.globals, g.GlobalType)
	}
	return nil
}

// constant checks a constant expression: one constant instruction of the type want, and the end.
func (v *Validated) constant(x Expr, want ValType) error {
	r := InstrReader{body: x.Bytes, offset: x.Offset}
	var in Instr
	if err := r.Next(&in); err != nil {
		return err
	}
	got, err := v.constantType(x, &in)
	if err != nil {
		return err
	}
	if got != want {
		return fault(Invalid, x.Offset, "%s gives %s, expected %s", in.Op, got, want)
	}
	if err := r.Next(&in); err != nil {
		return err
	}
	if in.Op != OpEnd {
		return fault(Invalid, x.Offset+in.Start, "%s follows in a constant expression, expected end", in.Op)
	}
	return nil
}

func (v *Validated) constantType(x Expr, in *Instr) (ValType, error) {
	switch in.Op {
	case OpI32Const:
		return I32, nil
	case OpI64Const:
		return I64, nil
	case OpF32Const:
		return F32, nil
	case OpF64Const:
		return F64, nil
	case OpV128Const:
		return V128, nil
	case OpRefNull:
		return in.Type, nil
	case OpRefFunc:
		if int(in.Index) >= len(v.functions) {
			return 0, fault(Invalid, x.Offset, "ref.func names function %d of %d", in.Index, len(v.functions))
		}
		v.declared[in.Index] = true
		return FuncRef, nil
	case OpGlobalGet:
		if in.Index >= v.imported[KindGlobal] {
			return 0, fault(Invalid, x.Offset, "a constant expression reads global %d, and only the %d imported ones may be read", in.Index, v.imported[KindGlobal])
		}
		if v.globals[in.Index].Mutable {
			return 0, fault(Invalid, x.Offset, "a constant expression reads global %d, which may change", in.Index)
		}
		return v.globals[in.Index].Type, nil
	}
	return 0, fault(Invalid, x.Offset, "%s is not allowed in a constant expression", in.Op)
}

func (v *Validated) exports() error {
	names := make(map[string]bool, len(v.Exports))
	for _, x := range v.Exports {
		if names[x.Name] {
			return fault(Invalid, x.Offset, "%q is exported twice", x.Name)
		}
		names[x.Name] = true
		have := [...]int{len(v.functions), len(v.tables), len(v.memories), len(v.globals)}[x.Kind]
		if uint64(x.Index) >= uint64(have) {
			return fault(Invalid, x.Offset, "export %q is %s %d of %d", x.Name, x.Kind, x.Index, have)
		}
		if x.Kind == KindFunc {
			v.declared[x.Index] = true
		}
	}
	return nil
}

func (v *Validated) start() error {
	if v.Start == nil {
		return nil
	}
	if uint64(*v.Start) >= uint64(len(v.functions)) {
		return fault(Invalid, 0, "the start function is %d of %d", *v.Start, len(v.functions))
	}
	if t := v.FuncType(*v.Start); len(t.Params)+len(t.Results) != 0 {
		return fault(Invalid, 0, "the start function takes or gives values, expected none")
	}
	return nil
}

func (v *Validated) elements() error {
	for _, e := range v.Elements {
		if err := v.element(e); err != nil {
			return err
		}
	}
	return nil
}

func (v *Validated) element(e Element) error {
	for _, f := range e.Funcs {
		if uint64(f) >= uint64(len(v.functions)) {
			return fault(Invalid, e.Offset, "an element is function %d of %d", f, len(v.functions))
		}
		v.declared[f] = true
	}
	for _, x := range e.Exprs {
		if err := v.constant(x, e.Type); err != nil {
			return err
		}
	}
	if e.Mode != Active {
		return nil
	}
	if uint64(e.Table) >= uint64(len(v.tables)) {
		return fault(Invalid, e.Offset, "an element segment is for table %d of %d", e.Table, len(v.tables))
	}
	if t := v.tables[e.Table].Type; t != e.Type {
		return fault(Invalid, e.Offset, "an element segment of %s is for a table of %s", e.Type, t)
	}
	return v.constant(e.At, I32)
}

func (v *Validated) dataSegments() error {
	for _, s := range v.Data {
		if s.Mode != Active {
			continue
		}
		if uint64(s.Memory) >= uint64(len(v.memories)) {
			return fault(Invalid, s.Offset, "a data segment is for memory %d of %d", s.Memory, len(v.memories))
		}
		if err := v.constant(s.At, I32); err != nil {
			return err
		}
	}
	return nil
}

func (v *Validated) bodies(l Limits) error {
	b := &body{module: v, limits: l}
	for i := range v.Codes {
		function := v.imported[KindFunc] + uint32(i)
		if err := b.check(v.FuncType(function), &v.Codes[i]); err != nil {
			if e, ok := err.(*Error); ok {
				e.Func = int(min(function, math.MaxInt32))
			}
			return err
		}
	}
	return nil
}
