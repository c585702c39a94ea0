package hostile_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/guests/engines"
	"github.com/alcove-memory/alcove/host/family/author/script"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/host/testing/must"
)

// A family in JavaScript that does what its callers ask for. The tool state tells what an earlier caller left behind.
const hostileSource = `import { family } from "alcove";
let n = 0;
const clean = { values: [1, 2].map(String).join(), json: JSON.stringify({ a: 1 }), keys: Reflect.ownKeys(globalThis).length };
const acts = {
  state: () => ({ n: n++, clean: JSON.stringify({ values: [1, 2].map(String).join(), json: JSON.stringify({ a: 1 }), keys: Reflect.ownKeys(globalThis).length }) === JSON.stringify(clean), evil: {}.evil ?? "none", held: globalThis.held === undefined }),
  loop: () => { for (;;); },
  microtasks: () => { const again = () => Promise.resolve().then(again); return again(); },
  proxied: () => { throw new Proxy(new Error("x"), { get() { for (;;); } }); },
  getter: () => ({ get a() { for (;;); } }),
  stringified: () => ({ toJSON() { for (;;); } }),
  backtracking: () => /^(a+)+$/.test("a".repeat(60) + "b"),
  sorted: () => [3, 1, 2].sort(() => { for (;;); }),
  recursion: () => { const deeper = (x) => deeper(x + 1) + 1; return deeper(0); },
  generators: () => { function* g() { yield* g(); } return [...g()]; },
  nested: () => { let a = []; for (let i = 0; i < 1e5; i++) a = [a]; return a; },
  parsed: () => JSON.parse("[".repeat(1e6)),
  groups: () => new RegExp("(".repeat(1e5) + ")".repeat(1e5)).test("x"),
  evaluated: () => eval("(".repeat(1e5) + ")".repeat(1e5)),
  arrays: () => { const all = []; for (;;) all.push(new Array(1000).fill(0)); },
  buffers: () => { const all = []; for (;;) all.push(new Uint8Array(1 << 20).fill(1)); },
  texts: () => { let s = "x"; for (;;) s += s; },
  numbers: () => { let b = 3n; for (;;) b *= b; },
  pending: () => new Promise(() => {}),
  circular: () => { const a = {}; a.a = a; return a; },
  result: () => "x".repeat(1 << 23),
  lines: () => { for (let i = 0; i < 1e4; i++) console.log("x".repeat(100)); return {}; },
  thrown: () => { throw { get stack() { throw 1; }, toString() { throw 2; } }; },
  prototypes: () => {
    Object.prototype.evil = "left"; Object.prototype.toJSON = () => "evil"; Array.prototype.map = () => ["evil"]; Map.prototype.get = () => () => "evil";
    JSON.stringify = () => "evil"; Promise.prototype.then = () => "evil"; globalThis.held = new Array(1e5).fill(n++); return {};
  },
  frozen: () => { n = 100; for (const name of Reflect.ownKeys(globalThis)) { try { Object.freeze(globalThis[name]); delete globalThis[name]; } catch {} } return {}; },
};
export default family({ name: "hostile", description: "Hostile", tools: Object.fromEntries(Object.entries(acts).map(([name, call]) => [name, { description: "Acts", call }])) });
`

// hostileFamily is a family of a source.
func hostileFamily(t testing.TB, file, text string) *sandbox.Module {
	t.Helper()
	path := filepath.Join(t.TempDir(), file)
	must.Do(t, os.WriteFile(path, []byte(text), 0o600))
	module := sourceModule(t, path)
	manifest, err := script.Manifest(t.Context(), sandbox.Config{Interpret: true}, module)
	must.Do(t, err)
	packed, err := sandbox.Pack(module, manifest)
	must.Do(t, err)
	m, err := newSandbox(t, 0).Admit(t.Context(), packed, sandbox.Options{})
	must.Do(t, err)
	return m
}

func sourceModule(t testing.TB, path string) []byte {
	t.Helper()
	engine, err := engines.Of(script.LanguageOf(path))
	must.Do(t, err)
	source, err := script.Bundle(path)
	must.Do(t, err)
	module, err := script.Module(engine, source)
	must.Do(t, err)
	return module
}

func manifestOf(t testing.TB, path string) ([]byte, error) {
	t.Helper()
	return script.Manifest(t.Context(), sandbox.Config{Interpret: true}, sourceModule(t, path))
}

// asked is what a family answers to a call without arguments.
func asked(t testing.TB, m *sandbox.Module, tool string) *sandbox.Result {
	t.Helper()
	// Fuel ends what would run for ever, long before the clock does on a busy machine.
	limits := abi.Limits{Fuel: 400_000_000, CPUMS: 60_000, WallMS: 300_000}
	r, err := m.Call(context.Background(), sandbox.Request{Kind: abi.KindTool, Limits: limits, Payload: []byte(`{"tool":"` + tool + `","arguments":{},"config":{},"context":{"family":"evil","caller":"","namespace":"default","branch":"default","now":"2026-01-02T03:04:05Z","request_id":""}}`)})
	must.Do(t, err)
	return r
}

const untouched = `{"n":0,"clean":true,"evil":"none","held":true}`

// Whatever a family in JavaScript does is stopped by the limits of all guests, or is an error, and the next caller finds nothing of it.
func TestJavaScriptIsStoppedByTheLimitsOfAllGuests(t *testing.T) {
	m := hostileFamily(t, "family.js", hostileSource)
	for tool, want := range map[string]struct {
		classes string
		says    string
	}{
		"loop":         {"fuel", "fuel"},
		"microtasks":   {"fuel error", ""},
		"proxied":      {"fuel", "fuel"},
		"getter":       {"fuel", "fuel"},
		"stringified":  {"fuel", "fuel"},
		"backtracking": {"fuel", "fuel"},
		"sorted":       {"fuel", "fuel"},
		"recursion":    {"error stack", ""},
		"generators":   {"error stack", ""},
		"nested":       {"stack fuel error", ""},
		"parsed":       {"stack error", ""},
		"groups":       {"error", "too many captures"},
		"evaluated":    {"stack error", ""},
		"arrays":       {"error fuel", ""},
		"buffers":      {"error", "out of memory"},
		"texts":        {"error", "string too long"},
		"numbers":      {"error fuel", ""},
		"pending":      {"error", "nothing to wait for"},
		"circular":     {"error", "circular"},
		"result":       {"output error", ""},
		"lines":        {"ok", ""},
		"thrown":       {"error", ""},
		"prototypes":   {"ok", ""},
		"frozen":       {"ok", ""},
	} {
		r := asked(t, m, tool)
		if !strings.Contains(" "+want.classes+" ", " "+string(r.Class)+" ") || r.Error != nil && !strings.Contains(r.Error.Message, want.says) {
			t.Errorf("%s: class %s, %v, want %s with %q", tool, r.Class, r.Error, want.classes, want.says)
		}
		if r.Memory > 256<<16 {
			t.Errorf("%s: it has %d bytes of memory, want at most %d", tool, r.Memory, 256<<16)
		}
		if after := asked(t, m, "state"); string(after.Output) != untouched {
			t.Errorf("after %s: the next caller gets %s, %v, want %s", tool, after.Output, after.Error, untouched)
		}
	}
}

func TestCallsOfJavaScriptLeaveNothing(t *testing.T) {
	callsLeaveNothing(t, hostileFamily(t, "family.js", hostileSource), []string{"prototypes", "frozen", "thrown"})
}

// callsLeaveNothing has callers at once, of which some tamper with what they reach: nothing is left to the others. ALCOVE_LEAK is the
// number of calls.
func callsLeaveNothing(t *testing.T, m *sandbox.Module, tampering []string) {
	t.Helper()
	calls, _ := strconv.Atoi(os.Getenv("ALCOVE_LEAK"))
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for i := range max(calls, 2000) / 4 {
				if i%10 == 0 {
					asked(t, m, tampering[i/10%len(tampering)])
				}
				if r := asked(t, m, "state"); string(r.Output) != untouched {
					t.Errorf("call %d: got %s, %v, want %s", i, r.Output, r.Error, untouched)
					return
				}
			}
		})
	}
	all.Wait()
}
