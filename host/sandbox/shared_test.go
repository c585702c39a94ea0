package sandbox

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/sandbox/wasm"
	"github.com/alcove-memory/alcove/host/testing/must"
)

// packedAs is the guest of acts.wat with a manifest.
func packedAs(t testing.TB, name, limits string) []byte {
	t.Helper()
	manifest := strings.Replace(strings.TrimSuffix(smallManifest, "}"), `"notes"`, `"`+name+`"`, 1) + `,"limits":{` + limits + `}}`
	module, err := Pack(testdata(t, "acts.wasm"), []byte(manifest))
	must.Do(t, err)
	return module
}

func (s *Sandbox) codesNow() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.codes)
}

func TestModulesOfTheSameCodeShareIt(t *testing.T) {
	s := newSandbox(t, testConfig(t))
	var modules []*Module
	for i := range 6 {
		m, err := s.Admit(t.Context(), packedAs(t, fmt.Sprintf("family-%d", i), fmt.Sprintf(`"memory_pages":%d`, 20+100*i)), Options{})
		must.Do(t, err)
		modules = append(modules, m)
	}
	if n := s.codesNow(); n != 1 {
		t.Fatalf("%d compiled modules are in memory", n)
	}
	must.Do(t, modules[0].Close())
	for i, m := range modules[1:] {
		if r := ask(t, m, "c"); string(r.Output) != "1121" {
			t.Errorf("family %d after another was unloaded: %s, %v", i+1, r.Output, r.Error)
		}
		must.Do(t, m.Close())
	}
	s.closing.Wait()
	if n := s.codesNow(); n != 0 {
		t.Errorf("%d compiled modules are in memory after all were unloaded", n)
	}
}

// One family has low limits of memory, fuel, time and host calls, the other high ones. Both run the same code.
func TestFamiliesThatShareCodeKeepTheirOwnLimits(t *testing.T) {
	s := newSandbox(t, testConfig(t))
	admit := func(name, limits string) *Module {
		m, err := s.Admit(t.Context(), packedAs(t, name, limits), Options{})
		must.Do(t, err)
		return m
	}
	poor := admit("poor", `"memory_pages":4,"fuel":100000,"host_calls":1,"output_bytes":64,"cpu_ms":50`)
	rich := admit("rich", `"memory_pages":2000,"fuel":900000000000,"host_calls":1000,"output_bytes":4000000,"cpu_ms":60000,"wall_ms":60000`)
	if s.codesNow() != 1 {
		t.Fatalf("they do not share their code")
	}
	for request, class := range map[string][2]abi.Class{
		"g": {abi.ClassOK, abi.ClassOK}, // grows by a page, which fits
		"h": {abi.ClassHostCalls, abi.ClassHostCalls},
		"o": {abi.ClassOutput, abi.ClassOutput},
		"l": {abi.ClassFuel, ""},
	} {
		for i, m := range []*Module{poor, rich} {
			if class[i] == "" {
				continue // it would loop
			}
			if r := ask(t, m, request); r.Class != class[i] {
				t.Errorf("%s of %s: %s, %v, want %s", request, m.Family(), r.Class, r.Error, class[i])
			}
		}
	}
	a, b := ask(t, poor, "m"), ask(t, rich, "e")
	if a.Class == abi.ClassOK || a.Memory > 4*pageBytes {
		t.Errorf("the poor one takes %d bytes: %s", a.Memory, a.Class)
	}
	if b.Class != abi.ClassOK {
		t.Errorf("the rich one: %s, %v", b.Class, b.Error)
	}
	if big := ask(t, rich, "m"); big.Memory <= 100*pageBytes {
		t.Errorf("the rich one takes %d bytes: %s, %v", big.Memory, big.Class, big.Error)
	}
}

// granted is a host that grants one family an operation.
type granted string

func (g granted) Call(_ context.Context, op abi.Op, _ []byte) ([]byte, error) {
	if g == "" {
		return nil, &abi.Error{Code: abi.CodeDenied, Message: "nothing is granted"}
	}
	return []byte(`["` + string(g) + `"]`), nil
}

func TestFamiliesThatShareCodeKeepTheirOwnHosts(t *testing.T) {
	s := newSandbox(t, testConfig(t))
	var all sync.WaitGroup
	for i := range 6 {
		name := fmt.Sprintf("family-%d", i)
		m, err := s.Admit(t.Context(), packedAs(t, name, ""), Options{})
		must.Do(t, err)
		host := granted(name)
		if i%2 == 1 {
			host = ""
		}
		all.Go(func() {
			for range 20 {
				r, err := m.Call(t.Context(), Request{Kind: abi.KindTool, Payload: []byte("e"), Host: host})
				if err != nil {
					t.Error(err)
					return
				}
				if i%2 == 1 && (r.Class != abi.ClassError || r.Error.Code != abi.CodeDenied) || i%2 == 0 && string(r.Output) != `["`+name+`"]` {
					t.Errorf("%s: class %s, output %s, %v, want its own host's answer, or %s without one", name, r.Class, r.Output, r.Error, abi.CodeDenied)
				}
			}
		})
	}
	all.Wait()
}

func TestLoadsThatRaceShareTheirCode(t *testing.T) {
	config := testConfig(t)
	for round := range 3 { // compiled, from the cache, from the cache
		s, err := New(config)
		must.Do(t, err)
		var all sync.WaitGroup
		for i := range 8 {
			module := packedAs(t, fmt.Sprintf("family-%d", i), "")
			all.Go(func() {
				m, err := s.Admit(context.Background(), module, Options{})
				if err != nil {
					t.Error(err)
					return
				}
				if r, err := m.Call(t.Context(), Request{Kind: abi.KindTool, Payload: []byte("c")}); err != nil || string(r.Output) != "1121" {
					t.Errorf("Call = %+v, %v, want output 1121", r, err)
				}
			})
		}
		all.Wait()
		if n := s.codesNow(); n != 1 {
			t.Errorf("round %d: %d compiled modules are in memory", round, n)
		}
		must.Do(t, s.Close())
	}
}

func TestAModuleOfTheCacheIsAdmittedWithoutItsBytes(t *testing.T) {
	config := testConfig(t)
	module := packedAs(t, "known", "")
	manifest, err := ManifestBytes(module)
	must.Do(t, err)
	reads := 0
	source := Source{Digest: hexDigest(module), Manifest: manifest, Read: func() (Binary, error) { reads++; return Hash(module), nil }}
	for range 2 {
		s, err := New(config)
		must.Do(t, err)
		m, err := s.AdmitSource(t.Context(), source, Options{})
		must.Do(t, err)
		if r := ask(t, m, "c"); m.Family() != "known" || m.Digest() != source.Digest || string(r.Output) != "1121" {
			t.Errorf("family %s with digest %s answers %s, want known with digest %s and 1121", m.Family(), m.Digest(), r.Output, source.Digest)
		}
		must.Do(t, s.Close())
	}
	if reads != 1 {
		t.Errorf("it was read %d times", reads)
	}
}

// Whatever a source claims, the code that runs was built from bytes of its digest, with its manifest.
func TestASourceThatDoesNotMatchItsDigestIsRefused(t *testing.T) {
	s := newSandbox(t, testConfig(t))
	good, other := packedAs(t, "good", ""), packedAs(t, "other", "")
	manifest, err := ManifestBytes(good)
	must.Do(t, err)
	foreign, err := ManifestBytes(other)
	must.Do(t, err)
	read := func(data []byte) func() (Binary, error) {
		return func() (Binary, error) { return Hash(data), nil }
	}
	_, err = s.AdmitSource(t.Context(), Source{hexDigest(good), manifest, read(good)}, Options{})
	must.Do(t, err)
	for name, source := range map[string]Source{
		"other bytes":                    {hexDigest(append([]byte(nil), good[1:]...)), manifest, read(good)},
		"another manifest, known digest": {hexDigest(good), foreign, read(good)},
		"another manifest, other bytes":  {hexDigest(good), foreign, read(other)},
		"no digest":                      {"", manifest, read(good)},
	} {
		if m, err := s.AdmitSource(t.Context(), source, Options{}); err == nil {
			t.Errorf("%s: %s was admitted", name, m.Family())
		}
	}
}

func TestUnloadingWhileAnotherFamilyRuns(t *testing.T) {
	s := newSandbox(t, testConfig(t))
	runs, err := s.Admit(t.Context(), packedAs(t, "runs", `"wall_ms":60000,"cpu_ms":60000`), Options{})
	must.Do(t, err)
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			for range 10 {
				m, err := s.Admit(context.Background(), packedAs(t, fmt.Sprintf("comes-%d", i), ""), Options{})
				if err != nil {
					t.Error(err)
					return
				}
				m.Close()
			}
		})
	}
	all.Go(func() {
		for range 200 {
			if r, err := runs.Call(context.Background(), Request{Kind: abi.KindTool, Payload: []byte("c")}); err != nil || string(r.Output) != "1121" {
				t.Errorf("Call = %+v, %v, want output 1121", r, err)
				return
			}
		}
	})
	all.Wait()
}

// The code is known, and faults of its other manifest are still found.
func TestKnownCodeDoesNotHideFaultsOfAnotherManifest(t *testing.T) {
	s := newSandbox(t, testConfig(t))
	_, err := s.Admit(t.Context(), packedAs(t, "good", ""), Options{})
	must.Do(t, err)
	bare := testdata(t, "acts.wasm")
	with := func(manifests ...string) []byte {
		module := append([]byte(nil), bare...)
		for _, m := range manifests {
			content := append(wasm.AppendName(nil, abi.Section), m...)
			module = append(wasm.AppendU32(append(module, customSection), uint32(len(content))), content...)
		}
		return module
	}
	many := append([]byte(nil), with(smallManifest)...)
	for range abi.DefaultModuleLimits().Customs + 1 {
		many = append(many, customSection, 2, 1, 'x')
	}
	for name, c := range map[string]struct {
		module  []byte
		options Options
		class   abi.Class
	}{
		"none":                 {bare, Options{}, abi.ClassManifest},
		"two":                  {with(smallManifest, smallManifest), Options{}, abi.ClassManifest},
		"of another schema":    {with(`{"abi":1,"name":"x"}`), Options{}, abi.ClassManifest},
		"a bad schema in it":   {with(strings.TrimSuffix(smallManifest, "}") + `,"tools":[{"name":"notes_add","description":"Adds.","input_schema":{"type":"object","properties":{"x":{"type":"strin"}}}}]}`), Options{}, abi.ClassManifest},
		"too little memory":    {with(strings.TrimSuffix(smallManifest, "}") + `,"limits":{"memory_pages":2}}`), Options{}, abi.ClassDeclared},
		"less by the operator": {with(smallManifest), Options{Limits: abi.Limits{MemoryPages: 2}}, abi.ClassDeclared},
		"another digest":       {with(smallManifest), Options{Digest: strings.Repeat("0", 64)}, abi.ClassDigest},
		"too large":            {append(with(smallManifest), make([]byte, 32<<20)...), Options{}, abi.ClassSize},
		"too many sections":    {many, Options{}, abi.ClassStructure},
		"cut off":              {with(smallManifest)[:len(bare)+20], Options{}, abi.ClassStructure},
	} {
		_, err := s.Admit(t.Context(), c.module, c.options)
		var refused *Refusal
		if !errors.As(err, &refused) || refused.Class != c.class {
			t.Errorf("%s: %v, want %s", name, err, c.class)
		}
	}
	if _, err := s.Admit(t.Context(), bare, Options{Bare: true}); err != nil {
		t.Errorf("without a manifest, which is allowed: %v", err)
	}
	if _, err := s.Admit(t.Context(), bare, Options{}); err == nil {
		t.Error("what was admitted bare is admitted where it must not be")
	}
}
