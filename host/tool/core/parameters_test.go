package core

import (
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/tool"
	"github.com/alcove-memory/alcove/host/tool/request"
)

func TestASearchTakesTheParametersOfOlderSystems(t *testing.T) {
	u := newUser(t)
	u.must("memory_store", `{"namespace":"work","items":[{"key":"a","value":"apple one","type":"decision","tags":["x"]},{"key":"b","value":"apple two apple","type":"fact"},{"key":"c","value":"apple three"}]}`)
	u.must("memory_store", `{"namespace":"home","items":[{"key":"a","value":"apple at home","type":"decision"}]}`)
	for arguments, want := range map[string]string{
		`{"query":"apple","scopeIds":["home"]}`:                                                        "home#a",
		`{"query":"apple","scope_ids":["home"],"limit":1}`:                                             "home#a",
		`{"query":"apple","scopeIds":["work"],"filters":{"factType":"decision"}}`:                      "work#a",
		`{"query":"apple","filters":"{\"factType\":[\"decision\"],\"tags\":[\"x\"]}"}`:                 "work#a",
		`{"query":"apple","filters":{"dateRange":{"start":"2026-02-01","end":"2026-02-02"}}}`:          "",
		`{"query":"apple","scopeId":"home","filters":{"dateRange":{"start":"2026-02-01","end":null}}}`: "home#a",
		`{"topic":"apple","namespaces":"home","searchStrategy":"text-only"}`:                           "home#a",
		`{"Query":"apple","NAME_SPACE":"home","K":5,"asOf":"now"}`:                                     "home#a",
	} {
		if got := u.keys(arguments); got != want {
			t.Errorf("%s found %q, not %q", arguments, got, want)
		}
	}
	if got := strings.Fields(u.keys(`{"query":"apple","limit":2}`)); len(got) != 2 {
		t.Errorf("a limit of 2 found %q", got)
	}
	if got := u.refused("memory_search", `{"query":"apple","limit":51}`); !strings.Contains(got, "limit must be a whole number from 1 to 50, got 51") {
		t.Errorf("refused with %s", got)
	}
	if got := u.refused("memory_search", `{"query":"apple","filters":7}`); !strings.Contains(got, "filters must be an object") {
		t.Errorf("refused with %s", got)
	}
	if got := u.refused("memory_search", `{"query":"apple","searchStrategy":"vector-only"}`); !strings.Contains(got, "embedder") {
		t.Errorf("refused with %s", got)
	}
}

func TestAParameterAndItsOtherNameCannotBothBeGiven(t *testing.T) {
	u := newUser(t)
	for _, c := range [][3]string{
		{"memory_search", `{"query":"q","k":5,"limit":10}`, "k and limit are the same parameter: give one of them"},
		{"memory_search", `{"query":"q","tags":["a"],"filters":{"tags":["b"]}}`, "filters.tags and tags are the same parameter"},
		{"memory_search", `{"query":"q","scopeIds":["a"],"scope_ids":["b"]}`, "scopeIds and scope_ids are the same parameter"},
		{"memory_store", `{"value":1,"expires":"2h","expires_at":"3h"}`, "expires and expires_at are the same parameter"},
		{"memory_store", `{"value":1,"expires":"2h","ttl":60}`, "ttl and expires are the same parameter"},
		{"memory_store", `{"items":[{"value":1,"content":2}]}`, "items[0].content and items[0].value are the same parameter"},
		{"memory_operation", `{"method":"memory_status","timeout_ms":5,"options":{"timeout_ms":6}}`, "timeout_ms is given twice"},
	} {
		if c[0] == "memory_operation" {
			if answer, _ := u.must(c[0], c[1]); !strings.Contains(answer, c[2]) {
				t.Errorf("%s is answered with %s", c[1], answer)
			}
			continue
		}
		if got := u.refused(c[0], c[1]); !strings.Contains(got, c[2]) {
			t.Errorf("%s is refused with %s", c[1], got)
		}
	}
	if got := u.keys(`{"query":"q","k":null,"limit":10}`); got != "" {
		t.Errorf("found %s", got)
	}
}

func TestAMemoryExpiresHoweverThatIsSaid(t *testing.T) {
	u := newUser(t)
	for arguments, want := range map[string]string{
		`"expires_at":"2026-03-02"`: "2026-03-02T23:59:59.999999Z", `"expiresAt":"2h"`: "2026-03-01T14:00:00.000000Z",
		`"ttl":3600`: "2026-03-01T13:00:00.000000Z", `"ttl":"3600"`: "2026-03-01T13:00:00.000000Z", `"ttl":"30 days"`: "2026-03-31T12:00:00.000000Z",
	} {
		u.must("memory_store", `{"key":"k","value":`+`"`+strings.ReplaceAll(arguments, `"`, "")+`",`+arguments+`}`)
		if got, _ := u.must("memory_recall", `{"key":"k"}`); !strings.Contains(got, `"expires_at":"`+want+`"`) {
			t.Errorf("with %s stored %s", arguments, got)
		}
	}
	u.must("memory_store", `{"items":[{"key":"a","value":1,"expires_at":"2h"},{"key":"b","content":2}],"ttl":60}`)
	if got, _ := u.must("memory_recall", `{"key":"a"}`); !strings.Contains(got, `"expires_at":"2026-03-01T14:00:00.000000Z"`) {
		t.Errorf("stored %s", got)
	}
	if got, _ := u.must("memory_recall", `{"key":"b"}`); !strings.Contains(got, `"value":2`) || !strings.Contains(got, `"expires_at":"2026-03-01T12:01:00.000000Z"`) {
		t.Errorf("stored %s", got)
	}
	for _, wrong := range []string{`"ttl":0`, `"ttl":-5`, `"ttl":1e99`, `"ttl":"soonish"`, `"ttl":true`, `"ttl":[1]`} {
		if got := u.refused("memory_store", `{"value":1,`+wrong+`}`); !strings.Contains(got, "ttl") {
			t.Errorf("%s is refused with %s", wrong, got)
		}
	}
}

func TestAnUnknownParameterIsNamedInTheNotes(t *testing.T) {
	u := newUser(t)
	for _, c := range [][3]string{
		{"memory_store", `{"key":"k","value":1,"colour":"red"}`, `memory_store has no parameter "colour": it was ignored.`},
		{"memory_store", `{"items":[{"value":1,"colour":"red","namespace":"n"}]}`, `memory_store has no parameters "items[0].colour", "items[0].namespace": they were ignored.`},
		{"memory_recall", `{"key":"k","depth":3}`, `no parameter "depth"`},
		{"memory_search", `{"query":"q","filters":{"minImportance":0.5}}`, `no parameter "filters.minImportance"`},
		{"memory_forget", `{"key":"k","hard":true}`, `no parameter "hard"`},
		{"memory_log", `{"event":"e","data":1,"level":"info"}`, `no parameter "level"`},
		{"memory_branch", `{"action":"list","colour":true}`, `no parameter "colour"`},
		{"memory_history", `{"key":"k","from":1}`, `no parameter "from"`},
		{"memory_status", `{"as_of":"1h ago"}`, `no parameter "as_of"`},
		{"memory_capabilities", `{"namespace":"n"}`, `no parameter "namespace"`},
		{"memory_load_family", `{"intent":"x","force":true}`, `no parameter "force"`},
		{"memory_operation", `{"method":"memory_status","mode":"x"}`, `no parameter "mode"`},
	} {
		answer, note := u.must(c[0], c[1])
		if !strings.Contains(note+answer, c[2]) && !strings.Contains(strings.ReplaceAll(answer, `\"`, `"`), c[2]) {
			t.Errorf("%s %s is answered with %s and noted with %q", c[0], c[1], answer, note)
		}
	}
	if _, note := u.must("memory_recall", `{"key":"k","depth":null,"more":""}`); note != "" {
		t.Errorf("what says nothing is noted: %q", note)
	}
	many := `"x` + strings.Join(strings.Fields(strings.Repeat("y ", 30)), `":1,"x`) + `":1`
	if _, _, err := u.call("memory_recall", `{"key":"k",`+many+`}`); err == nil {
		t.Error("a name that is given twice is taken")
	}
}

func TestAWriteInThePastIsRefused(t *testing.T) {
	u := newUser(t)
	before := u.version()
	for name, arguments := range map[string]string{
		"memory_store": `{"key":"k","value":1,"as_of":"1h ago"}`, "memory_forget": `{"key":"k","asOf":"yesterday"}`, "memory_log": `{"event":"e","data":1,"as-of":"v1"}`,
	} {
		if got := u.refused(name, arguments); !strings.Contains(got, name+" may write") || !strings.Contains(got, "as_of") {
			t.Errorf("%s: refused with %s", name, got)
		}
	}
	if got, _ := u.must("memory_operation", `{"method":"memory_store","params":{"value":1},"as_of":"1h ago"}`); !strings.Contains(got, "memory_store may write, and the past cannot be changed") {
		t.Errorf("as an operation it is answered with %s", got)
	}
	if u.version() != before {
		t.Error("something was written")
	}
	u.must("memory_store", `{"key":"k","value":1,"as_of":"now"}`)
}

// Lists, diffs and merges are of the present.
func TestOnlyAForkTakesAMoment(t *testing.T) {
	u := newUser(t)
	u.must("memory_store", `{"key":"k","value":1}`)
	u.must("memory_branch", `{"action":"fork","name":"then","as_of":"v2"}`)
	before := u.version()
	for _, arguments := range []string{`"action":"diff","compare":"then"`, `"action":"merge","source":"then"`, `"action":"merge","source":"then","preview":true`,
		`"action":"create","name":"new"`, `"action":"delete","name":"then"`} {
		if got := u.refused("memory_branch", `{`+arguments+`,"as_of":"v2"}`); !strings.Contains(got, "takes no as_of") {
			t.Errorf("%s: refused with %s", arguments, got)
		}
		if _, note := u.must("memory_branch", `{"action":"list","as_of":"now"}`); note != "" {
			t.Errorf("the present is noted: %s", note)
		}
	}
	if u.version() != before {
		t.Error("something was written")
	}
	for _, arguments := range []string{`"action":"list"`, `"action":"switch","name":"default"`} {
		answer, note := u.must("memory_branch", `{`+arguments+`,"as_of":"v2"}`)
		if !strings.Contains(note+answer, "takes no as_of: it was ignored") {
			t.Errorf("%s is answered with %s and noted with %q", arguments, answer, note)
		}
	}
}

func TestEveryAliasStandsForAParameterThatIsRead(t *testing.T) {
	for _, s := range Specs(Options{}) {
		all := tool.NewRegistry(nil)
		if err := all.Add(s); err != nil {
			t.Fatal(err)
		}
		for alias, name := range s.Parameters {
			if name == request.Spread || name == alias {
				continue
			}
			p, err := all.Core()[0].Prepare([]byte(`{"` + alias + `":"v"}`))
			if err != nil || p.Arguments.Text(name) != "v" || len(p.Notes()) > 0 {
				t.Errorf("%s: %s is not %s: %v %q", s.Name, alias, name, err, p.Notes())
			}
			if !strings.Contains(string(s.Input), `"`+name+`"`) {
				t.Errorf("%s: %s stands for %s, which there is not", s.Name, alias, name)
			}
		}
	}
}

func TestAResolutionHasItsOwnParameters(t *testing.T) {
	u := newUser(t)
	u.must("memory_branch", `{"action":"fork","name":"side"}`)
	u.must("memory_store", `{"key":"k","value":1}`)
	u.must("memory_store", `{"key":"k","value":2,"branch":"side"}`)
	answer, note := u.must("memory_branch", `{"action":"merge","source":"side","resolutions":[{"key":"k","Take":"source","why":"newer"}]}`)
	if !strings.Contains(answer, `"merged":true`) || note != `memory_branch has no parameter "resolutions[0].why": it was ignored.` {
		t.Errorf("merged %s, noted %q", answer, note)
	}
}
