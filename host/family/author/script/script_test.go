package script_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/guests/engines"
	"github.com/alcove-memory/alcove/host/family/author/script"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/host/testing/must"
)

// project writes files, and returns the path of the first.
func project(t testing.TB, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	for i := 0; i < len(files); i += 2 {
		path := filepath.Join(dir, filepath.FromSlash(files[i]))
		must.Do(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must.Do(t, os.WriteFile(path, []byte(files[i+1]), 0o600))
	}
	return filepath.Join(dir, filepath.FromSlash(files[0]))
}

func module(t testing.TB, path string) []byte {
	t.Helper()
	engine, err := engines.Of(script.LanguageOf(path))
	must.Do(t, err)
	source, err := script.Bundle(path)
	must.Do(t, err)
	m, err := script.Module(engine, source)
	must.Do(t, err)
	return m
}

// about is the context of a request.
const about = `{"family":"x","caller":"","namespace":"default","branch":"default","now":"2026-01-02T03:04:05Z","request_id":"r1"}`

// ask packs a module with the manifest of its source, and calls a tool.
func ask(t testing.TB, raw []byte, tool, arguments string) (*sandbox.Result, []string) {
	t.Helper()
	manifest, err := script.Manifest(t.Context(), sandbox.Config{Interpret: true}, raw)
	must.Do(t, err)
	packed, err := sandbox.Pack(raw, manifest)
	must.Do(t, err)
	box, err := sandbox.New(sandbox.Config{Interpret: true})
	must.Do(t, err)
	defer func() { must.Do(t, box.Close()) }()
	// The interpreter is slow, and a busy machine makes it slower. What it runs within is not tested here.
	m, err := box.Admit(t.Context(), packed, sandbox.Options{Limits: abi.Limits{CPUMS: 60_000, WallMS: 300_000}})
	must.Do(t, err)
	var lines []string
	payload := fmt.Sprintf(`{"tool":%q,"arguments":%s,"config":{},"context":%s}`, tool, arguments, about)
	r, err := m.Call(t.Context(), sandbox.Request{Kind: abi.KindTool, Payload: []byte(payload), Lines: func(_, line string) { lines = append(lines, line) }})
	must.Do(t, err)
	return r, lines
}

const typed = `import { family, t } from "alcove";
import { double } from "./lib/double";
import { triple } from "numbers";

interface Input { n: number }

export default family({
  name: "typed", version: "1.2.3", description: "Computes",
  tools: {
    typed_compute: { description: "Compute.", readOnly: true, input: { n: t.number("a number", { minimum: 0 }), more: t.optional(t.list(t.string())) }, output: { result: t.number() },
      call({ n }: Input) { console.log("computing", { n }); return { result: double(n) + triple(n) }; } },
  },
});
`

func compute(t testing.TB) []byte {
	return module(t, project(t, "family.ts", typed,
		"lib/double.ts", "// Doubles.\nexport function double(n: number): number {\n  if (n < 0) throw new RangeError(\"below zero\");\n  return 2 * n;\n}\n",
		"node_modules/numbers/package.json", `{"name": "numbers", "main": "index.js"}`,
		"node_modules/numbers/index.js", "module.exports = { triple: (n) => 3 * n };\n"))
}

func TestTypeScriptFilesAndPackagesBecomeOneModule(t *testing.T) {
	r, lines := ask(t, compute(t), "typed_compute", `{"n":7}`)
	if string(r.Output) != `{"result":35}` {
		t.Errorf("got %s, %v, want the result 35", r.Output, r.Error)
	}
	if len(lines) != 1 || lines[0] != `computing {"n":7}` {
		t.Errorf("it printed %q, want one line of console.log", lines)
	}
}

func TestASourceGivesItsManifest(t *testing.T) {
	data, err := script.Manifest(t.Context(), sandbox.Config{Interpret: true}, compute(t))
	must.Do(t, err)
	m, err := sandbox.ParseManifest(data)
	must.Do(t, err)
	tool := m.Tools[0]
	var in map[string]any
	must.Do(t, json.Unmarshal(tool.InputSchema, &in))
	if m.Name != "typed" || m.Version != "1.2.3" || tool.Name != "typed_compute" || tool.Annotations.ReadOnly == nil || !*tool.Annotations.ReadOnly {
		t.Errorf("got %s, want family typed 1.2.3 with the read-only tool typed_compute", data)
	}
	if got, want := fmt.Sprint(in["required"], in["properties"]), "[n] map[more:map[items:map[type:string] type:array] n:map[description:a number minimum:0 type:number]]"; got != want {
		t.Errorf("the parameters are %s, want %s", got, want)
	}
}

func TestAnErrorNamesTheAuthorsFileAndLine(t *testing.T) {
	r, lines := ask(t, compute(t), "typed_compute", `{"n":-1}`)
	if want := "panic: RangeError: below zero (double.ts:3)"; r.Error == nil || !strings.Contains(strings.ReplaceAll(r.Error.Message, "lib/", ""), want) {
		t.Errorf("got %v, want %q", r.Error, want)
	}
	if all := strings.Join(lines, "\n"); !strings.Contains(all, "family.ts:11") {
		t.Errorf("the log has %s, want the stack with family.ts:11", all)
	}
}

// A member of an object has its own line, also behind several in one line.
func TestAnErrorInAMemberNamesItsLine(t *testing.T) {
	raw := module(t, project(t, "family.js", `import { family } from "alcove";
export default family({
  name: "x", version: "1.0.0", description: "x",
  tools: { x_fail: { description: "x", call: () => undefined.x } },
});
`))
	if r, _ := ask(t, raw, "x_fail", "{}"); r.Error == nil || !strings.Contains(r.Error.Message, "(family.js:4)") {
		t.Errorf("got %v, want line 4", r.Error)
	}
}

// The same sources give the same bytes, wherever they are.
func TestASourceGivesTheSameModuleAnywhere(t *testing.T) {
	if a, b := compute(t), compute(t); string(a) != string(b) {
		t.Errorf("got two modules of %d and %d bytes, want the same one", len(a), len(b))
	}
}

func TestFaultsOfASourceAreToldWithTheirPlace(t *testing.T) {
	for want, text := range map[string]string{
		`family.js:2:9: Expected ";"`:                     "const a = 1;\nconst b c;",
		`family.js:1:19: Could not resolve "./absent"`:    `import { x } from "./absent";`,
		"the file exports no family":                      `import "alcove";`,
		"add has no function call":                        `import { family } from "alcove"; export default family({ name: "x", tools: { add: {} } });`,
		"at load (family.js:1)":                           `throw new Error("at load");`,
		"nothing here settles|nothing to wait for":        `await new Promise(() => {});`,
		"'require' is not defined|Could not resolve \"fs": `import { readFileSync } from "fs"; readFileSync("/etc/passwd");`,
	} {
		var err error
		if source, bundled := script.Bundle(project(t, "family.js", text)); bundled != nil {
			err = bundled
		} else {
			engine, failed := engines.Of("javascript")
			must.Do(t, failed)
			raw, failed := script.Module(engine, source)
			must.Do(t, failed)
			_, err = script.Manifest(t.Context(), sandbox.Config{Interpret: true}, raw)
		}
		says := false
		for _, part := range strings.Split(want, "|") {
			says = says || err != nil && strings.Contains(err.Error(), part)
		}
		if !says {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

func TestASourceThatIsTooLargeIsRefused(t *testing.T) {
	most := abi.DefaultModuleLimits().SourceBytes
	engine, err := engines.Of("javascript")
	must.Do(t, err)
	if _, err := script.Module(engine, script.Source{Name: "family.js", Text: make([]byte, most)}); err == nil || !strings.Contains(err.Error(), abi.LimitSourceBytes) {
		t.Errorf("Module of %d bytes: %v, want an error that names %s", most, err, abi.LimitSourceBytes)
	}
}

// A request that is repeated has the time, the random numbers and the ids that it had.
func TestTimeAndChanceAreThoseOfTheRequest(t *testing.T) {
	raw := module(t, project(t, "family.js", `import { family } from "alcove";
const loaded = Date.now();
export default family({ name: "x", description: "x", tools: { x_now: { description: "x", call: (input, c) => [loaded, new Date().toISOString(), Math.random(), c.newID("a:"), c.newID("a:")] } } });`))
	var answers []string
	for _, arguments := range []string{"{}", "{}", `{"other":1}`} {
		r, _ := ask(t, raw, "x_now", arguments)
		if r.Error != nil {
			t.Fatalf("call with %s: %v, want an answer", arguments, r.Error)
		}
		answers = append(answers, string(r.Output))
	}
	if answers[0] != answers[1] || answers[0] == answers[2] || !strings.HasPrefix(answers[0], `[0,"2026-01-02T03:04:05.000Z",0.`) {
		t.Errorf("got %s, %s and %s for two equal requests and another, want equal ones of the request's time, and another", answers[0], answers[1], answers[2])
	}
}

func TestALoadErrorHasWhatWasPrinted(t *testing.T) {
	_, err := script.Manifest(t.Context(), sandbox.Config{Interpret: true}, module(t, project(t, "family.js", `console.log("so far"); null.x;`)))
	var failed *script.LoadError
	if !errors.As(err, &failed) || !strings.Contains(failed.Printed, "so far") {
		t.Errorf("Manifest: %v, want a LoadError that has the line", err)
	}
}

func TestAMapThatIsDamagedIsAnError(t *testing.T) {
	for _, data := range []string{"", `{"mappings":"!!!!"}`, `{"mappings":"gggggggggggggg"}`} {
		if _, err := script.OriginsOf([]byte(data)); err == nil || !strings.Contains(err.Error(), "read the map of the source") {
			t.Errorf("%q: %v, want an error", data, err)
		}
	}
}

// A tool that asks the client of its caller is called again with the answers.
func TestAToolReadsTheAnswersThatItAskedFor(t *testing.T) {
	raw := module(t, project(t, "family.js", `import { fail, family } from "alcove";
export default family({ name: "x", description: "x", tools: { x_ask: { description: "x",
	call: (input, c) => c.input?.answers ?? fail("input_required", "which?", { details: { requests: { q: { ask: "user" } }, state: "s" } }) } } });`))
	if r, _ := ask(t, raw, "x_ask", "{}"); r.Error == nil || r.Error.Code != "input_required" || r.Error.Details["state"] != "s" {
		t.Errorf("got %s, %v, want the error input_required with a state", r.Output, r.Error)
	}
	if r, _ := ask(t, raw, "x_ask", `{},"input":{"can":["user"],"answers":{"q":"tea"}}`); string(r.Output) != `{"q":"tea"}` {
		t.Errorf("with answers it gives %s, %v, want them", r.Output, r.Error)
	}
}
