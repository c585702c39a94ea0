package sandbox

import (
	"context"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/testing/must"
)

// TestTheDefaultFuelOutlastsTheDefaultTime compares the fuel of a Go guest in a millisecond with the defaults: code that
// computes ends at cpu_ms, which its author can predict, not at fuel. A slow machine uses less.
func TestTheDefaultFuelOutlastsTheDefaultTime(t *testing.T) {
	if testing.Short() {
		t.Skip("a guest in Go takes long to compile under the race detector: the tests without -short run it")
	}
	m, err := newSandbox(t, testConfig(t)).Admit(context.Background(), goGuest(t), Options{Bare: true})
	must.Do(t, err)
	fuel, ran := int64(0), time.Duration(0)
	for range 100 {
		r, err := m.Call(context.Background(), Request{Kind: abi.KindTool, Payload: kilobyte(), Host: tea{}})
		must.Do(t, err)
		if r.Class != abi.ClassOK {
			t.Fatalf("class %s, %v, want %s", r.Class, r.Error, abi.ClassOK)
		}
		fuel, ran = fuel+r.Fuel, ran+r.CPU
	}
	limits := abi.DefaultLimits()
	used, granted := float64(fuel)/float64(ran.Milliseconds()), limits.Fuel/limits.CPUMS
	t.Logf("%.0f units a millisecond of %d", used, granted)
	if fuel == 0 || used > float64(granted) {
		t.Errorf("it used %.0f units a millisecond, and the defaults grant %d", used, granted)
	}
}
