package meter

import (
	"maps"
	"slices"

	"github.com/alcove-memory/alcove/host/sandbox/wasm"
)

// code is a sequence of instructions being written.
type code struct{ bytes []byte }

func newCode() *code { return &code{} }

func (c *code) raw(b ...byte) *code {
	c.bytes = append(c.bytes, b...)
	return c
}

func (c *code) op(ops ...wasm.Opcode) *code {
	for _, op := range ops {
		if op > 0xff {
			c.bytes = wasm.AppendU32(append(c.bytes, byte(op>>8)), uint32(op&0xff))
			continue
		}
		c.bytes = append(c.bytes, byte(op))
	}
	return c
}

func (c *code) index(op wasm.Opcode, indexes ...uint32) *code {
	c.op(op)
	for _, i := range indexes {
		c.bytes = wasm.AppendU32(c.bytes, i)
	}
	return c
}

func (c *code) i32(v int32) *code {
	c.bytes = wasm.AppendS64(append(c.bytes, byte(wasm.OpI32Const)), int64(v))
	return c
}

func (c *code) i64(v int64) *code {
	c.bytes = wasm.AppendS64(append(c.bytes, byte(wasm.OpI64Const)), v)
	return c
}

func (c *code) get(local uint32) *code { return c.index(wasm.OpLocalGet, local) }
func (c *code) set(local uint32) *code { return c.index(wasm.OpLocalSet, local) }
func (c *code) tee(local uint32) *code { return c.index(wasm.OpLocalTee, local) }
func (c *code) call(f uint32) *code    { return c.index(wasm.OpCall, f) }

// when runs then if the i32 on the stack is nonzero. then has no parameters or results.
func (c *code) when(then func(*code)) *code {
	c.op(wasm.OpIf).raw(0x40)
	then(c)
	return c.op(wasm.OpEnd)
}

// repeat runs a body, which pushes an i32, until that is zero.
func (c *code) repeat(body func(*code)) *code {
	c.op(wasm.OpLoop).raw(0x40)
	body(c)
	return c.index(wasm.OpBrIf, 0).op(wasm.OpEnd)
}

func sorted(m map[uint32]uint32) []uint32 { return slices.Sorted(maps.Keys(m)) }
