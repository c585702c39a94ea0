package events

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	alcove "github.com/alcove-memory/alcove/sdk/go"
)

func TestASubscriptionToAnUnknownKindIsRefusedWithTheListOfKinds(t *testing.T) {
	s, _ := space(t)
	for _, kind := range []string{"no_such_event", "facts.", ".stored", ""} {
		err := s.Tool("memory_subscribe", m{"endpoint": "hooks", "events": []string{"memory_stored", kind}}, nil)
		if alcove.CodeOf(err) != alcove.InvalidArgument || !strings.Contains(err.Error(), "fact_created") {
			t.Errorf("events %q = %v, want %s with the list of kinds", kind, err, alcove.InvalidArgument)
		}
	}
	for _, events := range []any{"all", "*", []string{"memory_forgotten", "facts.*", "crm.deal_won"}} {
		subscribe(t, s, m{"events": events})
	}
}

// The kinds that families announce by bare names are in their manifests.
func TestTheKindsAreThoseOfTheServerAndOfAllFamilies(t *testing.T) {
	want := []string{"memory_stored", "memory_forgotten", "event_logged"}
	files, err := filepath.Glob("../*/manifest.json")
	if err != nil || len(files) < 2 {
		t.Fatalf("manifests = %q, %v", files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var manifest struct {
			Capabilities []struct {
				Name  string
				Scope []string
			}
		}
		if err := json.Unmarshal(text, &manifest); err != nil {
			t.Fatalf("read the manifest %s: %v", file, err)
		}
		for _, c := range manifest.Capabilities {
			if c.Name == "feed.kind" {
				want = append(want, c.Scope...)
			}
		}
	}
	got := kinds()
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("kinds = %q, want %q", got, want)
	}
}
