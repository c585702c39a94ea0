package core

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// page is a page of a list.
type page struct {
	Results []struct {
		Key, Event, Namespace string
		Score                 *float64
	}
	Total int
	Next  string
}

func (u *user) page(arguments string) (p page, note string) {
	u.t.Helper()
	answer, _, note := u.lean("memory_search", arguments)
	if err := json.Unmarshal([]byte(answer), &p); err != nil {
		u.t.Fatal(err)
	}
	return p, note
}

func (p page) keys() string {
	var keys []string
	for _, r := range p.Results {
		keys = append(keys, r.Key+r.Event)
	}
	return strings.Join(keys, " ")
}

func TestASearchWithoutAQueryLists(t *testing.T) {
	u := newUser(t)
	for i, key := range []string{"b", "a", "c"} {
		u.must("memory_store", fmt.Sprintf(`{"key":%q,"value":"text of %s","importance":0.%d,"tags":["t%d"],"type":"note"}`, key, key, 9-i, i%2))
	}
	u.must("memory_store", `{"key":"d","value":"elsewhere","namespace":"work"}`)
	u.must("memory_log", `{"event":"e1","data":1}`)
	u.must("memory_log", `{"event":"e2","data":2}`)
	u.must("memory_recall", `{"key":"c"}`)
	for arguments, want := range map[string]string{
		`{}`:                                       "d c a b",
		`{"query":""}`:                             "d c a b",
		`{"order":"oldest"}`:                       "b a c d",
		`{"order":"key"}`:                          "a b c d",
		`{"order":"importance"}`:                   "b a c d",
		`{"sort":"accesses","k":1}`:                "c",
		`{"order":"key","namespace":"work"}`:       "d",
		`{"order":"key","tags":["t0"]}`:            "b c",
		`{"order":"key","no_tags":["t0"]}`:         "a d",
		`{"order":"key","prefix":"c"}`:             "c",
		`{"query":"text","prefix":"b"}`:            "b",
		`{"query":"text","no_tags":["t0"]}`:        "a",
		`{"order":"key","type":"note","k":2}`:      "a b",
		`{"order":"key","since":"2030-01-01"}`:     "",
		`{"order":"key","as_of":"v3"}`:             "a b",
		`{"order":"key","state":"archived"}`:       "",
		`{"query":"text","order":"key"}`:           "a b c",
		`{"events":true,"order":"oldest"}`:         "e1 e2",
		`{"events":true,"type":"e2"}`:              "e2",
		`{"order":"key","offset":2}`:               "c d",
		`{"order":"key","as_of":"now","limit":50}`: "a b c d",
	} {
		p, note := u.page(arguments)
		if got := p.keys(); got != want {
			t.Errorf("%s lists %q, not %q", arguments, got, want)
		}
		if (p.Next != "") != (p.Total > len(p.Results)+strings.Count(arguments, "offset")*2) || (p.Next != "") != strings.Contains(note, "lists on") {
			t.Errorf("%s: %d of %d, next %q, noted %q", arguments, len(p.Results), p.Total, p.Next, note)
		}
	}
	if text := u.refused("memory_search", `{"prefix":"`+strings.Repeat("k", 2000)+`"}`); !strings.Contains(text, "the prefix has 2000 bytes") {
		t.Errorf("a prefix beyond the limit is answered with %s", text)
	}
	first, _ := u.page(`{"order":"key","k":2,"since":"1h ago"}`)
	u.must("memory_store", `{"key":"bb","value":"later"}`)
	second, note := u.page(`{"order":"key","k":2,"since":"1h ago","after":"` + first.Next + `"}`)
	if first.keys() != "a b" || second.keys() != "c d" || second.Next != "" || second.Total != 4 || note != "" || second.Results[0].Score != nil {
		t.Errorf("the pages are %+v and %+v, noted %q", first, second, note)
	}
	_, text, _ := u.lean("memory_search", `{"order":"key","k":1}`)
	if text != `[{"key":"a","value":"text of a","updated":"2026-03-01 12:00","tags":["t1"],"type":"note","importance":0.8}]` {
		t.Errorf("a row is %s", text)
	}
	if got := u.refused("memory_search", `{"order":"accesses","as_of":"v3"}`); !strings.Contains(got, "counters are of the present") {
		t.Errorf("refused with %s", got)
	}
}

func TestAListHasOnlyWhatTheCallerMayRead(t *testing.T) {
	u := guarded(t)
	for arguments := `{"order":"key","k":1`; ; {
		p, _ := u.page(arguments + "}")
		for _, r := range p.Results {
			if strings.Contains(r.Key+r.Namespace, "tungsten") || r.Namespace == "vault" {
				t.Errorf("listed is %+v", r)
			}
		}
		if p.Next == "" {
			break
		}
		arguments = `{"order":"key","k":1,"after":"` + p.Next + `"`
	}
	if p, _ := u.page(`{}`); p.Total == 0 {
		t.Error("nothing is listed") // or the test would see nothing
	}
}
