package search_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/search"
	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/testing/planted"
)

// plantedDocs are memories with keys and tags of their own, of which one in twenty says the same as another one.
func plantedDocs(n int) (docs []search.Doc) {
	for i, m := range planted.Make(planted.Options{Memories: n, Duplicates: n / 20, Contradictions: n / 100, Seed: 1}).Memories {
		docs = append(docs, search.Doc{Branch: 1, Version: uint64(i + 1), Namespace: "default", Collection: "memory", Key: "note/" + m.Key, State: search.Active,
			Text: []string{m.Text}, Tags: []string{fmt.Sprint("tag", i%7)}})
	}
	return docs
}

func pairing() search.PairQuery {
	return search.PairQuery{Documents: 20_000, Similarity: .4, Missing: 1, Most: 100_000}
}

func viewOf(namespace string) search.View {
	return search.View{Lineage: store.Lineage{{Branch: 1, At: store.Latest}}, Namespaces: []string{namespace}, Collections: []string{"memory"}, Now: time.UnixMicro(1)}
}

// keyPair is a pair by its keys, the smaller first.
type keyPair [2]string

func keyPairs(found search.Paired) map[keyPair]float64 {
	pairs := map[keyPair]float64{}
	for _, p := range found.Pairs {
		a, b := found.Keys[p.A], found.Keys[p.B]
		pairs[keyPair{min(a, b), max(a, b)}] = float64(p.Similarity)
	}
	return pairs
}

// everyPair compares each document with each, and returns what q asks for.
func everyPair(docs []search.Doc, q search.PairQuery) map[keyPair]float64 {
	by, _ := search.NewAnalyser("english")
	terms, counts := make([][]string, len(docs)), map[string]int{}
	for i, d := range docs {
		for term := range by.Words(strings.Join(d.Text, "\n")) {
			for _, stop := range by.Words(term) { // own is one, and the stem of owned
				if !stop {
					terms[i] = append(terms[i], term)
				}
			}
		}
		slices.Sort(terms[i])
		terms[i] = slices.Compact(terms[i])
		for _, term := range terms[i] {
			counts[term]++
		}
	}
	weigh := func(term string) float64 { return 1 + math.Log(float64(1+len(docs))/float64(counts[term]))/2 }
	type both struct {
		a, b       int
		similarity float64
		lacks      int
	}
	var all []both
	first, second := make([]float64, len(docs)), make([]float64, len(docs))
	for b := range docs {
		for a := range b {
			shared, either, common := 0.0, 0.0, 0
			x, y := terms[a], terms[b]
			for len(x) > 0 || len(y) > 0 {
				switch {
				case len(y) == 0 || len(x) > 0 && x[0] < y[0]:
					either += weigh(x[0])
					x = x[1:]
				case len(x) == 0 || y[0] < x[0]:
					either += weigh(y[0])
					y = y[1:]
				default:
					shared, either, common = shared+weigh(x[0]), either+weigh(x[0]), common+1
					x, y = x[1:], y[1:]
				}
			}
			if s := shared / either; s >= q.Similarity {
				for _, i := range []int{a, b} {
					first[i], second[i] = max(first[i], s), max(second[i], min(first[i], s))
				}
				all = append(all, both{a, b, s, min(len(terms[a]), len(terms[b])) - common})
			}
		}
	}
	pairs := map[keyPair]float64{}
	for _, p := range all {
		if p.lacks <= q.Missing || max(first[p.a], first[p.b]) <= p.similarity && max(second[p.a], second[p.b]) <= .8*p.similarity {
			pairs[keyPair{min(docs[p.a].Key, docs[p.b].Key), max(docs[p.a].Key, docs[p.b].Key)}] = p.similarity
		}
	}
	return pairs
}

// TestPairsAreThoseThatAComparisonOfEachWithEachFinds also seals parts, so that both forms of postings are read.
func TestPairsAreThoseThatAComparisonOfEachWithEachFinds(t *testing.T) {
	docs := plantedDocs(1_000)
	x := search.New(search.Options{Tail: 300})
	for part := range slices.Chunk(docs, 100) {
		x.Apply(part...)
		x.Maintain(t.Context())
	}
	for _, q := range []search.PairQuery{pairing(), {Documents: 20_000, Similarity: .6, Missing: 1000, Most: 100_000}} {
		found, err := x.Pairs(t.Context(), viewOf("default"), q)
		if err != nil {
			t.Fatal(err)
		}
		got, want, there := keyPairs(found), everyPair(docs, q), 0
		for pair, similarity := range want {
			if s, ok := got[pair]; ok && math.Abs(s-similarity) < 1e-4 {
				there++
			}
		}
		t.Logf("similarity %.1f: %d of %d pairs, and %d others", q.Similarity, there, len(want), len(got)-there)
		if there*1000 < len(want)*995 || len(got)-there > len(want)/200 {
			t.Errorf("similarity %.1f: found %d of %d pairs, and %d others; want 99.5 of 100", q.Similarity, there, len(want), len(got)-there)
		}
	}
}

func TestPairsAreOfTheViewAndTheFilter(t *testing.T) {
	x := search.New(search.Options{})
	tea := []string{"Ann Lee prefers green tea in the morning"}
	doc := func(version int, key string, change func(*search.Doc)) search.Doc {
		d := search.Doc{Branch: 1, Version: uint64(version), Namespace: "default", Collection: "memory", Key: key, State: search.Active, Text: tea}
		change(&d)
		return d
	}
	x.Apply(
		doc(1, "a", func(*search.Doc) {}),
		doc(2, "b", func(d *search.Doc) { d.Tags = []string{"an", "other", "tag"} }),
		doc(3, "archived", func(d *search.Doc) { d.State = "archived" }),
		doc(4, "elsewhere", func(d *search.Doc) { d.Namespace = "work" }),
		doc(5, "c", func(*search.Doc) {}), doc(6, "c", func(d *search.Doc) { d.Text = []string{"Bob walks his dog along the river"} }),
		doc(7, "gone", func(*search.Doc) {}), doc(8, "gone", func(d *search.Doc) { d.Deleted = true }),
		doc(9, "forked", func(d *search.Doc) { d.Branch = 2 }),
	)
	q := pairing()
	q.Filter.States = []string{search.Active}
	pairs := func(view search.View, q search.PairQuery) string {
		found, err := x.Pairs(t.Context(), view, q)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(keyPairs(found), found.More)
	}
	fork := viewOf("default")
	fork.Lineage = store.Lineage{{Branch: 2, At: store.Latest}, {Branch: 1, At: 5}}
	after, few := q, q
	after.After, few.Documents = "a", 2
	for _, c := range []struct {
		name string
		view search.View
		q    search.PairQuery
		want string
	}{
		{"the branch", viewOf("default"), q, "map[[a b]:1] false"},
		{"another namespace", viewOf("work"), q, "map[] false"},
		{"a fork", fork, q, "map[[a b]:1 [a c]:1 [a forked]:1 [b c]:1 [b forked]:1 [c forked]:1] false"},
		{"after a key", viewOf("default"), after, "map[] false"},
		{"the first two", viewOf("default"), few, "map[[a b]:1] true"},
		{"all states", viewOf("default"), pairing(), "map[[a archived]:1 [a b]:1 [archived b]:1] false"},
	} {
		if got := pairs(c.view, c.q); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

func TestPairsOfDocumentsThatAreAlikeAreBounded(t *testing.T) {
	x := search.New(search.Options{})
	for i := range 2_000 {
		x.Apply(search.Doc{Branch: 1, Version: uint64(i + 1), Namespace: "default", Collection: "memory", Key: fmt.Sprint(i), State: search.Active, Text: []string{"the same in all"}})
	}
	found, err := x.Pairs(t.Context(), viewOf("default"), pairing())
	if err != nil || len(found.Pairs) == 0 || len(found.Pairs) > 64*2_000 {
		t.Errorf("2,000 documents that are alike have %d pairs, %v, want at most 64 each", len(found.Pairs), err)
	}
}

func BenchmarkPairs(b *testing.B) {
	for _, n := range []int{5_000, 20_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			x := search.New(search.Options{})
			x.Apply(plantedDocs(n)...)
			for b.Loop() {
				found, err := x.Pairs(b.Context(), viewOf("default"), pairing())
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(len(found.Pairs)), "pairs")
			}
		})
	}
}
