package search

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/store"
)

// TestADocumentIsWrittenFewTimes fills an index of as many parts as ten million documents have, which is saved whenever a tail is full, and
// counts how often a document is in a file that is written.
func TestADocumentIsWrittenFewTimes(t *testing.T) {
	const tail, tails, most = 8, 10_000_000 / 8192, 8
	x, s := New(Options{Tail: tail}), &shelf{blobs: map[string][]byte{}}
	written, known := 0, map[string]bool{}
	for n := range tails {
		var docs []Doc
		for i := range tail {
			docs = append(docs, Doc{Branch: 1, Version: uint64(n*tail + i + 1), Namespace: "n", Collection: "c", Key: fmt.Sprint(n*tail + i), State: Active, Text: []string{"word"}})
		}
		x.Apply(docs...)
		if err := x.Maintain(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := x.Save(t.Context(), s, docs[tail-1].Version); err != nil {
			t.Fatal(err)
		}
		for _, p := range x.parts {
			if p.blob != "" && !known[p.blob] {
				known[p.blob] = true
				written += p.docs()
			}
		}
	}
	each := float64(written) / float64(tail*tails)
	t.Logf("each document was written %.2f times", each)
	if each > most {
		t.Errorf("each document was written %.2f times, want at most %d", each, most)
	}
}

// BenchmarkSearchBesideMerging searches an index of 100,000 documents (ALCOVE_DOCUMENTS for another number) while nothing else happens, and in
// turn while documents are added in batches of 100 and parts are sealed and merged without a pause.
func BenchmarkSearchBesideMerging(b *testing.B) {
	n, err := strconv.Atoi(os.Getenv("ALCOVE_DOCUMENTS"))
	if err != nil {
		n = 100_000
	}
	x, c := New(Options{Tail: 1024}), newCorpus(2)
	fill(b, x, n)
	view := View{Lineage: store.Lineage{{Branch: 1, At: store.Latest}}}
	search := func(took []time.Duration) []time.Duration {
		for range 300 {
			start := time.Now()
			if _, err := x.Search(b.Context(), view, Query{Text: c.question()}); err != nil {
				b.Fatal(err)
			}
			took = append(took, time.Since(start))
			time.Sleep(200 * time.Microsecond)
		}
		return took
	}
	texts := newCorpus(3).docs(0, 20_000)
	var idle, beside []time.Duration
	for version := uint64(n + 1); b.Loop(); {
		idle = search(idle)
		stop, done := make(chan struct{}), sync.WaitGroup{}
		done.Go(func() {
			for {
				for batch := range slices.Chunk(texts, 100) {
					select {
					case <-stop:
						return
					default:
					}
					batch = slices.Clone(batch)
					for i := range batch {
						batch[i].Version, batch[i].Branch = version, 2
						version++
					}
					x.Apply(batch...)
					if err := x.Maintain(b.Context()); err != nil {
						b.Error(err)
					}
				}
			}
		})
		beside = search(beside)
		close(stop)
		done.Wait()
	}
	p := func(list []time.Duration, part float64) float64 {
		slices.Sort(list)
		return float64(list[int(part*float64(len(list)-1))].Microseconds()) / 1e3
	}
	b.ReportMetric(p(idle, .5), "ms-p50-idle")
	b.ReportMetric(p(idle, .99), "ms-p99-idle")
	b.ReportMetric(p(beside, .5), "ms-p50-beside")
	b.ReportMetric(p(beside, .99), "ms-p99-beside")
	b.ReportMetric(0, "ns/op")
}
