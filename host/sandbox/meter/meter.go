// Package meter rewrites a WebAssembly module so that it cannot run unbounded.
//
// The module gets a fuel counter that its own code cannot name. A region of code that runs together pays once, on entry;
// operations on many bytes or references pay by their number. The counter is checked on function entry, at each loop
// iteration and on long paths between them: if it is below zero, the module calls the host, which refills it or ends the
// call. Between two checks the counter may fall below zero by a bounded amount.
//
// # Contract
//
// A rewritten module additionally has:
//
//   - an import TickModule.TickName, a function without parameters or results. It is called when the fuel is below zero,
//     also while the module starts. The host sets the fuel to zero or more, or panics to end the call.
//   - an exported i64 global Fuel, initially 0. It is exact at the end of a call, except after a trap, when a function may
//     not have written back its use since the last tick.
//   - an exported i32 global Depth, the call depth. Only functions that can be on the stack more than once count, those with
//     large frames more than once. It is exact at each tick, and 0 after a call that did not trap. The host enforces the
//     limit, which Depth may exceed by the calls that a part of fuel pays for.
//   - an exported i32 global Changed, a set of bits. It has Irreversible once a table grew or a segment was dropped, which
//     cannot be undone, and Refused if the last of the operations memory.grow, table.grow, data.drop and elem.drop was a
//     refused growth. The host clears it.
//   - an exported function Save, which saves all globals and tables that the module writes to, and Restore, which
//     restores them. Neither touches the memory.
//
// No input module may use a name with Prefix. Additions follow the module's own definitions, so its code, already
// validated, has no index for them. Function indexes after the imports shift by one. Custom sections are dropped, and
// data segments that no instruction names may be joined.
package meter

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/host/sandbox/wasm"
)

// Version is the version of Rewrite: equal modules, options and versions produce equal bytes.
const Version = "metering-1"

// Names that a rewritten module imports and exports.
const (
	Prefix     = "alcove:"
	TickModule = Prefix + "meter"
	TickName   = "tick"
	Fuel       = Prefix + "fuel"
	Depth      = Prefix + "depth"
	Changed    = Prefix + "changed"
	Save       = Prefix + "save"
	Restore    = Prefix + "restore"
)

// Bits of Changed.
const (
	Irreversible = 1 << iota
	Refused
)

// Options bounds the rewritten module.
type Options struct {
	// TableMax is the maximum size of each table, in references; 0: 65,536; math.MaxUint32: the module's own. A module with a
	// larger initial size is refused.
	TableMax uint32
	// MaxBytes bounds the code of the rewritten module; 0: 48 MiB. Some code grows manyfold.
	MaxBytes int
}

const maxBytes = 48 << 20

// chargeBytes is the minimum encoded size of a charge.
const chargeBytes = 7

// Report describes how a module was rewritten.
type Report struct {
	Functions int // that pay on entry
	Leaves    int // short functions, without loops or calls, for which their callers pay
	Loops     int
	Recursive int // functions that count the call depth
	Globals   int // that Restore restores
	Tables    int // that Restore restores
	Bytes     int // of the rewritten module
}

// NameError is a module's use of a name reserved for the rewriter.
type NameError struct {
	Name   string
	Offset int // in the module's bytes
}

func (e *NameError) Error() string {
	return fmt.Sprintf("module uses the name %q at byte %d: names that start with %q are the host's", e.Name, e.Offset, Prefix)
}

// SizeError means that the rewritten module would be too large.
type SizeError struct{ Most int }

func (e *SizeError) Error() string {
	return fmt.Sprintf("module would have more than %d bytes of code when it is metered", e.Most)
}

func (w *rewriter) tooLarge() error { return &SizeError{Most: w.options.MaxBytes} }

// Rewrite returns the metered form of a module. It does not modify v.
func Rewrite(v *wasm.Validated, o Options) ([]byte, Report, error) {
	if err := checkNames(v.Module); err != nil {
		return nil, Report{}, err
	}
	if o.MaxBytes == 0 {
		o.MaxBytes = maxBytes
	}
	w := &rewriter{from: v, options: o, module: *v.Module}
	if err := w.boundTables(); err != nil {
		return nil, Report{}, err
	}
	if err := w.measure(); err != nil {
		return nil, Report{}, err
	}
	w.joinData()
	w.assignIndexes()
	size := 0
	for i := range v.Codes {
		code, err := w.body(i)
		if err != nil {
			return nil, Report{}, err
		}
		if size += len(code.Body); size > o.MaxBytes {
			return nil, Report{}, w.tooLarge()
		}
		w.module.Codes = append(w.module.Codes, code)
	}
	w.addHelpers()
	out := wasm.Encode(&w.module)
	w.report.Bytes = len(out)
	return out, w.report, nil
}

func checkNames(m *wasm.Module) error {
	for _, i := range m.Imports {
		if strings.HasPrefix(i.Module, Prefix) {
			return &NameError{Name: i.Module, Offset: i.Offset}
		}
	}
	for _, x := range m.Exports {
		if strings.HasPrefix(x.Name, Prefix) {
			return &NameError{Name: x.Name, Offset: x.Offset}
		}
	}
	return nil
}

// rewriter is the state of rewriting one module.
type rewriter struct {
	from    *wasm.Validated
	options Options
	module  wasm.Module // the result; unchanged parts are shared
	report  Report

	imported  uint32 // functions that the original imports; tick follows them
	functions []measurement
	flow      flow // of the function being read

	fuel, changed uint32            // globals
	depthGlobal   uint32            // global
	refs          map[uint32]bool   // functions that are referenced
	declared      map[uint32]bool   // functions that can be called without being named
	indirectPrice []int64           // by type: price of an indirect call's callee
	shadows       map[uint32]uint32 // saved global → its copy
	copies        map[uint32]uint32 // saved table → its copy
	written       map[uint32]bool   // globals that are written
	mutated       map[uint32]bool   // tables that are written
	results       map[string]uint32 // types of blocks with several results
	drops         bool              // some data segment is dropped
	charge        uint32            // functions
	fill, copy    uint32
	inits         map[uint32]uint32 // data segment → function
	types         struct{ none, amount, three uint32 }
}

// boundTables sets the maximum size of tables.
func (w *rewriter) boundTables() error {
	limit := w.options.TableMax
	if limit == 0 {
		limit = 1 << 16
	}
	w.module.Tables = slices.Clone(w.module.Tables)
	for i := range w.module.Tables {
		t := &w.module.Tables[i]
		if t.Min > limit {
			return fmt.Errorf("module has a table of %d references: at most %d are allowed", t.Min, limit)
		}
		if limit != math.MaxUint32 && (!t.HasMax || t.Max > limit) {
			t.HasMax, t.Max = true, limit
		}
	}
	return nil
}

// assignIndexes assigns an index to everything added and updates function indexes outside of code.
func (w *rewriter) assignIndexes() {
	m := &w.module
	m.Customs = nil
	m.Codes = make([]wasm.Code, 0, len(w.from.Codes)+8)
	m.Types = slices.Clone(m.Types)
	w.types.none = w.addType(wasm.FuncType{})
	w.types.amount = w.addType(wasm.FuncType{Params: []wasm.ValType{wasm.I64}})
	w.types.three = w.addType(wasm.FuncType{Params: []wasm.ValType{wasm.I32, wasm.I32, wasm.I32}})
	w.results = map[string]uint32{}

	m.Imports = append(slices.Clone(m.Imports), wasm.Import{Module: TickModule, Name: TickName, Kind: wasm.KindFunc, Func: w.types.none})
	m.Functions = slices.Clone(m.Functions)
	m.Exports = slices.Clone(m.Exports)
	for i := range m.Exports {
		if m.Exports[i].Kind == wasm.KindFunc {
			m.Exports[i].Index = w.moved(m.Exports[i].Index)
		}
	}
	if m.Start != nil {
		start := w.moved(*m.Start)
		m.Start = &start
	}
	w.moveElements()
	w.layGlobals()
	w.layTables()
	w.layHelpers()
}

// moved returns the new index of an original function.
func (w *rewriter) moved(function uint32) uint32 {
	if function < w.imported {
		return function
	}
	return function + 1
}

func (w *rewriter) tick() uint32 { return w.imported }

func (w *rewriter) addType(t wasm.FuncType) uint32 {
	w.module.Types = append(w.module.Types, t)
	return uint32(len(w.module.Types) - 1)
}

func (w *rewriter) moveElements() {
	w.module.Elements = slices.Clone(w.module.Elements)
	for i := range w.module.Elements {
		e := &w.module.Elements[i]
		e.Funcs = slices.Clone(e.Funcs)
		for j, f := range e.Funcs {
			e.Funcs[j] = w.moved(f)
		}
		e.Exprs = slices.Clone(e.Exprs)
		for j, x := range e.Exprs {
			e.Exprs[j] = w.movedExpr(x)
		}
	}
}

// movedExpr updates the function index in a constant expression, if it has one.
func (w *rewriter) movedExpr(x wasm.Expr) wasm.Expr {
	c := wasm.Code{Body: x.Bytes}
	r := c.Instructions(0)
	var in wasm.Instr
	if r.Next(&in) == nil && in.Op == wasm.OpRefFunc {
		return wasm.Expr{Bytes: newCode().index(wasm.OpRefFunc, w.moved(in.Index)).op(wasm.OpEnd).bytes}
	}
	return x
}

func (w *rewriter) layGlobals() {
	m := &w.module
	m.Globals = slices.Clone(m.Globals)
	for i, g := range m.Globals {
		m.Globals[i].Init = w.movedExpr(g.Init)
	}
	first := uint32(len(w.from.AllGlobals()) - len(m.Globals))
	add := func(g wasm.GlobalType) uint32 {
		m.Globals = append(m.Globals, wasm.Global{GlobalType: g, Init: zero(g.Type)})
		return first + uint32(len(m.Globals)) - 1
	}
	w.fuel = add(wasm.GlobalType{Type: wasm.I64, Mutable: true})
	w.changed = add(wasm.GlobalType{Type: wasm.I32, Mutable: true})
	w.depthGlobal = add(wasm.GlobalType{Type: wasm.I32, Mutable: true})
	m.Exports = append(m.Exports,
		wasm.Export{Name: Fuel, Kind: wasm.KindGlobal, Index: w.fuel},
		wasm.Export{Name: Depth, Kind: wasm.KindGlobal, Index: w.depthGlobal},
		wasm.Export{Name: Changed, Kind: wasm.KindGlobal, Index: w.changed})
	w.shadows = map[uint32]uint32{}
	for i, g := range w.from.AllGlobals() {
		if uint32(i) >= first && w.written[uint32(i)] {
			w.shadows[uint32(i)] = add(g)
		}
	}
	w.report.Globals = len(w.shadows)
}

func zero(t wasm.ValType) wasm.Expr {
	c := newCode()
	switch t {
	case wasm.I32:
		c.i32(0)
	case wasm.I64:
		c.i64(0)
	case wasm.F32:
		c.op(wasm.OpF32Const).raw(make([]byte, 4)...)
	case wasm.F64:
		c.op(wasm.OpF64Const).raw(make([]byte, 8)...)
	case wasm.V128:
		c.op(wasm.OpV128Const).raw(make([]byte, 16)...)
	default:
		c.op(wasm.OpRefNull).raw(byte(t))
	}
	return wasm.Expr{Bytes: c.op(wasm.OpEnd).bytes}
}

func (w *rewriter) layTables() {
	first := uint32(len(w.from.AllTables()) - len(w.module.Tables))
	w.copies = map[uint32]uint32{}
	for i, t := range slices.Clone(w.module.Tables) {
		if index := first + uint32(i); w.mutated[index] {
			w.copies[index] = first + uint32(len(w.module.Tables))
			w.module.Tables = append(w.module.Tables, t)
		}
	}
	w.report.Tables = len(w.copies)
}
