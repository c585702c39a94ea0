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
		t.Fatalf("Search(green tea) = %+v, %v, want 9 hits", all, err)
	}
	found, err := s.Search(t.Context(), Search{Text: "green tea", Distinct: true, K: 3})
	if err != nil || len(found.Hits) != 2 || found.Total != 9 {
		t.Fatalf("a distinct search = %+v, %v, want 2 hits of 9", found, err)
	}
	if a, b := found.Hits[0], found.Hits[1]; a.Similar+b.Similar != 7 || a.Key != "other" && b.Key != "other" {
		t.Errorf("hits %+v, want other, and one with 7 similar", found.Hits)
	}
	rest, err := s.Search(t.Context(), Search{Text: "green tea", Distinct: true, Offset: 1, K: 3})
	if err != nil || len(rest.Hits) != 1 || rest.Hits[0].Key != found.Hits[1].Key {
		t.Errorf("the second hit = %+v, %v, want %s", rest, err, found.Hits[1].Key)
	}
}

func TestAnExpandedSearchFindsWhatTheBestHitsAreAbout(t *testing.T) {
	s := testSpace(t)
	put(t, s, "", "a", "the espresso machine needs descaling with citric acid")
	put(t, s, "", "b", "citric acid is under the sink")
	put(t, s, "", "c", "the bicycle has a flat tyre")
	plain, err := s.Search(t.Context(), Search{Text: "espresso machine"})
	if err != nil || len(plain.Hits) != 1 {
		t.Fatalf("a plain search = %+v, %v, want 1 hit", plain, err)
	}
	found, err := s.Search(t.Context(), Search{Text: "espresso machine", Expand: true})
	if err != nil || len(found.Hits) != 2 || found.Hits[0].Key != "a" || found.Hits[1].Key != "b" {
		t.Errorf("an expanded search = %+v, %v, want a, then b", found.Hits, err)
	}
	if nothing, err := s.Search(t.Context(), Search{Text: "nothing", Expand: true}); err != nil || len(nothing.Hits) != 0 {
		t.Errorf("an expanded search of nothing = %+v, %v, want no hits", nothing, err)
	}
}
