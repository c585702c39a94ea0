package wasm

import (
	"bytes"
	"math"
	"slices"
)

// Decode decodes a module in the binary format. The result is not validated and shares memory with b. Errors are of type
// *Error.
func Decode(b []byte, l Limits) (*Module, error) {
	l = l.withDefaults()
	if len(b) > l.Module {
		return nil, tooLarge(0, "Module", "the number of bytes", uint64(len(b)), l.Module)
	}
	if len(b) < len(preamble) || !bytes.Equal(b[:4], preamble[:4]) {
		return nil, fault(Malformed, 0, "it does not start with \\0asm, so it is not WebAssembly")
	}
	if !bytes.Equal(b[4:8], preamble[4:]) {
		return nil, fault(Unsupported, 4, "its version is % x, expected 01 00 00 00 (components are not modules)", b[4:8])
	}
	d := &decoder{reader: reader{b: b, at: 8, end: len(b)}, limits: l, m: &Module{}}
	for d.left() > 0 {
		if err := d.section(); err != nil {
			return nil, err
		}
	}
	return d.m, d.complete()
}

type decoder struct {
	reader
	limits  Limits
	m       *Module
	last    int    // rank of the last section in the section order
	locals  int    // declared so far
	bodies  uint64 // bytes so far
	table   int    // references in element segments so far
	customs int
}

// order returns the rank of a section in the section order, or -1 if its id is unknown.
func order(id byte) int {
	return slices.Index([]byte{
		sectionCustom, sectionType, sectionImport, sectionFunction, sectionTable, sectionMemory, sectionGlobal,
		sectionExport, sectionStart, sectionElement, sectionDataCount, sectionCode, sectionData,
	}, id)
}

func (d *decoder) section() error {
	at := d.at
	id, _ := d.byte("a section")
	size, err := d.u32("the size of a section")
	if err != nil {
		return err
	}
	if uint64(size) > uint64(d.left()) {
		return fault(Malformed, at, "section %d has %d bytes, but only %d are left", id, size, d.left())
	}
	all := d.end
	d.end = d.at + int(size)
	if err := d.content(id, at); err != nil {
		return err
	}
	if d.left() != 0 {
		return fault(Malformed, d.at, "section %d has %d bytes more than it uses", id, d.left())
	}
	d.end = all
	return nil
}

func (d *decoder) content(id byte, at int) error {
	if id == sectionCustom {
		return d.custom(at)
	}
	place := order(id)
	if place < 0 && id == 13 {
		return fault(Unsupported, at, "section 13 is of exceptions, which are not in WebAssembly 2.0")
	}
	if place < 0 {
		return fault(Malformed, at, "%d is not the id of a section", id)
	}
	if place <= d.last {
		return fault(Malformed, at, "section %d is repeated or out of order", id)
	}
	d.last = place
	switch id {
	case sectionType:
		return each(d, "Types", "types", d.limits.Types, 3, &d.m.Types, d.funcType)
	case sectionImport:
		return each(d, "Imports", "imports", d.limits.Imports, 4, &d.m.Imports, d.importOne)
	case sectionFunction:
		return each(d, "Functions", "functions", d.limits.Functions, 1, &d.m.Functions, func() (uint32, error) { return d.u32("the type of a function") })
	case sectionTable:
		return each(d, "Tables", "tables", d.limits.Tables, 3, &d.m.Tables, d.tableType)
	case sectionMemory:
		return each(d, "", "memories", math.MaxUint32, 2, &d.m.Memories, d.memoryType)
	case sectionGlobal:
		return each(d, "Globals", "globals", d.limits.Globals, 4, &d.m.Globals, d.global)
	case sectionExport:
		return each(d, "Exports", "exports", d.limits.Exports, 3, &d.m.Exports, d.export)
	case sectionStart:
		return d.optional(&d.m.Start, "the index of the start function")
	case sectionElement:
		return each(d, "Elements", "element segments", d.limits.Elements, 3, &d.m.Elements, d.element)
	case sectionDataCount:
		return d.optional(&d.m.DataCount, "the number of data segments")
	case sectionCode:
		return each(d, "Functions", "function bodies", d.limits.Functions, 3, &d.m.Codes, d.code)
	}
	return each(d, "Data", "data segments", d.limits.Data, 2, &d.m.Data, d.data)
}

// each reads a vector whose elements have at least size bytes.
func each[T any](d *decoder, limit, what string, allowed, size int, into *[]T, one func() (T, error)) error {
	n, err := d.count(limit, what, allowed, size)
	if err != nil {
		return err
	}
	list := make([]T, 0, n)
	for range n {
		item, err := one()
		if err != nil {
			return err
		}
		list = append(list, item)
	}
	*into = list
	return nil
}

func (d *decoder) optional(into **uint32, what string) error {
	n, err := d.u32(what)
	*into = &n
	return err
}

// complete checks the sections against each other.
func (d *decoder) complete() error {
	if len(d.m.Functions) != len(d.m.Codes) {
		return fault(Malformed, d.at, "%d functions are declared and %d have a body", len(d.m.Functions), len(d.m.Codes))
	}
	if d.m.DataCount != nil && int(*d.m.DataCount) != len(d.m.Data) {
		return fault(Malformed, d.at, "%d data segments are announced and %d are there", *d.m.DataCount, len(d.m.Data))
	}
	return nil
}

func (d *decoder) custom(at int) error {
	if d.customs++; d.customs > d.limits.Customs {
		return tooLarge(at, "Customs", "the number of custom sections", uint64(d.customs), d.limits.Customs)
	}
	name, err := d.name("the name of a custom section", d.limits.Name)
	if err != nil {
		return err
	}
	content, err := d.bytes(uint32(d.left()), "a custom section")
	if name != "name" {
		d.m.Customs = append(d.m.Customs, Custom{name, content})
	}
	return err
}

func (d *decoder) valType(what string) (ValType, error) {
	at := d.at
	b, err := d.byte(what)
	if err != nil {
		return 0, err
	}
	if t := ValType(b); t.valid() {
		return t, nil
	}
	if b >= 0x62 && b <= 0x74 {
		return 0, fault(Unsupported, at, "%s is %#02x, a type that is not in WebAssembly 2.0", what, b)
	}
	return 0, fault(Malformed, at, "%s is %#02x, which is not a type", what, b)
}

func (d *decoder) valTypes(limit, what string, allowed int) ([]ValType, error) {
	n, err := d.count(limit, what, allowed, 1)
	if err != nil || n == 0 {
		return nil, err
	}
	types := make([]ValType, n)
	for i := range types {
		if types[i], err = d.valType("a type among the " + what); err != nil {
			return nil, err
		}
	}
	return types, nil
}

func (d *decoder) funcType() (t FuncType, err error) {
	at := d.at
	form, err := d.byte("a function type")
	if err != nil {
		return t, err
	}
	if form >= 0x4d && form <= 0x5f {
		return t, fault(Unsupported, at, "type %#02x is of garbage collection, which is not in WebAssembly 2.0", form)
	}
	if form != 0x60 {
		return t, fault(Malformed, at, "a function type starts with %#02x, expected 0x60", form)
	}
	if t.Params, err = d.valTypes("Params", "parameters", d.limits.Params); err != nil {
		return t, err
	}
	t.Results, err = d.valTypes("Results", "results", d.limits.Results)
	return t, err
}

func (d *decoder) kind() (Kind, error) {
	at := d.at
	b, err := d.byte("a kind")
	if err == nil && b > byte(KindGlobal) {
		return 0, fault(Malformed, at, "%#02x is not the kind of an import or export", b)
	}
	return Kind(b), err
}

func (d *decoder) importOne() (i Import, err error) {
	i.Offset = d.at
	if i.Module, err = d.name("the module of an import", d.limits.Name); err != nil {
		return i, err
	}
	if i.Name, err = d.name("the name of an import", d.limits.Name); err != nil {
		return i, err
	}
	if i.Kind, err = d.kind(); err != nil {
		return i, err
	}
	switch i.Kind {
	case KindFunc:
		i.Func, err = d.u32("the type of an import")
	case KindTable:
		i.Table, err = d.tableType()
	case KindMemory:
		i.Memory, err = d.memoryType()
	case KindGlobal:
		i.Global, err = d.globalType()
	}
	return i, err
}

func (d *decoder) sizes(what string) (r Range, err error) {
	at := d.at
	flags, err := d.byte("the flags of " + what)
	if err != nil {
		return r, err
	}
	switch {
	case flags == 2 || flags == 3:
		return r, fault(Unsupported, at, "%s is shared, and threads are not in WebAssembly 2.0", what)
	case flags >= 4 && flags < 8:
		return r, fault(Unsupported, at, "%s has addresses of 64 bits, which are not in WebAssembly 2.0", what)
	case flags > 1:
		return r, fault(Malformed, at, "%s has flags %#02x, expected 0 or 1", what, flags)
	}
	if r.Min, err = d.u32("the first size of " + what); err != nil || flags == 0 {
		return r, err
	}
	r.HasMax = true
	r.Max, err = d.u32("the largest size of " + what)
	return r, err
}

func (d *decoder) refType() (ValType, error) {
	at := d.at
	t, err := d.valType("the type of references")
	if err == nil && !t.IsRef() {
		return 0, fault(Malformed, at, "%s is not a type of references", t)
	}
	return t, err
}

func (d *decoder) tableType() (t Table, err error) {
	if t.Type, err = d.refType(); err != nil {
		return t, err
	}
	t.Range, err = d.sizes("a table")
	return t, err
}

func (d *decoder) memoryType() (Range, error) { return d.sizes("a memory") }

func (d *decoder) globalType() (g GlobalType, err error) {
	if g.Type, err = d.valType("the type of a global"); err != nil {
		return g, err
	}
	at := d.at
	mutable, err := d.byte("a global's mutability")
	if err == nil && mutable > 1 {
		return g, fault(Malformed, at, "a global's mutability is %#02x, expected 0 or 1", mutable)
	}
	g.Mutable = mutable == 1
	return g, err
}

func (d *decoder) global() (g Global, err error) {
	if g.GlobalType, err = d.globalType(); err != nil {
		return g, err
	}
	g.Init, err = d.expr()
	return g, err
}

// expr finds the end of a constant expression. Validation checks later that its instructions are constant.
func (d *decoder) expr() (Expr, error) {
	x := Expr{Offset: d.at}
	r := InstrReader{body: d.b[d.at:d.end], offset: d.at}
	var in Instr
	for {
		if err := r.Next(&in); err != nil {
			return x, err
		}
		if in.Op == OpEnd {
			x.Bytes = d.b[d.at : d.at+in.End : d.at+in.End]
			d.at += in.End
			return x, nil
		}
		if in.Op == OpBlock || in.Op == OpLoop || in.Op == OpIf {
			return x, fault(Invalid, d.at+in.Start, "%s is not allowed in a constant expression", in.Op)
		}
	}
}

func (d *decoder) export() (x Export, err error) {
	x.Offset = d.at
	if x.Name, err = d.name("the name of an export", d.limits.Name); err != nil {
		return x, err
	}
	if x.Kind, err = d.kind(); err != nil {
		return x, err
	}
	x.Index, err = d.u32("the index of an export")
	return x, err
}

// element reads a segment in one of eight forms. Bit 0 means not active, bit 1 an explicit table or declarative, bit 2
// expressions instead of function indexes.
func (d *decoder) element() (e Element, err error) {
	e.Offset, e.Type = d.at, FuncRef
	flags, err := d.u32("the form of an element segment")
	if err != nil {
		return e, err
	}
	if flags > 7 {
		return e, fault(Malformed, e.Offset, "%d is not the form of an element segment", flags)
	}
	e.Mode = []Mode{Active, Passive, Active, Declarative}[flags&3]
	if e.Mode == Active {
		if flags&2 != 0 {
			if e.Table, err = d.u32("the table of an element segment"); err != nil {
				return e, err
			}
		}
		if e.At, err = d.expr(); err != nil {
			return e, err
		}
	}
	if flags&3 != 0 {
		if err := d.elementType(flags, &e); err != nil {
			return e, err
		}
	}
	return e, d.references(flags, &e)
}

func (d *decoder) elementType(flags uint32, e *Element) (err error) {
	if flags&4 != 0 {
		e.Type, err = d.refType()
		return err
	}
	at := d.at
	kind, err := d.byte("the kind of an element segment")
	if err == nil && kind != 0 {
		return fault(Malformed, at, "the kind of an element segment is %#02x, expected 0", kind)
	}
	return err
}

func (d *decoder) references(flags uint32, e *Element) error {
	allowed := d.limits.Table - d.table
	var err error
	if flags&4 == 0 {
		err = each(d, "Table", "elements", allowed, 1, &e.Funcs, func() (uint32, error) { return d.u32("a function's index") })
	} else {
		err = each(d, "Table", "elements", allowed, 2, &e.Exprs, d.expr)
	}
	d.table += len(e.Funcs) + len(e.Exprs)
	return err
}

func (d *decoder) code() (c Code, err error) {
	at := d.at
	size, err := d.u32("the size of a body")
	if err != nil {
		return c, err
	}
	if uint64(size) > uint64(d.limits.Body) {
		return c, tooLarge(at, "Body", "the size of a function's body", uint64(size), d.limits.Body)
	}
	if d.bodies += uint64(size); d.bodies > uint64(d.limits.Code) {
		return c, tooLarge(at, "Code", "the size of all bodies", d.bodies, d.limits.Code)
	}
	if uint64(size) > uint64(d.left()) {
		return c, fault(Malformed, at, "a body has %d bytes, but only %d are left", size, d.left())
	}
	all := d.end
	d.end = d.at + int(size)
	if err := d.localGroups(&c); err != nil {
		return c, err
	}
	c.Offset = d.at
	c.Body, err = d.bytes(uint32(d.left()), "a body")
	d.end = all
	return c, err
}

func (d *decoder) localGroups(c *Code) error {
	at := d.at
	var total uint64
	err := each(d, "Locals", "groups of locals", d.limits.Locals, 2, &c.Locals, func() (g LocalGroup, err error) {
		if g.Count, err = d.u32("the number of locals"); err != nil {
			return g, err
		}
		total += uint64(g.Count)
		g.Type, err = d.valType("the type of locals")
		return g, err
	})
	if err != nil {
		return err
	}
	if total > 1<<32-1 {
		return fault(Malformed, at, "a function has %d locals, and they are counted in 32 bits", total)
	}
	if total > uint64(d.limits.Locals) {
		return tooLarge(at, "Locals", "the number of a function's locals", total, d.limits.Locals)
	}
	if d.locals += int(total); d.locals > d.limits.AllLocals {
		return tooLarge(at, "AllLocals", "the number of locals of all functions", uint64(d.locals), d.limits.AllLocals)
	}
	return nil
}

func (d *decoder) data() (s Data, err error) {
	s.Offset = d.at
	flags, err := d.u32("the form of a data segment")
	if err != nil {
		return s, err
	}
	switch flags {
	case 0:
	case 1:
		s.Mode = Passive
	case 2:
		if s.Memory, err = d.u32("the memory of a data segment"); err != nil {
			return s, err
		}
	default:
		return s, fault(Malformed, s.Offset, "%d is not the form of a data segment", flags)
	}
	if s.Mode == Active {
		if s.At, err = d.expr(); err != nil {
			return s, err
		}
	}
	n, err := d.u32("the size of a data segment")
	if err != nil {
		return s, err
	}
	s.Bytes, err = d.bytes(n, "a data segment")
	return s, err
}
