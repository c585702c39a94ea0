package search

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/store/bolt"
)

// BenchmarkStart loads a saved index, searches it for the first time, and lists the newest documents for the first time.
func BenchmarkStart(b *testing.B) {
	n := size(100_000)
	engine, err := bolt.Open(b.Context(), b.TempDir(), bolt.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer engine.Close()
	written := New(Options{})
	c := newCorpus(1)
	for from := 0; from < n; from += 1000 {
		docs := c.docs(from, 1000)
		for i := range docs {
			if docs[i].Agent = fmt.Sprint("agent", i%3); i%10 == 0 {
				docs[i].Tags = []string{"tenth"}
			}
		}
		written.Apply(docs...)
		if err := written.Maintain(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	if err := written.SaveAll(b.Context(), engine, uint64(n)); err != nil {
		b.Fatal(err)
	}
	written = nil
	before := heapInUse()
	view := View{Lineage: trunk, Namespaces: []string{"default"}, Collections: []string{"memory"}, Now: time.Now()}
	took := map[string]time.Duration{}
	timed := func(what string, do func() error) {
		began := time.Now()
		if err := do(); err != nil {
			b.Fatal(err)
		}
		took[what] += time.Since(began)
	}
	held := uint64(0)
	for b.Loop() {
		x := New(Options{})
		timed("load", func() error {
			_, err := x.Load(b.Context(), engine, silent())
			return err
		})
		timed("search", func() error {
			_, err := x.Search(b.Context(), view, Query{Text: c.question()})
			return err
		})
		for _, list := range []struct {
			name string
			Filter
		}{{"newest", Filter{}}, {"tag", Filter{Tags: []string{"tenth"}}}} {
			timed(list.name, func() error {
				left := 20
				return x.Select(b.Context(), view, list.Filter, Ordering{By: ByUpdate, Descending: true, Most: left}, func(*Columns) bool {
					left--
					return left > 0
				})
			})
		}
		held = heapInUse() - before
		if err := x.Close(); err != nil {
			b.Fatal(err)
		}
	}
	for what, t := range took {
		b.ReportMetric(float64(t.Microseconds())/1000/float64(b.N), what+"-ms")
	}
	b.ReportMetric(float64(held)/1e6, "heap-MB")
}

func heapInUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
