package core

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/memory"
)

// noted is the note of an answer.
func (u *user) noted(name, arguments string) string {
	u.t.Helper()
	structured, _, _ := u.lean(name, arguments)
	var a struct{ Note string }
	if err := json.Unmarshal([]byte(structured), &a); err != nil {
		u.t.Fatal(err)
	}
	return a.Note
}

func TestAnUnknownKeySaysWhatMayBeMeant(t *testing.T) {
	u := newUser(t)
	for _, arguments := range []string{
		`{"key":"user/name","value":"Ada"}`, `{"key":"user/name/first","value":"Ada"}`, `{"key":"tz","value":"Oslo","namespace":"wrok"}`, `{"key":"gone","value":1}`, `{"key":"brief","value":1,"expires":"2h"}`,
	} {
		u.must("memory_store", arguments)
	}
	u.must("memory_forget", `{"key":"gone"}`)
	u.must("memory_branch", `{"action":"fork","name":"idea"}`)
	u.must("memory_store", `{"key":"plan","value":1,"branch":"idea"}`)
	u.must("memory_search", `{}`) // waits for the index, before which answers say less
	for _, c := range []struct{ name, tool, arguments, want string }{
		{"one letter less", "memory_recall", `{"key":"user/nam"}`, `There is no memory under "user/nam" in namespace default. Keys like it: "user/name", "user/name/first".`},
		{"another case", "memory_recall", `{"key":"User/Name"}`, `Keys like it: "user/name", "user/name/first".`},
		{"other separators", "memory_recall", `{"key":"user_name"}`, `Keys like it: "user/name", "user/name/first".`},
		{"the last word alone", "memory_recall", `{"key":"first"}`, `Keys like it: "user/name/first".`},
		{"another namespace", "memory_recall", `{"key":"tz"}`, `in namespace default. It is in namespace "wrok".`},
		{"an empty namespace", "memory_recall", `{"key":"x","namespace":"work"}`, `in namespace work. This namespace is empty; there are default (3), wrok (1).`},
		{"another branch", "memory_recall", `{"key":"plan"}`, `It is on branch "idea".`},
		{"a forgotten one", "memory_recall", `{"key":"gone"}`, `It was forgotten at v7: as_of=v6 shows it.`},
		{"a later one", "memory_recall", `{"key":"tz","namespace":"wrok","as_of":"v2"}`, `It was stored later: leave as_of out.`},
		{"to forget", "memory_forget", `{"key":["user/names","tz"]}`, `There is no memory under "user/names" in namespace default. Keys like it: "user/name". There is no memory under "tz" in namespace default. It is in namespace "wrok".`},
		{"its history", "memory_history", `{"key":"tz"}`, `It is in namespace "wrok".`},
	} {
		if got := u.noted(c.tool, c.arguments); !strings.Contains(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestAnEmptySearchSaysWhereItLookedAndWhatThereIs(t *testing.T) {
	u := newUser(t)
	for i := range 4 {
		u.must("memory_store", fmt.Sprintf(`{"key":"ship%d","value":"we ship on day %d","tags":["release"],"namespace":"work","type":"fact"}`, i, i))
	}
	u.must("memory_store", `{"key":"home","value":"the cat ships nothing","tags":["pets"],"state":"archived"}`)
	for _, c := range []struct{ name, arguments, want string }{
		{"no such words", `{"query":"zeppelin"}`, `Nothing was found among 5 memories in all namespaces on branch default. Nothing has a word of the query: try others, or list without query.`},
		{"no such namespace", `{"query":"ship","namespace":"nosuch"}`, `Nothing was found among 0 memories in namespace "nosuch" on branch default. There is nothing in namespace "nosuch"; there are work (4), default (1). Without namespace: 5 results.`},
		{"no such tag", `{"query":"ship","tags":["releases"]}`, `Nothing has the tag "releases"; tags in use are release (4), pets (1). Without tags: 5 results.`},
		{"no such type", `{"type":"decision"}`, `Without type: 5 results.`},
		{"another state", `{"query":"ship","state":"pruned"}`, `Without state: 5 results.`},
		{"a later time", `{"query":"ship","since":"2026-03-01T12:00:01Z"}`, `Without since and until: 5 results.`},
		{"two filters, each of which leaves nothing", `{"query":"ship","tags":["x"],"type":"y"}`, `Without any of these filters: 5 results.`},
		{"the past", `{"query":"ship","as_of":"v1"}`, `at that moment. Without as_of: 5 results.`},
		{"past the end", `{"query":"ship","offset":20}`, `offset=20 skips all results: 5 results.`},
		{"in events", `{"query":"ship","events":true}`, `Nothing was found among 0 events in all namespaces`},
	} {
		if got := u.noted("memory_search", c.arguments); !strings.Contains(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
	if got := u.noted("memory_recall", `{"query":"zeppelin"}`); !strings.Contains(got, "Nothing was found among 5 memories") {
		t.Errorf("a recall by query: got %q", got)
	}
	if got := u.refused("memory_recall", `{"topic":"day","namespace":"default"}`); !strings.Contains(got, `Without namespace: 4 results.`) {
		t.Errorf("a recall by topic: got %q", got)
	}
}

func TestAllNamespacesAreAllThatTheCallerMayRead(t *testing.T) {
	u := guarded(t)
	for _, c := range []struct{ tool, arguments, want string }{
		{"memory_search", `{"query":"tea","namespace":"*"}`, `"total":2`},
		{"memory_search", `{"order":"key","namespace":["*"]}`, `"total":2`},
		{"memory_recall", `{"key":"plan","namespace":"*"}`, `"namespace":"work"`},
		{"memory_recall", `{"topic":"tea","namespace":"*"}`, `"count":2`},
		{"memory_history", `{"key":"plan","namespace":"*"}`, `"the tea plan"`},
		{"memory_status", `{"namespace":"*"}`, `"namespace":"*","auto_embed":false,"branches":2,"keys":2,"events":1`},
		{"memory_poll_events", `{"namespace":"*"}`, `"scopeId":"work"`},
		{"memory_recall", `{"key":"tungsten","namespace":"*"}`, `"found":false`},
		{"memory_branch", `{"action":"diff","compare":"side","namespace":"*"}`, `"changed":1`},
	} {
		if got := u.said(c.tool, c.arguments); !strings.Contains(got, c.want) || strings.Contains(got, "vault") {
			t.Errorf("%s %s: got %s, want %s", c.tool, c.arguments, got, c.want)
		}
	}
	for _, c := range [][2]string{
		{"memory_store", `{"key":"k","value":1,"namespace":"*"}`}, {"memory_forget", `{"key":"tea","namespace":"*"}`}, {"memory_log", `{"event":"e","data":1,"namespace":"*"}`}, {"memory_branch", `{"action":"switch","namespace":"*"}`},
	} {
		if got := u.refused(c[0], c[1]); !strings.Contains(got, "means all namespaces: this needs one, so name it") {
			t.Errorf("%s %s: refused with %s", c[0], c[1], got)
		}
	}
	u.must("memory_store", `{"key":"plan","value":"at home","namespace":"home"}`)
	if got := u.refused("memory_recall", `{"key":"plan","namespace":"*"}`); !strings.Contains(got, `"plan" is in several namespaces, "home", "work": name one`) {
		t.Errorf("of two namespaces: refused with %s", got)
	}
}

func TestHintsAreThoseOfASpaceWithoutTheHiddenNamespace(t *testing.T) {
	with, without := newUser(t), newUser(t)
	for _, u := range []*user{with, without} {
		u.must("memory_store", `{"namespace":"home","key":"tea","value":"green tea","tags":["drink"]}`)
		secret := `{"namespace":"vault","key":"teas","value":"tea with tungsten","tags":["tungsten"],"type":"tungsten"}`
		if u == without {
			secret = `{"namespace":"home","key":"tea","value":"black tea","tags":["drink"]}`
		}
		u.must("memory_store", secret)
		u.must("memory_store", `{"namespace":"home","key":"tea","value":"green tea","tags":["drink"],"type":"leaf"}`)
		u.caller = memory.Caller{Agent: "guest", Rights: memory.RightsTo([]string{"home", "team/*"}, nil)}
	}
	for _, c := range [][2]string{
		{"memory_recall", `{"key":"teas","namespace":"home"}`}, {"memory_recall", `{"key":"teas","namespace":"team/x"}`}, {"memory_recall", `{"key":"teas","namespace":"*"}`},
		{"memory_search", `{"query":"tungsten"}`}, {"memory_search", `{"query":"tea","tags":["tungsten"]}`}, {"memory_search", `{"query":"tea","type":"tungsten"}`},
		{"memory_search", `{"query":"tungsten","namespace":"*"}`}, {"memory_search", `{"namespace":"team/*"}`}, {"memory_recall", `{"topic":"tungsten","namespace":"home"}`},
		{"memory_history", `{"key":"teas","namespace":"home"}`}, {"memory_status", `{"namespace":"*"}`},
	} {
		if got, want := with.said(c[0], c[1]), without.said(c[0], c[1]); got != want {
			t.Errorf("%s %s: got %s, want what is said without the hidden namespace: %s", c[0], c[1], got, want)
		}
	}
}
