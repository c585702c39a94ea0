package search

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/store"
)

// similar is vectors of a single element each: their similarity to every question, in the documents' metadata as it were.
type similar struct {
	of     map[uint32]float64
	fusion Fusion
	asked  int // calls of Nearest
}

func (*similar) Begin(Documents, Held) {}

func (*similar) Saving()      {}
func (*similar) Saved(string) {}

func (s *similar) EmbedDocument(d *Doc, _ DocumentWords) Embedding {
	return Embedding{By: "s", Vector: d.Vector}
}
func (s *similar) Remove(number uint32)    { delete(s.of, number) }
func (s *similar) Fuse(Query, []Candidate) {}
func (s *similar) Fusion(Query) *Fusion    { return &s.fusion }

func (s *similar) Add(number uint32, _ Ref, e Embedding) {
	if len(e.Vector) > 0 {
		s.of[number] = float64(e.Vector[0])
	}
}

func (s *similar) Estimate(_ Query, numbers []uint32) (list []float64) {
	for _, n := range numbers {
		score, ok := s.of[n]
		if !ok {
			score = math.NaN()
		}
		list = append(list, score)
	}
	return list
}

func (s *similar) Nearest(_ context.Context, _ Query, among Set, k int) (list []Near, err error) {
	s.asked++
	members := 0
	among.Each(func(n uint32) bool {
		members++
		if !among.Has(n) {
			panic("a member is not in the set")
		}
		if score, ok := s.of[n]; ok {
			list = append(list, Near{n, score})
		}
		return true
	})
	slices.SortFunc(list, func(a, b Near) int { return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Number, b.Number)) })
	if members != among.Len() {
		return nil, fmt.Errorf("%d members of a set of %d", members, among.Len())
	}
	return list[:min(k, len(list))], nil
}

type fusedDoc struct {
	text    string
	similar float32
	turn    bool
}

func fusedIndex(t *testing.T, of Fusion, docs ...fusedDoc) (*Index, *similar) {
	t.Helper()
	s := &similar{of: map[uint32]float64{}, fusion: of}
	x := New(Options{Semantic: s})
	for i, d := range docs {
		doc := Doc{Branch: 1, Version: uint64(i + 1), Namespace: "n", Collection: "c", Key: fmt.Sprint("k", i), Text: []string{d.text}, State: Active, Time: time.Unix(1, 0), Vector: []float32{d.similar}}
		if d.turn {
			doc.Turn = &Turn{Session: "s", Position: int64(i), Speaker: "Ann"}
		}
		x.Apply(doc)
	}
	return x, s
}

func askFused(t *testing.T, x *Index, q Query) Result {
	t.Helper()
	if q.Vector == nil {
		q.Vector = []float32{1}
	}
	r, err := x.Search(t.Context(), View{Lineage: store.Lineage{{Branch: 1, At: store.Latest}}, Now: time.Unix(2, 0)}, q)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func keysOf(r Result) string {
	var keys []string
	for _, h := range r.Hits {
		keys = append(keys, h.Key)
	}
	return strings.Join(keys, " ")
}

func TestMeaningDecidesWhereNoWordMatches(t *testing.T) {
	x, _ := fusedIndex(t, Fusion{Weight: 2, Full: 2, Floor: .2}, fusedDoc{"we deploy on tuesdays", .6, false}, fusedDoc{"the crown was replaced", .3, false}, fusedDoc{"grapes and dogs", .1, false})
	r := askFused(t, x, Query{Text: "shipping"})
	if got := keysOf(r); got != "k0 k1" || r.Total != 2 {
		t.Errorf("found %s, %d in all, want k0 and k1: the third is below the floor", got, r.Total)
	}
	ideal := math.Log(1 + (3+.5)/.5) // the idf of a term that none of three documents has
	if h := r.Hits[0]; math.Abs(h.Score-2*.6*ideal) > 1e-6 || h.Lexical != 0 || math.Abs(h.Semantic-.6) > 1e-6 || h.Meaning != 1 {
		t.Errorf("the best hit is %+v, want a score of %g by meaning alone", h, 2*.6*ideal)
	}
}

func TestADocumentWithTheWordsKeepsItsLead(t *testing.T) {
	x, _ := fusedIndex(t, Fusion{Weight: 2, Full: 2, Floor: .2}, fusedDoc{"blue ferry timetable", .1, false}, fusedDoc{"ships and harbours", .9, false}, fusedDoc{"nothing", 0, false}, fusedDoc{"at all", 0, false})
	r := askFused(t, x, Query{Text: "blue ferry timetable"})
	if got := keysOf(r); got != "k0 k1" {
		t.Fatalf("found %s, want k0 before k1", got)
	}
	best := r.Hits[0]
	ideal := 3 * math.Log(1+(4-1+.5)/1.5)
	gate := 1 - best.Lexical/(2*ideal)
	if want := best.Lexical + ideal*2*gate*gate*.1; math.Abs(best.Score-want) > 1e-6 {
		t.Errorf("the best score is %g, want %g", best.Score, want)
	}
	if h := r.Hits[1]; math.Abs(h.Score-ideal*2*gate*gate*.9) > 1e-6 {
		t.Errorf("the second score is %g, want %g", h.Score, ideal*2*gate*gate*.9)
	}
}

func TestMeaningIsNotAskedWhereWordsDecide(t *testing.T) {
	x, s := fusedIndex(t, Fusion{Weight: 2, Full: .1, Floor: .2}, fusedDoc{"blue ferry", .9, false}, fusedDoc{"red ferry", .9, false})
	if got := keysOf(askFused(t, x, Query{Text: "ferry"})); got != "k0 k1" || s.asked != 0 {
		t.Errorf("found %s with %d searches of vectors, want k0 and k1 without any", got, s.asked)
	}
	if askFused(t, x, Query{Text: "boat"}); s.asked != 1 {
		t.Errorf("%d searches of vectors without a matching word, want 1", s.asked)
	}
}

func TestWhatMeaningAloneFindsMustCompareWithTheBest(t *testing.T) {
	docs := []fusedDoc{{"red car", .9, false}, {"bus", .5, false}, {"tram", .3, false}}
	for least, want := range map[float64]string{0: "k0 k1 k2", .4: "k0 k1", .6: "k0"} {
		x, _ := fusedIndex(t, Fusion{Weight: 2, Full: 2, Least: least}, docs...)
		if r := askFused(t, x, Query{Text: "vehicle"}); keysOf(r) != want || r.Total != len(r.Hits) {
			t.Errorf("with at least %g of the best score: found %s, %d in all, want %s", least, keysOf(r), r.Total, want)
		}
	}
}

func TestTurnsKeepTheirLexicalScores(t *testing.T) {
	turns := []fusedDoc{{"the ferry is blue", .9, true}, {"which ferry", .8, true}, {"no idea", .95, true}}
	x, _ := fusedIndex(t, Fusion{Weight: 2, Full: 2}, append(turns, fusedDoc{"boats leave at nine", .5, false})...)
	lexical, both := askFused(t, x, Query{Text: "blue ferry", Mode: Lexical}), askFused(t, x, Query{Text: "blue ferry"})
	if got := keysOf(both); !strings.Contains(got, "k3") || len(both.Hits) != len(lexical.Hits)+1 {
		t.Errorf("found %s, want k3 by meaning beside %s", got, keysOf(lexical))
	}
	scores := map[string]float64{}
	for _, h := range both.Hits {
		scores[h.Key] = h.Score
	}
	for _, h := range lexical.Hits {
		if scores[h.Key] != h.Score {
			t.Errorf("%s scores %g with vectors and %g without, want the same", h.Key, scores[h.Key], h.Score)
		}
	}
}

// TestMeaningAddsToMatchesBeyondTheBest has more matches than are combined: one that is none of the best, and near, keeps the score of
// its words.
func TestMeaningAddsToMatchesBeyondTheBest(t *testing.T) {
	var docs []fusedDoc
	for range 300 {
		docs = append(docs, fusedDoc{"ferry", 0, false})
	}
	docs = append(docs, fusedDoc{"a ferry " + strings.Repeat("among many other words ", 20), .9, false})
	x, s := fusedIndex(t, Fusion{Weight: 4, Full: 2}, docs...)
	r := askFused(t, x, Query{Text: "ferry"})
	if h := r.Hits[0]; h.Key != "k300" || h.Lexical == 0 || r.Total != 301 {
		t.Errorf("the best of %d hits is %+v, want k300 with a lexical score among 301", r.Total, h)
	}
	want := askFused(t, x, Query{Text: "ferry", K: 400}).Hits
	if s.asked != 2 || len(want) != 301 || want[0].Key != "k300" {
		t.Errorf("%d hits and %d searches, want 301 and 2", len(want), s.asked)
	}
}

func TestAFusionWithAScaleAndAGate(t *testing.T) {
	f := Fusion{Zero: .5, One: .75}
	for score, want := range map[float64]float64{.5: 0, .625: .5, .75: 1, .9: 1, .4: -.4} {
		if got := f.similarity(score); math.Abs(got-want) > 1e-9 {
			t.Errorf("a score of %g is a similarity of %g, want %g", score, got, want)
		}
	}
	f.Gate = func(collection string) float64 { return map[string]float64{"half": .5}[collection] }
	for collection, want := range map[string]float64{"half": .25, "none": 0} {
		if got := f.meaning(collection, .625); got != want {
			t.Errorf("in %s a similarity of .5 counts %g, want %g", collection, got, want)
		}
	}
	if got := f.meaning("half", .1); got != 0 {
		t.Errorf("a score below Zero counts %g, want nothing", got)
	}
}
