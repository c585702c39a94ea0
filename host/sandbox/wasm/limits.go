package wasm

import "fmt"

// Limits bounds the contents of a module. A zero field means its default, which is far above compilers' output and far
// below what makes wazero's compiler slow.
type Limits struct {
	Module    int // bytes of the module; 32 MiB
	Types     int // function types; 10,000
	Params    int // parameters of a function type; 250
	Results   int // results of a function type; 100
	Imports   int // 1,000
	Functions int // functions a module defines; 100,000
	Tables    int // 10
	Globals   int // 10,000
	Exports   int // 10,000
	Elements  int // element segments; 10,000
	Table     int // references in all element segments; 1,000,000
	Data      int // data segments; 100,000
	Locals    int // of one function, parameters counted; 10,000
	AllLocals int // of all functions; 2,000,000
	Body      int // bytes of one function's body; 2 MiB
	Code      int // bytes of all bodies; 16 MiB
	Nesting   int // blocks within blocks; 10,000
	Branches  int // targets of one br_table; 20,000
	Operands  int // values on the stack of one function; 10,000
	Customs   int // custom sections; 100
	Name      int // bytes of a name; 1,000
}

func (l Limits) withDefaults() Limits {
	for _, f := range []struct {
		field *int
		value int
	}{
		{&l.Module, 32 << 20}, {&l.Types, 10_000}, {&l.Params, 250}, {&l.Results, 100}, {&l.Imports, 1000},
		{&l.Functions, 100_000}, {&l.Tables, 10}, {&l.Globals, 10_000}, {&l.Exports, 10_000}, {&l.Elements, 10_000},
		{&l.Table, 1_000_000}, {&l.Data, 100_000}, {&l.Locals, 10_000}, {&l.AllLocals, 2_000_000}, {&l.Body, 2 << 20}, {&l.Code, 16 << 20},
		{&l.Nesting, 10_000}, {&l.Branches, 20_000}, {&l.Operands, 10_000}, {&l.Customs, 100}, {&l.Name, 1000},
	} {
		if *f.field == 0 {
			*f.field = f.value
		}
	}
	return l
}

// Class is the kind of an error.
type Class string

// The classes of errors.
const (
	Malformed   Class = "malformed"   // violates the binary format
	Invalid     Class = "invalid"     // violates a validation rule
	TooLarge    Class = "too large"   // exceeds a limit
	Unsupported Class = "unsupported" // needs a feature beyond WebAssembly 2.0
)

// Error is a fault in a module and its location.
type Error struct {
	Class   Class
	Offset  int    // in the module's bytes
	Func    int    // function index, imports included; -1 outside functions
	What    string // expected and actual content
	Limit   string // of TooLarge: the field of Limits
	Value   uint64 // of TooLarge: the value found
	Allowed int    // of TooLarge
}

func (e *Error) Error() string {
	where := fmt.Sprintf("at byte %d", e.Offset)
	if e.Func >= 0 {
		where = fmt.Sprintf("in function %d %s", e.Func, where)
	}
	if e.Class == TooLarge {
		return fmt.Sprintf("module is too large %s: %s is %d, at most %d are allowed (limit %s)", where, e.What, e.Value, e.Allowed, e.Limit)
	}
	return fmt.Sprintf("module is %s %s: %s", e.Class, where, e.What)
}

func fault(class Class, offset int, format string, values ...any) *Error {
	return &Error{Class: class, Offset: offset, Func: -1, What: fmt.Sprintf(format, values...)}
}

func tooLarge(offset int, limit, what string, value uint64, allowed int) *Error {
	return &Error{Class: TooLarge, Offset: offset, Func: -1, What: what, Limit: limit, Value: value, Allowed: allowed}
}
