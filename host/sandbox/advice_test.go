package sandbox

import (
	"fmt"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/sandbox/wasm"
)

// TestEachMisbuiltModuleAndManifestIsToldWhatToChange packs what authors build by mistake.
func TestEachMisbuiltModuleAndManifestIsToldWhatToChange(t *testing.T) {
	three := wasm.FuncType{Params: []wasm.ValType{wasm.I32, wasm.I32, wasm.I32}, Results: []wasm.ValType{wasm.I32}}
	fine := `{"abi":1,"name":"notes","version":"1.0.0","description":"Keeps notes.","tools":[{"name":"notes_add","description":"Adds.","input_schema":{"type":"object"}}]}`
	with := func(module, name string) []byte { return smallest(imports(module, name, three)) }
	lines := func(text string) string { return strings.ReplaceAll(text, "|", "\n") }
	for name, c := range map[string]struct {
		module   []byte
		manifest string
		says     []string
	}{
		"a native program":            {[]byte("\x7fELF\x02\x01\x01"), fine, []string{"GOOS=wasip1 GOARCH=wasm", "--target wasm32-unknown-unknown"}},
		"a debug build of great size": {make([]byte, abi.DefaultModuleLimits().ModuleBytes+1), fine, []string{"module_bytes", "in Go with -ldflags='-s -w', in Rust with strip = true"}},
		"a component":                 {[]byte("\x00asm\x0d\x00\x01\x00"), fine, []string{"it is a component: take the core module"}},
		"a text":                      {[]byte("(module)"), fine, []string{"assemble it, with wat2wasm"}},
		"Go for browsers":             {with("gojs", "runtime.wasmWrite"), fine, []string{"GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared"}},
		"Rust for browsers":           {with("__wbindgen_placeholder__", "__wbindgen_throw"), fine, []string{"cargo build --release --target wasm32-unknown-unknown"}},
		"AssemblyScript's abort":      {with("env", "abort"), fine, []string{"asc --use abort="}},
		"a C function not defined":    {with("env", "strlen"), fine, []string{"define strlen in the module", "--allow-undefined"}},
		"another WASI":                {with("wasi_unstable", "fd_write"), fine, []string{"wasi_snapshot_preview1", "--target wasm32-wasip1"}},
		"an imported memory": {smallest(func(m *wasm.Module) {
			m.Imports = []wasm.Import{{Module: abi.Module, Name: "read", Kind: wasm.KindMemory, Memory: wasm.Range{Min: 1}}}
			m.Memories = nil
		}), fine, []string{"leave out --import-memory"}},
		"Go without c-shared": {smallest(func(m *wasm.Module) {
			m.Types, m.Functions = append(m.Types, wasm.FuncType{}), append(m.Functions, uint32(len(m.Types)))
			m.Codes = append(m.Codes, wasm.Code{Body: []byte{0x0b}})
			m.Exports = append(m.Exports, wasm.Export{Name: "_start", Kind: wasm.KindFunc, Index: 1})
		}), fine, []string{"-buildmode=c-shared", "_initialize"}},
		"no function to call":  {smallest(func(m *wasm.Module) { m.Exports = m.Exports[:1] }), fine, []string{"alcove.Serve", `export_name("alcove_handle")`}},
		"a field in camelCase": {smallest(nil), lines(`{|"abi":1,"name":"notes","version":"1.0.0","description":"Keeps notes.",|"tools":[|{"name":"notes_add","description":"Adds.",|"inputSchema":{"type":"object"}}]}`), []string{"line 5, tool notes_add", `unknown field "inputSchema"`}},
		"a list of names":      {smallest(nil), lines(`{|"abi":1,"name":"notes","version":"1.0.0","description":"Keeps notes.",|"capabilities":["memory.read"]}`), []string{"line 3", "capabilities"}},
		"a comma too many":     {smallest(nil), lines(`{|"abi":1,|"name":"notes",|}`), []string{"line 4"}},
		"a wrong type in the second tool": {smallest(nil), lines(`{|"abi":1,"name":"notes","version":"1.0.0","description":"Keeps notes.",|"tools":[|{"name":"notes_a","description":"Adds.","input_schema":{}},|{"name":"notes_b","description":7,"input_schema":{}}]}`),
			[]string{"line 5, tool notes_b"}},
		"an input schema that is no schema": {smallest(nil), strings.Replace(fine, `{"type":"object"}`, `{"type":"object","properties":{"x":{"type":"strin"}}}`, 1), []string{"tool notes_add: the input schema"}},
		"a capability that does not exist":  {smallest(nil), strings.Replace(fine, `"tools"`, `"capabilities":[{"name":"memory.raed","scope":["*"],"reason":"r"}],"tools"`, 1), []string{`capability "memory.raed"`}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Pack(c.module, []byte(c.manifest))
			for _, says := range c.says {
				if err == nil || !strings.Contains(err.Error(), says) {
					t.Errorf("it does not say %q: %v", says, err)
				}
			}
		})
	}
}

func TestAModuleThatIsMostlyForDebuggersIsToldTheFlag(t *testing.T) {
	if said := Advice(smallest(nil)); said != "" {
		t.Errorf("a small module is told %q", said)
	}
	large := smallest(func(m *wasm.Module) {
		m.Customs = append(m.Customs, wasm.Custom{Name: ".debug_info", Bytes: make([]byte, 1<<20)})
	})
	if said := Advice(large); !strings.Contains(said, "-ldflags='-s -w'") || !strings.Contains(said, "1048") {
		t.Errorf("a large one is told %q", said)
	}
}

func TestAnEditorsSchemaIsLeftOutOfTheModule(t *testing.T) {
	const rest = `"abi":1,"name":"notes","version":"1.0.0","description":"Keeps \u003cnotes>."`
	for name, manifest := range map[string]string{
		"first":  `{"$schema":"https://example.org/m.json",` + rest + `}`,
		"last":   `{` + rest + `, "$schema": "https://example.org/m.json"}`,
		"middle": `{"abi":1,"$schema":"",` + strings.TrimPrefix(rest, `"abi":1,`) + `}`,
		"absent": `{` + rest + `}`,
	} {
		packed, err := Pack(smallest(nil), []byte(manifest))
		if err != nil {
			t.Fatalf("Pack with $schema %s: %v", name, err)
		}
		if got, err := ManifestBytes(packed); err != nil || string(got) != `{`+rest+`}` {
			t.Errorf("%s: the module has %s (%v)", name, got, err)
		}
	}
	for _, manifest := range []string{`{"$schema":7,` + rest + `}`, `{"$schema":"` + strings.Repeat("x", 257) + `",` + rest + `}`, `{` + rest + `,"hooks":{"$schema":""}}`} {
		if _, err := Pack(smallest(nil), []byte(manifest)); err == nil {
			t.Errorf("%.80s is accepted", manifest)
		}
	}
}

func TestFaultsFindsWhatParseManifestRefuses(t *testing.T) {
	for _, manifest := range []string{"", "{", `{"abi":1,"abi":1}`, "[]", "7", `{}`, `{"abi":2,"name":"notes","version":"1.0.0","description":"d"}`, `{"abi":1,"name":"notes","version":"1.0.0","description":"d","limits":{"fuel":-1}}`,
		`{"abi":1,"name":"notes","version":"1.0.0","description":"d","tools":{}}`, `{"abi":1,"name":"notes","version":"1.0.0","description":"d","tools":[{"name":"a","description":"d","input_schema":{"type":"object"}},{"name":"a","description":"d","input_schema":{"type":"object"}}]}`,
		strings.Repeat("[", 65) + strings.Repeat("]", 65)} {
		if _, err := ParseManifest([]byte(manifest)); err == nil {
			t.Errorf("%s is accepted", manifest)
		}
		if _, list, err := Faults([]byte(manifest)); err != nil || len(list) == 0 {
			t.Errorf("%s has no faults (%v)", manifest, err)
		}
	}
	fields := strings.Builder{}
	for i := range mostFaults + 20 {
		fmt.Fprintf(&fields, `,{"name":"t%d"}`, i)
	}
	_, list, err := Faults([]byte(`{"abi":1,"name":"notes","version":"1.0.0","description":"d","tools":[{"name":"t"}` + fields.String() + `]}`))
	if last := len(list) - 1; err != nil || last < 0 || last > 2*mostFaults || !strings.Contains(list[last].Err.Error(), "more faults: correct these first") {
		t.Errorf("%d faults of many (%v)", len(list), err)
	}
}

func FuzzFaults(f *testing.F) {
	f.Add([]byte(`{"abi":1,"name":"a","version":"1.0.0","description":"a","tools":[{"name":"a_do","inputSchema":1}]}`))
	f.Add([]byte(`{"$schema":"x","tools":[7,{"aliases":[{}]}],"config":[{}],"capabilities":[{"name":"x"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		_, parsing := ParseManifest(data)
		_, list, err := Faults(data)
		if err != nil || (parsing == nil) != (len(list) == 0) {
			t.Errorf("ParseManifest: %v; Faults: %v (%v)", parsing, list, err)
		}
		for _, fault := range list {
			if fault.Line < 0 || fault.Line > 1+strings.Count(string(data), "\n") {
				t.Errorf("line %d of %q", fault.Line, data)
			}
		}
	})
}
