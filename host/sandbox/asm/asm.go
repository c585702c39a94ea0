// Package asm writes small modules for tests.
//
// It checks nothing: tests need modules that are wrong in exactly one place.
package asm

import "github.com/alcove-memory/alcove/host/sandbox/wasm"

// Module is a module that is being written. What the methods do not cover is set in its fields.
type Module struct{ wasm.Module }

// Func is a function.
type Func struct {
	Params, Results []wasm.ValType
	Locals          []wasm.ValType
	Body            Code // without its last end
}

// I32s are n times i32, for parameters.
func I32s(n int) []wasm.ValType {
	types := make([]wasm.ValType, n)
	for i := range types {
		types[i] = wasm.I32
	}
	return types
}

// Type adds a function type and gives its index.
func (m *Module) Type(params, results []wasm.ValType) uint32 {
	m.Types = append(m.Types, wasm.FuncType{Params: params, Results: results})
	return uint32(len(m.Types) - 1)
}

// Import adds an imported function and gives its index. All imports come before the first Func.
func (m *Module) Import(module, name string, params, results []wasm.ValType) uint32 {
	m.Imports = append(m.Imports, wasm.Import{Module: module, Name: name, Kind: wasm.KindFunc, Func: m.Type(params, results)})
	return m.Imported(wasm.KindFunc) - 1
}

// Next is the index that the next function gets.
func (m *Module) Next() uint32 { return m.Imported(wasm.KindFunc) + uint32(len(m.Functions)) }

// Func adds a function and gives its index.
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

// Export exports something.
func (m *Module) Export(name string, kind wasm.Kind, index uint32) {
	m.Exports = append(m.Exports, wasm.Export{Name: name, Kind: kind, Index: index})
}

// Memory adds a memory of so many pages, exported as memory.
func (m *Module) Memory(pages uint32) {
	m.Memories = append(m.Memories, wasm.Range{Min: pages})
	m.Export("memory", wasm.KindMemory, 0)
}

// Global adds a global that can change and gives its index.
func (m *Module) Global(t wasm.ValType, init Code) uint32 {
	m.Globals = append(m.Globals, wasm.Global{GlobalType: wasm.GlobalType{Type: t, Mutable: true}, Init: Const(init)})
	return uint32(len(m.Globals) - 1)
}

// Table adds a table of functions and gives its index.
func (m *Module) Table(size uint32) uint32 {
	m.Tables = append(m.Tables, wasm.Table{Type: wasm.FuncRef, Range: wasm.Range{Min: size}})
	return uint32(len(m.Tables) - 1)
}

// Fill puts functions into table 0, from its beginning.
func (m *Module) Fill(functions ...uint32) {
	m.Elements = append(m.Elements, wasm.Element{Mode: wasm.Active, At: Const(I32(0)), Type: wasm.FuncRef, Funcs: functions})
}

// Put puts bytes into the memory.
func (m *Module) Put(at int32, data []byte) {
	m.Data = append(m.Data, wasm.Data{Mode: wasm.Active, At: Const(I32(at)), Bytes: data})
}

// Passive adds a data segment that is not put anywhere, and gives its index.
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

// Bytes is the module in the binary format.
func (m *Module) Bytes() []byte { return wasm.Encode(&m.Module) }

// Const is a constant expression.
func Const(c Code) wasm.Expr { return wasm.Expr{Bytes: Seq(c, Op(wasm.OpEnd))} }

// Exported is the export of a name; nil if there is none.
func (m *Module) Exported(name string) *wasm.Export {
	for i := range m.Exports {
		if m.Exports[i].Name == name {
			return &m.Exports[i]
		}
	}
	return nil
}
