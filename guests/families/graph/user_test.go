package graph

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/go/alcovetest"
)

// about stores a fact about some entities as memory_store_fact does, and runs the hook.
func (w world) about(key, text string, entities ...string) {
	w.T.Helper()
	metadata := map[string]alcove.Raw{}
	if len(entities) > 0 {
		metadata["entityIds"] = alcove.JSON(entities)
	}
	if _, err := w.Store(alcove.Entry{Namespace: w.Namespace, Key: key, Value: alcove.JSON(text), Metadata: metadata}); err != nil {
		w.T.Fatal(err)
	}
	if err := w.Tell(); err != nil {
		w.T.Fatal(err)
	}
}

// facts are the keys of the facts about an entity.
func (w world) facts(name string) (keys []string) {
	w.T.Helper()
	for _, f := range w.get(name).Facts {
		keys = append(keys, f.FactID.Key)
	}
	slices.Sort(keys)
	return keys
}

func TestEntityIDsOfAFactAreLinksWithTheEntities(t *testing.T) {
	w := world{t, alcovetest.New(t, Family(), alcovetest.Manifest(t, "manifest.json"))}
	w.entity("pg", "Postgres", "type", "tool", "aliases", "the database")
	w.about("slow", "The database is slow on Mondays.", "pg", "The Database", "pg")
	w.about("both", "Priya tunes Postgres.", "pg", "Priya")
	if got := w.facts("pg"); !slices.Equal(got, []string{"both", "slow"}) {
		t.Errorf("facts about pg = %q, want both and slow", got)
	}
	if got := w.walk("both", 1); !slices.Equal(got, []string{"pg1"}) {
		t.Errorf("from the fact it reaches %q, want pg alone: Priya is not registered", got)
	}
	w.entity("ent:priya", "Priya Raman", "aliases", "Priya")
	if got := w.facts("priya"); !slices.Equal(got, []string{"both"}) {
		t.Errorf("facts about Priya after she was registered = %q, want both", got)
	}
	w.Now = w.Now.Add(time.Hour)
	w.about("both", "Priya tunes the cache.", "ent:priya")
	if got := w.facts("pg"); !slices.Equal(got, []string{"slow"}) {
		t.Errorf("facts about pg after one named it no more = %q, want slow", got)
	}
	w.Now = w.Now.Add(time.Hour)
	w.about("both", "Priya tunes Postgres again.", "ent:priya", "pg")
	if got := w.facts("pg"); !slices.Equal(got, []string{"both", "slow"}) {
		t.Errorf("facts about pg after it was named again = %q, want both and slow", got)
	}
	var out ended
	w.call("memory_end_link", map[string]any{"source_id": "both", "target_id": "pg", "relation": "related_to"}, &out)
	w.Now = w.Now.Add(time.Hour)
	w.about("both", "Priya tunes Postgres, still.", "ent:priya", "pg")
	if got := w.facts("pg"); !out.Found || !slices.Equal(got, []string{"slow"}) {
		t.Errorf("facts about pg after a caller ended the link = %q, want slow", got)
	}
	many := make([]string, mostDeclared+1)
	for i := range many {
		many[i] = fmt.Sprint("ent:", i)
	}
	w.entity("ent:63", "Within")
	w.entity("ent:64", "Beyond")
	w.about("many", "Of many.", many...)
	if within, beyond := w.facts("ent:63"), w.facts("ent:64"); len(within) != 1 || len(beyond) != 0 {
		t.Errorf("the 64th entity has %q and the 65th %q, want the fact and none", within, beyond)
	}
}

func TestALinkThatEndedStaysEnded(t *testing.T) {
	w := world{t, alcovetest.New(t, Family(), alcovetest.Manifest(t, "manifest.json"))}
	w.entity("ann", "Ann Lee")
	missing := w.entity("bob", "Bob Hill", "relationships", []any{map[string]any{"toEntityId": "Ann Lee", "relationType": "works_with"}, map[string]any{"toEntityId": "checkout"}})
	if missing.Links != 2 || len(missing.Missing) != 1 || missing.Missing[0].Key != "checkout" {
		t.Errorf("memory_link_entity = %+v, want two links, and checkout missing", missing)
	}
	w.entity("svc:checkout", "Checkout", "type", "project")
	if got := w.walk("bob", 1); !slices.Equal(got, []string{"svc:checkout1", "ann1"}) {
		t.Errorf("from Bob it reaches %q, want checkout, which is registered now, and Ann", got)
	}
	end := map[string]any{"source_id": "bob", "target_id": "ann", "relation": "works_with"}
	first := w.Now
	w.call("memory_end_link", end, nil)
	w.Now = w.Now.Add(time.Hour)
	var out ended
	w.call("memory_end_link", end, &out)
	kept, err := edges.Item(w.Record("edge", "out|bob|works_with|ann"))
	if err != nil {
		t.Fatal(err)
	}
	if got := kept.Value.ValidUntil; out.PreviousValidUntil == nil || got != alcove.Time(first.UnixMicro()) {
		t.Errorf("the link that is ended twice ends at %s, want at %s", got, first)
	}
	end["valid_until"] = "in an hour"
	w.fails(alcove.InvalidArgument, "begins it anew", "memory_end_link", end)
	w.entity("bob", "Bob Hill", "relationships", []any{map[string]any{"toEntityId": "ann", "relationType": "works_with"}})
	if got := w.walk("bob", 1); !slices.Equal(got, []string{"svc:checkout1"}) {
		t.Errorf("after Bob was registered again it reaches %q, want checkout alone", got)
	}
	var found paths
	w.call("memory_find_paths", map[string]any{"source_id": "bob", "target_id": "ann"}, &found)
	if len(found.Paths) != 0 {
		t.Errorf("paths over an ended link = %v, want none", found.Paths)
	}
	w.call("memory_find_paths", map[string]any{"source_id": "bob", "target_id": "ann", "valid_at": "any"}, &found)
	if len(found.Paths) != 1 {
		t.Errorf("paths over links of all times = %v, want one", found.Paths)
	}
	w.call("memory_delete_entity", map[string]any{"entityId": "svc:checkout"}, nil)
	w.Now = w.Now.Add(time.Hour)
	w.entity("svc:checkout", "Checkout", "type", "project")
	if got := w.walk("bob", 1); got != nil {
		t.Errorf("after checkout was deleted and registered again it reaches %q, want nothing", got)
	}
	var theme created
	w.call("memory_create_theme", map[string]any{"name": "n", "description": "d", "factIds": []string{"nope"}, "entityIds": []string{"ann"}}, &theme)
	if len(theme.Missing) != 1 || theme.Missing[0].Key != "nope" {
		t.Errorf("memory_create_theme = %+v, want nope missing", theme)
	}
}

func TestAMisspelledEntityIsFoundAndTheAnswerSaysSo(t *testing.T) {
	w := world{t, alcovetest.New(t, Family(), alcovetest.Manifest(t, "manifest.json"))}
	w.entity("ent:priya", "Priya Raman", "aliases", "Priya")
	w.entity("ent:checkout", "Checkout service", "type", "project")
	w.entity("ent:mara", "Mara")
	w.entity("ent:mark", "Mark")
	w.link("ent:priya", "ent:checkout", "part_of")
	for given, want := range map[string]string{"Pria": "ent:priya", "Pirya": "ent:priya", "priya ramen": "ent:priya", "chekout": "ent:checkout", "mar": "", "marx": "ent:mark", "xyzzy": ""} {
		out := w.get(given)
		got := ""
		if out.Entity != nil {
			got = out.Entity.EntityID.Key
		}
		said := len(out.Corrected) == 1 && out.Corrected[0].Given == given && out.Corrected[0].EntityID.Key == want
		if given == "marx" { // Mara and Mark are as near
			if got != "" || len(out.Similar) != 2 {
				t.Errorf("memory_get_entity marx = %+v, want no entity and two similar names", out)
			}
			continue
		}
		if got != want || said != (want != "") {
			t.Errorf("memory_get_entity %s = %q, corrected %+v, want %q and the correction said", given, got, out.Corrected, want)
		}
	}
	var reached walked
	w.call("memory_graph_query", map[string]any{"source_id": "Pria"}, &reached)
	if len(reached.Nodes) != 1 || len(reached.Corrected) != 1 || reached.Corrected[0].Name != "Priya Raman" {
		t.Errorf("memory_graph_query from Pria = %+v, want checkout, and Priya Raman said", reached)
	}
	var found paths
	w.call("memory_find_paths", map[string]any{"source_id": "Pria", "target_id": "checkot"}, &found)
	if len(found.Paths) != 1 || len(found.Corrected) != 2 {
		t.Errorf("memory_find_paths from Pria to checkot = %+v, want a path and two corrections", found)
	}
	var list foundEntities
	w.call("memory_search_entities", map[string]any{"query": "Pria"}, &list)
	if len(list.Entities) != 1 || !list.Similar {
		t.Errorf("memory_search_entities Pria = %+v, want Priya as similar", list)
	}
	list = foundEntities{}
	w.call("memory_search_entities", map[string]any{"query": "priya"}, &list)
	if len(list.Entities) != 1 || list.Similar {
		t.Errorf("memory_search_entities priya = %+v, want Priya as found", list)
	}
	w.fails(alcove.NotFound, "similar names: Priya Raman", "memory_link", map[string]any{"source_id": "Pria", "target_id": "ent:checkout"})
	w.fails(alcove.NotFound, "similar names: Mara, Mark", "memory_graph_query", map[string]any{"source_id": "marx"})
	w.fails(alcove.NotFound, "there is no memory", "memory_graph_query", map[string]any{"source_id": strings.Repeat("x", 400)})
}
