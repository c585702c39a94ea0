// Package wasm decodes, validates and encodes WebAssembly 2.0 modules within bounds.
//
// It follows the WebAssembly Core Specification, release 2.0, and refuses everything beyond it. Time and memory are linear
// in the size of any input: every count is checked against the remaining bytes and a limit before allocating for it, and
// nothing recurses.
package wasm

// ValType is a value type, as its byte in the binary format.
type ValType byte

// Value types.
const (
	I32       ValType = 0x7f
	I64       ValType = 0x7e
	F32       ValType = 0x7d
	F64       ValType = 0x7c
	V128      ValType = 0x7b
	FuncRef   ValType = 0x70
	ExternRef ValType = 0x6f

	unknown ValType = 0 // any type, in unreachable code
)

func (t ValType) String() string {
	switch t {
	case I32:
		return "i32"
	case I64:
		return "i64"
	case F32:
		return "f32"
	case F64:
		return "f64"
	case V128:
		return "v128"
	case FuncRef:
		return "funcref"
	case ExternRef:
		return "externref"
	}
	return "any"
}

// IsRef reports whether values of the type are references.
func (t ValType) IsRef() bool { return t == FuncRef || t == ExternRef }

func (t ValType) valid() bool { return t >= V128 && t <= I32 || t.IsRef() }

// FuncType is the type of a function.
type FuncType struct {
	Params, Results []ValType
}

// Kind is the kind of an import or export.
type Kind byte

// The kinds of imports and exports.
const (
	KindFunc Kind = iota
	KindTable
	KindMemory
	KindGlobal
)

func (k Kind) String() string {
	return [...]string{"function", "table", "memory", "global"}[k&3]
}

// Range is the initial and maximum size of a table, in elements, or memory, in pages of 64 KiB.
type Range struct {
	Min    uint32
	Max    uint32 // if HasMax
	HasMax bool
}

// Table is a table's type.
type Table struct {
	Type ValType // FuncRef or ExternRef
	Range
}

// GlobalType is the type of a global variable.
type GlobalType struct {
	Type    ValType
	Mutable bool
}

// Import is an import of a module. Of the fields after Kind, only that of the kind is set.
type Import struct {
	Module, Name string
	Kind         Kind
	Func         uint32 // index of its type
	Table        Table
	Memory       Range
	Global       GlobalType
	Offset       int // in the module's bytes
}

// Expr is a constant expression, including its end.
type Expr struct {
	Bytes  []byte
	Offset int // in the module's bytes
}

// Global is a global variable that a module defines.
type Global struct {
	GlobalType
	Init Expr
}

// Export is an export of a module.
type Export struct {
	Name   string
	Kind   Kind
	Index  uint32
	Offset int // in the module's bytes
}

// Mode is the mode of a segment.
type Mode byte

// Segment modes. Only element segments can be declarative.
const (
	Active Mode = iota
	Passive
	Declarative
)

// Element is an element segment.
type Element struct {
	Mode   Mode
	Table  uint32 // if active
	At     Expr   // if active: offset in the table
	Type   ValType
	Funcs  []uint32 // function indexes, or else
	Exprs  []Expr   // constant expressions
	Offset int      // in the module's bytes
}

// Data is a data segment.
type Data struct {
	Mode   Mode
	Memory uint32 // if active
	At     Expr   // if active: address in the memory
	Bytes  []byte
	Offset int // in the module's bytes
}

// LocalGroup declares Count locals of one type.
type LocalGroup struct {
	Count uint32
	Type  ValType
}

// Code is a function's body.
type Code struct {
	Locals []LocalGroup
	Body   []byte // the instructions, including the final end
	Offset int    // of Body in the module's bytes
}

// Custom is a custom section.
type Custom struct {
	Name  string
	Bytes []byte
}

// Module is a module as in the binary format. Its byte slices share memory with the decoded bytes.
type Module struct {
	Types     []FuncType
	Imports   []Import
	Functions []uint32 // type indexes of the functions it defines
	Tables    []Table
	Memories  []Range
	Globals   []Global
	Exports   []Export
	Start     *uint32
	Elements  []Element
	DataCount *uint32
	Codes     []Code
	Data      []Data
	Customs   []Custom // except names, which only debuggers read
}

// Imported returns the number of imports of a kind. Lower indexes of that kind are imports.
func (m *Module) Imported(k Kind) uint32 {
	n := uint32(0)
	for i := range m.Imports {
		if m.Imports[i].Kind == k {
			n++
		}
	}
	return n
}
