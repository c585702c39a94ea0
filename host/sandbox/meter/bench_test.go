package meter_test

import (
	"context"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/alcove-memory/alcove/host/sandbox/meter"
	"github.com/alcove-memory/alcove/host/sandbox/wasm"
)

// buildGo builds the programs in Go.
func buildGo(t testing.TB) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "gopher.wasm")
	build := exec.Command("go", "build", "-trimpath", "-buildmode=c-shared", "-ldflags=-s -w", "-o", path, "./testdata/gopher")
	build.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the programs in Go: %v\n%s", err, out)
	}
	return read(t, path)
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// slice is the fuel of one refill in the benchmarks.
const slice = 200_000

// instance instantiates a module to time. Ticks read the clock, as a host's do.
func instance(b testing.TB, module []byte, config wazero.RuntimeConfig) api.Module {
	b.Helper()
	r := wazero.NewRuntimeWithConfig(b.Context(), config)
	b.Cleanup(func() { _ = r.Close(context.Background()) })
	wasi_snapshot_preview1.MustInstantiate(b.Context(), r)
	deadline := time.Now().Add(time.Hour)
	_, err := r.NewHostModuleBuilder(meter.TickModule).NewFunctionBuilder().
		WithGoModuleFunction(api.GoModuleFunc(func(_ context.Context, m api.Module, _ []uint64) {
			if time.Now().After(deadline) {
				panic("too late")
			}
			m.ExportedGlobal(meter.Fuel).(api.MutableGlobal).Set(slice)
		}), nil, nil).Export(meter.TickName).Instantiate(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	m, err := r.InstantiateWithConfig(b.Context(), module, wazero.NewModuleConfig().WithStartFunctions("_initialize"))
	if err != nil {
		b.Fatal(err)
	}
	return m
}

func rewrite(t testing.TB, module []byte) []byte {
	t.Helper()
	v, err := wasm.Parse(module, wasm.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	out, _, err := meter.Rewrite(v, meter.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// programs are timed and counted.
var programs = []struct {
	name   string
	n, few uint64 // size for timing (some milliseconds) and for counting
	gopher bool
}{
	{"tight", 2_000_000, 10_000, false},
	{"loop", 500_000, 5_000, false},
	{"fib", 22, 12, false},
	{"sieve", 6, 1, false},
	{"indirect", 300_000, 3_000, false},
	{"bulk", 12_000, 100, false},
	{"sha256", 3_000, 30, false},
	{"json", 1_500, 15, false},
	{"interpreter", 60_000, 600, false},
	{"gojson", 100, 2, true},
	{"gosort", 12_000, 120, true},
	{"gosha", 600, 6, true},
}

// BenchmarkMetering times programs unmetered and metered in turn. It reports the ratio of their times,
// by the fastest and by the median of many runs.
func BenchmarkMetering(b *testing.B) {
	compare(b, 101, func(module []byte) api.Module { return instance(b, rewrite(b, module), wazero.NewRuntimeConfig()) })
}

// BenchmarkCancellation does the same with wazero's own cancellation.
func BenchmarkCancellation(b *testing.B) {
	compare(b, 9, func(module []byte) api.Module {
		return instance(b, module, wazero.NewRuntimeConfig().WithCloseOnContextDone(true))
	})
}

// compare times all programs unchanged and in a variant.
func compare(b *testing.B, rounds int, variant func(module []byte) api.Module) {
	b.Helper()
	both := func(module []byte) []api.Module {
		return []api.Module{instance(b, module, wazero.NewRuntimeConfig()), variant(module)}
	}
	c, gopher := both(read(b, "testdata/programs.wasm")), both(buildGo(b))
	for b.Loop() {
		fastest, middle := 0.0, 0.0
		for _, p := range programs {
			modules := c
			if p.gopher {
				modules = gopher
			}
			least, median := race(b, modules, p.name, p.n, rounds)
			fastest += math.Log(least[1])
			middle += math.Log(median[1])
			b.ReportMetric(least[1], p.name)
			b.ReportMetric(median[1], p.name+"-median")
		}
		b.ReportMetric(math.Exp(fastest/float64(len(programs))), "geomean")
		b.ReportMetric(math.Exp(middle/float64(len(programs))), "geomean-median")
	}
	b.ReportMetric(0, "ns/op")
}

// race runs modules in turn, and returns the fastest and the median time of each as a multiple of the first
// one's.
func race(b *testing.B, modules []api.Module, name string, n uint64, rounds int) (least, median []float64) {
	b.Helper()
	ctx, cancel := context.WithCancel(b.Context()) // wazero's cancellation needs one that can end
	defer cancel()
	times, answers := make([][]time.Duration, len(modules)), make([]uint64, len(modules))
	for range rounds {
		for i, m := range modules {
			began := time.Now()
			results, err := m.ExportedFunction(name).Call(ctx, n)
			if err != nil {
				b.Fatal(err)
			}
			times[i] = append(times[i], time.Since(began))
			answers[i] = results[0]
		}
	}
	for i := range modules {
		if answers[i] != answers[0] {
			b.Fatalf("%s gives %v", name, answers)
		}
		slices.Sort(times[i])
		least = append(least, float64(times[i][0])/float64(times[0][0]))
		median = append(median, float64(times[i][rounds/2])/float64(times[0][rounds/2]))
	}
	return least, median
}
