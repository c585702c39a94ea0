package search

import (
	"fmt"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/store"
)

// BenchmarkViews searches a chain of branches, each of which overwrites a part of what is before it: at the end and in the
// past, with views that are ready and without.
func BenchmarkViews(b *testing.B) {
	x, c := New(Options{}), newCorpus(1)
	docs, branches := size(200_000), 20
	lineage := store.Lineage{}
	version := uint64(0)
	for branch := range branches {
		for from := 0; from < docs/branches; from += 1000 {
			batch := c.docs(0, min(1000, docs/branches-from))
			for i := range batch {
				version++
				batch[i].Branch, batch[i].Version, batch[i].Key = store.BranchID(branch+1), version, fmt.Sprintf("key-%07d", (branch*docs/branches+from+i)*9/10)
			}
			x.Apply(batch...)
			if err := x.Maintain(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
		lineage = append(store.Lineage{{Branch: store.BranchID(branch + 1), At: version}}, lineage...)
	}
	lineage[0].At = store.Latest
	flat := New(Options{})
	fill(b, flat, docs)
	questions := make([]string, 300)
	for i := range questions {
		questions[i] = c.question()
	}
	run := func(name string, x *Index, l store.Lineage) {
		b.Run(name, func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				if _, err := x.Search(b.Context(), View{Lineage: l, Now: time.UnixMicro(1)}, Query{Text: questions[i%len(questions)]}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	run("one branch", flat, trunk)
	run("20 deep", x, lineage)
	run("20 deep in the past", x, lineage.At(version*3/4))
	b.Run("cold view", func(b *testing.B) {
		for b.Loop() {
			clear(x.cache)
			if _, err := x.Search(b.Context(), View{Lineage: lineage}, Query{Text: "tea"}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
