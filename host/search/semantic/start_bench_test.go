package semantic

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/search"
	"github.com/alcove-memory/alcove/host/store/bolt"
)

// none128 is an instant embedder that embeds nothing again.
type none128 struct{}

func (none128) Vector(string) []float32                        { return nil }
func (none128) OfWords(search.DocumentWords) ([]float32, bool) { return nil, false }
func (none128) Documents(_ context.Context, refs []search.Ref) ([]search.Doc, error) {
	return make([]search.Doc, len(refs)), nil
}

// BenchmarkStart starts with 100,000 documents (ALCOVE_VECTORS for another number) whose vectors of 128 dimensions are in files: the time
// to register the documents, the time until all have their vectors, and the memory that a document takes.
func BenchmarkStart(b *testing.B) {
	n, err := strconv.Atoi(os.Getenv("ALCOVE_VECTORS"))
	if err != nil {
		n = 100_000
	}
	engine, err := bolt.Open(b.Context(), b.TempDir(), bolt.Options{NoSync: true})
	if err != nil {
		b.Fatal(err)
	}
	defer engine.Close()
	settings := Settings{Name: "words", Identity: "1", Dimensions: 128, Instant: none128{}}
	ref := func(i int) search.Ref {
		return search.Ref{Branch: 1, Version: uint64(i + 1), Namespace: "default", Collection: "memory", Key: fmt.Sprintf("memory-%07d", i)}
	}
	open := func() *Keeper {
		k := New(Options{Blobs: engine, FlushAfter: time.Millisecond})
		if err := k.Set(settings); err != nil {
			b.Fatal(err)
		}
		k.Start(none128{})
		return k
	}
	settle := func(k *Keeper, vectors int) {
		for s := k.Status()[0]; s.Vectors < vectors || s.Waiting > 0; s = k.Status()[0] {
			time.Sleep(time.Millisecond)
		}
	}
	k := open()
	for i := range n {
		k.Add(uint32(i), ref(i), search.Embedding{By: k.instant().id, Vector: randomVector(uint64(i))[:128]})
	}
	settle(k, n)
	if err := k.Close(); err != nil {
		b.Fatal(err)
	}
	var adding, all time.Duration
	var size int64
	for b.Loop() {
		before := heap()
		start := time.Now()
		k := open()
		for i := range n {
			k.Add(uint32(i), ref(i), search.Embedding{})
		}
		adding += time.Since(start)
		settle(k, n)
		all += time.Since(start)
		size += heap() - before
		if err := k.Close(); err != nil {
			b.Fatal(err)
		}
	}
	each := float64(b.N * n)
	b.ReportMetric(float64(adding.Nanoseconds())/each, "ns-added")
	b.ReportMetric(float64(all.Nanoseconds())/each, "ns-ready")
	b.ReportMetric(float64(size)/each, "bytes-each")
	b.ReportMetric(0, "ns/op")
}
