package search

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/store"
)

// pets knows what is near to animals.
type pets struct{}

func (pets) Near(_, term string, _ *Analyser) []NearTerm {
	switch term {
	case "dog":
		return []NearTerm{{"hound", .9}, {"puppi", .8}, {"cat", .5}}
	case "ann":
		return []NearTerm{{"hound", 1}}
	}
	return nil
}

func kennel(t *testing.T) *Index {
	t.Helper()
	x := New(Options{})
	for i, text := range []string{"a hound runs", "puppies and a hound", "a dog", "cats sleep", "nothing of the kind", "puppy of Ann"} {
		x.Apply(Doc{Branch: 1, Version: uint64(i + 1), Namespace: "n", Collection: "c", Key: fmt.Sprint("k", i), Text: []string{text}, State: Active, Time: time.Unix(1, 0)})
	}
	return x
}

func rankedByNear(t *testing.T, x *Index, text string) (keys string, r Result) {
	t.Helper()
	r, err := x.Search(context.Background(), View{Lineage: store.Lineage{{Branch: 1, At: store.Latest}}, Now: time.Unix(2, 0)}, Query{Text: text, Explain: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range r.Hits {
		keys += h.Key + " "
	}
	return strings.TrimSpace(keys), r
}

func TestANearWordStandsForOneThatIsNotThere(t *testing.T) {
	x := kennel(t)
	if got, _ := rankedByNear(t, x, "dogs"); got != "k2" {
		t.Errorf("without a thesaurus: %s", got)
	}
	x.SetNearWords(&NearWords{Thesaurus: pets{}, Weight: .35})
	got, r := rankedByNear(t, x, "dogs")
	if got != "k2 k0 k1 k5 k3" || r.Total != 5 {
		t.Errorf("%s, %d in all", got, r.Total)
	}
	why := r.Hits[1].Why.Terms
	if len(why) != 1 || why[0].Term != "dog≈hound" || why[0].Score != r.Hits[1].Score || math.Abs(why[0].Score-.9*.35*why[0].IDF) > 1e-12 {
		t.Errorf("terms %+v of a hit with score %g, want dog≈hound with all of the score", why, r.Hits[1].Score)
	}
	x.SetNearWords(nil)
	if got, _ := rankedByNear(t, x, "dogs"); got != "k2" {
		t.Errorf("after it was taken away: %s", got)
	}
}

func TestNamesHaveNoNearWords(t *testing.T) {
	x := kennel(t)
	x.SetNearWords(&NearWords{Thesaurus: pets{}, Weight: .35})
	if got, _ := rankedByNear(t, x, "who is Ann"); got != "k5" {
		t.Errorf("found %s, want k5 alone", got)
	}
	x.Apply(Doc{Branch: 1, Version: 9, Namespace: "n", Collection: "c", Key: "k9", Text: []string{"hello"}, State: Active, Time: time.Unix(1, 0), Turn: &Turn{Session: "s", Speaker: "Ann"}})
	if got, _ := rankedByNear(t, x, "ann"); strings.Contains(got, "k0") {
		t.Errorf("a speaker: %s", got)
	}
}

func TestFiltersHoldForWhatIsFoundByNearWords(t *testing.T) {
	x := kennel(t)
	x.SetNearWords(&NearWords{Thesaurus: pets{}, Weight: .35})
	x.Apply(Doc{Branch: 1, Version: 10, Namespace: "n", Collection: "c", Key: "k10", Text: []string{"hound"}, Tags: []string{"x"}, State: Active, Time: time.Unix(1, 0)},
		Doc{Branch: 1, Version: 11, Namespace: "n", Collection: "c", Key: "k11", Text: []string{"hound"}, State: "archived", Time: time.Unix(1, 0)})
	r, err := x.Search(context.Background(), View{Lineage: store.Lineage{{Branch: 1, At: store.Latest}}, Now: time.Unix(2, 0)}, Query{Text: "dog", Tags: []string{"x"}})
	if err != nil || len(r.Hits) != 1 || r.Hits[0].Key != "k10" || r.Total != 1 {
		t.Errorf("Search = %+v, %v, want k10 alone", r, err)
	}
}
