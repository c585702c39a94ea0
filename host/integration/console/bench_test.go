//go:build guests

package console

import (
	"strconv"
	"strings"
	"testing"
)

// BenchmarkConsole measures the console at 100,000 memories, in one browser: first paint, search as it is typed, and a stream of events.
func BenchmarkConsole(b *testing.B) {
	s := started(b)
	fill(b, s)
	g := asOperator(b, s)
	g.Facts = map[string]any{"queries": []string{"deploy every release", "postgres replica", "retry with exponential backoff", "the legal department", "error budget of billing", "berlin office",
		"feature flag", "nightly backup", "customer data in frankfurt"}}
	for b.Loop() {
		for line := range strings.Lines(scenarios(b, "budgets", g)) {
			fields := strings.Fields(line)
			if len(fields) != 3 || fields[0] != "metric" {
				continue
			}
			value, err := strconv.ParseFloat(fields[2], 64)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(value, fields[1])
		}
	}
}
