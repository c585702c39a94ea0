//go:build guests

package console

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/testing/server"
)

const (
	benchMemories = 100_000
	benchBatch    = 1000
)

// BenchmarkConsole measures the console at 100,000 memories, in one browser: first paint, search as it is typed, and a stream of events.
func BenchmarkConsole(b *testing.B) {
	s := started(b)
	random := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("deploy release postgres retry backoff exponential legal department office berlin error budget feature flag nightly backup customer data frankfurt " +
		"queue consumer timeout billing invoice pull request review on call incident latency cache index shard replica vote ballot harbour crane pier")
	owner := server.Owner(s.Host, "bench")
	for n := 0; n < benchMemories; n += benchBatch {
		var items []memory.Item
		for i := n; i < n+benchBatch; i++ {
			text := make([]string, 12)
			for j := range text {
				text[j] = words[random.IntN(len(words))]
			}
			value, err := json.Marshal(strings.Join(text, " "))
			if err != nil {
				b.Fatal(err)
			}
			items = append(items, memory.Item{Key: fmt.Sprintf("note/%d", i), Value: value, Tags: []string{text[0], text[1]}, Type: "observation"})
		}
		if _, err := owner.Store(b.Context(), memory.Location{}, items, memory.Write{}); err != nil {
			b.Fatal(err)
		}
	}
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
