package meter_test

import (
	"context"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/alcove-memory/alcove/host/sandbox/meter"
	"github.com/alcove-memory/alcove/host/sandbox/wasm"
)

// goProgram parses JSON.
const goProgram = `package main

import "encoding/json"

const text = ` + "`" + `{"name":"a memory","tags":["green","tea"],"importance":0.75,"links":[{"to":"k1","weight":12}],"text":"The deploy script needs the staging key."}` + "`" + `

//go:wasmexport goguest
func goguest(n uint32) uint32 {
	total := 0
	for range n {
		var v map[string]any
		if json.Unmarshal([]byte(text), &v) != nil {
			panic(text)
		}
		total += len(v)
	}
	return uint32(total)
}

func main() {}
`

func buildGo(t testing.TB) []byte {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{"main.go": goProgram, "go.mod": "module guest\n\ngo 1.26\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	build := exec.Command("go", "build", "-trimpath", "-buildmode=c-shared", "-ldflags=-s -w", "-o", "guest.wasm", ".")
	build.Dir, build.Env = dir, append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOFLAGS=", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build a guest: %v\n%s", err, out)
	}
	return read(t, filepath.Join(dir, "guest.wasm"))
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// instance makes a module to be timed. Ticks look at the clock, as a host's do.
func instance(b *testing.B, module []byte, config wazero.RuntimeConfig) api.Module {
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
			m.ExportedGlobal(meter.Fuel).(api.MutableGlobal).Set(500_000)
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

// variants are a module as it is, metered, and under wazero's own cancellation.
func variants(b *testing.B, module []byte) [3]api.Module {
	b.Helper()
	v, err := wasm.Parse(module, wasm.Limits{})
	if err != nil {
		b.Fatal(err)
	}
	out, _, err := meter.Rewrite(v, meter.Options{})
	if err != nil {
		b.Fatal(err)
	}
	return [3]api.Module{
		instance(b, module, wazero.NewRuntimeConfig()),
		instance(b, out, wazero.NewRuntimeConfig()),
		instance(b, module, wazero.NewRuntimeConfig().WithCloseOnContextDone(true)),
	}
}

// BenchmarkMetering times programs in turns: as they are, metered, and with wazero's cancellation, the best of several
// rounds each, and reports the ratios.
func BenchmarkMetering(b *testing.B) {
	c, gopher := variants(b, read(b, "testdata/programs.wasm")), variants(b, buildGo(b))
	ctx, cancel := context.WithCancel(b.Context()) // wazero's cancellation needs one that can end
	defer cancel()
	for b.Loop() {
		metered, cancelled, programs := 0.0, 0.0, 0
		for name, n := range map[string]uint64{
			"tight": 8_000_000, "loop": 3_000_000, "fib": 27, "sieve": 30, "indirect": 2_000_000, "bulk": 100_000,
			"sha256": 20_000, "json": 8_000, "goguest": 300,
		} {
			modules := c
			if name == "goguest" {
				modules = gopher
			}
			best := race(b, ctx, modules, name, n)
			metered += math.Log(best[1] / best[0])
			cancelled += math.Log(best[2] / best[0])
			programs++
			b.ReportMetric(best[1]/best[0], name)
			b.ReportMetric(best[2]/best[0], name+"-cancellable")
		}
		b.ReportMetric(math.Exp(metered/float64(programs)), "geomean")
		b.ReportMetric(math.Exp(cancelled/float64(programs)), "geomean-cancellable")
	}
}

// race gives the best time of each variant, in seconds.
func race(b *testing.B, ctx context.Context, modules [3]api.Module, name string, n uint64) (best [3]float64) {
	b.Helper()
	answers := [3]uint64{}
	for round := range 9 {
		for i, m := range modules {
			began := time.Now()
			results, err := m.ExportedFunction(name).Call(ctx, n)
			if err != nil {
				b.Fatal(err)
			}
			if took := time.Since(began).Seconds(); round == 0 || took < best[i] {
				best[i] = took
			}
			answers[i] = results[0]
		}
	}
	if answers[0] != answers[1] || answers[0] != answers[2] {
		b.Fatalf("%s gives %v", name, answers)
	}
	return best
}
