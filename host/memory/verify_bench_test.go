package memory

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/bench/measure"
)

// BenchmarkVerify verifies a space of ALCOVE_BENCH_MEMORIES texts of 20 to 80 words, or 100,000: the store by itself, and all with the
// index. It prints MB of the database per second by the wall clock and per second of CPU.
//
//	go test ./host/memory -run '^$' -bench BenchmarkVerify$ -benchtime 3x -timeout 60m
func BenchmarkVerify(b *testing.B) {
	dir, texts := b.TempDir(), measure.NewTexts(1)
	s, closeSpace := openSpace(b, dir, time.Now)
	b.Cleanup(closeSpace)
	for done := range benchMemories(b) / 1000 {
		items := make([]Item, 1000)
		for i := range items {
			items[i] = Item{Key: fmt.Sprintf("m/%09d", done*1000+i), Value: fmt.Appendf(nil, "%q", texts.Text(20, 80))}
		}
		if _, err := s.Store(b.Context(), Location{}, items, Write{}); err != nil {
			b.Fatal(err)
		}
	}
	info, err := os.Stat(filepath.Join(dir, "alcove.db"))
	if err != nil {
		b.Fatal(err)
	}
	measured := func(name string, do func() error) {
		b.Run(name, func(b *testing.B) {
			began, used := time.Now(), usedCPU()
			for b.Loop() {
				if err := do(); err != nil {
					b.Fatal(err)
				}
			}
			all := float64(info.Size()) * float64(b.N) / 1e6
			b.ReportMetric(all/time.Since(began).Seconds(), "MB/s")
			b.ReportMetric(all/(usedCPU()-used).Seconds(), "MB/CPU-s")
			b.ReportMetric(0, "ns/op")
		})
	}
	measured("store", func() error { return s.engine.Check(b.Context()) })
	measured("all", func() error {
		report, err := s.Verify(b.Context())
		if len(report.Findings) > 0 {
			b.Fatalf("Verify found %v, want nothing", report.Findings)
		}
		return err
	})
}
