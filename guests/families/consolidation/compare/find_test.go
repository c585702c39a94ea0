package compare

import (
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/testing/planted"
)

// pairs finds all pairs of facts that share enough, and judges them by their words.
func (r *Reader) pairs(facts []*Fact) []Pair {
	pairs := r.Candidates(facts)
	for i := range pairs {
		r.Reconsider(facts, &pairs[i])
	}
	return pairs
}

// measured is how much of what was planted is found, and how much of what is found was planted.
type measured struct {
	found, right, planted int
}

func (m measured) precision() float64 { return float64(m.right) / float64(max(m.found, 1)) }
func (m measured) recall() float64    { return float64(m.right) / float64(max(m.planted, 1)) }

// measure compares the pairs that were found with those that were planted.
func measure(set *planted.Set, pairs []Pair, want []planted.Pair, is func(Relation) bool, wrong func(planted.Pair)) measured {
	m := measured{planted: len(want)}
	expected := map[planted.Pair]bool{}
	for _, p := range want {
		expected[p], expected[planted.Pair{p[1], p[0]}] = true, true
	}
	hit := map[planted.Pair]bool{}
	for _, p := range pairs {
		if !is(p.Relation) {
			continue
		}
		pair := planted.Pair{set.Memories[p.A].Key, set.Memories[p.B].Key}
		m.found++
		if expected[pair] {
			m.right++
			hit[pair], hit[planted.Pair{pair[1], pair[0]}] = true, true
		} else {
			wrong(pair)
		}
	}
	for _, p := range want {
		if !hit[p] {
			wrong(p)
		}
	}
	return m
}

func TestPlantedDuplicatesAndContradictionsAreFound(t *testing.T) {
	set := planted.Make(planted.Options{Memories: 10_000, Duplicates: 500, Contradictions: 50, Seed: 1})
	texts := map[string]string{}
	began := time.Now()
	r := New().NewReader()
	var facts []*Fact
	for _, m := range set.Memories {
		facts = append(facts, r.Read(m.Text))
		texts[m.Key] = m.Text
	}
	read := time.Since(began)
	pairs := r.pairs(facts)
	t.Logf("read in %v, compared in %v; %d pairs", read, time.Since(began)-read, len(pairs))
	shown := 0
	wrong := func(p planted.Pair) {
		if shown++; shown < 60 {
			t.Logf("wrong or missed: %s | %s", texts[p[0]], texts[p[1]])
		}
	}
	duplicates := measure(set, pairs, set.Duplicates, Relation.Duplicate, wrong)
	shown = 0
	contradictions := measure(set, pairs, set.Contradictions, Relation.Contradiction, wrong)
	t.Logf("duplicates: precision %.3f, recall %.3f", duplicates.precision(), duplicates.recall())
	t.Logf("contradictions: precision %.3f, recall %.3f", contradictions.precision(), contradictions.recall())
	if duplicates.precision() < .98 || duplicates.recall() < .95 || contradictions.precision() < .95 || contradictions.recall() < .9 {
		t.Error("too little is found, or too much")
	}
}
