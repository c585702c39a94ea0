package speed_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/bench/measure"
	"github.com/alcove-memory/alcove/host/testing/server"
)

// BenchmarkAFactBesideAMemory stores memories and facts of 25 words by turns: what a family's tool that stores costs beside the core's.
// ratio is that of the medians. On a disk, syncing hides the difference: TMPDIR=/dev/shm.
func BenchmarkAFactBesideAMemory(b *testing.B) {
	w := server.Carrying(b, host.Options{})
	c := server.Connected(b, w.Dir)
	texts := measure.NewTexts(1)
	var took [2][]time.Duration
	call := func(which int, tool string, arguments map[string]any) {
		began := time.Now()
		if _, err := c.Call(b.Context(), tool, arguments); err != nil {
			b.Fatalf("call %s: %v", tool, err)
		}
		took[which] = append(took[which], time.Since(began))
	}
	both := func(i int) {
		text := texts.Text(25, 25)
		call(0, "memory_store", map[string]any{"key": fmt.Sprint("key/", i), "value": text})
		call(1, "memory_store_fact", map[string]any{"content": text, "factType": "decision"})
	}
	both(0) // which loads the family
	took = [2][]time.Duration{}
	for i := 1; b.Loop(); i++ {
		both(i)
	}
	median := func(list []time.Duration) float64 {
		slices.Sort(list)
		return float64(list[len(list)/2]) / float64(time.Microsecond)
	}
	b.ReportMetric(median(took[0]), "store-p50-µs")
	b.ReportMetric(median(took[1]), "fact-p50-µs")
	b.ReportMetric(median(took[1])/median(took[0]), "ratio")
	b.ReportMetric(0, "ns/op")
}
