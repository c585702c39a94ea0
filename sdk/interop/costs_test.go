package interop

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/sandbox"
)

// costs are what the conformance guest of a language costs: medians.
type costs struct {
	lines      int           // of its source
	bytes      int           // of the packed module
	cold, warm time.Duration // of processor time to load it, compiled and from the cache
	first      time.Duration // call after a load
	call       time.Duration // a small echo
	operations time.Duration // a call with four operations of the host, which answers at once
	large      time.Duration // an echo of 64 KiB of JSON
	next       time.Duration // a small echo after the large one, whose instance has to shrink if its memory grew
	memory     int64         // the peak of the large echo, in bytes
	fuel       int64         // of a small echo
	rate       float64       // fuel of a millisecond of processor time, of the large echo
}

// rounds returns how often everything is measured.
func rounds(t *testing.T) (loads, calls int) {
	text := os.Getenv("ALCOVE_COSTS")
	if text == "" {
		return 1, 1
	}
	calls, err := strconv.Atoi(text)
	if err != nil || calls < 1 {
		t.Fatalf("ALCOVE_COSTS=%s: give the number of calls", text)
	}
	return min(3, calls), calls
}

// TestCostsOfEachLanguage prints a table of what the conformance guest costs in each language. Times judge nothing. ALCOVE_COSTS=N makes
// it measure N calls (make family-costs); otherwise the guest in C is measured alone, because to compile the others takes seconds.
func TestCostsOfEachLanguage(t *testing.T) {
	names, modules := []string{"C"}, map[string]string{"C": "testdata/c.wasm", "C++": "testdata/cpp.wasm", "Zig": "testdata/zig.wasm", "Rust": "testdata/rust.wasm", "AssemblyScript": "testdata/assemblyscript.wasm"}
	sources := map[string]string{"Go": "conform/conform.go", "Rust": "rust/family.rs", "C": "c/family.c", "C++": "cpp/family.cpp", "Zig": "zig/family.zig", "AssemblyScript": "assemblyscript/family.ts",
		"JavaScript": "javascript/family.js", "Python": "python/family.py"}
	loads, calls := rounds(t)
	if calls > 1 {
		names, modules["Go"] = []string{"Go", "Rust", "C", "C++", "Zig", "AssemblyScript", "JavaScript", "Python"}, builtGo(t)
		for name, path := range map[string]string{"JavaScript": "javascript/family.js", "Python": "python/family.py"} {
			modules[name] = filepath.Join(t.TempDir(), name+".wasm")
			if err := os.WriteFile(modules[name], scripted(t, path), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	var table strings.Builder
	fmt.Fprintf(&table, "\n| language | lines | module | cold load | warm load | first call | call | call with 4 operations | echo of 64 KiB | call after it | its memory | fuel of a call | fuel per ms |\n"+
		"|---|---|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, name := range names {
		c := measured(t, modules[name], loads, calls)
		c.lines = linesOf(t, sources[name])
		fmt.Fprintf(&table, "| %s | %d | %d KB | %.0f ms | %.1f ms | %.2f ms | %.0f µs | %.0f µs | %.1f ms | %.2f ms | %.1f MiB | %d | %.1f million |\n", name, c.lines, c.bytes/1000,
			ms(c.cold), ms(c.warm), ms(c.first), 1000*ms(c.call), 1000*ms(c.operations), ms(c.large), ms(c.next), float64(c.memory)/(1<<20), c.fuel, c.rate/1e6)
		if c.fuel <= 0 || c.memory <= 0 || c.rate <= 0 {
			t.Errorf("%s: nothing was measured: %+v", name, c)
		}
	}
	load, _ := os.ReadFile("/proc/loadavg")
	t.Logf("%s\nmedians of %d loads and %d calls; load averages %s", &table, loads, calls, cmp.Or(strings.TrimSpace(string(load)), "unknown"))
}

func linesOf(t *testing.T, path string) int {
	t.Helper()
	data, err := os.ReadFile(filepath.FromSlash(path))
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Count(data, []byte("\n"))
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func median[T cmp.Ordered](list []T) T {
	slices.Sort(list)
	return list[len(list)/2]
}

// measured loads a module several times, each time with an empty cache and then from the cache, and calls it.
func measured(t *testing.T, path string, loads, calls int) (c costs) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := os.ReadFile("manifest.json")
	if err != nil {
		t.Fatal(err)
	}
	packed, err := sandbox.Pack(raw, manifest)
	if err != nil {
		t.Fatal(err)
	}
	c.bytes = len(packed)
	var cold, warm, first []time.Duration
	var last *sandbox.Module
	for range loads {
		cache := sandbox.Cache{Dir: filepath.Join(t.TempDir(), "cache")}
		m, took := loaded(t, packed, cache)
		cold, first = append(cold, took), append(first, asked(t, m, scenes(t)[0]).Time)
		last, took = loaded(t, packed, cache)
		warm = append(warm, took)
	}
	c.cold, c.warm, c.first = median(cold), median(warm), median(first)
	c.measureCalls(t, last, calls)
	return c
}

func (c *costs) measureCalls(t *testing.T, m *sandbox.Module, calls int) {
	t.Helper()
	all := scenes(t)
	operations := all[slices.IndexFunc(all, func(s scene) bool { return s.Name == "typed operations" })]
	var small, four, large, next []time.Duration
	var rates []float64
	asked(t, m, all[0]) // the first call is measured apart
	for range calls {
		echoed := asked(t, m, all[0])
		c.fuel = echoed.Fuel
		small, four = append(small, echoed.Time), append(four, asked(t, m, operations).Time)
	}
	for range calls {
		r := asked(t, m, echoOf(t, 64<<10))
		c.memory = r.Memory
		large, rates = append(large, r.Time), append(rates, float64(r.Fuel)/ms(r.CPU))
		next = append(next, asked(t, m, all[0]).Time)
	}
	c.call, c.operations, c.large, c.next, c.rate = median(small), median(four), median(large), median(next), median(rates)
}

// loaded loads a module in a sandbox of its own, and returns the processor time that it took, which a busy machine changes little.
func loaded(t testing.TB, packed []byte, cache sandbox.Cache) (*sandbox.Module, time.Duration) {
	t.Helper()
	box, err := sandbox.New(sandbox.Config{Cache: cache})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { box.Close() })
	began := processor()
	m, err := box.Admit(t.Context(), packed, sandbox.Options{Vetted: true})
	took := processor() - began
	if err != nil {
		t.Fatal(err)
	}
	return m, took
}

func asked(t testing.TB, m *sandbox.Module, s scene) *sandbox.Result {
	t.Helper()
	r, err := m.Call(t.Context(), sandbox.Request{Kind: s.Kind, Payload: s.payload(t), Host: boxed{&script{t: t, scene: s}}})
	if err != nil || r.Class != abi.ClassOK {
		t.Fatalf("call of %s = %+v (%v), want class %s", s.Name, r, err, abi.ClassOK)
	}
	return r
}

// echoOf is an echo of a list of texts, of so many bytes in all.
func echoOf(t testing.TB, bytes int) scene {
	t.Helper()
	list := make([]string, bytes/64)
	for i := range list {
		list[i] = fmt.Sprintf("%061d", i) // with quotes and comma 64 bytes
	}
	arguments, err := json.Marshal(map[string]any{"list": list})
	if err != nil {
		t.Fatal(err)
	}
	return scene{Name: "a large echo", Kind: abi.KindTool, Request: map[string]json.RawMessage{"tool": json.RawMessage(`"memory_interop_echo"`), "arguments": arguments}}
}
