package compare

import (
	"fmt"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/search"
	"github.com/alcove-memory/alcove/host/search/wordvec"
	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/testing/must"
	"github.com/alcove-memory/alcove/host/testing/planted"
)

// manyTexts are generated texts, and those of the labelled pairs among them.
func manyTexts(t *testing.T, generated int) (list []string) {
	t.Helper()
	for _, m := range planted.Make(planted.Options{Memories: generated, Duplicates: generated / 20, Contradictions: generated / 100, Seed: 1}).Memories {
		list = append(list, m.Text)
	}
	for _, name := range []string{"duplicates", "contradictions"} {
		for _, l := range readLabels(t, name) {
			list = append(list, l.A, l.B)
		}
	}
	return list
}

// joined are the pairs that the host's index has of texts, as the family asks for them.
func joined(t *testing.T, list []string) []Pair {
	t.Helper()
	x := search.New(search.Options{})
	for i, text := range list {
		x.Apply(search.Doc{Branch: 1, Version: uint64(i + 1), Namespace: "default", Collection: "memory", Key: fmt.Sprintf("%06d", i), State: search.Active, Text: []string{text}})
	}
	view := search.View{Lineage: store.Lineage{{Branch: 1, At: store.Latest}}, Namespaces: []string{"default"}, Collections: []string{"memory"}, Now: time.UnixMicro(1)}
	found, err := x.Pairs(t.Context(), view, search.PairQuery{Documents: len(list), Similarity: .3, Missing: 1, Most: 10_000})
	must.Do(t, err)
	pairs := make([]Pair, len(found.Pairs))
	for i, p := range found.Pairs {
		pairs[i] = Pair{A: int(p.A), B: int(p.B), Verdict: Verdict{Relation: Related, Similarity: float64(p.Similarity)}}
	}
	return pairs
}

// TestTheIndexHasThePairsThatSayTheSameOrContradict compares what is found among the pairs of the index with what is found among all that
// share enough, of texts of one kind, and of others in the words of people among them.
func TestTheIndexHasThePairsThatSayTheSameOrContradict(t *testing.T) {
	table, err := wordvec.Open()
	must.Do(t, err)
	list := manyTexts(t, 2_500)
	r := New().NewReader()
	facts, means := make([]*Fact, len(list)), Vectors{}
	for i, text := range list {
		facts[i] = r.Read(text)
		for _, w := range append(r.Words(facts[i]), text) {
			means[w] = table.Vector(w)
		}
	}
	r.Learn(means)
	all := r.pairs(facts)
	there := map[[2]int]bool{}
	candidates := r.Among(facts, joined(t, list))
	for _, p := range candidates {
		there[[2]int{p.A, p.B}] = true
	}
	for _, set := range []struct {
		name   string
		is     func(Relation) bool
		recall float64
	}{{"duplicates", Relation.Duplicate, .93}, {"contradictions", Relation.Contradiction, .88}} {
		m := measured{}
		for _, p := range all {
			if !set.is(p.Relation) {
				continue
			}
			if m.planted++; there[[2]int{p.A, p.B}] {
				m.right++
			}
		}
		t.Logf("%s: %d of %d are among %d pairs of the index, where %d share enough", set.name, m.right, m.planted, len(candidates), len(all))
		if m.recall() < set.recall {
			t.Errorf("%s: recall %.2f, want %.2f at least", set.name, m.recall(), set.recall)
		}
	}
}
