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

// benchRef is the document of a number.
func benchRef(number uint32) search.Ref {
	return search.Ref{Branch: 1, Version: uint64(number + 1), Namespace: "default", Collection: "memory", Key: fmt.Sprintf("memory-%07d", number)}
}

func (none128) Refs(numbers []uint32) ([]search.Ref, error) {
	refs := make([]search.Ref, len(numbers))
	for i, n := range numbers {
		refs[i] = benchRef(n)
	}
	return refs, nil
}

// BenchmarkStart starts with 100,000 documents (ALCOVE_VECTORS for another number) whose vectors of 128 dimensions are in files: the time
// until all have their vectors, and the memory that a document takes, after a clean stop and after a crash.
func BenchmarkStart(b *testing.B) {
	b.Run("clean", func(b *testing.B) { benchmarkStart(b, "state") })
	b.Run("crash", func(b *testing.B) { benchmarkStart(b, "") })
}

// BenchmarkSnapshot writes the snapshot of as many documents.
func BenchmarkSnapshot(b *testing.B) {
	n, _, k := benchmarkKeeper(b)
	defer k.Close()
	l := k.lanes()[0]
	for b.Loop() {
		clear(l.parts)
		if err := l.storeSnapshot(b.Context(), "state", nil, func(int) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns-each")
}

// benchmarkKeeper is a Keeper of n documents, whose vectors are in files.
func benchmarkKeeper(b *testing.B) (n int, engine *bolt.Engine, k *Keeper) {
	var err error
	n, err = strconv.Atoi(os.Getenv("ALCOVE_VECTORS"))
	if err != nil {
		n = 100_000
	}
	engine, err = bolt.Open(b.Context(), b.TempDir(), bolt.Options{NoSync: true})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { engine.Close() })
	k = benchmarkOpen(b, engine)
	k.Start(none128{})
	for i := range n {
		k.Add(uint32(i), benchRef(uint32(i)), search.Embedding{By: k.instant().id, Vector: randomVector(uint64(i))[:128]})
	}
	settled128(k, n)
	return n, engine, k
}

func benchmarkOpen(b *testing.B, engine *bolt.Engine) *Keeper {
	k := New(Options{Blobs: engine, FlushAfter: time.Millisecond})
	if err := k.Set(Settings{Name: "words", Identity: "1", Dimensions: 128, Instant: none128{}}); err != nil {
		b.Fatal(err)
	}
	return k
}

// settled128 waits until vectors are there and in files.
func settled128(k *Keeper, vectors int) {
	for s := k.Status()[0]; s.Vectors < vectors || s.Waiting > 0 || k.lanes()[0].tailLen() > 0; s = k.Status()[0] {
		time.Sleep(time.Millisecond)
	}
}

func benchmarkStart(b *testing.B, state string) {
	n, engine, k := benchmarkKeeper(b)
	k.Saving()
	k.Saved(state)
	if err := k.Close(); err != nil {
		b.Fatal(err)
	}
	var all time.Duration
	var size int64
	for b.Loop() {
		before := heap()
		start := time.Now()
		k := benchmarkOpen(b, engine)
		k.Begin(none128{}, search.Held{Numbers: uint32(n), Documents: n, State: state})
		k.Start(none128{})
		settled128(k, n)
		all += time.Since(start)
		size += heap() - before
		if err := k.Close(); err != nil {
			b.Fatal(err)
		}
	}
	each := float64(b.N * n)
	b.ReportMetric(float64(all.Nanoseconds())/each, "ns-ready")
	b.ReportMetric(float64(size)/each, "bytes-each")
	b.ReportMetric(0, "ns/op")
}
