package graph

import (
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/go/alcovetest"
)

// world is a space that scenarios share: each has a namespace of its own.
type world struct {
	*testing.T
	*alcovetest.Space
}

func (w world) call(tool string, arguments map[string]any, result any) {
	w.T.Helper()
	if err := w.Space.Tool(tool, arguments, result); err != nil {
		w.T.Fatalf("call %s with %v: %v", tool, arguments, err)
	}
}

func (w world) fails(code alcove.Code, says, tool string, arguments map[string]any) {
	w.T.Helper()
	if err := w.Space.Tool(tool, arguments, nil); alcove.CodeOf(err) != code || !strings.Contains(err.Error(), says) {
		w.T.Errorf("%s %v: %v; want %s that says %q", tool, arguments, err, code, says)
	}
}

func (w world) memories(keys ...string) {
	for _, key := range keys {
		w.Put(alcove.Memory{Key: key, Value: alcove.JSON("about " + key)})
	}
}

func (w world) link(from, to, relation string, more ...any) (out linked) {
	w.T.Helper()
	arguments := map[string]any{"source_id": from, "target_id": to, "relation": relation}
	for i := 0; i < len(more); i += 2 {
		arguments[more[i].(string)] = more[i+1]
	}
	w.call("memory_link", arguments, &out)
	return out
}

// walk lists the keys that a walk reaches, with the depth of each.
func (w world) walk(from string, depth int, more ...any) (keys []string) {
	w.T.Helper()
	arguments := map[string]any{"source_id": from, "max_depth": depth}
	for i := 0; i < len(more); i += 2 {
		arguments[more[i].(string)] = more[i+1]
	}
	var out walked
	w.call("memory_graph_query", arguments, &out)
	for _, n := range out.Nodes {
		keys = append(keys, fmt.Sprint(n.ID.Key, n.Depth))
	}
	return keys
}

func (w world) entity(id, name string, more ...any) (out registered) {
	w.T.Helper()
	arguments := map[string]any{"entityId": id, "name": name, "type": "person"}
	for i := 0; i < len(more); i += 2 {
		arguments[more[i].(string)] = more[i+1]
	}
	w.call("memory_link_entity", arguments, &out)
	return out
}

func (w world) get(id string) (out found) {
	w.T.Helper()
	w.call("memory_get_entity", map[string]any{"id": id}, &out)
	return out
}

func TestGraph(t *testing.T) {
	space := alcovetest.New(t, Family(), alcovetest.Manifest(t, "manifest.json"))
	for name, scenario := range map[string]func(world){
		"an alias resolves for another agent of the scope, and in no other scope": func(w world) {
			w.entity("ent:ann", "Ann Lee", "aliases", []string{"Annie", "A. Lee"})
			w.Caller = "another"
			for _, name := range []string{"annie", "ANN LEE", "ent:ann", w.Namespace + "#ent:ann", "ann  lee"} {
				if out := w.get(name); out.Entity == nil || out.Entity.EntityID.Key != "ent:ann" {
					t.Errorf("%s is %+v", name, out)
				}
			}
			w.Namespace += "-other"
			if out := w.get("annie"); out.Entity != nil {
				t.Errorf("in another scope annie is %+v", out.Entity)
			}
			w.Read, w.Write = []string{}, []string{w.Namespace}
			if out := w.get(strings.TrimSuffix(w.Namespace, "-other") + "#annie"); out.Entity != nil {
				t.Errorf("who may not read the scope gets %+v", out.Entity)
			}
			w.Read, w.Write = nil, nil
		},
		"registering again keeps what there was and adds": func(w world) {
			first := w.entity("ent:ann", "Ann Lee", "aliases", "Annie", "metadata", map[string]any{"city": "Oslo", "age": 3}, "relationships",
				[]any{map[string]any{"toEntityId": "ent:acme", "relationType": "works_with"}})
			w.Now = w.Now.Add(time.Hour)
			again := w.entity("ent:ann", "Ann Lee-Smith", "aliases", []string{"Lee"}, "metadata", map[string]any{"city": "Lisbon"}, "relationships",
				[]any{map[string]any{"toEntityId": "ent:acme", "relationType": "works_with"}, map[string]any{"toEntityId": "ent:ann"}})
			if !first.Created || first.Links != 1 || again.Created || again.Links != 0 {
				t.Errorf("%+v then %+v", first, again)
			}
			e := w.get("ann lee").Entity
			if e.Name != "Ann Lee-Smith" || !slices.Equal(e.Aliases, []string{"Annie", "Ann Lee", "Lee"}) || string(e.Metadata["city"]) != `"Lisbon"` || string(e.Metadata["age"]) != "3" ||
				e.LastSeen-e.FirstSeen != alcove.Time(alcove.Hour) {
				t.Errorf("the entity is %+v, want the new name with all aliases and metadata, seen for an hour", e)
			}
			if len(w.get("ent:ann").Links) != 0 {
				t.Error("an entity that is not registered is listed")
			}
			w.entity("ent:acme", "Acme", "type", "company")
			if out := w.get("ent:acme"); len(out.Links) != 1 || out.Links[0].SourceID.Key != "ent:ann" || out.Links[0].Relation != "works_with" {
				t.Errorf("links of Acme = %+v, want works_with from ent:ann", out)
			}
			if other := w.entity("ent:lee", "Lee", "aliases", "Bruce Lee"); !slices.Equal(other.NamesTaken, []string{"lee"}) || w.get("Lee").Entity.EntityID.Key != "ent:ann" {
				t.Errorf("registered %+v, want the name lee taken by ent:ann", other)
			}
			w.fails(alcove.InvalidArgument, "type", "memory_link_entity", map[string]any{"entityId": "e", "name": "n", "type": "planet"})
			w.fails(alcove.InvalidArgument, "is no relation", "memory_link_entity",
				map[string]any{"entityId": "e", "name": "n", "type": "tool", "relationships": []any{map[string]any{"toEntityId": "x", "relationType": "eats"}}})
		},
		"without scopeIds entities and themes are searched in all scopes that the caller may read": func(w world) {
			here, there := w.Namespace, w.Namespace+"-there"
			w.Namespace = there
			w.entity("ent:zephyr", "Zephyr Station", "type", "project")
			w.call("memory_create_theme", map[string]any{"name": "Zephyr winds", "description": "What blows."}, nil)
			w.Put(alcove.Memory{Key: "k", Value: alcove.JSON("v")})
			w.Namespace = here
			found := func(arguments map[string]any) (n int) {
				var list foundEntities
				var groups foundThemes
				arguments["query"] = "zephyr"
				w.call("memory_search_entities", arguments, &list)
				w.call("memory_search_themes", arguments, &groups)
				for _, e := range list.Entities {
					if e.EntityID.Namespace != there {
						t.Errorf("%s is found in %s, want %s", e.Name, e.EntityID.Namespace, there)
					}
				}
				return len(list.Entities) + len(groups.Themes)
			}
			for _, c := range []struct {
				arguments map[string]any
				want      int
			}{{map[string]any{}, 2}, {map[string]any{"scopeIds": here}, 0}, {map[string]any{"scopeIds": []string{here, there}}, 2}, {map[string]any{"namespace": there}, 2}} {
				if got := found(c.arguments); got != c.want {
					t.Errorf("with %v: %d found, want %d", c.arguments, got, c.want)
				}
			}
			var listed foundThemes
			w.call("memory_search_themes", map[string]any{"limit": 200}, &listed)
			if !slices.ContainsFunc(listed.Themes, func(s themeShown) bool { return s.Name == "Zephyr winds" }) {
				t.Errorf("themes without a query = %+v, want the one of the other scope, too", listed.Themes)
			}
			w.Caller, w.Key, w.Read, w.Write = "eve", "key of eve", []string{here}, []string{here}
			if got := found(map[string]any{}); got != 0 {
				t.Errorf("who may not read the other scope finds %d there", got)
			}
			w.Read, w.Write = nil, nil
		},
		"entities are found by name, filtered by type, and not when deleted": func(w world) {
			w.entity("ent:1", "Acme Rockets", "type", "company")
			w.entity("ent:2", "Acme Shipping", "type", "project")
			w.entity("ent:3", "Acme", "type", "company")
			search := func(more map[string]any) (keys []string) {
				var out foundEntities
				more["query"], more["scopeIds"] = "acme", w.Namespace
				w.call("memory_search_entities", more, &out)
				for _, e := range out.Entities {
					keys = append(keys, e.EntityID.Key)
				}
				return keys
			}
			if got := search(map[string]any{}); len(got) != 3 || got[0] != "ent:3" {
				t.Errorf("memory_search_entities = %q, want 3, ent:3 first", got)
			}
			if got := search(map[string]any{"type": "project"}); !slices.Equal(got, []string{"ent:2"}) {
				t.Errorf("entities of type project = %q, want ent:2", got)
			}
			var gone alcove.Removed
			w.call("memory_delete_entity", map[string]any{"entityId": "acme"}, &gone)
			if got := search(map[string]any{"limit": 2}); !gone.Success || gone.EntityID.Key != "ent:3" || slices.Contains(got, "ent:3") || w.get("ent:3").Entity != nil || w.get("acme").Entity != nil {
				t.Errorf("%q after %+v", got, gone)
			}
			w.fails(alcove.NotFound, "ent:3", "memory_delete_entity", map[string]any{"entityId": "ent:3"})
			if again := w.entity("ent:3", "Acme"); !again.Created || w.get("acme").Entity == nil {
				t.Errorf("registered anew = %+v, want it created and found by its name", again)
			}
			w.link("ent:1", "ent:3", "part_of")
			w.call("memory_delete_entity", map[string]any{"entityId": "ent:3", "hard": true}, nil)
			if w.Record("entity", "ent:3") != nil || w.Record("alias", "acme") != nil || len(w.get("ent:1").Links) != 0 || w.Record("edge", "out|ent:1|part_of|ent:3") != nil {
				t.Error("a hard deletion leaves something")
			}
		},
		"a link that ended in June is walked as of May and not as of July": func(w world) {
			w.memories("a", "b", "c")
			w.Now = time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)
			if out := w.link("a", "b", "depends_on", "valid_from", "2026-01-01"); !out.Created {
				t.Error("the link was not created")
			}
			before := w.version()
			w.Now = w.Now.Add(24 * time.Hour)
			var out ended
			end := map[string]any{"source_id": "a", "target_id": "b", "relation": "depends_on", "valid_until": "2026-06-15"}
			w.call("memory_end_link", end, &out)
			if !out.Found || out.PreviousValidUntil != nil {
				t.Errorf("memory_end_link = %+v, want the link found without an earlier end", out)
			}
			for at, want := range map[string][]string{"2026-05-01": {"b1"}, "2026-06-14": {"b1"}, "2026-06-15": nil, "2026-07-01T00:00:00Z": nil, "2025-12-31": nil, "": nil, "any": {"b1"}} {
				if got := w.walk("a", 1, "valid_at", at); !slices.Equal(got, want) {
					t.Errorf("as of %q it reaches %q; want %q", at, got, want)
				}
			}
			if got := w.walk("a", 1, "valid_at", "2026-07-01", "as_of", before); !slices.Equal(got, []string{"b1"}) {
				t.Errorf("before it was ended it reaches %q", got)
			}
			if m := w.Memory("a"); len(m.Links) != 0 {
				t.Errorf("the memory has the links %q", m.Links)
			}
			w.call("memory_end_link", end, &out)
			if !out.Found || out.PreviousValidUntil == nil || out.PreviousValidUntil.String() != "2026-06-15T00:00:00Z" {
				t.Errorf("memory_end_link again = %+v, want the link found with its end of June 15", out)
			}
			if again := w.link("a", "b", "depends_on"); !again.Created || !slices.Equal(w.walk("a", 1, "valid_at", "now"), []string{"b1"}) || w.walk("a", 1, "valid_at", "2026-05-01") != nil {
				t.Errorf("a link that ended begins anew: %+v", again)
			}
			if again := w.link("a", "b", "depends_on", "confidence", .4); again.Created {
				t.Error("a link that holds was created again")
			}
			w.call("memory_end_link", map[string]any{"source_id": "a", "target_id": "c", "relation": "led_to"}, &out)
			if out.Found {
				t.Error("a link was found that never was")
			}
			w.fails(alcove.InvalidArgument, "before it begins", "memory_link", map[string]any{"source_id": "a", "target_id": "c", "valid_until": "2020-01-01"})
			w.fails(alcove.InvalidArgument, "is no moment", "memory_graph_query", map[string]any{"source_id": "a", "valid_at": "soon"})
		},
		"a ring of a thousand links is walked without repeats": func(w world) {
			const n = 1000
			var ring []alcove.Memory
			records := map[string]any{}
			for i := range n {
				ring = append(ring, alcove.Memory{Key: fmt.Sprint("m", i), Value: alcove.JSON(i)})
				from, to := alcove.ID{Namespace: w.Namespace, Key: fmt.Sprint("m", i)}, alcove.ID{Namespace: w.Namespace, Key: fmt.Sprint("m", (i+1)%n)}
				records[edgeKey(outward, from, "before", to)], records[edgeKey(inward, to, "before", from)] = edge{ValidFrom: 1}, edge{ValidFrom: 1}
			}
			w.Put(ring...)
			w.PutRecords("edge", func(yield func(string, any) bool) {
				for key, v := range records {
					if !yield(key, v) {
						return
					}
				}
			})
			if got := w.walk("m998", 5); !slices.Equal(got, []string{"m9991", "m02", "m13", "m24", "m35"}) {
				t.Errorf("from m998 it reaches %q, want m999, then m0 to m3 by steps", got)
			}
			var out paths
			w.call("memory_find_paths", map[string]any{"source_id": "m2", "target_id": "m998", "max_depth": 7}, &out)
			if len(out.Paths) != 1 || len(out.Paths[0]) != 5 || out.Paths[0][2].Key != "m0" {
				t.Errorf("paths from m2 to m998 = %v, want one of 5 through m0", out.Paths)
			}
		},
		"a walk follows relations, agents and what is there": func(w world) {
			w.memories("a", "b", "c", "d", "e")
			w.Caller = "bob"
			w.link("a", "b", "led_to")
			w.link("b", "c", "led_to")
			w.Caller = "eve"
			w.link("a", "d", "x:eats", "confidence", .3)
			w.link("d", "e", "led_to")
			w.link("c", "a", "before")
			for _, c := range []struct {
				more []any
				want []string
			}{
				{nil, []string{"b1", "d1", "c2", "e2"}},
				{[]any{"relations", "led_to"}, []string{"b1", "c2"}},
				{[]any{"allowed_agents", []string{"bob"}}, []string{"b1", "c2"}},
				{[]any{"allowed_agents", []string{}}, nil},
				{[]any{"limit", 2}, []string{"b1", "d1"}},
			} {
				if got := w.walk("a", 3, c.more...); !slices.Equal(got, c.want) {
					t.Errorf("with %v it reaches %q; want %q", c.more, got, c.want)
				}
			}
			var out walked
			w.call("memory_graph_query", map[string]any{"source_id": "a"}, &out)
			if n := out.Nodes[1]; n.Kind != "memory" || n.Label != "about d" || n.From.Key != "a" || n.Relation != "x:eats" || n.ObservedBy != "eve" || n.Confidence != .3 || out.Truncated {
				t.Errorf("the node is %+v, want d with the relation, observer and confidence of its link", n)
			}
			w.Forget("d")
			if got := w.walk("a", 3); !slices.Equal(got, []string{"b1", "c2"}) {
				t.Errorf("past a deleted memory it reaches %q", got)
			}
			w.fails(alcove.InvalidArgument, "is no relation", "memory_link", map[string]any{"source_id": "a", "target_id": "b", "relation": "eats"})
			w.fails(alcove.InvalidArgument, "is no relation", "memory_link", map[string]any{"source_id": "a", "target_id": "b", "relation": "x:a|b"})
			w.fails(alcove.InvalidArgument, "with itself", "memory_link", map[string]any{"source_id": "a", "target_id": "a"})
			w.fails(alcove.NotFound, "none", "memory_link", map[string]any{"source_id": "a", "target_id": "none"})
			w.fails(alcove.NotFound, "none", "memory_graph_query", map[string]any{"source_id": "none"})
			w.fails(alcove.InvalidArgument, "max_depth", "memory_graph_query", map[string]any{"source_id": "a", "max_depth": 6})
		},
		"a walk ends when it has looked at as many links as it may": func(w world) {
			records := map[string]any{}
			var all []alcove.Memory
			a := alcove.ID{Namespace: w.Namespace, Key: "a"}
			for i := range 150 {
				id := alcove.ID{Namespace: w.Namespace, Key: fmt.Sprint("m", i)}
				all = append(all, alcove.Memory{Key: id.Key, Value: alcove.JSON(1)})
				records[edgeKey(outward, a, "led_to", id)] = edge{ValidFrom: 1}
			}
			w.Put(append(all, alcove.Memory{Key: "a", Value: alcove.JSON(1)})...)
			for key, v := range records {
				w.PutRecord("edge", key, v)
			}
			w.Config["graph_max_visits"] = 100
			var out walked
			w.call("memory_graph_query", map[string]any{"source_id": "a", "max_depth": 2}, &out)
			w.Config["graph_max_visits"] = nil
			if len(out.Nodes) != 100 || !out.Truncated {
				t.Errorf("%d nodes, truncated %v", len(out.Nodes), out.Truncated)
			}
		},
		"links are listed in both directions, page by page, with those that memories have alone": func(w world) {
			w.memories("a", "b", "c", "d")
			w.Put(alcove.Memory{Key: "e", Value: alcove.JSON(1), Links: []string{"a"}})
			w.link("a", "b", "led_to")
			w.link("a", "c", "led_to", "valid_from", "2026-05-01")
			w.link("d", "a", "part_of")
			list := func(more ...any) (keys []string, next string) {
				arguments := map[string]any{"id": "a"}
				for i := 0; i < len(more); i += 2 {
					arguments[more[i].(string)] = more[i+1]
				}
				var out links
				w.call("memory_get_links", arguments, &out)
				for _, l := range out.Links {
					keys = append(keys, l.SourceID.Key+l.TargetID.Key)
				}
				return keys, out.NextCursor
			}
			if got, next := list(); !slices.Equal(got, []string{"ab", "ac", "da", "ea"}) || next != "" {
				t.Errorf("links = %q, next page %q, want all four and no more", got, next)
			}
			for direction, want := range map[string][]string{"out": {"ab", "ac"}, "in": {"da", "ea"}} {
				if got, _ := list("direction", direction); !slices.Equal(got, want) {
					t.Errorf("links with direction %s = %q, want %q", direction, got, want)
				}
			}
			if got, _ := list("relation", "led_to"); !slices.Equal(got, []string{"ab", "ac"}) {
				t.Errorf("links with relation led_to = %q, want ab and ac", got)
			}
			var all []string
			for cursor := ""; ; {
				got, next := list("limit", 1, "cursor", cursor)
				all = append(all, got...)
				if cursor = next; cursor == "" {
					break
				}
			}
			if !slices.Equal(all, []string{"ab", "ac", "da", "ea"}) {
				t.Errorf("in pages: %q", all)
			}
			if m := w.Memory("a"); !slices.Equal(m.Links, []string{"b", "c"}) {
				t.Errorf("the memory has the links %q", m.Links)
			}
		},
		"the shortest paths come first, and none goes through a deleted memory": func(w world) {
			w.memories("a", "b", "c", "d", "e", "f")
			for _, l := range []string{"ab", "bc", "dc", "ad", "ae", "ef", "fc", "bd"} {
				w.link(l[:1], l[1:], "led_to")
			}
			find := func(more ...any) (list []string) {
				arguments := map[string]any{"source_id": "a", "target_id": "c"}
				for i := 0; i < len(more); i += 2 {
					arguments[more[i].(string)] = more[i+1]
				}
				var out paths
				w.call("memory_find_paths", arguments, &out)
				for _, p := range out.Paths {
					s := ""
					for _, id := range p {
						s += id.Key
					}
					list = append(list, s)
				}
				return list
			}
			if got := find(); !slices.Equal(got, []string{"abc", "adc", "abdc", "adbc", "aefc"}) {
				t.Errorf("paths = %q, want all five, the shortest and surest first", got)
			}
			if got := find("max_results", 3); !slices.Equal(got, []string{"abc", "adc", "abdc"}) {
				t.Errorf("at most 3 paths = %q, want the first three", got)
			}
			if got := find("max_depth", 2); !slices.Equal(got, []string{"abc", "adc"}) {
				t.Errorf("paths of at most 2 steps = %q, want abc and adc", got)
			}
			if got := find("target_id", "a"); !slices.Equal(got, []string{"a"}) {
				t.Errorf("paths from a to itself = %q, want a alone", got)
			}
			w.Forget("b")
			if got := find(); !slices.Equal(got, []string{"adc", "aefc"}) {
				t.Errorf("paths without b = %q, want adc and aefc", got)
			}
			w.memories("apart")
			if got := find("target_id", "apart"); got != nil {
				t.Errorf("paths to what is not linked = %q, want none", got)
			}
		},
		"a timeline has dated statements, oldest first": func(w world) {
			w.entity("ent:ann", "Ann")
			w.memories("oslo", "lisbon", "paris")
			for key, from := range map[string]string{"oslo": "2020-03-01", "lisbon": "2018-01-01", "paris": "2024-06-30T12:00:00Z"} {
				w.link("ann", key, "related_to", "valid_from", from)
			}
			list := func(more map[string]any) (keys []string) {
				more["source_id"] = "Ann"
				var out timeline
				w.call("memory_graph_timeline", more, &out)
				for _, e := range out.Events {
					keys = append(keys, e.TargetID.Key)
				}
				return keys
			}
			if got := list(map[string]any{}); !slices.Equal(got, []string{"lisbon", "oslo", "paris"}) {
				t.Errorf("memory_graph_timeline = %q, want lisbon, oslo, paris", got)
			}
			if got := list(map[string]any{"since": "2020-03-01", "until": "2024-06-30"}); !slices.Equal(got, []string{"oslo", "paris"}) {
				t.Errorf("events from March 2020 to June 2024 = %q, want oslo and paris", got)
			}
			if got := list(map[string]any{"limit": 1}); !slices.Equal(got, []string{"lisbon"}) {
				t.Errorf("the newest event = %q, want lisbon", got)
			}
		},
		"links go across scopes, for those who may read both": func(w world) {
			other := w.Namespace + "-far"
			w.memories("a")
			w.Put(alcove.Memory{Key: "b", Namespace: other, Value: alcove.JSON("far away")}, alcove.Memory{Key: "c", Namespace: other, Value: alcove.JSON("farther")})
			w.link("a", other+"#b", "led_to")
			w.link(other+"#b", other+"#c", "led_to")
			if got := w.walk("a", 2); !slices.Equal(got, []string{"b1", "c2"}) {
				t.Errorf("from a it reaches %q, want b and c of the other namespace", got)
			}
			w.Read, w.Write = []string{}, []string{w.Namespace}
			if got := w.walk("a", 2); got != nil {
				t.Errorf("who may not read the other scope reaches %q", got)
			}
			w.fails(alcove.NotFound, "", "memory_get_links", map[string]any{"id": other + "#b"})
			w.Read, w.Write = nil, nil
		},
		"keys may be long and have any character": func(w world) {
			keys := []string{"a|b", "a#b", "100%|", strings.Repeat("ü|", 340), "x#" + strings.Repeat("y", 900), "ent:%~"}
			w.memories(keys...)
			w.memories("hub")
			for _, key := range keys {
				w.link("hub", key, "led_to")
				w.link(key, "hub", "x:back")
			}
			var out walked
			w.call("memory_graph_query", map[string]any{"source_id": "hub"}, &out)
			var got []string
			for _, n := range out.Nodes {
				got = append(got, n.ID.Key)
			}
			slices.Sort(got)
			slices.Sort(keys)
			if !slices.Equal(got, keys) {
				t.Errorf("nodes = %q, want %q", got, keys)
			}
			var found paths
			w.call("memory_find_paths", map[string]any{"source_id": keys[0], "target_id": strings.Repeat("ü|", 340), "max_depth": 2}, &found)
			if len(found.Paths) != 1 || found.Paths[0][1].Key != "hub" {
				t.Errorf("paths = %v, want one through hub", found.Paths)
			}
			var all exported
			w.call("memory_export_graph", nil, &all)
			if len(all.Nodes) != len(keys)+1 || len(all.Edges) != 2*len(keys) {
				t.Errorf("%d nodes and %d edges", len(all.Nodes), len(all.Edges))
			}
		},
		"a theme groups facts, is found and is deleted": func(w world) {
			w.memories("a")
			w.entity("ent:ann", "Ann")
			var out created
			w.call("memory_create_theme", map[string]any{"name": "Release of spring", "description": "What led to it", "factIds": "a", "entityIds": []string{"ent:ann"}}, &out)
			w.call("memory_create_theme", map[string]any{"name": "Hiring", "description": "People", "importance": .9}, nil)
			search := func(query string) (names []string) {
				var found foundThemes
				w.call("memory_search_themes", map[string]any{"query": query, "scopeIds": w.Namespace}, &found) // others are of other cases
				for _, theme := range found.Themes {
					names = append(names, theme.Name)
				}
				return names
			}
			if got := search("spring"); !slices.Equal(got, []string{"Release of spring"}) {
				t.Errorf("themes found for spring = %q, want the release", got)
			}
			if got := search(""); !slices.Equal(got, []string{"Hiring", "Release of spring"}) {
				t.Errorf("all themes = %q, want Hiring and the release", got)
			}
			var all exported
			w.call("memory_export_graph", nil, &all)
			if len(all.Nodes) != 4 || len(all.Edges) != 2 || all.Edges[0].Relation != "part_of" {
				t.Errorf("memory_export_graph = %+v, want 4 nodes and 2 edges part_of", all)
			}
			var gone alcove.Removed
			w.call("memory_delete_theme", map[string]any{"themeId": out.ThemeID.String()}, &gone)
			if got := search("spring"); got != nil || gone.EntityID != out.ThemeID || !strings.HasPrefix(gone.EntityID.Key, "thm:") {
				t.Errorf("%q after %+v", got, gone)
			}
			w.fails(alcove.NotFound, "thm:", "memory_delete_theme", map[string]any{"themeId": out.ThemeID.String()})
			w.call("memory_delete_theme", map[string]any{"themeId": out.ThemeID.String(), "hard": true}, nil)
			if w.Record("theme", out.ThemeID.Key) != nil {
				t.Error("the theme is still there")
			}
		},
		"the graph is exported in three formats": func(w world) {
			w.Put(alcove.Memory{Key: "a", Value: alcove.JSON("says <\"hello\">\x01 & more")})
			w.memories("b", "lonely")
			w.entity("ent:ann", "Ann")
			w.link("a", "b", "led_to")
			w.link("a", "ann", "related_to")
			w.Forget("b")
			var out exported
			w.call("memory_export_graph", map[string]any{}, &out)
			if len(out.Nodes) != 2 || len(out.Edges) != 1 || out.Edges[0].To.Key != "ent:ann" || !strings.Contains(fmt.Sprint(out.Nodes), "hello") || out.GeneratedAt == 0 {
				t.Errorf("memory_export_graph = %+v, want 2 nodes and the edge to ent:ann", out)
			}
			out = exported{}
			w.call("memory_export_graph", map[string]any{"includeContent": false, "format": "graphml"}, &out)
			decoder := xml.NewDecoder(strings.NewReader(out.Document))
			edges := 0
			for {
				token, err := decoder.Token()
				if err == io.EOF {
					break
				}
				if err != nil {
					t.Fatalf("%v in\n%s", err, out.Document)
				}
				if e, ok := token.(xml.StartElement); ok && e.Name.Local == "edge" {
					edges++
				}
			}
			if edges != 1 || strings.Contains(out.Document, `<data key="content">`) || len(out.Nodes) != 0 {
				t.Errorf("%d edges in\n%s", edges, out.Document)
			}
			w.call("memory_export_graph", map[string]any{"format": "dot"}, &out)
			if !strings.Contains(out.Document, `"`+w.Namespace+`#a" -> "`+w.Namespace+`#ent:ann" [label="related_to"];`) || !strings.Contains(out.Document, `says <\"hello\">`) {
				t.Errorf("the document in dot lacks the edge or the label:\n%s", out.Document)
			}
			w.fails(alcove.Exhausted, "limit", "memory_export_graph", map[string]any{"limit": 1})
		},
	} {
		space.Caller, space.Namespace = "tester", strings.ReplaceAll(strings.ReplaceAll(name, " ", "-"), ",", "")[:20]+fmt.Sprint(len(name))
		space.Now = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
		t.Run(name, func(t *testing.T) { scenario(world{t, space}) })
	}
}

// version is the newest version, as as_of takes it.
func (w world) version() string {
	w.T.Helper()
	m := w.Memory("a")
	return fmt.Sprintf("v%d", m.Version)
}
