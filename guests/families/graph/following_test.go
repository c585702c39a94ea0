package graph

import (
	"slices"
	"strings"
	"testing"

	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/go/alcovetest"
)

func TestLinksFollowAMemoryThatWasMerged(t *testing.T) {
	s := alcovetest.New(t, Family(), alcovetest.Manifest(t, "manifest.json"))
	w := world{t, s}
	w.memories("a", "old", "c")
	w.link("a", "old", "led_to", "confidence", .6)
	w.link("old", "c", "before")
	w.link("old", "a", "after")
	w.Put(alcove.Memory{Key: "kept", Value: alcove.JSON("kept"), Supersedes: []string{"old"}})
	w.Put(alcove.Memory{Key: "old", Value: alcove.JSON("old"), State: "merged", Links: []string{"c", "kept"}})
	if err := s.Tell(); err != nil {
		t.Fatal(err)
	}
	if got := w.walk("a", 2); !slices.Equal(got, []string{"kept1", "c2"}) {
		t.Errorf("it reaches %q", got)
	}
	var out walked
	w.call("memory_graph_query", map[string]any{"source_id": "kept"}, &out)
	if len(out.Nodes) != 2 || w.Record("edge", "out|old|before|c") != nil || w.Record("edge", "in|old|led_to|a") != nil {
		t.Errorf("memory_graph_query of the merged memory = %+v, want two nodes, and no edge of the old one", out)
	}
}

func TestMemoriesAreLinkedWithTheEntitiesThatTheyMentionWhereThatIsConfigured(t *testing.T) {
	s := alcovetest.New(t, Family(), alcovetest.Manifest(t, "manifest.json"))
	w := world{t, s}
	w.entity("ent:ann", "Ann Lee", "aliases", []string{"Annie", "Al"})
	w.entity("ent:acme", "Acme Rocket Company", "type", "company")
	store := func(key, text string) {
		t.Helper()
		if _, err := s.Store(alcove.Entry{Namespace: "default", Key: key, Value: alcove.JSON(text)}); err != nil {
			t.Fatal(err)
		}
		if err := s.Tell(); err != nil {
			t.Fatal(err)
		}
	}
	store("before", "Annie sings")
	s.Config["auto_link"] = true
	store("both", "ANNIE's contract with the acme rocket company ends.")
	store("neither", "Annies, Al and an acme rocket are no names of an entity")
	s.Config["auto_link"] = nil
	for key, want := range map[string][]string{"before": nil, "both": {"ent:acme1", "ent:ann1"}, "neither": nil} {
		if got := w.walk(key, 1); !slices.Equal(got, want) {
			t.Errorf("%s is linked with %q; want %q", key, got, want)
		}
	}
	if facts := w.get("ann lee").Facts; len(facts) != 1 || facts[0].FactID.Key != "both" || !strings.HasPrefix(facts[0].Content, "ANNIE's") {
		t.Errorf("facts about Ann = %+v, want the one of the key both", facts)
	}
}

func TestEveryChangeOfTheGraphIsAnnounced(t *testing.T) {
	s := alcovetest.New(t, Family(), alcovetest.Manifest(t, "manifest.json"))
	w := world{t, s}
	var events []string
	s.Ops[alcove.OpFeedEmit] = func(request []byte) (any, error) {
		events = append(events, string(request))
		return map[string]any{}, nil
	}
	w.memories("a", "b")
	w.entity("ent:ann", "Ann")
	w.entity("ent:ann", "Ann")
	w.link("a", "b", "led_to")
	w.link("a", "b", "led_to")
	w.call("memory_end_link", map[string]any{"source_id": "a", "target_id": "b", "relation": "led_to"}, nil)
	w.call("memory_create_theme", map[string]any{"name": "n", "description": "d"}, nil)
	for i, want := range []string{
		`{"kind":"entity_created","payload":{"agentId":"tester","scopeId":"default","entityId":"default#ent:ann","changes":{"name":"Ann","type":"person"}}}`,
		`{"kind":"link_created","payload":{"agentId":"tester","scopeId":"default","factId":"default#a","changes":{"to":"default#b","relation":"led_to"}}}`,
		`{"kind":"link_ended","payload":{"agentId":"tester","scopeId":"default","factId":"default#a","changes":{"to":"default#b","relation":"led_to"}}}`,
		`{"kind":"theme_created","payload":{"agentId":"tester","scopeId":"default","themeId":"default#thm:`,
	} {
		if len(events) <= i || !strings.HasPrefix(events[i], want) {
			t.Errorf("event %d of %q; want %s", i, events, want)
		}
	}
	if len(events) != 4 {
		t.Errorf("announced %q, want 4 events", events)
	}
}
