package memory

import (
	"slices"
	"testing"
	"time"
)

// BenchmarkStatus summarizes a space after each store of a memory, and prints the first call and the median of the others, in
// milliseconds. ALCOVE_BENCH_MEMORIES is how many memories there are; 100,000 otherwise.
//
//	go test ./host/memory -run '^$' -bench BenchmarkStatus -benchtime 200x -timeout 60m
func BenchmarkStatus(b *testing.B) {
	s := fillListed(b, benchMemories(b))
	for _, namespace := range []string{Default, AllNamespaces} {
		b.Run(namespace, func(b *testing.B) {
			var took []time.Duration
			for b.Loop() {
				put(b, s.Space, "", "key-0000001", time.Now().String())
				began := time.Now()
				if _, err := s.Status(b.Context(), Location{Namespace: namespace}); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(began))
			}
			first := took[0]
			slices.Sort(took)
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(first.Microseconds())/1000, "first-ms")
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
		})
	}
}
