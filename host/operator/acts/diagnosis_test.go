package acts

import (
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/operator"
)

func TestFamiliesAtFaultAreFoundWithTheCommandThatHelps(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	found := troubled(operator.FamilyUse{Family: "graph", Resting: true, Troubles: []operator.FamilyTrouble{
		{Kind: "trap", Count: 3, Last: now.Add(-time.Hour), Says: "unreachable"}, {Kind: "ungranted", Count: 2, Last: now, Says: "needs http"}, {Kind: "fuel", Count: 1, Last: now.Add(-25 * time.Hour)},
	}}, now)
	want := []struct {
		is      operator.Opinion
		says    []string
		command string
	}{
		{operator.Bad, []string{"suspended for a while"}, "alcove family info graph"},
		{operator.Bad, []string{"failed 3 times", "trap", "unreachable", "alcove family remove graph"}, "alcove family remove graph"},
		{operator.Noted, []string{"refused 2 operations", "needs http", "alcove family info graph"}, "alcove family info graph"},
	}
	if len(found) != len(want) {
		t.Fatalf("%d findings %+v, want %d", len(found), found, len(want))
	}
	for i, w := range want {
		if f := found[i]; f.Is != w.is || f.Command != w.command || f.What != "family graph" {
			t.Errorf("finding %d is %+v, want %s with %q", i, f, w.is, w.command)
		}
		for _, text := range w.says {
			if !strings.Contains(found[i].Says, text) {
				t.Errorf("finding %d says %q, want %q in it", i, found[i].Says, text)
			}
		}
	}
}
