package meter_test

import (
	"strings"
	"testing"

	"github.com/tetratelabs/wazero/api"

	"github.com/alcove-memory/alcove/host/sandbox/meter"
	"github.com/alcove-memory/alcove/host/sandbox/wasm"
)

func TestOnlyRecursiveFunctionsCountTheirDepth(t *testing.T) {
	for name, c := range map[string]struct {
		bodies []string
		want   int
	}{
		"none":                           {[]string{"10 01", "10 02", "03 40 0b"}, 0},
		"itself":                         {[]string{"10 01", "10 01"}, 1},
		"in turns":                       {[]string{"10 01", "10 02", "10 01"}, 2},
		"a cycle of three, and a caller": {[]string{"10 01", "10 02", "10 03", "10 01"}, 3},
		"two that meet":                  {[]string{"10 01 10 02", "10 03", "10 03", "03 40 0b"}, 0},
		"through the table":              {[]string{"10 01", "41 00 11 00 00"}, 2}, // the first is in the table
		"out of the table":               {[]string{"10 01", "03 40 0b", "41 00 11 00 00"}, 0},
	} {
		v, err := wasm.Parse(program(c.bodies...), wasm.Limits{})
		if err != nil {
			t.Fatalf("%s: Parse: %v", name, err)
		}
		if _, report, err := meter.Rewrite(v, meter.Options{}); err != nil || report.Recursive != c.want {
			t.Errorf("%s: %d count (%v), want %d", name, report.Recursive, err, c.want)
		}
	}
}

func TestEveryExitDecrementsTheDepth(t *testing.T) {
	for name, wayOut := range map[string]string{
		"the end":     "",
		"return":      "0f",
		"br":          "0c 00",
		"br_if":       "41 01 0d 00",
		"br_table":    "41 00 0e 00 00",
		"from a loop": "03 40 0c 01 0b",
	} {
		// It calls itself until the global is 5, and leaves.
		m := start(t, program("23 00 41 01 6a 24 00 23 00 41 05 48 04 40 10 00 0b "+wayOut))
		m.ExportedGlobal(meter.Fuel).(api.MutableGlobal).Set(1 << 40)
		if err := m.run(t, "run"); err != nil {
			t.Fatalf("%s: run: %v", name, err)
		}
		if depth := m.ExportedGlobal(meter.Depth).Get(); depth != 0 {
			t.Errorf("%s: the depth is %d at the end", name, depth)
		}
	}
}

func TestDepthIsThatOfTheStackWhenFuelIsUsedUp(t *testing.T) {
	m := start(t, program("23 00 41 01 6a 24 00 23 00 41 2c 48 04 40 10 00 0b 03 40 0c 00 0b")) // 44 deep, then for ever
	m.stopAt = func() bool { return m.ExportedGlobal(meter.Depth).Get() >= 44 }
	if err := m.run(t, "run"); err == nil || !strings.Contains(err.Error(), "stopped") {
		t.Fatalf("it ended by itself: %v", err)
	}
	if depth := m.ExportedGlobal(meter.Depth).Get(); depth != 44 {
		t.Errorf("the depth is %d, want 44", depth)
	}
}

func TestLongChainsOfCallsAreSearchedWithoutRecursion(t *testing.T) {
	const length = 50_000
	chain := &wasm.Module{Types: []wasm.FuncType{{}}, Functions: make([]uint32, length)}
	for i := range uint32(length) {
		body := wasm.AppendU32([]byte{byte(wasm.OpCall)}, min(i+1, length-1))
		chain.Codes = append(chain.Codes, wasm.Code{Body: append(body, byte(wasm.OpEnd))})
	}
	v, err := wasm.Parse(wasm.Encode(chain), wasm.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if _, report, err := meter.Rewrite(v, meter.Options{}); err != nil || report.Recursive != 1 {
		t.Errorf("%d count (%v), want the last alone", report.Recursive, err)
	}
}
