package order

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

type pair struct{ value, number int }

func byValue(a, b pair) int { return cmp.Compare(a.value, b.value) }

func TestListsAreSortedAsBySlices(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 200 {
		var list []pair
		for i := range n {
			list = append(list, pair{r.IntN(20), i})
		}
		want := slices.Clone(list)
		slices.SortStableFunc(want, byValue)
		sorted, stable := slices.Clone(list), slices.Clone(list)
		By(sorted, byValue)
		StableBy(stable, byValue)
		if !slices.IsSortedFunc(sorted, byValue) || !slices.Equal(stable, want) {
			t.Fatalf("%v became %v and %v", list, sorted, stable)
		}
	}
}
