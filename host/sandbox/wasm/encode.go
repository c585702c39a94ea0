package wasm

import (
	"math/bits"
	"slices"
)

// AppendU32 appends v as unsigned LEB128.
func AppendU32(out []byte, v uint32) []byte {
	for v >= 0x80 {
		out = append(out, byte(v)|0x80)
		v >>= 7
	}
	return append(out, byte(v))
}

// AppendS64 appends v as signed LEB128, the encoding of i32.const and i64.const.
func AppendS64(out []byte, v int64) []byte {
	for v < -64 || v > 63 {
		out = append(out, byte(v)|0x80)
		v >>= 7
	}
	return append(out, byte(v)&0x7f)
}

// AppendName appends a name, prefixed with its length.
func AppendName(out []byte, name string) []byte {
	return append(AppendU32(out, uint32(len(name))), name...)
}

// preamble is the magic number and the version.
var preamble = [8]byte{0, 'a', 's', 'm', 1}

// Section ids.
const (
	sectionCustom = iota
	sectionType
	sectionImport
	sectionFunction
	sectionTable
	sectionMemory
	sectionGlobal
	sectionExport
	sectionStart
	sectionElement
	sectionCode
	sectionData
	sectionDataCount
)

// Encode returns a module in the binary format. Decoding the result returns an equal module.
func Encode(m *Module) []byte {
	size := 1024
	for i := range m.Codes {
		size += len(m.Codes[i].Body) + 16
	}
	for i := range m.Data {
		size += len(m.Data[i].Bytes) + 16
	}
	e := &encoder{out: append(make([]byte, 0, size), preamble[:]...)}
	section(e, sectionType, m.Types, appendType)
	section(e, sectionImport, m.Imports, appendImport)
	section(e, sectionFunction, m.Functions, AppendU32)
	section(e, sectionTable, m.Tables, appendTable)
	section(e, sectionMemory, m.Memories, appendRange)
	section(e, sectionGlobal, m.Globals, appendGlobal)
	section(e, sectionExport, m.Exports, appendExport)
	if m.Start != nil {
		e.section(sectionStart, AppendU32(nil, *m.Start))
	}
	section(e, sectionElement, m.Elements, appendElement)
	if m.DataCount != nil {
		e.section(sectionDataCount, AppendU32(nil, *m.DataCount))
	}
	e.codes(m.Codes)
	section(e, sectionData, m.Data, appendData)
	for _, c := range m.Customs {
		e.section(sectionCustom, append(AppendName(nil, c.Name), c.Bytes...))
	}
	return e.out
}

type encoder struct {
	out     []byte
	scratch []byte
}

func (e *encoder) section(id byte, content []byte) {
	e.out = append(AppendU32(append(e.out, id), uint32(len(content))), content...)
}

// section writes a section that holds a vector, or nothing if list is empty.
func section[T any](e *encoder, id byte, list []T, appendOne func([]byte, T) []byte) {
	if len(list) == 0 {
		return
	}
	e.scratch = AppendU32(e.scratch[:0], uint32(len(list)))
	for _, item := range list {
		e.scratch = appendOne(e.scratch, item)
	}
	e.section(id, e.scratch)
}

func appendTypes(out []byte, types []ValType) []byte {
	out = AppendU32(out, uint32(len(types)))
	for _, t := range types {
		out = append(out, byte(t))
	}
	return out
}

func appendType(out []byte, t FuncType) []byte {
	return appendTypes(appendTypes(append(out, 0x60), t.Params), t.Results)
}

func appendRange(out []byte, r Range) []byte {
	if !r.HasMax {
		return AppendU32(append(out, 0), r.Min)
	}
	return AppendU32(AppendU32(append(out, 1), r.Min), r.Max)
}

func appendTable(out []byte, t Table) []byte { return appendRange(append(out, byte(t.Type)), t.Range) }

func appendGlobalType(out []byte, g GlobalType) []byte {
	mutable := byte(0)
	if g.Mutable {
		mutable = 1
	}
	return append(out, byte(g.Type), mutable)
}

func appendGlobal(out []byte, g Global) []byte {
	return append(appendGlobalType(out, g.GlobalType), g.Init.Bytes...)
}

func appendImport(out []byte, i Import) []byte {
	out = append(AppendName(AppendName(out, i.Module), i.Name), byte(i.Kind))
	switch i.Kind {
	case KindFunc:
		return AppendU32(out, i.Func)
	case KindTable:
		return appendTable(out, i.Table)
	case KindMemory:
		return appendRange(out, i.Memory)
	}
	return appendGlobalType(out, i.Global)
}

func appendExport(out []byte, x Export) []byte {
	return AppendU32(append(AppendName(out, x.Name), byte(x.Kind)), x.Index)
}

// appendElement appends a segment, in the form with a table index and a type where there is a choice.
func appendElement(out []byte, e Element) []byte {
	flags := map[Mode]uint32{Active: 2, Passive: 1, Declarative: 3}[e.Mode]
	if e.Exprs != nil || e.Type != FuncRef {
		flags |= 4
	}
	out = AppendU32(out, flags)
	if e.Mode == Active {
		out = append(AppendU32(out, e.Table), e.At.Bytes...)
	}
	if flags&4 == 0 {
		out = AppendU32(append(out, 0), uint32(len(e.Funcs)))
		for _, f := range e.Funcs {
			out = AppendU32(out, f)
		}
		return out
	}
	out = AppendU32(append(out, byte(e.Type)), uint32(len(e.Exprs)))
	for _, x := range e.Exprs {
		out = append(out, x.Bytes...)
	}
	return out
}

// codes writes the code section in place, without a copy, as it may be most of the module.
func (e *encoder) codes(codes []Code) {
	if len(codes) == 0 {
		return
	}
	heads, size := make([][]byte, len(codes)), lengthU32(len(codes))
	for i, c := range codes {
		heads[i] = localGroups(c)
		body := len(heads[i]) + len(c.Body)
		size += lengthU32(body) + body
	}
	e.out = AppendU32(append(e.out, sectionCode), uint32(size))
	e.out = AppendU32(slices.Grow(e.out, size), uint32(len(codes)))
	for i, c := range codes {
		e.out = AppendU32(e.out, uint32(len(heads[i])+len(c.Body)))
		e.out = append(append(e.out, heads[i]...), c.Body...)
	}
}

func localGroups(c Code) []byte {
	head := AppendU32(nil, uint32(len(c.Locals)))
	for _, g := range c.Locals {
		head = append(AppendU32(head, g.Count), byte(g.Type))
	}
	return head
}

// lengthU32 returns the number of bytes that AppendU32 appends.
func lengthU32(v int) int { return max(1, (bits.Len32(uint32(v))+6)/7) }

func appendData(out []byte, d Data) []byte {
	switch {
	case d.Mode == Passive:
		out = AppendU32(out, 1)
	case d.Memory == 0:
		out = append(AppendU32(out, 0), d.At.Bytes...)
	default:
		out = append(AppendU32(AppendU32(out, 2), d.Memory), d.At.Bytes...)
	}
	return append(AppendU32(out, uint32(len(d.Bytes))), d.Bytes...)
}
