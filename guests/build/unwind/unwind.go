// Command unwind makes the functions of a module return early while a jump of C is on its way, and drops the exports that say how.
//
//	unwind linked.wasm engine.wasm
//
// The module exports the address of a number, unwinding, that is not zero meanwhile, the function jump, which sets it, and functions
// whose names begin with invoke_, which call a function and reset the number: they are what functions that catch jumps call. After each call
// of another function that may be left by a jump, the caller returns if the number is set.
package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/host/sandbox/wasm"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "unwind: give the module that was linked and the file to write")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "unwind:", err)
		os.Exit(1)
	}
}

func run(from, to string) error {
	linked, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	rewritten, err := Unwinding(linked)
	if err != nil {
		return fmt.Errorf("rewrite %s: %w", from, err)
	}
	return os.WriteFile(to, rewritten, 0o644)
}

// module is a module whose functions are made to return early.
type module struct {
	*wasm.Validated
	imported uint32
	address  uint32          // of the number that says that a jump is on its way
	catches  map[uint32]bool // functions that no jump leaves
	leaves   map[uint32]bool // functions that a jump may leave
}

// Unwinding rewrites a module.
func Unwinding(linked []byte) ([]byte, error) {
	parsed, err := wasm.Parse(linked, wasm.Limits{})
	if err != nil {
		return nil, err
	}
	m := &module{Validated: parsed, imported: parsed.Imported(wasm.KindFunc), catches: map[uint32]bool{}, leaves: map[uint32]bool{}}
	if err := m.exports(); err != nil {
		return nil, err
	}
	if err := m.spread(); err != nil {
		return nil, err
	}
	codes := make([]wasm.Code, len(m.Codes))
	for i := range m.Codes {
		if codes[i], err = m.body(uint32(i)); err != nil {
			return nil, err
		}
	}
	out := *m.Module
	out.Codes, out.Customs = codes, nil
	out.Exports = slices.DeleteFunc(slices.Clone(m.Exports), func(x wasm.Export) bool { return tells(x.Name) })
	if _, err := wasm.Validate(&out, wasm.Limits{}); err != nil {
		return nil, err
	}
	return wasm.Encode(&out), nil
}

const (
	flag    = "unwinding"
	jumps   = "jump"
	invokes = "invoke_"
)

func tells(export string) bool {
	return export == flag || export == jumps || strings.HasPrefix(export, invokes)
}

// exports reads what the module's exports tell, and fails unless that is all.
func (m *module) exports() error {
	found := 0
	for _, x := range m.Exports {
		switch {
		case x.Name == flag && x.Kind == wasm.KindGlobal:
			init := wasm.Code{Body: m.Globals[x.Index].Init.Bytes}
			var in wasm.Instr
			r := init.Instructions(0)
			if err := r.Next(&in); err != nil {
				return err
			}
			m.address = uint32(in.Value)
			found++
		case x.Name == jumps:
			m.leaves[x.Index] = true
			found++
		case strings.HasPrefix(x.Name, invokes):
			m.catches[x.Index] = true
		}
	}
	if found != 2 || m.address == 0 || len(m.catches) == 0 {
		return errors.New("the module does not export unwinding, jump and functions whose names begin with invoke_")
	}
	return nil
}

// spread finds all functions that a jump may leave: those that call such a function, or one that is not known.
func (m *module) spread() error {
	callers := map[uint32][]uint32{}
	var found []uint32
	for f := range m.leaves {
		found = append(found, f)
	}
	for i := range m.Codes {
		f := m.imported + uint32(i)
		err := each(&m.Codes[i], func(in *wasm.Instr) {
			switch in.Op {
			case wasm.OpCall:
				callers[in.Index] = append(callers[in.Index], f)
			case wasm.OpCallIndirect:
				found = append(found, f)
			}
		})
		if err != nil {
			return err
		}
	}
	for len(found) > 0 {
		f := found[len(found)-1]
		found = found[:len(found)-1]
		if m.catches[f] {
			continue
		}
		m.leaves[f] = true
		for _, caller := range callers[f] {
			if !m.leaves[caller] {
				found = append(found, caller)
			}
		}
	}
	return nil
}

func each(c *wasm.Code, visit func(*wasm.Instr)) error {
	r := c.Instructions(math.MaxInt)
	var in wasm.Instr
	for r.More() {
		if err := r.Next(&in); err != nil {
			return err
		}
		visit(&in)
	}
	return nil
}

// body rewrites a function.
func (m *module) body(i uint32) (wasm.Code, error) {
	c := m.Codes[i]
	if !m.leaves[m.imported+i] {
		return c, nil
	}
	var out []byte
	copied := 0
	returns := m.early(m.FuncType(m.imported + i))
	err := each(&c, func(in *wasm.Instr) {
		if in.Op == wasm.OpCallIndirect || in.Op == wasm.OpCall && m.leaves[in.Index] {
			out = append(append(out, c.Body[copied:in.End]...), returns...)
			copied = in.End
		}
	})
	return wasm.Code{Locals: c.Locals, Body: append(out, c.Body[copied:]...)}, err
}

// early are the instructions that return while a jump is on its way. Nobody looks at the results.
func (m *module) early(t wasm.FuncType) []byte {
	out := wasm.AppendS64([]byte{byte(wasm.OpI32Const)}, int64(int32(m.address)))
	out = append(out, byte(wasm.OpI32Load), 2, 0, byte(wasm.OpIf), 0x40)
	for _, result := range t.Results {
		switch result {
		case wasm.I32:
			out = append(out, byte(wasm.OpI32Const), 0)
		case wasm.I64:
			out = append(out, byte(wasm.OpI64Const), 0)
		case wasm.F32:
			out = append(out, byte(wasm.OpF32Const), 0, 0, 0, 0)
		case wasm.F64:
			out = append(out, byte(wasm.OpF64Const), 0, 0, 0, 0, 0, 0, 0, 0)
		}
	}
	return append(out, byte(wasm.OpReturn), byte(wasm.OpEnd))
}
