// Package wasm decodes, validates and encodes WebAssembly 2.0 modules within bounds.
//
// It follows the WebAssembly Core Specification, release 2.0, and refuses everything beyond it. Whatever bytes it is
// given, it takes time and memory in proportion to their number: every count is held against the bytes that are left
// and against a limit before anything is made for it, and nothing recurses.
package wasm

// ValType is the type of a value, as its byte in the binary format.
type ValType byte

// The types of values.
const (
	I32       ValType = 0x7f
	I64       ValType = 0x7e
	F32       ValType = 0x7d
	F64       ValType = 0x7c
	V128      ValType = 0x7b
	FuncRef   ValType = 0x70
	ExternRef ValType = 0x6f

	unknown ValType = 0 // any type, behind code that is never reached
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

// Kind is what an import or export is.
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

// Range is how large a table (in elements) or memory (in pages of 64 KiB) is at first, and may become.
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

// Import is something that a module needs. Of the fields behind Kind, that of the kind counts.
type Import struct {
	Module, Name string
	Kind         Kind
	Func         uint32 // index of its type
	Table        Table
	Memory       Range
	Global       GlobalType
	Offset       int // in the module's bytes
}

// Expr is a constant expression, with its end.
type Expr struct {
	Bytes  []byte
	Offset int // in the module's bytes
}

// Global is a global variable that a module defines.
type Global struct {
	GlobalType
	Init Expr
}

// Export is something that a module gives.
type Export struct {
	Name   string
	Kind   Kind
	Index  uint32
	Offset int // in the module's bytes
}

// Mode is when a segment is used.
type Mode byte

// The modes of segments. Only element segments can be declarative.
const (
	Active Mode = iota
	Passive
	Declarative
)

// Element is a segment of references.
type Element struct {
	Mode   Mode
	Table  uint32 // if active
	At     Expr   // if active: the place in the table
	Type   ValType
	Funcs  []uint32 // function indexes, or else
	Exprs  []Expr   // constant expressions
	Offset int      // in the module's bytes
}

// Data is a segment of bytes.
type Data struct {
	Mode   Mode
	Memory uint32 // if active
	At     Expr   // if active: the place in the memory
	Bytes  []byte
	Offset int // in the module's bytes
}

// LocalGroup declares so many locals of one type.
type LocalGroup struct {
	Count uint32
	Type  ValType
}

// Code is a function's body.
type Code struct {
	Locals []LocalGroup
	Body   []byte // the instructions, with the last end
	Offset int    // of Body in the module's bytes
}

// Custom is a custom section.
type Custom struct {
	Name  string
	Bytes []byte
}

// Module is a module as its binary format has it. Its byte slices share memory with what was decoded.
type Module struct {
	Types     []FuncType
	Imports   []Import
	Functions []uint32 // the types of the functions it defines
	Tables    []Table
	Memories  []Range
	Globals   []Global
	Exports   []Export
	Start     *uint32
	Elements  []Element
	DataCount *uint32
	Codes     []Code
	Data      []Data
	Customs   []Custom // but for names, which only debuggers read
}

// Imported is how many imports of a kind there are: indexes of that kind below it are imports.
func (m *Module) Imported(k Kind) uint32 {
	n := uint32(0)
	for i := range m.Imports {
		if m.Imports[i].Kind == k {
			n++
		}
	}
	return n
}
