package interop

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/sandbox"
)

// BenchmarkCallAfterGrowth measures a small echo, a large one, for which the guest's memory grows, and a small one after it. Each is the
// whole call, with the reset of the instance; medians, in µs. ratio is that of the small echoes.
func BenchmarkCallAfterGrowth(b *testing.B) {
	manifest, err := os.ReadFile("manifest.json")
	if err != nil {
		b.Fatal(err)
	}
	inGo := builtGo(b)
	for _, c := range []struct {
		language, path string
		kib            int // of the large echo
	}{
		{"go", inGo, 64}, {"go", inGo, 1024}, {"rust", "testdata/rust.wasm", 1024}, {"c", "testdata/c.wasm", 1024},
		{"assemblyscript", "testdata/assemblyscript.wasm", 1024},
	} {
		raw, err := os.ReadFile(c.path)
		if err != nil {
			b.Fatal(err)
		}
		packed, err := sandbox.Pack(raw, manifest)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("%s/%dKiB", c.language, c.kib), func(b *testing.B) {
			m, _ := loaded(b, packed, sandbox.Cache{Dir: filepath.Join(b.TempDir(), "cache")})
			small, large := scenes(b)[0], echoOf(b, c.kib<<10)
			before := asked(b, m, small).Memory
			var plain, growing, next []time.Duration
			for b.Loop() {
				plain = append(plain, whole(func() { asked(b, m, small) }))
				growing = append(growing, whole(func() {
					if r := asked(b, m, large); r.Memory <= before {
						b.Fatalf("the memory has %d bytes, as before", r.Memory)
					}
				}))
				next = append(next, whole(func() { asked(b, m, small) }))
			}
			for unit, list := range map[string][]time.Duration{"small-µs": plain, "large-µs": growing, "next-µs": next} {
				b.ReportMetric(1000*ms(median(list)), unit)
			}
			b.ReportMetric(float64(median(next))/float64(median(plain)), "ratio")
		})
	}
}

func whole(f func()) time.Duration {
	began := time.Now()
	f()
	return time.Since(began)
}
