package meter_test

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/alcove-memory/alcove/host/sandbox/meter"
	"github.com/alcove-memory/alcove/host/sandbox/wasm"
	"github.com/alcove-memory/alcove/host/testing/stress"
)

// overdraft is how far the fuel may fall below zero before the host is asked: the longest path between two checks, on
// which two operations may each move a full chunk.
const overdraft = 10_000 + 2*(1<<20>>meter.BytesShift)

// outcome is the observable result of a run.
type outcome struct {
	results []string // of each function, or the error
	globals [3]uint64
	memory  uint64 // hash
}

// observed is an instance of a generated module.
type observed struct {
	api.Module
	handed int64 // fuel, in all
	refill func() int64
}

// observe starts a module; a tick adds the fuel that refill returns, and ends the call if that is 0.
func observe(t testing.TB, module []byte, config wazero.RuntimeConfig, refill func() int64) *observed {
	t.Helper()
	o := &observed{refill: refill}
	r := wazero.NewRuntimeWithConfig(t.Context(), config)
	t.Cleanup(func() { _ = r.Close(context.Background()) })
	_, err := r.NewHostModuleBuilder(meter.TickModule).NewFunctionBuilder().
		WithGoModuleFunction(api.GoModuleFunc(func(_ context.Context, m api.Module, _ []uint64) {
			fuel := m.ExportedGlobal(meter.Fuel).(api.MutableGlobal)
			more := o.refill()
			if left := int64(fuel.Get()); left >= 0 || left < -overdraft {
				t.Errorf("the host is asked with %d units left", left)
			}
			if more == 0 {
				panic(errStopped)
			}
			more = max(more, -int64(fuel.Get()))
			o.handed += more
			fuel.Set(uint64(int64(fuel.Get()) + more))
		}), nil, nil).Export(meter.TickName).Instantiate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if o.Module, err = r.InstantiateWithConfig(t.Context(), module, wazero.NewModuleConfig().WithStartFunctions()); err != nil {
		t.Fatal(err)
	}
	return o
}

// run calls all functions in order.
func (o *observed) run(t testing.TB, signatures []wasm.FuncType) (seen outcome, stopped, trapped bool) {
	t.Helper()
	for i, s := range signatures {
		arguments := make([]uint64, len(s.Params))
		for j, p := range s.Params {
			if arguments[j] = uint64(i*7 + j); p == wasm.I64 {
				arguments[j] <<= 33
			}
		}
		results, err := o.ExportedFunction(fmt.Sprintf("f%d", i)).Call(t.Context(), arguments...)
		switch {
		case errors.Is(err, errStopped):
			return seen, true, trapped
		case err != nil:
			trapped = true
			seen.results = append(seen.results, firstLine(err))
		default:
			seen.results = append(seen.results, fmt.Sprint(results))
		}
	}
	for i := range seen.globals {
		seen.globals[i] = o.ExportedGlobal(fmt.Sprintf("g%d", i)).Get()
	}
	hash := fnv.New64a()
	bytes, _ := o.Memory().Read(0, o.Memory().Size())
	_, _ = hash.Write(bytes)
	seen.memory = hash.Sum64()
	return seen, false, trapped
}

func (o *observed) left() int64 { return int64(o.ExportedGlobal(meter.Fuel).Get()) }

// used is the fuel used since the start.
func (o *observed) used() int64 { return o.handed - o.left() }

// TestMeteringDoesNotChangeTheResultsOfRandomModules runs random modules as they are, with ample fuel, with little fuel at a time, and with
// too little. What they do is the same; the fuel is that of the code that ran, however it was handed out; and whatever
// needs more than there is, is stopped. Each day other seeds have their turn.
func TestMeteringDoesNotChangeTheResultsOfRandomModules(t *testing.T) {
	seeds := stress.Seeds(t, 50, 150)
	trapped, stopped, ran := 0, 0, 0
	units, paid := int64(0), int64(0)
	for _, n := range seeds {
		seed := uint64(n)
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			config := wazero.NewRuntimeConfigInterpreter()
			if seed%2 == 0 {
				config = wazero.NewRuntimeConfig()
			}
			module, signatures := generate(seed)
			metered := rewrite(t, module)
			plain, _, _ := observe(t, module, config, nil).run(t, signatures)

			whole := observe(t, metered, config, func() int64 { return ample })
			got, _, traps := whole.run(t, signatures)
			same(t, "with ample fuel", got, plain)

			random := rand.New(rand.NewPCG(seed, 1))
			parts := observe(t, metered, config, func() int64 { return 1 + random.Int64N(3000) })
			got, _, _ = parts.run(t, signatures)
			same(t, "with little fuel at a time", got, plain)
			if traps {
				trapped++
				return // some fuel may not have been written back
			}
			ran++
			if whole.used() != parts.used() {
				t.Errorf("it used %d units at once, and %d in parts", whole.used(), parts.used())
			}
			count := observe(t, counting(t, module), config, nil)
			count.run(t, signatures)
			price := int64(count.ExportedGlobal(price).Get())
			calls := int64(len(signatures)) * 64 // calls by the host are free for leaves, whose callers pay
			if used := whole.used(); used+calls < price || used > 2*price {
				t.Errorf("the code that ran costs %d, and %d was used", price, used)
			}
			units, paid = units+price, paid+whole.used()

			budget := random.Int64N(whole.used() + 1)
			short := observe(t, metered, config, func() int64 { return 0 })
			short.ExportedGlobal(meter.Fuel).(api.MutableGlobal).Set(uint64(budget))
			if _, ended, _ := short.run(t, signatures); ended {
				stopped++
			} else if short.left() < -overdraft {
				t.Errorf("it had %d units, used %d, and was not stopped", budget, whole.used())
			}
		})
	}
	t.Logf("%d modules ended and %d trapped; %d were stopped; %d units were paid for %d", ran, trapped, stopped, paid, units)
	if ran < len(seeds)/4 || trapped == 0 || stopped < ran/4 || paid > units+units/4 {
		t.Error("the modules are not what they should be")
	}
}

func same(t *testing.T, when string, got, want outcome) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s it gives %v, and %v unmetered", when, got, want)
	}
}
