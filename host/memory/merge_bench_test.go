package memory

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"
)

// BenchmarkMergeBesideWriters merges as many keys as one merge may, while others store on its target.
func BenchmarkMergeBesideWriters(b *testing.B) {
	const writers = 4
	for range b.N {
		b.StopTimer()
		s := testSpace(b)
		keys := s.limits.MergeKeys
		fork(b, s, "", "try")
		putMany(b, s, "try", keys, "theirs")
		ctx, stop := context.WithCancel(b.Context())
		longest := make([]time.Duration, writers)
		stored := make([]int, writers)
		var group sync.WaitGroup
		for w := range writers {
			group.Go(func() {
				for ; ctx.Err() == nil; stored[w]++ {
					began := time.Now()
					if _, err := s.Store(b.Context(), Location{}, []Item{{Key: fmt.Sprint("w", w), Value: json.RawMessage(fmt.Sprint(stored[w]))}}, Write{}); err != nil {
						b.Error(err)
						return
					}
					longest[w] = max(longest[w], time.Since(began))
				}
			})
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		b.StartTimer()
		done, err := s.Merge(b.Context(), Merge{Source: "try"}, Write{})
		b.StopTimer()
		runtime.ReadMemStats(&after)
		stop()
		group.Wait()
		if err != nil || done.Changed != keys {
			b.Fatalf("got %d changes, %v; want %d", done.Changed, err, keys)
		}
		b.ReportMetric(float64(max(longest[0], longest[1], longest[2], longest[3]).Milliseconds()), "longest-wait-ms")
		b.ReportMetric(float64(stored[0]+stored[1]+stored[2]+stored[3]), "stores-beside")
		b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/float64(1<<20), "MB-allocated")
		b.StartTimer()
	}
}
