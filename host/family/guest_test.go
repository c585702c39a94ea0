package family

import (
	"encoding/json"
	"slices"
	"sync"
	"testing"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/host/sandbox/wasm"
	"github.com/alcove-memory/alcove/host/testing/asm"
)

// step is a call of the host that a guest makes.
type step struct{ op, request string }

// script is a guest that always does the same: it makes its calls, and then answers with the list of the responses, each as
// {"ok": …} or {"error": …}, unless it says or does something else.
type script struct {
	steps  []step
	around [2]string // what it says before and after the list of responses
	says   string    // instead of the responses
	fails  string    // an error body, after the calls
	status int32     // of its answer; not 0: the answer is an error body
	traps  bool      // after the calls
	spins  bool      // after the calls
	floods bool      // after the calls: more output than it may
}

const scratch = 1 << 19 // where responses are put

// module is the script as a module.
func (s script) module() []byte {
	m := &asm.Module{}
	three, four := asm.I32s(3), asm.I32s(4)
	read := m.Import("alcove", "read", three, asm.I32s(1))
	write := m.Import("alcove", "write", three, asm.I32s(1))
	call := m.Import("alcove", "call", four, asm.I32s(1))
	m.Memory(64)
	at := int32(1024)
	put := func(text string) (asm.Code, asm.Code) {
		m.Put(at, []byte(text))
		begin := asm.I32(at)
		at += int32(len(text)) + 8
		return begin, asm.I32(int32(len(text)))
	}
	say := func(text string) asm.Code {
		begin, length := put(text)
		return asm.Drop(asm.Call(write, asm.I32(0), begin, length))
	}
	const n = 2 // the local with a response's length
	var body asm.Code
	answers := s.says == "" && s.fails == ""
	if answers {
		body = append(body, say(s.around[0]+"[")...)
	}
	for i, st := range s.steps {
		op, opLength := put(st.op)
		request, length := put(st.request)
		body = append(body, asm.Set(n, asm.Call(call, op, opLength, request, length))...)
		if !answers {
			continue
		}
		if i > 0 {
			body = append(body, say(",")...)
		}
		isError := asm.Two(wasm.OpI32LtS, asm.Get(n), asm.I32(0))
		body = append(body, asm.Block(asm.Block(asm.BrIf(0, isError), say(`{"ok":`), asm.Br(1)),
			say(`{"error":`), asm.Set(n, asm.Two(wasm.OpI32Sub, asm.I32(0), asm.Get(n))))...)
		body = append(body, asm.Drop(asm.Call(read, asm.I32(1), asm.I32(scratch), asm.Get(n)))...)
		body = append(body, asm.Drop(asm.Call(write, asm.I32(0), asm.I32(scratch), asm.Get(n)))...)
		body = append(body, say("}")...)
	}
	if answers {
		body = append(body, say("]"+s.around[1])...)
	}
	status := s.status
	switch {
	case s.traps:
		body = append(body, asm.Unreachable()...)
	case s.spins:
		body = append(body, asm.Loop(asm.Br(0))...)
	case s.floods:
		body = append(body, asm.Loop(asm.Drop(asm.Call(write, asm.I32(0), asm.I32(0), asm.I32(1<<20))), asm.Br(0))...)
	case s.fails != "":
		body = append(body, say(s.fails)...)
		status = 1
	case s.says != "":
		body = append(body, say(s.says)...)
	}
	body = append(body, asm.I32(status)...)
	handle := m.Func(asm.Func{Params: asm.I32s(2), Results: asm.I32s(1), Locals: asm.I32s(1), Body: body})
	m.Export("alcove_handle", wasm.KindFunc, handle)
	return m.Bytes()
}

// everything asks for every capability, with every scope.
func everything() []abi.Request {
	var list []abi.Request
	for _, c := range abi.Capabilities() {
		r := abi.Request{Name: c, Reason: "to be tested"}
		if c.Scope() != "none" {
			r.Scope = []string{"*"}
		}
		list = append(list, r)
	}
	return list
}

// aFamily is a manifest with a tool of the family's name, and every capability.
func aFamily(name string) *abi.Manifest {
	return &abi.Manifest{ABI: abi.Version, Name: name, Version: "1.0.0", Description: "Is tested.", Capabilities: everything(),
		Tools: []abi.Tool{{Name: name + "_do", Description: "Does it.", InputSchema: json.RawMessage(`{"type":"object"}`)}}}
}

// pack is a module with its manifest.
func pack(t testing.TB, m *abi.Manifest, s script) []byte {
	t.Helper()
	manifest, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	module := s.module()
	name := string(module) + "\x00" + string(manifest)
	if done, ok := packed.Load(name); ok {
		return slices.Clone(done.([]byte))
	}
	done, err := sandbox.Pack(module, manifest)
	if err != nil {
		t.Fatalf("pack %s: %v", m.Name, err)
	}
	packed.Store(name, slices.Clone(done))
	return done
}

// packed are modules by what they are made of: most tests pack the same few, and checking their schemas takes a while.
var packed sync.Map

// owner is an agent who may do everything.
func owner(agent string) memory.Caller {
	return memory.Caller{Agent: agent, Rights: memory.FullRights()}
}

// readingCaller is a caller who may read everything and write nothing.
func readingCaller() memory.Caller { return memory.Caller{Rights: memory.FullRights().ReadOnly()} }
