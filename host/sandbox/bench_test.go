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
	"github.com/alcove-memory/alcove/host/testing/must"
)

// timed are the measured guests: a small one, and one in Go.
func timed(t testing.TB) map[string][]byte {
	return map[string][]byte{"small": testdata(t, "bench/small.wasm"), "go": goGuest(t)}
}

// goGuest returns the guest in Go, built here.
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
	must.Do(t, err)
	return data
}

// BenchmarkCall measures a request with a kilobyte of payload, one host operation, and the reset of the instance.
// Targets: at most 15 µs for a small guest, 0.4 ms for one in Go.
func BenchmarkCall(b *testing.B) {
	for name, module := range timed(b) {
		b.Run(name, func(b *testing.B) {
			m, err := newSandbox(b, testConfig(b)).Admit(context.Background(), module, Options{Bare: true})
			must.Do(b, err)
			request := Request{Kind: abi.KindTool, Payload: kilobyte(), Host: tea{}}
			b.ReportAllocs()
			for b.Loop() {
				r, err := m.Call(context.Background(), request)
				if err != nil || r.Class != abi.ClassOK {
					b.Fatalf("Call = %+v, %v, want class %s", r, err, abi.ClassOK)
				}
			}
		})
	}
}

// BenchmarkLoad measures the admission of a module that another process admitted before, until its first
// request is answered. Targets: at most 2 ms for a small guest, 60 ms for one in Go.
func BenchmarkLoad(b *testing.B) {
	for name, module := range timed(b) {
		b.Run(name, func(b *testing.B) {
			config := testConfig(b)
			load := func() {
				s, err := New(config)
				must.Do(b, err)
				b.StartTimer()
				m, err := s.Admit(context.Background(), module, Options{Bare: true})
				must.Do(b, err)
				r, err := m.Call(context.Background(), Request{Kind: abi.KindTool, Payload: kilobyte(), Host: tea{}})
				if err != nil || r.Class != abi.ClassOK {
					b.Fatalf("Call = %+v, %v, want class %s", r, err, abi.ClassOK)
				}
				b.StopTimer()
				must.Do(b, s.Close())
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

// tea is a host with one memory.
type tea struct{}

func (tea) Call(context.Context, abi.Op, []byte) ([]byte, error) {
	return []byte(`{"key":"tea","value":"green","version":7}`), nil
}

// runaways are the loops of the guest of runaways.wat.
func runaways() map[string]string {
	return map[string]string{
		"a": "loop", "b": "loop by br_table", "c": "divisions", "d": "recursion", "e": "tree of calls", "f": "memory.fill",
		"g": "memory.copy", "h": "host calls", "i": "indirect recursion", "j": "loads that miss the caches", "k": "memory.grow",
		"l": "mutual recursion", "m": "table.fill", "n": "randomness", "p": "prints", "s": "vectors", "t": "clocks", "u": "returns", "w": "wide frames",
	}
}

// BenchmarkRunaway measures how late guests that never end are stopped, and for how long they keep the garbage collector
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
					b.Fatalf("Call = %+v, %v, want outcome %s", r, err, abi.OutcomeStoppedByLimit)
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

// stops is the histogram of the garbage collector's waits until all goroutines had stopped.
func stops() *metrics.Float64Histogram {
	sample := []metrics.Sample{{Name: "/sched/pauses/stopping/gc:seconds"}}
	metrics.Read(sample)
	return sample[0].Value.Float64Histogram()
}

// collectorWaited returns the longest wait between two histograms, rounded up to its bucket.
func collectorWaited(before, after *metrics.Float64Histogram) time.Duration {
	for i := len(after.Counts) - 1; i >= 0; i-- {
		if after.Counts[i] > before.Counts[i] {
			return time.Duration(after.Buckets[min(i+1, len(after.Buckets)-2)] * float64(time.Second))
		}
	}
	return 0
}
