package sandbox

import (
	"slices"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/sandbox/wasm"
	"github.com/alcove-memory/alcove/host/testing/asm"
)

func TestImportsOfLibrariesAreReplacedByStubsThatAnswerNotSupported(t *testing.T) {
	m := &asm.Module{}
	m.Import(abi.WASIModule, "fd_readdir", asm.I32s(5), asm.I32s(1))
	write := m.Import("alcove", "write", asm.I32s(3), asm.I32s(1))
	seek := m.Import(abi.WASIModule, "path_open", asm.I32s(2), asm.I32s(1))
	m.Memory(1)
	m.Put(64, []byte("4"))
	library := m.Func(asm.Func{Results: asm.I32s(1), Body: asm.Call(seek, asm.I32(0), asm.I32(0))})
	// The answer is the text at 64 if the library says "not supported", and nothing otherwise.
	body := append(asm.Drop(asm.Call(write, asm.I32(0), asm.I32(64), asm.Two(wasm.OpI32Eq, asm.Call(library), asm.I32(unsupported)))), asm.I32(0)...)
	m.Export("alcove_handle", wasm.KindFunc, m.Func(asm.Func{Params: asm.I32s(2), Results: asm.I32s(1), Body: body}))
	module := m.Bytes()
	names := append(append([]byte{2, byte(library)}, "\x0blibrary.Get"...), append([]byte{byte(library) + 1}, "\x09main.main"...)...)
	section := wasm.AppendName(nil, nameSection)
	section = append(append(section, subsectionFunctions, byte(len(names))), names...)
	module = append(wasm.AppendU32(append(module, customSection), uint32(len(section))), section...)

	if _, err := Check(module, Options{Bare: true}); err == nil || !strings.Contains(err.Error(), `"fd_readdir"`) {
		t.Fatalf("as it is, it is refused: %v", err)
	}
	stubbed, err := PackStubbed(module, []byte(`{"abi":1,"name":"a","version":"1.0.0","description":"Is tested.","tools":[{"name":"a_do","description":"Does it.","input_schema":{"type":"object"}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	packed, stubs := stubbed.Module, stubbed.Stubs
	if len(stubs) != 2 || stubs[0].Name != "fd_readdir" || len(stubs[0].Way) != 0 || !slices.Equal(stubs[1].Way, []string{"main.main", "library.Get"}) {
		t.Errorf("its stubs are %+v", stubs)
	}
	again, err := PackStubbed(packed, []byte(`{"abi":1,"name":"a","version":"1.0.0","description":"Is tested.","tools":[{"name":"a_do","description":"Does it.","input_schema":{"type":"object"}}]}`))
	if err != nil || len(again.Stubs) != 0 || !slices.Equal(again.Module, packed) {
		t.Errorf("packed again, it differs: %+v (%v)", again, err)
	}
	if got := FunctionNames(packed); got[2] != "library.Get" || got[3] != "main.main" { // one import is left, and metering adds one
		t.Errorf("it has the names %v", got)
	}
	guest, err := newSandbox(t, testConfig(t)).Admit(t.Context(), packed, Options{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := guest.Call(t.Context(), Request{Kind: abi.KindTool})
	if err != nil || r.Class != abi.ClassOK || string(r.Output) != "4" {
		t.Errorf("it answers %q (%s, %v)", r.Output, r.Class, r.Error)
	}
}
