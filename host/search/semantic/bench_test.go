package semantic

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/search"
	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt"
)

// random gives documents vectors of 384 dimensions by their number.
type random struct{}

func (r *random) Documents(_ context.Context, refs []search.Ref) ([]search.Doc, error) {
	docs := make([]search.Doc, len(refs))
	for i, ref := range refs {
		docs[i].Vector = randomVector(ref.Version)
	}
	return docs, nil
}

func randomVector(seed uint64) []float32 {
	source := rand.New(rand.NewPCG(seed, 1))
	v := make([]float32, 384)
	for i := range v {
		v[i] = float32(source.NormFloat64())
	}
	return v
}

// BenchmarkSearch searches an index of 100,000 documents (ALCOVE_VECTORS for another number), whose vectors are in files, by
// words, by words and meaning, and by meaning.
func BenchmarkSearch(b *testing.B) {
	n, err := strconv.Atoi(os.Getenv("ALCOVE_VECTORS"))
	if err != nil {
		n = 100_000
	}
	engine, err := bolt.Open(b.Context(), b.TempDir(), bolt.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer engine.Close()
	k := New(Options{Blobs: engine, FlushAfter: time.Millisecond})
	if err := k.Set(Settings{Name: "random", Identity: "1", Dimensions: 384, Batch: 512, Fusion: &search.Fusion{Weight: 2, Full: 50}}); err != nil {
		b.Fatal(err)
	}
	x := search.New(search.Options{Semantic: k})
	before := heap()
	var docs []search.Doc
	words := rand.New(rand.NewPCG(1, 1))
	for i := range n {
		docs = append(docs, search.Doc{Branch: 1, Version: uint64(i + 1), Namespace: "n", Collection: "memory", Key: strconv.Itoa(i), State: search.Active, Time: time.Now(),
			Text: []string{fmt.Sprintf("w%d w%d w%d w%d", words.IntN(100), words.IntN(1000), words.IntN(10000), words.IntN(100000))}, Tags: tagsOf(words.IntN(1000))})
		if len(docs) == 1000 {
			x.Apply(docs...)
			docs = docs[:0]
			if err := x.Maintain(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
	}
	x.Apply(docs...)
	indexed := heap()
	start := time.Now()
	k.Start(&random{})
	for s := k.Status()[0]; s.Vectors < n; s = k.Status()[0] {
		time.Sleep(5 * time.Millisecond)
	}
	b.Logf("%d vectors in %v; the index takes %d MB, the vectors %d MB", n, time.Since(start).Round(time.Millisecond), (indexed-before)>>20, (heap()-indexed)>>20)
	view := search.View{Lineage: store.Lineage{{Branch: 1, At: store.Latest}}, Now: time.Now()}
	for name, mode := range map[string]search.Mode{"words": search.Lexical, "both": search.Hybrid, "meaning": search.Dense} {
		b.Run(name, func(b *testing.B) {
			i := uint64(0)
			for b.Loop() {
				i++
				q := search.Query{Text: fmt.Sprintf("w%d w%d", i%1000, i%10000), K: 10, Mode: mode, Vector: randomVector(i)}
				if _, err := x.Search(b.Context(), view, q); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("filters", func(b *testing.B) { filtered(b, x, view) })
	if err := k.Close(); err != nil {
		b.Fatal(err)
	}
}

// tagsOf are those that a tenth, a hundredth and a thousandth of the documents have.
func tagsOf(n int) (tags []string) {
	for _, each := range []int{10, 100, 1000} {
		if n%each == 0 {
			tags = append(tags, "each"+strconv.Itoa(each))
		}
	}
	return tags
}

// filtered asks the same questions without a filter, and in turn with each tag: their medians, and each as a part of that without.
func filtered(b *testing.B, x *search.Index, view search.View) {
	took := map[string][]time.Duration{}
	tags := []string{"", "each10", "each100", "each1000", "none"}
	for i := uint64(0); b.Loop(); i++ {
		for _, tag := range tags {
			q := search.Query{Text: fmt.Sprintf("w%d w%d", i%1000, i%10000), K: 10, Vector: randomVector(i)}
			switch tag {
			case "":
			case "none":
				q.NoTags = []string{"each1000"}
			default:
				q.Tags = []string{tag}
			}
			start := time.Now()
			if _, err := x.Search(b.Context(), view, q); err != nil {
				b.Fatal(err)
			}
			took[tag] = append(took[tag], time.Since(start))
		}
		if i == 0 { // the columns that were asked for are made
			if err := x.Maintain(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
	}
	plain := 0.0
	for _, tag := range tags {
		slices.Sort(took[tag])
		ms := float64(took[tag][len(took[tag])/2].Microseconds()) / 1e3
		if tag == "" {
			plain = ms
			b.ReportMetric(ms, "ms-without")
			continue
		}
		b.ReportMetric(ms/plain, "x-"+tag)
	}
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
