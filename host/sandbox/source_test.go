package sandbox

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/sandbox/wasm"
	"github.com/alcove-memory/alcove/host/testing/asm"
	"github.com/alcove-memory/alcove/host/testing/must"
)

// reader is a guest that answers with what it reads of its source: 64 bytes while it starts, and 64 in the request.
func reader() []byte {
	m := &asm.Module{}
	read := m.Import(abi.Module, "read", asm.I32s(3), asm.I32s(1))
	write := m.Import(abi.Module, "write", asm.I32s(3), asm.I32s(1))
	m.Memory(1)
	started := m.Func(asm.Func{Body: asm.Seq(
		asm.I32(1024), asm.Call(read, asm.I32(abi.ReadSource), asm.I32(0), asm.I32(64)), asm.Op(wasm.OpI32Store, 2, 0),
	)})
	m.Export(exportInitialize, wasm.KindFunc, started)
	handle := m.Func(asm.Func{Params: asm.I32s(2), Results: asm.I32s(1), Locals: asm.I32s(1), Body: asm.Seq(
		asm.Call(write, asm.I32(abi.WriteResult), asm.I32(0), asm.Seq(asm.I32(1024), asm.Op(wasm.OpI32Load, 2, 0))), asm.Op(wasm.OpDrop),
		asm.Set(2, asm.Call(read, asm.I32(abi.ReadSource), asm.I32(0), asm.I32(64))),
		asm.Call(write, asm.I32(abi.WriteLog), asm.I32(0), asm.Get(2)), asm.Op(wasm.OpDrop),
		asm.I32(0),
	)})
	m.Export(exportHandle, wasm.KindFunc, handle)
	return m.Bytes()
}

func withSource(t testing.TB, name, source string) []byte {
	t.Helper()
	module, err := WithSource(reader(), []byte(source))
	must.Do(t, err)
	packed, err := Pack(module, []byte(`{"abi":1,"name":"`+name+`","version":"1.0.0","description":"x"}`))
	must.Do(t, err)
	return packed
}

// said is what a guest read of its source while it started and in a request.
func said(t *testing.T, m *Module) [2]string {
	t.Helper()
	var logged string
	r, err := m.Call(t.Context(), Request{Kind: abi.KindTool, Lines: func(_, line string) { logged += line }})
	must.Do(t, err)
	if r.Class != abi.ClassOK {
		t.Fatalf("Call of %s: class %s, %v, want %s", m.Family(), r.Class, r.Error, abi.ClassOK)
	}
	return [2]string{string(r.Output), logged}
}

// Modules that differ in their source share the code, and each reads its own: compiled, in memory, and from the cache.
func TestEachModuleReadsItsOwnSource(t *testing.T) {
	config := testConfig(t)
	for round := range 2 {
		s, err := New(config)
		must.Do(t, err)
		for i := range 3 {
			name, source := fmt.Sprintf("family-%d", i), fmt.Sprintf(`"source %d"`, i)
			module := withSource(t, name, source)
			manifest, err := ManifestBytes(module)
			must.Do(t, err)
			for _, admit := range []func() (*Module, error){
				func() (*Module, error) { return s.Admit(t.Context(), module, Options{}) },
				func() (*Module, error) {
					return s.AdmitSource(t.Context(), Source{hexDigest(module), manifest, func() (Binary, error) { return Hash(module), nil }}, Options{})
				},
			} {
				m, err := admit()
				must.Do(t, err)
				for range 2 {
					if got := said(t, m); got != [2]string{source, source} {
						t.Errorf("round %d: %s reads %q, want %q twice", round, name, got, source)
					}
				}
			}
		}
		if n := s.codesNow(); n != 1 {
			t.Errorf("round %d: %d compiled modules are in memory, want 1", round, n)
		}
		must.Do(t, s.Close())
	}
}

// A module without a source, of the same code as one with it, reads none.
func TestAModuleWithoutASourceReadsNothing(t *testing.T) {
	s := newSandbox(t, testConfig(t))
	_, err := s.Admit(t.Context(), withSource(t, "other", `"secret"`), Options{})
	must.Do(t, err)
	m, err := s.Admit(t.Context(), reader(), Options{Bare: true})
	must.Do(t, err)
	var logged string
	r, err := m.Call(t.Context(), Request{Kind: abi.KindTool, Lines: func(_, line string) { logged += line }})
	must.Do(t, err)
	if len(r.Output) > 0 || logged != "" {
		t.Errorf("it reads %q and %q, want nothing", r.Output, logged)
	}
}

// The code is known, and what is wrong with the source is still found.
func TestASourceHasBounds(t *testing.T) {
	s := newSandbox(t, testConfig(t))
	good := withSource(t, "good", `"x"`)
	_, err := s.Admit(t.Context(), good, Options{})
	must.Do(t, err)
	content := append(wasm.AppendName(nil, abi.SourceSection), 'y')
	twice := append(wasm.AppendU32(append([]byte(nil), append(good, customSection)...), uint32(len(content))), content...)
	most := int(abi.DefaultModuleLimits().SourceBytes)
	large, err := WithSource(good, []byte(strings.Repeat("x", most+1)))
	must.Do(t, err)
	for name, module := range map[string][]byte{"source_bytes is 4194304": large, "2 sections alcove.source": twice} {
		_, err := s.Admit(t.Context(), module, Options{})
		var refused *Refusal
		if !errors.As(err, &refused) || refused.Class != abi.ClassStructure || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v, want a refusal of class %s that says it", name, err, abi.ClassStructure)
		}
	}
	largest, err := WithSource(good, []byte(strings.Repeat("x", most)))
	must.Do(t, err)
	if _, err := s.Admit(t.Context(), largest, Options{}); err != nil {
		t.Errorf("a source of %d bytes: %v, want it admitted", most, err)
	}
}

// A file that changed after it was admitted is refused, also where only its source is read again.
func TestASourceIsReadFromTheAdmittedBytes(t *testing.T) {
	config := testConfig(t)
	s := newSandbox(t, config)
	module, other := withSource(t, "family", `"one"`), withSource(t, "family", `"two"`)
	_, err := s.Admit(t.Context(), module, Options{})
	must.Do(t, err)
	manifest, err := ManifestBytes(module)
	must.Do(t, err)
	_, err = s.AdmitSource(t.Context(), Source{hexDigest(module), manifest, func() (Binary, error) { return Hash(other), nil }}, Options{})
	var refused *Refusal
	if !errors.As(err, &refused) || refused.Class != abi.ClassDigest {
		t.Errorf("other bytes: %v, want a refusal of class %s", err, abi.ClassDigest)
	}
}
