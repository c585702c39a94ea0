package sandbox

import (
	"os"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/abi"
)

// TestDeepRecursionTiming is a scratch measurement.
func TestDeepRecursionTiming(t *testing.T) {
	if os.Getenv("ALCOVE_SCRATCH") == "" {
		t.Skip("scratch")
	}
	for _, cpu := range []int64{2, 5, 10, 20, 40, 60, 80} {
		m := acts(t, testConfig(t), abi.Limits{CPUMS: cpu, WallMS: 1000})
		for range 3 {
			begin := time.Now()
			r := ask(t, m, "r")
			t.Logf("limit %d ms: %s, took %v (cpu %v), fuel %d", cpu, r.Class, time.Since(begin), r.CPU, r.Fuel)
		}
	}
}
