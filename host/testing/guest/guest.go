// Package guest assembles the modules of small families for tests.
package guest

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/host/sandbox/wasm"
	"github.com/alcove-memory/alcove/host/testing/asm"
)

// Body makes the code of alcove_handle, which may call read, write and call. It has one local variable, of index 2.
type Body func(m *asm.Module, read, write, call uint32) asm.Code

const (
	local    = 2
	answerAt = 1 << 17 // where the bodies below put what they read
)

// Pack is a module with a manifest. Its version and its description are set.
func Pack(t testing.TB, manifest abi.Manifest, body Body) []byte {
	t.Helper()
	m := &asm.Module{}
	read := m.Import("alcove", "read", asm.I32s(3), asm.I32s(1))
	write := m.Import("alcove", "write", asm.I32s(3), asm.I32s(1))
	call := m.Import("alcove", "call", asm.I32s(4), asm.I32s(1))
	m.Memory(8)
	m.Export("alcove_handle", wasm.KindFunc, m.Func(asm.Func{Params: asm.I32s(2), Results: asm.I32s(1), Locals: asm.I32s(1), Body: body(m, read, write, call)}))
	manifest.ABI, manifest.Version, manifest.Description = abi.Version, "1.0.0", "Is tested."
	data, err := json.Marshal(manifest)
	if err != nil {
		t.Fatalf("write the manifest of %s: %v", manifest.Name, err)
	}
	module, err := sandbox.Pack(m.Bytes(), data)
	if err != nil {
		t.Fatalf("pack %s: %v", manifest.Name, err)
	}
	return module
}

// Tool is a tool whose parameters are properties of a JSON Schema.
func Tool(name, properties string) abi.Tool {
	return abi.Tool{Name: name, Description: "Does it.", InputSchema: json.RawMessage(`{"type":"object","properties":` + properties + `,"additionalProperties":false}`)}
}

// Echo answers with the request.
func Echo(_ *asm.Module, read, write, _ uint32) asm.Code {
	return asm.Seq(asm.Set(local, asm.Call(read, asm.I32(0), asm.I32(answerAt), asm.I32(1<<16))),
		asm.Drop(asm.Call(write, asm.I32(0), asm.I32(answerAt), asm.Get(local))), asm.I32(0))
}

// Relay asks the host for operations, such as "memory.list {}", one after the other. It answers with the last answer, or fails with the
// first error.
func Relay(requests ...string) Body {
	return func(m *asm.Module, read, write, call uint32) asm.Code {
		at, body := int32(1024), asm.Code{}
		text := func(s string) (asm.Code, asm.Code) {
			m.Put(at, []byte(s))
			begin := asm.I32(at)
			at += int32(len(s)) + 8
			return begin, asm.I32(int32(len(s)))
		}
		reads := asm.Seq(asm.Set(local, asm.Call(read, asm.I32(1), asm.I32(answerAt), asm.I32(1<<16))),
			asm.Drop(asm.Call(write, asm.I32(0), asm.I32(answerAt), asm.Get(local))))
		for _, r := range requests {
			name, request, _ := strings.Cut(r, " ")
			op, opLength := text(name)
			begin, length := text(request)
			failed := asm.Two(wasm.OpI32LtS, asm.Get(local), asm.I32(0))
			body = append(body, asm.Set(local, asm.Call(call, op, opLength, begin, length))...)
			body = append(body, asm.If(failed, reads, asm.I32(1), asm.Op(wasm.OpReturn))...)
		}
		return append(body, asm.Seq(reads, asm.I32(0))...)
	}
}
