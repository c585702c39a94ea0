//go:build guests

package families_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/testing/server"
	"github.com/alcove-memory/alcove/registry"
)

// BenchmarkPersonalBesideCareful is what the posture personal adds to stores and searches: of memories without a type and of decisions, by turns
// in two servers with 2,000 memories each.
func BenchmarkPersonalBesideCareful(b *testing.B) {
	servers := [2]fresh{startFresh(b, registry.Careful, nil), startFresh(b, registry.Personal, nil)}
	for _, f := range servers {
		for i := 0; i < 2000; i += 100 {
			var items []map[string]any
			for j, text := range sentences(100) {
				items = append(items, map[string]any{"key": fmt.Sprintf("k%d", i+j), "value": fmt.Sprintf("%s %d", text, i+j)})
			}
			f.timed("memory_store", map[string]any{"items": items})
		}
	}
	took := map[string]*[2][]time.Duration{"store": {}, "store-decision": {}, "search": {}}
	round := 0
	for b.Loop() {
		round++
		for i, text := range sentences(200) {
			for j, f := range servers {
				key := fmt.Sprintf("%d-%d", round, i)
				took["store"][j] = append(took["store"][j], f.timed("memory_store", map[string]any{"key": key, "value": text + key}))
				took["search"][j] = append(took["search"][j], f.timed("memory_search", map[string]any{"query": text}))
				took["store-decision"][j] = append(took["store-decision"][j], f.timed("memory_store", map[string]any{"key": "d" + key, "type": "decision", "value": text + key}))
			}
		}
	}
	for name, list := range took {
		careful, _ := percentiles(list[0])
		personal, _ := percentiles(list[1])
		b.ReportMetric(float64(careful.Microseconds()), name+"-careful-µs")
		b.ReportMetric(float64(personal)/float64(careful), name+"-ratio")
	}
	b.ReportMetric(0, "ns/op")
}

// timed calls a tool that succeeds, and returns how long it took.
func (f fresh) timed(tool string, arguments map[string]any) time.Duration {
	f.T.Helper()
	began := time.Now()
	text := server.AnswerText(f.c, tool, arguments)
	took := time.Since(began)
	if len(text) > 6 && text[:6] == "error:" {
		f.T.Fatalf("%s %v: got %s, want no error", tool, arguments, text)
	}
	return took
}
