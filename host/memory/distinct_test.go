package memory

import (
	"fmt"
	"testing"
)

func TestOfNearDuplicatesOnlyTheBestIsFound(t *testing.T) {
	s := testSpace(t)
	for i := range 8 {
		put(t, s, "", fmt.Sprint("same", i), fmt.Sprintf("Anna prefers green tea in the afternoon, never coffee, note %d", i/4))
	}
	put(t, s, "", "other", "green tea comes from Japan")
	all, err := s.Search(t.Context(), Search{Text: "green tea"})
	if err != nil || len(all.Hits) != 9 {
		t.Fatalf("%+v, %v", all, err)
	}
	found, err := s.Search(t.Context(), Search{Text: "green tea", Distinct: true, K: 3})
	if err != nil || len(found.Hits) != 2 || found.Total != 9 {
		t.Fatalf("%+v, %v", found, err)
	}
	if a, b := found.Hits[0], found.Hits[1]; a.Similar+b.Similar != 7 || a.Key != "other" && b.Key != "other" {
		t.Errorf("%+v", found.Hits)
	}
	rest, err := s.Search(t.Context(), Search{Text: "green tea", Distinct: true, Offset: 1, K: 3})
	if err != nil || len(rest.Hits) != 1 || rest.Hits[0].Key != found.Hits[1].Key {
		t.Errorf("%+v, %v", rest, err)
	}
}

func TestAnExpandedSearchFindsWhatTheBestHitsAreAbout(t *testing.T) {
	s := testSpace(t)
	put(t, s, "", "a", "the espresso machine needs descaling with citric acid")
	put(t, s, "", "b", "citric acid is under the sink")
	put(t, s, "", "c", "the bicycle has a flat tyre")
	plain, err := s.Search(t.Context(), Search{Text: "espresso machine"})
	if err != nil || len(plain.Hits) != 1 {
		t.Fatalf("%+v, %v", plain, err)
	}
	found, err := s.Search(t.Context(), Search{Text: "espresso machine", Expand: true})
	if err != nil || len(found.Hits) != 2 || found.Hits[0].Key != "a" || found.Hits[1].Key != "b" {
		t.Errorf("%+v, %v", found.Hits, err)
	}
	if nothing, err := s.Search(t.Context(), Search{Text: "nothing", Expand: true}); err != nil || len(nothing.Hits) != 0 {
		t.Errorf("%+v, %v", nothing, err)
	}
}
