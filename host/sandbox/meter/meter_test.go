package meter_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/alcove-memory/alcove/host/sandbox/meter"
	"github.com/alcove-memory/alcove/host/sandbox/wasm"
	"github.com/alcove-memory/alcove/host/testing/await"
)

// part is a section's id and content.
type part struct {
	id      byte
	content []byte
}

func assemble(parts ...part) []byte {
	out := []byte{0, 'a', 's', 'm', 1, 0, 0, 0}
	for _, p := range parts {
		out = append(wasm.AppendU32(append(out, p.id), uint32(len(p.content))), p.content...)
	}
	return out
}

// program is a module with a memory of two pages, a table of ten functions, a mutable global, and functions without
// parameters and results; the first is exported as "run".
func program(bodies ...string) []byte {
	functions, codes := []byte{byte(len(bodies))}, []byte{byte(len(bodies))}
	for _, b := range bodies {
		functions = append(functions, 0)
		body := append([]byte{0}, hex(b+" 0b")...)
		codes = append(wasm.AppendU32(codes, uint32(len(body))), body...)
	}
	return assemble(
		part{1, hex("01 60 00 00")},
		part{3, functions},
		part{4, hex("01 70 00 0a")},
		part{5, hex("01 01 02 80 08")}, // two pages, at most 1024
		part{6, hex("01 7f 01 41 00 0b")},
		part{7, append(hex("02"), append(append(hex("03"), "run"...), append(hex("00 00 06"), append([]byte("memory"), 2, 0)...)...)...)},
		part{9, append(hex("01 00 41 00 0b 01"), 0)}, // the first function is element 0
		part{12, hex("01")},
		part{10, codes},
		part{11, append(hex("01 01 04"), "data"...)},
	)
}

func hex(digits string) []byte {
	var b []byte
	for _, d := range strings.Fields(digits) {
		var v byte
		if _, err := fmt.Sscanf(d, "%02x", &v); err != nil {
			panic(err)
		}
		b = append(b, v)
	}
	return b
}

var errStopped = errors.New("stopped")

// metered is a rewritten module that runs until a deadline.
type metered struct {
	api.Module
	ticks    int
	deadline time.Time
	slice    uint64
	stopAt   func() bool // nil: only at the deadline
}

func start(t testing.TB, b []byte) *metered {
	t.Helper()
	v, err := wasm.Parse(b, wasm.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	out, _, err := meter.Rewrite(v, meter.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := wasm.Parse(out, wasm.Limits{}); err != nil {
		t.Fatal(err)
	}
	m := &metered{slice: 100_000}
	r := wazero.NewRuntimeWithConfig(t.Context(), wazero.NewRuntimeConfig().WithMemoryLimitPages(4096))
	t.Cleanup(func() { _ = r.Close(context.Background()) })
	_, err = r.NewHostModuleBuilder(meter.TickModule).NewFunctionBuilder().
		WithGoModuleFunction(api.GoModuleFunc(func(_ context.Context, module api.Module, _ []uint64) {
			m.ticks++
			if !m.deadline.IsZero() && time.Now().After(m.deadline) || m.stopAt != nil && m.stopAt() {
				panic(errStopped)
			}
			module.ExportedGlobal(meter.Fuel).(api.MutableGlobal).Set(m.slice)
		}), nil, nil).Export(meter.TickName).Instantiate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if m.Module, err = r.InstantiateWithConfig(t.Context(), out, wazero.NewModuleConfig().WithStartFunctions()); err != nil {
		t.Fatal(err)
	}
	return m
}

func (m *metered) run(t testing.TB, name string) error {
	t.Helper()
	_, err := m.ExportedFunction(name).Call(t.Context())
	return err
}

// runaways never end, or only after a long time.
var runaways = map[string][]string{
	"loop":                   {"03 40 0c 00 0b"},
	"loop by br_if":          {"03 40 41 01 0d 00 0b"},
	"loop by br_table":       {"03 40 41 00 0e 00 00 0b"},
	"loop in a loop":         {"03 40 03 40 41 00 0d 00 0b 0c 00 0b"},
	"loop that calls a leaf": {"03 40 10 01 0c 00 0b", "01"},
	"loop that calls":        {"03 40 10 01 0c 00 0b", "10 02", "01"},
	"loop in a callee":       {"10 01", "03 40 0c 00 0b"},
	"loop by call_indirect":  {"03 40 41 01 25 00 1a 41 00 11 00 00 0c 00 0b"},
	"exponential recursion":  {"23 00 41 28 4a 04 40 0f 0b 23 00 41 01 6a 24 00 10 00 10 00 23 00 41 01 6b 24 00"},
	"mutual recursion":       {"23 00 41 28 4a 04 40 0f 0b 23 00 41 01 6a 24 00 10 01 10 01 23 00 41 01 6b 24 00", "10 00 10 00"},
	"filling":                {"41 fe 07 40 00 1a 03 40 41 00 41 00 41 80 80 80 20 fc 0b 00 0c 00 0b"},
	"copying up":             {"41 fe 07 40 00 1a 03 40 41 01 41 00 41 80 80 80 1f fc 0a 00 00 0c 00 0b"},
	"copying down":           {"41 fe 07 40 00 1a 03 40 41 00 41 01 41 80 80 80 1f fc 0a 00 00 0c 00 0b"},
	"growing by nothing":     {"03 40 41 00 40 00 1a 0c 00 0b"},
	"filling a table":        {"03 40 41 00 d0 70 41 0a fc 11 00 0c 00 0b"},
	"growing a table":        {"03 40 d0 70 41 01 fc 0f 00 1a 0c 00 0b"},
}

// Without ticks none of them would end, nor would a garbage collection. The benchmarks give the times.
func TestEveryRunawayIsStoppedAfterItsDeadline(t *testing.T) {
	for name, bodies := range runaways {
		t.Run(name, func(t *testing.T) {
			m := start(t, program(bodies...))
			m.deadline = time.Now().Add(30 * time.Millisecond)
			collected, stopped := make(chan struct{}), make(chan error, 1)
			go func() {
				time.Sleep(5 * time.Millisecond)
				runtime.GC()
				close(collected)
			}()
			go func() { stopped <- m.run(t, "run") }()
			if err := await.Value(t, "the runaway is stopped", stopped); !errors.Is(err, errStopped) {
				t.Fatalf("it ended by itself: %v", err)
			}
			await.Value(t, "garbage is collected", collected)
		})
	}
}

func TestMovesInChunksGiveTheSameBytes(t *testing.T) {
	for name, c := range map[string]struct{ to, from, size uint32 }{
		"apart":         {0, 8 << 20, 3<<20 + 5},
		"overlap up":    {100, 0, 5<<20 + 1},
		"overlap down":  {0, 100, 5 << 20},
		"onto itself":   {7, 7, 2<<20 + 2},
		"to the end":    {(16 << 20) - (2<<20 + 9), 3, 2<<20 + 9},
		"a chunk":       {1, 2, 1 << 20},
		"a byte beyond": {1, 2, 1<<20 + 1},
	} {
		t.Run(name, func(t *testing.T) {
			move := fmt.Sprintf("41 fe 01 40 00 1a %s %s %s fc 0a 00 00", constant(c.to), constant(c.from), constant(c.size))
			m := start(t, program(move))
			want := make([]byte, 16<<20)
			memory := m.Memory()
			if _, ok := memory.Grow(254); !ok {
				t.Fatal("the memory did not grow")
			}
			for i := 0; i < len(want); i += 4 {
				binary.LittleEndian.PutUint32(want[i:], uint32(i)*2654435761)
			}
			memory.Write(0, want)
			copy(want[c.to:c.to+c.size], want[c.from:c.from+c.size])
			if err := m.run(t, "run"); err != nil {
				t.Fatal(err)
			}
			if got, _ := memory.Read(0, uint32(len(want))); string(got) != string(want) {
				t.Error("the bytes differ")
			}
		})
	}
}

func constant(v uint32) string {
	return fmt.Sprintf("41 % x", wasm.AppendS64(nil, int64(int32(v))))
}

func TestMovesBeyondTheMemoryTrapAndWriteNothing(t *testing.T) {
	for name, body := range map[string]string{
		"fill":      constant(1) + " 41 07 " + constant(1<<31) + " fc 0b 00",
		"copy to":   constant(70_000) + " 41 00 " + constant(1<<20+70_000) + " fc 0a 00 00",
		"copy from": "41 00 " + constant(70_000) + constantAfter(1<<20+70_000) + " fc 0a 00 00",
		"init":      "41 00 41 02 41 03 fc 08 00 00",
	} {
		t.Run(name, func(t *testing.T) {
			m := start(t, program(body))
			before, _ := m.Memory().Read(0, m.Memory().Size())
			was := string(before)
			if err := m.run(t, "run"); err == nil || !strings.Contains(err.Error(), "out of bounds") {
				t.Fatalf("no trap: %v", err)
			}
			if after, _ := m.Memory().Read(0, m.Memory().Size()); string(after) != was {
				t.Error("something was written")
			}
		})
	}
}

func constantAfter(v uint32) string { return " " + constant(v) }

func TestGlobalsAndTablesAreRestored(t *testing.T) {
	// run: global 0 becomes 5, element 3 the first function; check traps unless they are as at first.
	m := start(t, program("23 00 04 40 00 0b 41 03 25 00 d1 45 04 40 00 0b 41 05 24 00 41 03 41 00 25 00 26 00"))
	if err := m.run(t, meter.Save); err != nil {
		t.Fatal(err)
	}
	if err := m.run(t, "run"); err != nil {
		t.Fatal(err)
	}
	if err := m.run(t, "run"); err == nil {
		t.Fatal("the second run does not see what the first left")
	}
	if err := m.run(t, meter.Restore); err != nil {
		t.Fatal(err)
	}
	if err := m.run(t, "run"); err != nil {
		t.Errorf("after putting back: %v", err)
	}
}

func TestIrreversibleOperationsAndRefusedGrowthsAreMarked(t *testing.T) {
	const grow, refused, growTable, drop = "41 01 40 00 1a ", "41 7f 40 00 1a ", "d0 70 41 01 fc 0f 00 1a ", "fc 09 00 "
	for name, c := range map[string]struct {
		body string
		want uint64
	}{
		"memory.grow":                     {grow, 0},
		"table.grow":                      {growTable, meter.Irreversible},
		"data.drop":                       {drop, meter.Irreversible},
		"elem.drop":                       {"fc 0d 00", meter.Irreversible},
		"memory.fill":                     {"41 00 41 01 41 02 fc 0b 00", 0},
		"not reached":                     {"41 00 04 40 fc 09 00 0b", 0},
		"refused":                         {refused, meter.Refused},
		"a table refused":                 {"d0 70 41 7f fc 0f 00 1a", meter.Refused},
		"refused, then granted":           {refused + grow, 0},
		"granted, then refused":           {grow + refused, meter.Refused},
		"refused, then a table grows":     {refused + growTable, meter.Irreversible},
		"refused, then a segment dropped": {refused + drop, meter.Irreversible},
		"a table grows, then refused":     {growTable + refused, meter.Irreversible | meter.Refused},
		"all of it":                       {drop + refused + grow, meter.Irreversible},
	} {
		m := start(t, program(c.body))
		if err := m.run(t, "run"); err != nil {
			t.Fatal(err)
		}
		if got := m.ExportedGlobal(meter.Changed).Get(); got != c.want {
			t.Errorf("%s: marked with %d, want %d", name, got, c.want)
		}
	}
}

func TestOperationsThatFailOrTrapAtOnceAreNotChargedByCount(t *testing.T) {
	const fuel = 1 << 40
	for name, body := range map[string]string{
		"memory.grow by four billion": "41 7f 40 00 1a",
		"table.grow by four billion":  "d0 70 41 7f fc 0f 00 1a",
		"table.fill of four billion":  "41 00 d0 70 41 7f fc 11 00",
		"table.copy of four billion":  "41 00 41 00 41 7f fc 0e 00 00",
	} {
		m := start(t, program(body))
		left := m.ExportedGlobal(meter.Fuel).(api.MutableGlobal)
		left.Set(fuel)
		err := m.run(t, "run")
		if traps := strings.Contains(name, "table.fill") || strings.Contains(name, "table.copy"); (err != nil) != traps {
			t.Errorf("run %s: %v, want a trap: %t", name, err, traps)
		}
		if used := fuel - int64(left.Get()); used > 1000 {
			t.Errorf("%s: it used %d", name, used)
		}
	}
}

func TestCodeThatGrowsTooMuchIsRefused(t *testing.T) {
	v, err := wasm.Parse(program(strings.Repeat("03 40 0b ", 1000)), wasm.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for most, fits := range map[int]bool{100: false, 13_000: false, 100_000: true, 0: true} {
		var size *meter.SizeError
		_, _, err := meter.Rewrite(v, meter.Options{MaxBytes: most})
		if errors.As(err, &size) == fits || fits && err != nil {
			t.Errorf("at most %d: %v", most, err)
		}
	}
}

// TestCallsInDeepLoopsCostTheSameAsOthers compares nested loops with as many of them one after the other, by the best of some
// attempts. With all loops marked at each call the nested ones take hundreds of times as long.
func TestCallsInDeepLoopsCostTheSameAsOthers(t *testing.T) {
	const loops, calls, most = 5000, 100_000, 10
	best := func(body string) time.Duration {
		t.Helper()
		v, err := wasm.Parse(program(body, "10 00"), wasm.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		took := time.Duration(math.MaxInt64)
		for range 5 {
			began := time.Now()
			if _, _, err := meter.Rewrite(v, meter.Options{}); err != nil {
				t.Fatal(err)
			}
			took = min(took, time.Since(began))
		}
		return took
	}
	flat := best(strings.Repeat("03 40 0b ", loops) + strings.Repeat("10 01 ", calls))
	nested := best(strings.Repeat("03 40 ", loops) + strings.Repeat("10 01 ", calls) + strings.Repeat("0b ", loops))
	t.Logf("nested %v, flat %v", nested, flat)
	if nested > most*flat {
		t.Errorf("nested loops took %v, %d times the %v of others are allowed", nested, most, flat)
	}
}

func TestNamesOfTheHostAreRefused(t *testing.T) {
	imports := append(append(hex("01 0c"), meter.TickModule...), append(append(hex("04"), meter.TickName...), 0, 0)...)
	exports := append(append(hex("01 0b"), meter.Fuel...), 3, 0)
	for name, b := range map[string][]byte{
		"import": assemble(part{1, hex("01 60 00 00")}, part{2, imports}),
		"export": assemble(part{6, hex("01 7e 01 42 00 0b")}, part{7, exports}),
	} {
		v, err := wasm.Parse(b, wasm.Limits{})
		if err != nil {
			t.Fatalf("%s: Parse: %v", name, err)
		}
		var named *meter.NameError
		if _, _, err := meter.Rewrite(v, meter.Options{}); !errors.As(err, &named) {
			t.Errorf("%s: Rewrite: %v, want a NameError", name, err)
		}
	}
}

func TestAnOversizedTableIsRefusedAndOthersAreBounded(t *testing.T) {
	v, err := wasm.Parse(program("d0 70 41 64 fc 0f 00 41 7f 46 04 40 00 0b"), wasm.Limits{}) // grow by 100, trap when refused
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := meter.Rewrite(v, meter.Options{TableMax: 9}); err == nil || !strings.Contains(err.Error(), "at most 9") {
		t.Errorf("a table of 10 with at most 9: %v", err)
	}
	out, _, err := meter.Rewrite(v, meter.Options{TableMax: 50})
	if err != nil {
		t.Fatal(err)
	}
	again, err := wasm.Parse(out, wasm.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if tables := again.AllTables(); !tables[0].HasMax || tables[0].Max != 50 {
		t.Errorf("the table may grow to %+v", tables[0])
	}
}
