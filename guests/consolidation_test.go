package guests_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/alcove-memory/alcove/host/testing/must"
	"github.com/alcove-memory/alcove/host/testing/planted"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

func TestConsolidationInTheSandboxFindsWhatWasPlanted(t *testing.T) {
	s, g := space(t, "consolidation")
	set := planted.Make(planted.Options{Memories: 2_000, Duplicates: 100, Contradictions: 50, Seed: 2})
	for _, m := range set.Memories {
		value, err := json.Marshal(m.Text)
		must.Do(t, err)
		s.Put(alcove.Memory{Key: m.Key, Value: value})
	}
	var out struct {
		Read, Changed int
		Totals        struct{ Groups, Duplicates, Contradictions int }
		Report        string
	}
	must.Do(t, s.Tool("memory_consolidate", map[string]any{}, &out))
	t.Logf("%v of CPU, %v in all, %d units of fuel, %d MiB, %d host calls; %+v", g.last.CPU, g.last.Time, g.last.Fuel, g.last.Memory>>20, g.last.HostCalls, out.Totals)
	if out.Read != 2_000 || out.Totals.Duplicates < 85 || out.Totals.Duplicates > 102 || out.Totals.Contradictions < 40 || out.Totals.Contradictions > 55 {
		t.Errorf("read %d: %+v", out.Read, out.Totals)
	}
	merged := 0
	for _, p := range set.Duplicates {
		a, b := s.Memory(p[0]), s.Memory(p[1])
		if a.State == "merged" && slices.Contains(a.Links, b.Key) && slices.Contains(b.Supersedes, a.Key) || b.State == "merged" && slices.Contains(b.Links, a.Key) && slices.Contains(a.Supersedes, b.Key) {
			merged++
		}
	}
	if merged < 85 {
		t.Errorf("%d of %d planted duplicates are merged", merged, len(set.Duplicates))
	}
	must.Do(t, s.Tool("memory_consolidate", map[string]any{"only": []string{"duplicates"}}, &out))
	if out.Changed != 0 {
		t.Errorf("a second run changes %d memories", out.Changed)
	}
}
