package threeway_test

import (
	"testing"

	"github.com/alcove-memory/alcove/host/memory/threeway"
)

func TestAClashNeedsAChangeOnBothSides(t *testing.T) {
	for _, c := range []struct {
		name   string
		states threeway.States
		want   threeway.Clash
	}{
		{"nothing changed", threeway.States{Bases: []string{"a"}, Source: "a", Target: "a"}, threeway.NoClash},
		{"the source changed", threeway.States{Bases: []string{"a"}, Source: "b", Target: "a"}, threeway.NoClash},
		{"the target deleted", threeway.States{Bases: []string{"a"}, Source: "a"}, threeway.NoClash},
		{"the same edit", threeway.States{Bases: []string{"a"}, Source: "b", Target: "b"}, threeway.NoClash},
		{"different edits", threeway.States{Bases: []string{"a"}, Source: "b", Target: "c"}, threeway.EditEdit},
		{"an edit and a deletion", threeway.States{Bases: []string{"a"}, Source: "b"}, threeway.EditDelete},
		{"a deletion and an edit", threeway.States{Bases: []string{"a"}, Target: "b"}, threeway.EditDelete},
		{"two additions", threeway.States{Bases: []string{""}, Source: "b", Target: "c"}, threeway.AddAdd},
		{"nothing in common", threeway.States{Source: "b", Target: "c"}, threeway.AddAdd},
		{"nothing in common and one addition", threeway.States{Source: "b"}, threeway.NoClash},
		{"each kept a base", threeway.States{Bases: []string{"a", "b"}, Source: "a", Target: "b"}, threeway.NoClash},
		{"one kept an older base", threeway.States{Bases: []string{"a", "b"}, Source: "c", Target: "b"}, threeway.NoClash},
		{"edits since two bases", threeway.States{Bases: []string{"a", "b"}, Source: "c", Target: "d"}, threeway.EditEdit},
	} {
		if got := c.states.Clash(); got != c.want {
			t.Errorf("%s: %q, not %q", c.name, got, c.want)
		}
	}
}

func TestChooseAndSetsKeepWhatEitherSideChanged(t *testing.T) {
	for _, c := range []struct {
		base, source, target, want int
		ok                         bool
	}{{1, 1, 1, 1, true}, {1, 2, 1, 2, true}, {1, 1, 2, 2, true}, {1, 2, 2, 2, true}, {1, 2, 3, 3, false}} {
		if got, ok := threeway.Choose(c.base, c.source, c.target); got != c.want || ok != c.ok {
			t.Errorf("Choose of %+v = %d, %t, want %d, %t", c, got, ok, c.want, c.ok)
		}
	}
	got := threeway.Sets([]string{"both", "dropped by one", "dropped by other"}, []string{"new", "both", "dropped by other"}, []string{"newer", "dropped by one", "both"})
	if want := []string{"newer", "both", "new"}; len(got) != 3 || got[0] != want[0] || got[1] != want[1] || got[2] != want[2] {
		t.Errorf("%q, not %q", got, want)
	}
}
