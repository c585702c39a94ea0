package speed_test

import (
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/testing/planted"
	"github.com/alcove-memory/alcove/host/testing/server"
)

// BenchmarkConsolidationBesideASearch asks for duplicates, contradictions and what both are of one text, and searches by turns, among
// ALCOVE_MEMORIES memories of which one in twenty is a duplicate. The ratio is to the search of the same run; what a call takes of processors
// says more than its time while other programs run.
func BenchmarkConsolidationBesideASearch(b *testing.B) {
	n := 5_000
	if v := os.Getenv("ALCOVE_MEMORIES"); v != "" {
		n, _ = strconv.Atoi(v)
	}
	w := server.Carrying(b, host.Options{})
	set := planted.Make(planted.Options{Memories: n, Duplicates: n / 20, Contradictions: n / 100, Seed: 1})
	for from := 0; from < n; from += 500 {
		var items []memory.Item
		for _, m := range set.Memories[from:min(from+500, n)] {
			items = append(items, memory.Item{Key: m.Key, Value: []byte(strconv.Quote(m.Text))})
		}
		if _, err := server.As(w.Memory(), "").Store(b.Context(), memory.Location{}, items, memory.Write{}); err != nil {
			b.Fatalf("store the memories: %v", err)
		}
	}
	c := server.Connected(b, w.Dir)
	calls := []struct {
		tool      string
		arguments map[string]any
	}{
		{"memory_search", map[string]any{"query": set.Memories[7].Text}},
		{"memory_check_duplicate", map[string]any{"content": set.Memories[7].Text}},
		{"memory_find_duplicates", map[string]any{}},
		{"memory_find_contradictions", map[string]any{}},
		{"memory_consolidate", map[string]any{"dry_run": true}},
	}
	took, used := make([]time.Duration, len(calls)), make([]time.Duration, len(calls))
	call := func() {
		for i, call := range calls {
			began, cpu := time.Now(), processCPU()
			if _, err := c.Call(b.Context(), call.tool, call.arguments); err != nil {
				b.Fatalf("call %s: %v", call.tool, err)
			}
			took[i] += time.Since(began)
			used[i] += processCPU() - cpu
		}
	}
	call() // which loads the family
	clear(took)
	clear(used)
	for b.Loop() {
		call()
	}
	for i, call := range calls {
		b.ReportMetric(float64(took[i])/float64(b.N)/1e6, call.tool+"-ms")
		b.ReportMetric(float64(used[i])/float64(b.N)/1e6, call.tool+"-cpu-ms")
		if i > 0 {
			b.ReportMetric(float64(took[i])/float64(took[0]), fmt.Sprint(call.tool, "/search"))
		}
	}
	b.ReportMetric(0, "ns/op")
}
