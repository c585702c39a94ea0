// Package asm writes small modules for tests.
//
// It checks nothing: tests need modules with exactly one fault.
package asm

import "github.com/alcove-memory/alcove/host/sandbox/wasm"

// Module is a module being written. Set its fields for anything that the methods do not cover.
type Module struct{ wasm.Module }

// Func is a function.
type Func struct {
	Params, Results []wasm.ValType
	Locals          []wasm.ValType
	Body            Code // without the final end
}

// I32s returns n times i32, for parameters.
func I32s(n int) []wasm.ValType {
	types := make([]wasm.ValType, n)
	for i := range types {
		types[i] = wasm.I32
	}
	return types
}

// Type adds a function type and returns its index.
func (m *Module) Type(params, results []wasm.ValType) uint32 {
	m.Types = append(m.Types, wasm.FuncType{Params: params, Results: results})
	return uint32(len(m.Types) - 1)
}

// Import adds an imported function and returns its index. All imports come before the first Func.
func (m *Module) Import(module, name string, params, results []wasm.ValType) uint32 {
	m.Imports = append(m.Imports, wasm.Import{Module: module, Name: name, Kind: wasm.KindFunc, Func: m.Type(params, results)})
	return m.Imported(wasm.KindFunc) - 1
}

// Next returns the index of the next function.
func (m *Module) Next() uint32 { return m.Imported(wasm.KindFunc) + uint32(len(m.Functions)) }

// Func adds a function and returns its index.
func (m *Module) Func(f Func) uint32 {
	index := m.Next()
	m.Functions = append(m.Functions, m.Type(f.Params, f.Results))
	code := wasm.Code{Body: Seq(f.Body, Op(wasm.OpEnd))}
	for _, t := range f.Locals {
		code.Locals = append(code.Locals, wasm.LocalGroup{Count: 1, Type: t})
	}
	m.Codes = append(m.Codes, code)
	return index
}

// Export adds an export.
func (m *Module) Export(name string, kind wasm.Kind, index uint32) {
	m.Exports = append(m.Exports, wasm.Export{Name: name, Kind: kind, Index: index})
}

// Memory adds a memory with the given pages, exported as memory.
func (m *Module) Memory(pages uint32) {
	m.Memories = append(m.Memories, wasm.Range{Min: pages})
	m.Export("memory", wasm.KindMemory, 0)
}

// Global adds a mutable global and returns its index.
func (m *Module) Global(t wasm.ValType, init Code) uint32 {
	m.Globals = append(m.Globals, wasm.Global{GlobalType: wasm.GlobalType{Type: t, Mutable: true}, Init: Const(init)})
	return uint32(len(m.Globals) - 1)
}

// Table adds a function table and returns its index.
func (m *Module) Table(size uint32) uint32 {
	m.Tables = append(m.Tables, wasm.Table{Type: wasm.FuncRef, Range: wasm.Range{Min: size}})
	return uint32(len(m.Tables) - 1)
}

// Fill adds a segment that puts functions into table 0, starting at index 0.
func (m *Module) Fill(functions ...uint32) {
	m.Elements = append(m.Elements, wasm.Element{Mode: wasm.Active, At: Const(I32(0)), Type: wasm.FuncRef, Funcs: functions})
}

// Put adds a segment that writes data to memory at an address.
func (m *Module) Put(at int32, data []byte) {
	m.Data = append(m.Data, wasm.Data{Mode: wasm.Active, At: Const(I32(at)), Bytes: data})
}

// Passive adds a passive data segment and returns its index.
func (m *Module) Passive(data []byte) uint32 {
	m.Data = append(m.Data, wasm.Data{Mode: wasm.Passive, Bytes: data})
	count := uint32(len(m.Data))
	m.DataCount = &count
	return count - 1
}

// Custom adds a custom section.
func (m *Module) Custom(name string, data []byte) {
	m.Customs = append(m.Customs, wasm.Custom{Name: name, Bytes: data})
}

// Bytes returns the module in the binary format.
func (m *Module) Bytes() []byte { return wasm.Encode(&m.Module) }

// Const returns a constant expression.
func Const(c Code) wasm.Expr { return wasm.Expr{Bytes: Seq(c, Op(wasm.OpEnd))} }

// Exported returns the export with a name, or nil if there is none.
func (m *Module) Exported(name string) *wasm.Export {
	for i := range m.Exports {
		if m.Exports[i].Name == name {
			return &m.Exports[i]
		}
	}
	return nil
}
