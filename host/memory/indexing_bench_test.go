package memory

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/search"
	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt"
)

// noIndex is what writing costs without an index.
type noIndex struct{ Index }

func (noIndex) Apply(...search.Doc)  {}
func (noIndex) Prepare([]search.Doc) {}
func (noIndex) Due() <-chan struct{} { return nil }
func (noIndex) Load(context.Context, search.Blobs, *slog.Logger) (search.Coverage, error) {
	return search.Coverage{}, nil
}
func (noIndex) Save(context.Context, search.Blobs, uint64) error    { return nil }
func (noIndex) SaveAll(context.Context, search.Blobs, uint64) error { return nil }
func (noIndex) Drop(store.BranchID)                                 {}

// BenchmarkStore stores memories of 200 bytes, by 16 writers and one by one or in batches, with an index and without.
func BenchmarkStore(b *testing.B) { benchmarkStore(b, Caller{Rights: FullRights()}) }

// BenchmarkStoreOfACall is BenchmarkStore with a note of whose each commit is.
func BenchmarkStoreOfACall(b *testing.B) {
	benchmarkStore(b, Caller{Agent: "ann", Family: "notes", Call: "01JDC5W0V3S8Y6Q2K4M9N7P1RT", Rights: FullRights()})
}

func benchmarkStore(b *testing.B, by Caller) {
	words := strings.Fields("tea coffee green black afternoon morning deploy script staging garden rain keeper window silver harbour")
	for _, batch := range []int{1, 100} {
		for _, with := range []bool{true, false} {
			b.Run(fmt.Sprintf("batch %d, index %t", batch, with), func(b *testing.B) {
				engine, err := bolt.Open(b.Context(), b.TempDir(), bolt.Options{})
				if err != nil {
					b.Fatal(err)
				}
				var index Index = search.New(search.Options{})
				if !with {
					index = noIndex{}
				}
				s, err := Open(b.Context(), Options{Engine: engine, Index: index, Clock: time.Now})
				if err != nil {
					b.Fatal(err)
				}
				var n atomic.Int64
				b.SetParallelism(16)
				b.ResetTimer()
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						items := make([]Item, batch)
						for i := range items {
							k := n.Add(1)
							var text strings.Builder
							for j := range int64(28) {
								fmt.Fprintf(&text, "%s%d ", words[(k*7+j*13)%15], (k*j)%50)
							}
							items[i] = Item{Key: fmt.Sprint("key", k), Value: fmt.Appendf(nil, "%q", text.String())}
						}
						if _, err := s.As(by).Store(context.Background(), Location{}, items, Write{}); err != nil {
							b.Error(err)
							return
						}
					}
				})
				b.ReportMetric(float64(n.Load())/b.Elapsed().Seconds(), "memories/s")
				if err := errors.Join(s.Close(context.Background()), engine.Close()); err != nil {
					b.Fatal(err)
				}
			})
		}
	}
}
