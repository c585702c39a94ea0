package wasm_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/alcove-memory/alcove/host/sandbox/wasm"
)

// vec is a vector of equal elements.
func vec(n int, element ...byte) []byte {
	return append(wasm.AppendU32(nil, uint32(n)), bytes.Repeat(element, n)...)
}

func sections(parts ...[]byte) []byte {
	out := []byte{0, 'a', 's', 'm', 1, 0, 0, 0}
	for _, p := range parts {
		out = append(append(append(out, p[0]), wasm.AppendU32(nil, uint32(len(p)-1))...), p[1:]...)
	}
	return out
}

func section(id byte, content []byte) []byte { return append([]byte{id}, content...) }

// function is a module of one function of type [] → [] with a body, locals included.
func function(body []byte) []byte {
	code := append(wasm.AppendU32([]byte{1}, uint32(len(body))), body...)
	return sections(section(1, vec(1, 0x60, 0, 0)), section(3, []byte{1, 0}), section(10, code))
}

func TestEveryLimitIsEnforcedAndNamed(t *testing.T) {
	few := wasm.Limits{
		Module: 4096, Types: 3, Params: 3, Results: 3, Imports: 3, Functions: 3, Tables: 3, Globals: 3, Exports: 3, Elements: 3,
		Table: 3, Data: 3, Locals: 3, AllLocals: 4, Body: 100, Code: 110, Nesting: 3, Branches: 3, Operands: 3, Customs: 3, Name: 3,
	}
	nop := []byte{2, 0, 0x0b}
	twoWithLocals := bytes.Repeat([]byte{4, 1, 3, 0x7f, 0x0b}, 2)
	for limit, module := range map[string][]byte{
		"Module":    make([]byte, 4097),
		"Types":     sections(section(1, vec(4, 0x60, 0, 0))),
		"Params":    sections(section(1, vec(1, 0x60, 4, 0x7f, 0x7f, 0x7f, 0x7f, 0))),
		"Results":   sections(section(1, vec(1, 0x60, 0, 4, 0x7f, 0x7f, 0x7f, 0x7f))),
		"Imports":   sections(section(2, vec(4, 0, 0, 3, 0x7f, 0))),
		"Functions": sections(section(1, vec(1, 0x60, 0, 0)), section(3, vec(4, 0)), section(10, vec(4, nop...))),
		"Tables":    sections(section(4, vec(4, 0x70, 0, 0))),
		"Globals":   sections(section(6, vec(4, 0x7f, 0, 0x41, 0, 0x0b))),
		"Exports":   sections(section(7, vec(4, 1, 'a', 0, 0))),
		"Elements":  sections(section(9, vec(4, 1, 0, 0))),
		"Table":     sections(section(9, vec(1, 1, 0, 4, 0, 0, 0, 0))),
		"Data":      sections(section(11, vec(4, 1, 0))),
		"Locals":    function([]byte{1, 4, 0x7f, 0x0b}),
		"AllLocals": sections(section(1, vec(1, 0x60, 0, 0)), section(3, vec(2, 0)), section(10, append([]byte{2}, twoWithLocals...))),
		"Body":      function(append([]byte{0}, bytes.Repeat([]byte{1}, 101)...)),
		"Code":      sections(section(1, vec(1, 0x60, 0, 0)), section(3, vec(2, 0)), section(10, append([]byte{2}, bytes.Repeat(append([]byte{60, 0}, bytes.Repeat([]byte{0x0b}, 59)...), 2)...))),
		"Nesting":   function(append([]byte{0}, bytes.Repeat([]byte{2, 0x40}, 4)...)),
		"Branches":  function([]byte{0, 0x41, 0, 0x0e, 4, 0, 0, 0, 0, 0, 0x0b}),
		"Operands":  function(append([]byte{0}, bytes.Repeat([]byte{0x41, 0}, 4)...)),
		"Customs":   sections(bytes.Split(bytes.Repeat([]byte{0, 1, 'a', 9}, 4), []byte{9})[:4]...),
		"Name":      sections(section(0, []byte{4, 'l', 'o', 'n', 'g'})),
	} {
		_, err := wasm.Parse(module, few)
		var fault *wasm.Error
		if !errors.As(err, &fault) || fault.Class != wasm.TooLarge || fault.Limit != limit || fault.Value <= uint64(fault.Allowed) {
			t.Errorf("Parse of a module beyond %s: %v, want TooLarge by that limit", limit, err)
		}
	}
}

func TestImpossibleCountsAreRefusedBeforeAllocation(t *testing.T) {
	huge := []byte{0xff, 0xff, 0xff, 0xff, 0x0f}
	wide := wasm.Limits{
		Types: 1 << 33, Params: 1 << 33, Results: 1 << 33, Imports: 1 << 33, Functions: 1 << 33, Tables: 1 << 33, Globals: 1 << 33,
		Exports: 1 << 33, Elements: 1 << 33, Table: 1 << 33, Data: 1 << 33, Locals: 1 << 33, AllLocals: 1 << 33, Branches: 1 << 33, Name: 1 << 33,
	}
	modules := map[string][]byte{
		"parameters":       sections(section(1, append([]byte{1, 0x60}, huge...))),
		"a name":           sections(section(0, huge)),
		"elements":         sections(section(9, append([]byte{1, 1, 0}, huge...))),
		"bytes of data":    sections(section(11, append([]byte{1, 1}, huge...))),
		"groups of locals": function(huge),
		"targets":          function(append([]byte{0, 0x41, 0, 0x0e}, huge...)),
		"select types":     function(append([]byte{0, 0x1c}, huge...)),
		"a section":        append([]byte{0, 'a', 's', 'm', 1, 0, 0, 0, 1}, huge...),
	}
	for id := byte(1); id <= 11; id++ {
		if id != 8 {
			modules[string('0'+rune(id))] = sections(section(id, huge))
		}
	}
	for name, module := range modules {
		made := testing.AllocsPerRun(1, func() {
			var fault *wasm.Error
			if _, err := wasm.Parse(module, wide); !errors.As(err, &fault) || fault.Class == wasm.TooLarge {
				t.Errorf("Parse of huge counts in section %s: %v, want an error other than TooLarge", name, err)
			}
		})
		if made > 100 {
			t.Errorf("%s: %v things were made", name, made)
		}
	}
}

func TestAmbiguousEncodingsAreRefused(t *testing.T) {
	for name, body := range map[string][]byte{
		"a SIMD opcode that looks like a loop":  {0, 0xfd, 0x80, 0x03, 0x40, 0x0b},
		"an overlong SIMD opcode":               {0, 0x41, 0, 0xfd, 0x8f, 0x00, 0x1a, 0x0b},
		"an overlong SIMD opcode of five bytes": {0, 0xfd, 0x8c, 0x80, 0x80, 0x80, 0x00, 0x0b},
		"an overlong number of types":           {0, 0x41, 0, 0x41, 0, 0x41, 0, 0x1c, 0x81, 0x00, 0x7f, 0x1a, 0x0b},
		"an overlong bulk opcode":               {0, 0x43, 0, 0, 0, 0, 0xfc, 0x80, 0x00, 0x1a, 0x0b},
		"a local index of six bytes":            {1, 1, 0x7f, 0x20, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00, 0x1a, 0x0b},
		"a local index with bits beyond 32":     {1, 1, 0x7f, 0x20, 0x80, 0x80, 0x80, 0x80, 0x70, 0x1a, 0x0b},
		"a constant with bits beyond 32":        {0, 0x41, 0x80, 0x80, 0x80, 0x80, 0x70, 0x1a, 0x0b},
		"relaxed SIMD":                          {0, 0xfd, 0x80, 0x02, 0x0b},
		"threads":                               {0, 0xfe, 0x03, 0x00, 0x0b},
		"garbage collection":                    {0, 0xfb, 0x00, 0x00, 0x0b},
		"a tail call":                           {0, 0x12, 0x00, 0x0b},
		"exceptions":                            {0, 0x06, 0x40, 0x0b, 0x0b},
		"code behind the end":                   {0, 0x0b, 0x0b},
		"no end":                                {0, 0x01},
	} {
		if _, err := wasm.Parse(function(body), wasm.Limits{}); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}
