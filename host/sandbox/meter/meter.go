// Package meter rewrites a WebAssembly module so that it cannot run unbounded.
//
// The module gets a fuel counter that its own code cannot name. Code that runs together pays once, when control enters
// it, and operations on many bytes or references pay for their number. Functions when they are entered, loops at each
// iteration, and long ways between those, look whether the counter is below zero: then the module calls the host, which
// refills it or ends the call. Between two looks the counter may fall below zero by a bounded amount.
//
// # Contract
//
// A rewritten module has, beside what it had:
//
//   - an import TickModule.TickName, a function without parameters and results. The host sets the fuel to zero or
//     more, or panics to end the call. It is called with the fuel below zero, also while the module starts.
//   - an exported i64 global Fuel, 0 at first. What is left there when a call ends is exact but after a trap, when a
//     function may not yet have written back what it used since the last tick.
//   - an exported i32 global Depth: how deep calls are nested. Only functions that can be on the stack more than once
//     count, those with large frames more than once. It is exact at each tick, and 0 after a call that did not trap; it
//     is for the host to compare, which may find it beyond a limit by what a part of fuel pays for.
//   - an exported i32 global Changed, which is 1 once memory.grow, table.grow, data.drop or elem.drop was executed:
//     what they did cannot be taken back. It is 2 while the last of them was a growth that was refused.
//   - an exported function Save, which remembers all globals that can change and all tables that the module writes
//     to, and Restore, which puts them back as they were. Neither touches the memory.
//
// No module may use a name with Prefix itself. Since all this is added behind what the module had, its code, validated
// before, has no index for it. Function indexes move up by one behind the imports; custom sections are dropped, and
// segments of data that no instruction names may be joined.
package meter

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/host/sandbox/wasm"
)

// Version names what Rewrite does: the same module, options and version give the same bytes.
const Version = "meter-5"

// The names that a rewritten module imports and exports.
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

// Options bound what the rewritten module may ask for.
type Options struct {
	// TableMax is how many references each table may grow to; 0: 65,536; math.MaxUint32: as many as the module says. A
	// module that starts with more is refused.
	TableMax uint32
	// MaxBytes is how large the rewritten module may be, but for what is not code; 0: 48 MiB. Some code grows manifold.
	MaxBytes int
}

const maxBytes = 48 << 20

// chargeBytes is the least that a charge takes.
const chargeBytes = 7

// Report says what was done to a module.
type Report struct {
	Functions int // that pay when they are entered
	Leaves    int // short ones, without loops and calls, for which their callers pay
	Loops     int
	Recursive int // that count how deep calls are nested
	Globals   int // that Restore puts back
	Tables    int // that Restore puts back
	Bytes     int // of the rewritten module
}

// NameError is a module's use of a name that is kept for the rewriter.
type NameError struct {
	Name   string
	Offset int // in the module's bytes
}

func (e *NameError) Error() string {
	return fmt.Sprintf("module uses the name %q at byte %d: names that start with %q are the host's", e.Name, e.Offset, Prefix)
}

// SizeError says that a rewritten module would be too large.
type SizeError struct{ Most int }

func (e *SizeError) Error() string {
	return fmt.Sprintf("module would have more than %d bytes of code when it is metered", e.Most)
}

func (w *rewriter) tooLarge() error { return &SizeError{Most: w.options.MaxBytes} }

// Rewrite meters a module. It does not change the one it is given.
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
	w.lay()
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

// rewriter makes a module from another.
type rewriter struct {
	from    *wasm.Validated
	options Options
	module  wasm.Module // the result; it shares what does not change
	report  Report

	imported  uint32 // functions that the original imports; tick comes behind them
	functions []measured
	flow      flow // of the function that is read

	fuel, changed uint32            // globals
	depthGlobal   uint32            // global
	refs          map[uint32]bool   // functions of which there are references
	declared      map[uint32]bool   // functions that others can call without naming them
	indirectPrice []int64           // by type: what an indirect call pays for its callee
	shadows       map[uint32]uint32 // saved global → where it is saved
	copies        map[uint32]uint32 // saved table → where it is saved
	written       map[uint32]bool   // globals that are set
	mutated       map[uint32]bool   // tables that are written to
	results       map[string]uint32 // types of blocks that give several values
	drops         bool              // data segments are dropped
	charge        uint32            // functions
	fill, copy    uint32
	inits         map[uint32]uint32 // data segment → function
	types         struct{ none, amount, three uint32 }
}

// boundTables sets how large tables may become.
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

// lay gives everything that is added its place, and moves what names functions.
func (w *rewriter) lay() {
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

// moved is where a function of the original is now.
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

// movedExpr moves the function in a constant expression, if it names one.
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
