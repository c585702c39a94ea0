package sandbox

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/abi"
)

// timed are the guests that are measured: a small one, and one in Go.
func timed(t testing.TB) map[string][]byte {
	return map[string][]byte{"small": testdata(t, "bench/small.wasm"), "go": goGuest(t)}
}

// goGuest is the guest in Go, as it is built here.
func goGuest(t testing.TB) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "go.wasm")
	build := exec.Command("go", "build", "-trimpath", "-buildmode=c-shared", "-ldflags=-s -w", "-o", path, ".")
	build.Dir = filepath.Join("testdata", "bench", "go")
	build.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the guest in Go: %v\n%s", err, out)
	}
	data, err := os.ReadFile(path)
	must(t, err)
	return data
}

// BenchmarkCall is what a request costs, with a kilobyte of payload, one host operation, and putting the instance
// back. A small guest's takes at most 15 µs, one in Go 0.4 ms.
func BenchmarkCall(b *testing.B) {
	for name, module := range timed(b) {
		b.Run(name, func(b *testing.B) {
			m, err := newSandbox(b, testConfig(b)).Admit(context.Background(), module, Options{Bare: true})
			must(b, err)
			request := Request{Kind: abi.KindTool, Payload: kilobyte(), Host: tea{}}
			b.ReportAllocs()
			for b.Loop() {
				r, err := m.Call(context.Background(), request)
				if err != nil || r.Class != abi.ClassOK {
					b.Fatal(r, err)
				}
			}
		})
	}
}

// BenchmarkLoad is what it costs to admit a module that was admitted before, by another process, until its first
// request is answered. A small guest takes at most 2 ms, one in Go 60 ms.
func BenchmarkLoad(b *testing.B) {
	for name, module := range timed(b) {
		b.Run(name, func(b *testing.B) {
			config := testConfig(b)
			load := func() {
				s, err := New(config)
				must(b, err)
				b.StartTimer()
				m, err := s.Admit(context.Background(), module, Options{Bare: true})
				must(b, err)
				r, err := m.Call(context.Background(), Request{Kind: abi.KindTool, Payload: kilobyte(), Host: tea{}})
				if err != nil || r.Class != abi.ClassOK {
					b.Fatal(r, err)
				}
				b.StopTimer()
				must(b, s.Close())
			}
			b.StopTimer()
			load()
			b.ResetTimer()
			for range b.N {
				load()
			}
		})
	}
}

// kilobyte is the request of a tool call of one kilobyte.
func kilobyte() []byte {
	return fmt.Appendf(nil, `{"tool":"note","arguments":{"text":"%0900d"},"config":{},"context":{"caller":"ada","namespace":"default","branch":"main"}}`, 7)
}

// tea is a host that knows one memory.
type tea struct{}

func (tea) Call(context.Context, abi.Op, []byte) ([]byte, error) {
	return []byte(`{"key":"tea","value":"green","version":7}`), nil
}

// runaways are the ways in which the guest of runaways.wat never ends.
func runaways() map[string]string {
	return map[string]string{
		"a": "loop", "b": "loop by br_table", "c": "divisions", "d": "recursion", "e": "tree of calls", "f": "memory.fill",
		"g": "memory.copy", "h": "host calls", "i": "indirect recursion", "j": "loads that miss the caches", "k": "memory.grow",
		"l": "mutual recursion", "m": "table.fill", "n": "randomness", "p": "prints", "s": "vectors", "t": "clocks", "u": "returns", "w": "wide frames",
	}
}

// BenchmarkRunaway is how late guests that never end are stopped, and for how long they keep the garbage collector
// waiting: at most 10 ms and 50 ms. late-ms and gc-waited-ms
// are the worst of all.
func BenchmarkRunaway(b *testing.B) {
	m := admit(b, newSandbox(b, testConfig(b)), "bench/runaways.wasm", Options{Bare: true, Limits: abi.Limits{MemoryPages: 4096, WallMS: 60, HostCalls: 1 << 20}})
	for request, name := range runaways() {
		b.Run(name, func(b *testing.B) {
			var late, took time.Duration
			before := stops()
			for b.Loop() {
				collected := make(chan bool)
				time.AfterFunc(30*time.Millisecond, func() { runtime.GC(); close(collected) })
				began := time.Now()
				r, err := m.Call(context.Background(), Request{Kind: abi.KindTool, Payload: []byte(request)})
				took = time.Since(began)
				if err != nil || r.Outcome() != abi.OutcomeStoppedByLimit {
					b.Fatal(r, err)
				}
				late = max(late, took-60*time.Millisecond)
				<-collected
			}
			waited := collectorWaited(before, stops())
			b.ReportMetric(float64(late.Microseconds())/1000, "late-ms")
			b.ReportMetric(float64(waited.Microseconds())/1000, "gc-waited-ms")
		})
	}
}

// stops is how often the garbage collector waited for how long until all goroutines had stopped.
func stops() *metrics.Float64Histogram {
	sample := []metrics.Sample{{Name: "/sched/pauses/stopping/gc:seconds"}}
	metrics.Read(sample)
	return sample[0].Value.Float64Histogram()
}

// collectorWaited is the longest of the waits between two histograms, to the end of its bucket.
func collectorWaited(before, after *metrics.Float64Histogram) time.Duration {
	for i := len(after.Counts) - 1; i >= 0; i-- {
		if after.Counts[i] > before.Counts[i] {
			return time.Duration(after.Buckets[min(i+1, len(after.Buckets)-2)] * float64(time.Second))
		}
	}
	return 0
}
