package sandbox

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/sandbox/wasm"
)

// Stub is an import of WASI that no guest may have, and that was replaced by a function that answers "not supported".
type Stub struct {
	Name string `json:"name"`
	// Way leads from a function of the author's to the import, by names; empty: nothing calls it, or the module has no names.
	Way []string `json:"way,omitempty"`
}

// unsupported is the error number of WASI for what a system does not support, nosys.
const unsupported = 52

// stubbed replaces the imports of WASI that are not on the list. A module without any is returned as it is, and a faulty one, too: its
// check says what is wrong.
func stubbed(module []byte) ([]byte, []Stub) {
	m, err := wasm.Decode(module, structural())
	if err != nil {
		return module, nil
	}
	s := &stubber{m: m}
	if !s.split() {
		return module, nil
	}
	if _, err := wasm.Parse(module, structural()); err != nil { // which takes long
		return module, nil
	}
	names := functionNames(module, func(index uint32) uint32 { return index })
	stubs := s.describe(names)
	s.rewrite()
	if named := s.moveNames(names); len(named) > 0 {
		s.m.Customs = append(slices.Clone(s.m.Customs), wasm.Custom{Name: nameSection, Bytes: named})
	}
	return wasm.Encode(s.m), stubs
}

type stubber struct {
	m     *wasm.Module
	moved []uint32      // new indexes of functions
	gone  []wasm.Import // imports to be replaced
	at    []uint32      // their old indexes
}

// split assigns the new indexes, and reports whether anything is to be replaced.
func (s *stubber) split() bool {
	var kept []wasm.Import
	index := uint32(0)
	for _, i := range s.m.Imports {
		if i.Kind == wasm.KindFunc {
			if s.replaces(i) {
				s.gone, s.at = append(s.gone, i), append(s.at, index)
				index++
				continue
			}
			index++
		}
		kept = append(kept, i)
	}
	s.m.Imports = kept
	total := index + uint32(len(s.m.Functions))
	s.moved = make([]uint32, total)
	next, stub := uint32(0), total-uint32(len(s.gone))
	for old := range total {
		if slices.Contains(s.at, old) {
			s.moved[old] = stub
			stub++
			continue
		}
		s.moved[old] = next
		next++
	}
	return len(s.gone) > 0
}

// replaces reports whether an import is a function of WASI that is not on the list and can answer an error number, or nothing.
func (s *stubber) replaces(i wasm.Import) bool {
	if i.Module != abi.WASIModule || named(abi.WASI(), i.Name) != nil || int(i.Func) >= len(s.m.Types) {
		return false
	}
	results := s.m.Types[i.Func].Results
	return len(results) == 0 || len(results) == 1 && results[0] == wasm.I32
}

// rewrite moves all indexes of functions and appends the stubs.
func (s *stubber) rewrite() {
	m := s.m
	for i := range m.Codes {
		m.Codes[i].Body = s.code(m.Codes[i].Body)
	}
	for i := range m.Exports {
		if m.Exports[i].Kind == wasm.KindFunc {
			m.Exports[i].Index = s.moved[m.Exports[i].Index]
		}
	}
	if m.Start != nil {
		*m.Start = s.moved[*m.Start]
	}
	for i := range m.Globals {
		m.Globals[i].Init.Bytes = s.code(m.Globals[i].Init.Bytes)
	}
	for i := range m.Elements {
		for j, f := range m.Elements[i].Funcs {
			m.Elements[i].Funcs[j] = s.moved[f]
		}
		for j, x := range m.Elements[i].Exprs {
			m.Elements[i].Exprs[j].Bytes = s.code(x.Bytes)
		}
	}
	for _, i := range s.gone {
		body := []byte{byte(wasm.OpEnd)}
		if len(m.Types[i.Func].Results) > 0 {
			body = []byte{byte(wasm.OpI32Const), unsupported, byte(wasm.OpEnd)}
		}
		m.Functions, m.Codes = append(m.Functions, i.Func), append(m.Codes, wasm.Code{Body: body})
	}
}

// code moves the indexes in valid instructions.
func (s *stubber) code(body []byte) []byte {
	out := make([]byte, 0, len(body)+16)
	s.each(body, func(in wasm.Instr) {
		if in.Op == wasm.OpCall || in.Op == wasm.OpRefFunc {
			out = wasm.AppendU32(append(out, byte(in.Op)), s.moved[in.Index])
			return
		}
		out = append(out, body[in.Start:in.End]...)
	})
	return out
}

// each reads valid instructions.
func (s *stubber) each(body []byte, do func(wasm.Instr)) {
	code := wasm.Code{Body: body}
	r := code.Instructions(structural().Branches)
	var in wasm.Instr
	for r.More() && r.Next(&in) == nil {
		do(in)
	}
}

// describe says how each import is reached. It reads the module before it is rewritten.
func (s *stubber) describe(names map[uint32]string) []Stub {
	callers := map[uint32][]uint32{}
	first := uint32(len(s.moved) - len(s.m.Codes))
	for i, c := range s.m.Codes {
		s.each(c.Body, func(in wasm.Instr) {
			if in.Op == wasm.OpCall || in.Op == wasm.OpRefFunc {
				callers[in.Index] = append(callers[in.Index], first+uint32(i))
			}
		})
	}
	list := make([]Stub, len(s.gone))
	for i, gone := range s.gone {
		list[i] = Stub{gone.Name, wayTo(s.at[i], callers, names)}
	}
	return list
}

// longestWay bounds the functions that are named between an author's and an import.
const longestWay = 12

// wayTo is the shortest way to an import from a function whose name looks like an author's: in package main, or in no library. Without
// any it is that from the caller farthest away.
func wayTo(target uint32, callers map[uint32][]uint32, names map[uint32]string) []string {
	next := map[uint32]uint32{target: target}
	last := target
	for queue := []uint32{target}; len(queue) > 0; queue = queue[1:] {
		if last = queue[0]; last != target && isAuthors(names[last]) {
			break
		}
		for _, caller := range callers[queue[0]] {
			if _, seen := next[caller]; !seen {
				next[caller] = queue[0]
				queue = append(queue, caller)
			}
		}
	}
	var way []string
	for f := last; f != target && len(way) < longestWay; f = next[f] {
		if names[f] != "" {
			way = append(way, names[f])
		}
	}
	return way
}

// isAuthors reports whether a name is that of a function of a main package in Go.
func isAuthors(name string) bool { return strings.HasPrefix(name, "main.") }

// moveNames encodes the names of functions for their new indexes.
func (s *stubber) moveNames(names map[uint32]string) []byte {
	if len(names) == 0 {
		return nil
	}
	moved := map[uint32]string{}
	for index, name := range names {
		if int(index) < len(s.moved) {
			moved[s.moved[index]] = name
		}
	}
	list := wasm.AppendU32(nil, uint32(len(moved)))
	for _, index := range slices.Sorted(maps.Keys(moved)) {
		list = wasm.AppendName(wasm.AppendU32(list, index), moved[index])
	}
	return bytes.Join([][]byte{{subsectionFunctions}, wasm.AppendU32(nil, uint32(len(list))), list}, nil)
}

// Text says what a stub stands for, in one line.
func (s Stub) Text() string {
	if len(s.Way) == 0 {
		return fmt.Sprintf("%s answers \"not supported\": guests have no files, no network and no environment", s.Name)
	}
	return fmt.Sprintf("%s answers \"not supported\"; it is called by way of %s", s.Name, strings.Join(s.Way, " > "))
}
