package stress

import (
	"slices"
	"strconv"
	"testing"
)

func TestEachElementHasItsDay(t *testing.T) {
	for _, n := range []int{1, 2, 3} {
		seen := map[int]bool{}
		for day := range 7 {
			t.Setenv(PartsVariable, strconv.Itoa(20000+day))
			picked := Seeds(t, n, 7)
			if again := Seeds(t, n, 7); len(picked) != n || !slices.Equal(picked, again) {
				t.Errorf("day %d picks %v and then %v, want the same %d numbers", day, picked, again, n)
			}
			for _, i := range picked {
				seen[i] = true
			}
		}
		if len(seen) != 7 {
			t.Errorf("in seven days, %d a day, only %v were picked", n, seen)
		}
	}
}

func TestAllElementsRunWhereLongTestsRunInFull(t *testing.T) {
	t.Setenv(PartsVariable, "all")
	if got := Seeds(t, 2, 5); !slices.Equal(got, []int{0, 1, 2, 3, 4}) {
		t.Errorf("picked %v, want all five", got)
	}
}
