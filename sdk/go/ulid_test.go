package alcove

import (
	"slices"
	"testing"
)

func TestIDsSortByTimeAndRepeatWithTheRequest(t *testing.T) {
	ids := func(now, request string) (list []string) {
		c := &Call{Context: Context{Now: now, RequestID: request}}
		for range 3 {
			list = append(list, c.NewID("x:"))
		}
		return list
	}
	first, again, other := ids("2026-06-01T12:00:00Z", "r1"), ids("2026-06-01T12:00:00Z", "r1"), ids("2026-06-01T12:00:00Z", "r2")
	if !slices.Equal(first, again) {
		t.Errorf("a repeated request got %q and %q", first, again)
	}
	all := append(slices.Clone(first), other...)
	slices.Sort(all)
	if len(slices.Compact(all)) != 6 {
		t.Errorf("ids are not distinct: %q and %q", first, other)
	}
	later := ids("2026-06-01T12:00:00.001Z", "r1")
	for _, id := range all {
		if len(id) != 28 || id >= later[0] || id[:12] != first[0][:12] {
			t.Errorf("%s does not sort before %s of a later request", id, later[0])
		}
	}
}
