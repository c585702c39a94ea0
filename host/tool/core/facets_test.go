package core

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"
)

func TestASearchCountsFacetsIfAsked(t *testing.T) {
	u := newUser(t)
	u.must("memory_store", `{"key":"a","value":"green tea","type":"fact","tags":["x","y"]}`)
	u.must("memory_store", `{"key":"b","value":"black tea","type":"fact","tags":["y"],"namespace":"work"}`)
	u.must("memory_store", `{"key":"c","value":"coffee","tags":["y"]}`)
	answer, _ := u.must("memory_search", `{"query":"tea","type":"fact","facets":true,"k":1}`)
	var got struct{ Facets json.RawMessage }
	if err := json.Unmarshal([]byte(answer), &got); err != nil {
		t.Fatal(err)
	}
	const want = `{"agent":{"values":[{"value":"tester","count":2}]},` +
		`"dates":{"values":[{"value":"1 day ago","count":2},{"value":"7 days ago","count":2},{"value":"30 days ago","count":2},{"value":"365 days ago","count":2}]},` +
		`"namespace":{"values":[{"value":"default","count":1},{"value":"work","count":1}]},"state":{"values":[{"value":"active","count":2}]},` +
		`"tags":{"values":[{"value":"y","count":2},{"value":"x","count":1}]},"type":{"values":[{"value":"fact","count":2}]}}`
	if string(got.Facets) != want {
		t.Errorf("the facets are %s,\nnot %s", got.Facets, want)
	}
	first, _ := u.page(`{"order":"key","k":2,"facets":true}`)
	if rest, _ := u.page(`{"order":"key","k":2,"after":"` + first.Next + `"}`); first.keys()+" "+rest.keys() != "a c b" {
		t.Errorf("facets change what pages list: %s and %s", first.keys(), rest.keys())
	}
}

func TestARecallTellsTheUseOfAMemoryAndIsNotCounted(t *testing.T) {
	u := newUser(t)
	u.must("memory_store", `{"key":"tea","value":"green tea"}`)
	for _, want := range []string{`{"accesses":0}`, `{"accesses":1,"last_access":"2026-03-01T12:00:00.000000Z"}`} {
		for range 2 {
			answer, _ := u.must("memory_recall", `{"key":"tea","use":true}`)
			var got struct{ Use json.RawMessage }
			if err := json.Unmarshal([]byte(answer), &got); err != nil || string(got.Use) != want {
				t.Errorf("the use is %s, %v; want %s", got.Use, err, want)
			}
		}
		u.must("memory_recall", `{"key":"tea"}`)
	}
}

func TestARecallTellsWhichRecallsFoundAMemory(t *testing.T) {
	u := newUser(t)
	u.must("memory_store", `{"key":"tea","value":"green tea"}`)
	u.must("memory_recall", `{"query":"tea"}`)
	answer, _ := u.must("memory_recall", `{"key":"tea","recalls":5}`)
	var got struct{ Recalls []foundByQuery }
	if err := json.Unmarshal([]byte(answer), &got); err != nil || len(got.Recalls) != 1 || got.Recalls[0].Agent != "tester" || got.Recalls[0].Query != "tea" {
		t.Errorf("the recalls are %+v, %v", got.Recalls, err)
	}
}

func TestAHistoryTellsWhatWroteEachVersionIfAsked(t *testing.T) {
	u := newUser(t)
	u.must("memory_store", `{"key":"tea","value":"green tea"}`)
	u.caller.Agent, u.caller.Client, u.caller.Session, u.caller.Call = "ann", "editor", "s1", "call-1"
	u.must("memory_store", `{"key":"tea","value":"black tea"}`)
	u.caller.Agent, u.caller.Family, u.caller.Call = "", "facts", "call-2"
	u.must("memory_store", `{"key":"tea","value":"white tea"}`)
	u.caller.Family, u.caller.Call = "", ""
	want := []map[string]string{{"client": "editor", "session": "s1", "family": "facts"}, {"agent": "ann", "client": "editor", "session": "s1"}, {"agent": "tester"}}
	if got := u.authors(`{"key":"tea","authors":true}`); !slices.EqualFunc(got, want, maps.Equal) {
		t.Errorf("the versions were written by %v, not %v", got, want)
	}
	if got := u.authors(`{"key":"tea"}`); len(got) != 3 || got[0] != nil {
		t.Errorf("unasked, a history tells the authors %v", got)
	}
}

// authors lists what a history says of who wrote each version.
func (u *user) authors(arguments string) (list []map[string]string) {
	u.t.Helper()
	answer, _ := u.must("memory_history", arguments)
	var got struct {
		Versions []struct{ By map[string]string }
	}
	if err := json.Unmarshal([]byte(answer), &got); err != nil {
		u.t.Fatal(err)
	}
	for _, v := range got.Versions {
		list = append(list, v.By)
	}
	return list
}
