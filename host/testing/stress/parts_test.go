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

func TestATestHasItsTurnOnOneOfSoManyDays(t *testing.T) {
	turns := 0
	for day := range 8 {
		t.Setenv(PartsVariable, strconv.Itoa(20000+day))
		if Turn(t, 4) {
			turns++
		}
	}
	if turns != 2 {
		t.Errorf("got %d turns in 8 days, want one in 4", turns)
	}
	if t.Setenv(PartsVariable, "all"); !Turn(t, 4) {
		t.Error("got no turn where long tests run in full, want one")
	}
}

func TestAllElementsRunWhereLongTestsRunInFull(t *testing.T) {
	t.Setenv(PartsVariable, "all")
	if got := Seeds(t, 2, 5); !slices.Equal(got, []int{0, 1, 2, 3, 4}) {
		t.Errorf("picked %v, want all five", got)
	}
}
