package sandbox

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/sandbox/meter"
	"github.com/alcove-memory/alcove/host/sandbox/wasm"
	"github.com/alcove-memory/alcove/host/testing/must"
)

// smallest makes the smallest module that can be admitted, changed by edit. It answers nothing.
func smallest(edit func(*wasm.Module)) []byte {
	i32 := wasm.I32
	m := &wasm.Module{
		Types:     []wasm.FuncType{{Params: []wasm.ValType{i32, i32}, Results: []wasm.ValType{i32}}, {}},
		Functions: []uint32{0},
		Memories:  []wasm.Range{{Min: 1}},
		Exports:   []wasm.Export{{Name: "memory", Kind: wasm.KindMemory}, {Name: "alcove_handle", Kind: wasm.KindFunc}},
		Codes:     []wasm.Code{{Body: []byte{0x41, 0, 0x0b}}},
	}
	if edit != nil {
		edit(m)
	}
	return wasm.Encode(m)
}

// imports adds an imported function and renumbers the module's own.
func imports(module, name string, t wasm.FuncType) func(*wasm.Module) {
	return func(m *wasm.Module) {
		m.Types = append(m.Types, t)
		m.Imports = append(m.Imports, wasm.Import{Module: module, Name: name, Func: uint32(len(m.Types) - 1)})
		m.Exports[1].Index = 1
	}
}

func packed(manifest string) func(*wasm.Module) {
	return func(m *wasm.Module) {
		m.Customs = append(m.Customs, wasm.Custom{Name: abi.Section, Bytes: []byte(manifest)})
	}
}

const smallManifest = `{"abi":1,"name":"notes","version":"1.0.0","description":"Keeps notes."}`

func TestModulesAreRefusedAtTheFirstStepTheyFail(t *testing.T) {
	three := wasm.FuncType{Params: []wasm.ValType{wasm.I32, wasm.I32, wasm.I32}, Results: []wasm.ValType{wasm.I32}}
	for name, c := range map[string]struct {
		module  []byte
		options Options
		class   abi.Class
		says    string
	}{
		"other bytes":    {smallest(nil), Options{Digest: strings.Repeat("0", 64)}, abi.ClassDigest, "its SHA-256 is"},
		"too many bytes": {append(smallest(nil), make([]byte, 32<<20)...), Options{}, abi.ClassSize, abi.LimitModuleBytes},
		"no module":      {[]byte("hello"), Options{}, abi.ClassStructure, ""},
		"invalid code":   {smallest(func(m *wasm.Module) { m.Codes[0].Body = []byte{0x0b} }), Options{Bare: true}, abi.ClassStructure, "function 0"},
		"a faked tick":   {smallest(imports(meter.TickModule, meter.TickName, wasm.FuncType{})), Options{Bare: true}, abi.ClassReserved, meter.TickModule},
		"a stolen counter": {smallest(func(m *wasm.Module) {
			m.Exports = append(m.Exports, wasm.Export{Name: meter.Fuel, Kind: wasm.KindMemory})
		}), Options{Bare: true}, abi.ClassReserved, meter.Fuel},
		"no manifest":             {smallest(nil), Options{}, abi.ClassManifest, "alcove family pack"},
		"two manifests":           {smallest(func(m *wasm.Module) { packed(smallManifest)(m); packed(smallManifest)(m) }), Options{Bare: true}, abi.ClassManifest, "2 sections"},
		"a broken manifest":       {smallest(packed(`{"abi":1}`)), Options{}, abi.ClassManifest, ""},
		"a broken schema in it":   {smallest(packed(strings.TrimSuffix(smallManifest, "}") + `,"tools":[{"name":"notes_add","description":"Adds.","input_schema":{"type":"object","properties":{"x":{"type":"strin"}}}}]}`)), Options{}, abi.ClassManifest, "notes_add"},
		"a schema from elsewhere": {smallest(packed(strings.TrimSuffix(smallManifest, "}") + `,"tools":[{"name":"notes_add","description":"Adds.","input_schema":{"type":"object","properties":{"x":{"$ref":"http://127.0.0.1/x"}}}}]}`)), Options{}, abi.ClassManifest, "notes_add"},
		"a file":                  {smallest(imports(abi.WASIModule, "path_open", three)), Options{Bare: true}, abi.ClassImport, "path_open"},
		"another host":            {smallest(imports("env", "read", three)), Options{Bare: true}, abi.ClassImport, "env"},
		"another signature":       {smallest(imports(abi.Module, "read", wasm.FuncType{})), Options{Bare: true}, abi.ClassImport, "(i32, i32, i32) → (i32)"},
		"an imported memory": {smallest(func(m *wasm.Module) {
			m.Imports = []wasm.Import{{Module: abi.Module, Name: "read", Kind: wasm.KindMemory, Memory: wasm.Range{Min: 1}}}
			m.Memories = nil
		}), Options{Bare: true}, abi.ClassImport, "memory"},
		"no memory":       {smallest(func(m *wasm.Module) { m.Exports = m.Exports[1:] }), Options{Bare: true}, abi.ClassExport, "memory"},
		"nothing to call": {smallest(func(m *wasm.Module) { m.Exports = m.Exports[:1] }), Options{Bare: true}, abi.ClassExport, "alcove_handle of type (i32, i32) → (i32)"},
		"another _initialize": {smallest(func(m *wasm.Module) {
			m.Exports = append(m.Exports, wasm.Export{Name: "_initialize", Kind: wasm.KindFunc})
		}), Options{Bare: true}, abi.ClassExport, "_initialize"},
		"too much memory":   {smallest(func(m *wasm.Module) { m.Memories[0].Min = 300 }), Options{Bare: true}, abi.ClassDeclared, abi.LimitMemoryPages},
		"too large a table": {smallest(func(m *wasm.Module) { m.Tables = []wasm.Table{{Type: wasm.FuncRef, Range: wasm.Range{Min: 70000}}} }), Options{Bare: true}, abi.ClassDeclared, abi.LimitTableElements},
		"too many in small tables": {smallest(func(m *wasm.Module) {
			m.Tables = make([]wasm.Table, 8)
			for i := range m.Tables {
				m.Tables[i] = wasm.Table{Type: wasm.FuncRef, Range: wasm.Range{Min: 10000}}
			}
		}), Options{Bare: true}, abi.ClassDeclared, abi.LimitTableElements},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Check(c.module, c.options)
			var refused *Refusal
			if !errors.As(err, &refused) || refused.Class != c.class || !strings.Contains(err.Error(), c.says) || refused.Do == "" {
				t.Errorf("%v, want class %s and %q", err, c.class, c.says)
			}
		})
	}
}

func TestAModuleHasTheManifestThatItCarries(t *testing.T) {
	s := newSandbox(t, testConfig(t))
	manifest := strings.TrimSuffix(smallManifest, "}") + `,"limits":{"fuel":12345,"memory_pages":20}}`
	m, err := s.Admit(t.Context(), smallest(packed(manifest)), Options{Limits: abi.Limits{MemoryPages: 30, HostCalls: 7}})
	must.Do(t, err)
	if m.Family() != "notes" || m.Manifest().Version != "1.0.0" {
		t.Errorf("it is %s %s", m.Family(), m.Manifest().Version)
	}
	if l := m.Limits(); l.Fuel != 12345 || l.MemoryPages != 30 || l.HostCalls != 7 || l.WallMS != abi.DefaultLimits().WallMS {
		t.Errorf("its limits are %+v", l)
	}
}

func TestASecondLoadComesFromTheCache(t *testing.T) {
	config := testConfig(t)
	module := testdata(t, "acts.wasm")
	digest := sha256.Sum256(module)
	load := func(c Config) (*Module, error) {
		return newSandbox(t, c).Admit(t.Context(), module, Options{Bare: true, Digest: hex.EncodeToString(digest[:])})
	}
	_, err := load(config)
	must.Do(t, err)
	config.Compiler.Path = filepath.Join(t.TempDir(), "no compiler")
	m, err := load(config)
	must.Do(t, err)
	if r := ask(t, m, "e"); r.Class != abi.ClassOK {
		t.Errorf("class %s, %v, want %s", r.Class, r.Error, abi.ClassOK)
	}
}

func TestADamagedCacheIsRefilled(t *testing.T) {
	for name, damage := range map[string]func(t *testing.T, dir string){
		"the native code is gone":        func(t *testing.T, dir string) { overwrite(t, dir, dirCode+"/*", nil) },
		"the native code is changed":     func(t *testing.T, dir string) { overwrite(t, dir, dirCode+"/*", flip) },
		"the native code is cut":         func(t *testing.T, dir string) { overwrite(t, dir, dirCode+"/*", cut) },
		"what the checks found is gone":  func(t *testing.T, dir string) { overwrite(t, dir, dirAdmitted+"/*", nil) },
		"what the checks found is other": func(t *testing.T, dir string) { overwrite(t, dir, dirAdmitted+"/*", flip) },
		"the body is gone":               func(t *testing.T, dir string) { overwrite(t, dir, dirBodies+"/*", nil) },
		"the body is other":              func(t *testing.T, dir string) { overwrite(t, dir, dirBodies+"/*", flip) },
		"what the checks found is cut":   func(t *testing.T, dir string) { overwrite(t, dir, dirAdmitted+"/*", cut) },
	} {
		t.Run(name, func(t *testing.T) {
			config := testConfig(t)
			acts(t, config, abi.Limits{})
			damage(t, config.Cache.Dir)
			if r := ask(t, acts(t, config, abi.Limits{}), "c"); string(r.Output) != "1121" {
				t.Errorf("class %s, output %s, %v, want 1121", r.Class, r.Output, r.Error)
			}
		})
	}
}

// overwrite changes all files of a pattern, or removes them.
func overwrite(t *testing.T, dir, pattern string, change func([]byte) []byte) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, pattern))
	must.Do(t, err)
	if len(files) != 1 {
		t.Fatalf("%d files are %s", len(files), pattern)
	}
	if change == nil {
		must.Do(t, os.Remove(files[0]))
		return
	}
	data, err := os.ReadFile(files[0])
	must.Do(t, err)
	must.Do(t, os.WriteFile(files[0], change(data), 0o600))
}

func flip(b []byte) []byte { b[len(b)/2] ^= 1; return b }
func cut(b []byte) []byte  { return b[:len(b)/2] }

func TestParentNeverCompiles(t *testing.T) {
	s := newSandbox(t, testConfig(t))
	r, err := s.engine()
	must.Do(t, err)
	metered, _, err := Metered(testdata(t, "acts.wasm"))
	must.Do(t, err)
	if _, err := r.CompileModule(cachedOnly(), metered); !errors.Is(err, context.Canceled) {
		t.Errorf("a module that is not in the cache: %v", err)
	}
}

func TestCompilerThatTakesTooLongIsKilled(t *testing.T) {
	config := testConfig(t)
	config.Compiler.Env = append(config.Compiler.Env, compilerHangs+"=1")
	config.Compiler.Timeout = 100 * time.Millisecond
	_, err := newSandbox(t, config).Admit(t.Context(), testdata(t, "acts.wasm"), Options{Bare: true}) // its compiler hangs for an hour
	var refused *Refusal
	if !errors.As(err, &refused) || refused.Class != abi.ClassCompile || !strings.Contains(err.Error(), abi.LimitCompileMS) {
		t.Errorf("Admit: %v, want it refused with class %s by %s", err, abi.ClassCompile, abi.LimitCompileMS)
	}
	leftovers(t, config.Cache.Dir)
}

func TestAKnownModuleMayTakeLongerToCompile(t *testing.T) {
	config := testConfig(t)
	config.Compiler.Timeout = time.Microsecond
	var refused *Refusal
	if _, err := newSandbox(t, config).Admit(t.Context(), testdata(t, "acts.wasm"), Options{Bare: true}); !errors.As(err, &refused) || refused.Class != abi.ClassCompile {
		t.Errorf("within a microsecond: %v", err)
	}
	if _, err := newSandbox(t, config).Admit(t.Context(), testdata(t, "acts.wasm"), Options{Bare: true, CompileTimeout: time.Hour}); err != nil {
		t.Errorf("within an hour: %v", err)
	}
}

func TestCompilerThatTakesTooMuchMemoryIsEnded(t *testing.T) {
	if underRace {
		t.Skip("under the race detector, the detector may reach the limit of memory before the compiler and end the process itself")
	}
	config := testConfig(t)
	config.Compiler.Env = append(config.Compiler.Env, compilerGrows+"=1")
	config.Compiler.Memory = 64 << 20
	_, err := newSandbox(t, config).Admit(t.Context(), testdata(t, "acts.wasm"), Options{Bare: true})
	var refused *Refusal
	if !errors.As(err, &refused) || refused.Class != abi.ClassCompile || !strings.Contains(err.Error(), abi.LimitCompileBytes) {
		t.Errorf("Admit: %v, want it refused with class %s by %s", err, abi.ClassCompile, abi.LimitCompileBytes)
	}
	leftovers(t, config.Cache.Dir)
}

// leftovers returns the files that compilers left.
func leftovers(t *testing.T, dir string) {
	t.Helper()
	for _, sub := range []string{dirWork + "/*/compile-*", dirWork + "/*/native-*", dirWork + "/*/" + dirEngine + "/*", dirAdmitted, dirBodies, dirCode} {
		if found, _ := filepath.Glob(filepath.Join(dir, sub, "*")); len(found) > 0 {
			t.Errorf("left behind: %v", found)
		}
	}
}

func TestCompilerEndsWithItsParent(t *testing.T) {
	config := testConfig(t)
	config.Compiler.Env = append(config.Compiler.Env, compilerHangs+"=1")
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	if _, err := newSandbox(t, config).Admit(ctx, testdata(t, "acts.wasm"), Options{Bare: true}); !errors.Is(err, context.Canceled) {
		t.Errorf("Admit: %v, want %v", err, context.Canceled)
	}
}

func TestWithoutACompilerTheHostIsAtFault(t *testing.T) {
	config := testConfig(t)
	config.Compiler.Path = filepath.Join(t.TempDir(), "none")
	_, err := newSandbox(t, config).Admit(t.Context(), testdata(t, "acts.wasm"), Options{Bare: true})
	var refused *Refusal
	if err == nil || errors.As(err, &refused) {
		t.Errorf("the module was blamed: %v", err)
	}
}

func TestVettedModuleNeedsNoCompiler(t *testing.T) {
	config := testConfig(t)
	config.Compiler.Path = filepath.Join(t.TempDir(), "none")
	m, err := newSandbox(t, config).Admit(t.Context(), testdata(t, "acts.wasm"), Options{Bare: true, Vetted: true})
	must.Do(t, err)
	if r := ask(t, m, "e"); r.Class != abi.ClassOK {
		t.Errorf("class %s, %v, want %s", r.Class, r.Error, abi.ClassOK)
	}
}

func TestPackPutsOneManifestIntoAModule(t *testing.T) {
	once, err := Pack(smallest(nil), []byte(" "+smallManifest))
	must.Do(t, err)
	twice, err := Pack(once, []byte(smallManifest))
	must.Do(t, err)
	if string(once) != string(twice) {
		t.Error("packing again changes the module")
	}
	report, err := Check(twice, Options{})
	must.Do(t, err)
	if report.Manifest.Name != "notes" || report.Functions != 1 || report.MemoryPages != 1 {
		t.Errorf("Check = %+v, want notes with one function and one page", report)
	}
	if _, err := Pack(smallest(nil), []byte(`{"abi":2}`)); err == nil {
		t.Error("a manifest of another version was packed")
	}
	if _, err := Pack(smallest(func(m *wasm.Module) { m.Exports = nil }), []byte(smallManifest)); err == nil {
		t.Error("a module without exports was packed")
	}
}
