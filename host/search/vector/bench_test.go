package vector

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"
	"unsafe"
)

// benchSize is how many vectors are scanned; ALCOVE_VECTORS=1000000 for more.
func benchSize(b *testing.B) int {
	n, err := strconv.Atoi(os.Getenv("ALCOVE_VECTORS"))
	if err != nil {
		return 100_000
	}
	return n
}

const benchDimensions = 384

// BenchmarkFloatsAgainstBandwidth scans vectors in full precision, and in turn reads as many bytes of the same memory
// as fast as the processor can: bandwidth is the part of the latter's speed that the former reaches.
func BenchmarkFloatsAgainstBandwidth(b *testing.B) {
	n := benchSize(b)
	r := rand.New(rand.NewPCG(1, 2))
	rows, query, out := make([]float32, n*benchDimensions), randomFloats(r, benchDimensions), make([]float32, n)
	for i := range rows {
		rows[i] = 1.5 // its bytes are never 0xFD, which reading looks for
	}
	raw := unsafe.Slice((*byte)(unsafe.Pointer(&rows[0])), 4*len(rows))
	k := fastest()
	scan, read := time.Duration(1<<62), time.Duration(1<<62)
	for b.Loop() {
		start := time.Now()
		k.dotFloats(query, rows, out)
		scan = min(scan, time.Since(start))
		start = time.Now()
		if i := bytes.IndexByte(raw, 0xFD); i >= 0 {
			b.Fatalf("byte %d is what it cannot be", i)
		}
		read = min(read, time.Since(start))
		start = time.Now()
		if !bytes.Equal(raw[:len(raw)/2], raw[len(raw)/2:]) {
			b.Fatal("rows that were equal are not")
		}
		read = min(read, time.Since(start))
	}
	gigabytes := float64(len(raw)) / 1e9
	b.ReportMetric(gigabytes/scan.Seconds(), "scan-GB/s")
	b.ReportMetric(gigabytes/read.Seconds(), "read-GB/s")
	b.ReportMetric(float64(read)/float64(scan), "bandwidth")
	b.ReportMetric(float64(scan.Microseconds())/1e3, "scan-ms")
	b.ReportMetric(0, "ns/op")
}

func BenchmarkNearest(b *testing.B) {
	n := benchSize(b)
	r := rand.New(rand.NewPCG(1, 2))
	s := made(b, Options{Dimensions: benchDimensions, Codes: n}, nil)
	centres := clustered(r, 1000, benchDimensions)
	for i := range n {
		if err := s.Put(uint32(i), gaussian(r, benchDimensions, centres[i%len(centres)])); err != nil {
			b.Fatal(err)
		}
	}
	for name, scan := range map[string]Scan{"floats": Floats, "codes": Codes, "bits": Bits} {
		b.Run(name, func(b *testing.B) {
			sum, asked := 0.0, 0
			for b.Loop() {
				b.StopTimer()
				query := gaussian(r, benchDimensions, centres[asked%len(centres)])
				b.StartTimer()
				got, err := s.Nearest(context.Background(), Query{Vector: query, K: 10, Scan: scan})
				b.StopTimer()
				if err != nil {
					b.Fatal(err)
				}
				if asked++; asked <= 20 {
					sum += part(got, nearest(b, s, Query{Vector: query, K: 10, Scan: Floats}))
				}
				b.StartTimer()
			}
			b.ReportMetric(sum/float64(min(asked, 20)), "recall@10")
		})
	}
}
