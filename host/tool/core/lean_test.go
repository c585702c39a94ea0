package core

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/tool"
)

// lean gives what a tool answers a model: structured, as text, and the notes.
func (u *user) lean(name, arguments string) (structured, text, note string) {
	u.t.Helper()
	a, err := u.tools.Dispatch(u.t.Context(), tool.Request{Tool: name, Arguments: json.RawMessage(arguments), Caller: u.caller, Session: u.session})
	if err != nil {
		u.t.Fatalf("call %s with %s: %v", name, arguments, err)
	}
	encode := func(v any) string {
		encoded, err := tool.Encode(v)
		if err != nil {
			u.t.Fatal(err)
		}
		return string(encoded)
	}
	return encode(a.Structured), encode(a.Plain), a.Note()
}

func TestALeanHitTellsNothingTwice(t *testing.T) {
	u := newUser(t)
	u.must("memory_store", `{"key":"tea","value":"green tea","tags":["drink"]}`)
	u.must("memory_store", `{"key":"tea","value":"black tea at home","namespace":"home"}`)
	u.caller.Agent = "other"
	u.must("memory_store", `{"key":"tin","value":{"text":"tea in a tin of tin"}}`)
	u.caller.Agent = "tester"
	for _, c := range []struct{ name, arguments, text, structured string }{
		{"of the call's place", `{"query":"green"}`,
			`[{"key":"tea","value":"green tea","score":0.981,"updated":"2026-03-01 12:00","tags":["drink"]}]`,
			`{"results":[{"key":"tea","value":"green tea","score":0.981,"updated":"2026-03-01 12:00","tags":["drink"]}],"total":1}`},
		{"of another namespace", `{"query":"black"}`,
			`[{"key":"tea","namespace":"home","value":"black tea at home","score":0.981,"updated":"2026-03-01 12:00"}]`, ""},
		{"of the namespace that the call names", `{"query":"black","namespace":"home"}`,
			`[{"key":"tea","value":"black tea at home","score":0.288,"updated":"2026-03-01 12:00"}]`, ""},
		{"of another agent", `{"query":"tin"}`,
			`[{"key":"tin","value":{"text":"tea in a tin of tin"},"score":1.43,"updated":"2026-03-01 12:00","agent":"other"}]`, ""},
		{"what fields name", `{"query":"green","fields":["timestamp","version","namespace","branch","agent"]}`,
			`[{"key":"tea","namespace":"default","branch":"default","value":"green tea","score":0.981,"version":2,"timestamp":"2026-03-01T12:00:00.000001Z","tags":["drink"],"agent":"tester"}]`, ""},
	} {
		structured, text, note := u.lean("memory_search", c.arguments)
		if text != c.text || c.structured != "" && structured != c.structured || note != "" {
			t.Errorf("%s: %s, structured %s, noted %q", c.name, text, structured, note)
		}
	}
	whole, text, _ := u.lean("memory_search", `{"query":"green","verbose":true}`)
	if full, _ := u.must("memory_search", `{"query":"green"}`); whole != full || !strings.Contains(text, `"snippet"`) || !strings.Contains(text, `"timestamp"`) {
		t.Errorf("in full it is %s and %s, for programs %s", whole, text, full)
	}
	if got := u.refused("memory_search", `{"query":"tea","fields":["colour"]}`); !strings.Contains(got, "fields must be one or several of namespace") {
		t.Errorf("refused with %s", got)
	}
}

func TestALongValueIsCutToItsBestPassage(t *testing.T) {
	u := newUser(t)
	filler := strings.Repeat("Nothing of interest is here. ", 60)
	u.must("memory_store", `{"key":"text","value":"`+filler+`The anchor is under the third bench. `+filler+`"}`)
	u.must("memory_store", `{"key":"object","value":{"a":["`+filler+`"],"b":"the anchor is new"}}`)
	u.must("memory_log", `{"event":"found","data":"the anchor `+filler+`"}`)
	structured, text, note := u.lean("memory_search", `{"query":"anchor"}`)
	var rows []struct {
		Key, Snippet string
		Value        any
		Truncated    bool
	}
	if err := json.Unmarshal([]byte(text), &rows); err != nil || len(rows) != 2 {
		t.Fatalf("memory_search = %s (%v), want 2 rows", text, err)
	}
	for _, r := range rows {
		value, _ := r.Value.(string)
		if !r.Truncated || !strings.Contains(value+r.Snippet, "anchor is") || len(value+r.Snippet) > 2*passage {
			t.Errorf("shown is %+v", r)
		}
		if r.Key == "text" && (value == "" || r.Snippet != "") || r.Key == "object" && (r.Value != nil || r.Snippet == "") {
			t.Errorf("%s is cut to %+v", r.Key, r)
		}
	}
	if note != "2 long values were cut (truncated): memory_recall with key and namespace gives each whole." || !strings.Contains(structured, `"truncated":true`) {
		t.Errorf("the note says %q; structured it is %s", note, structured)
	}
	if _, _, note := u.lean("memory_search", `{"query":"anchor","events":true}`); !strings.Contains(note, "verbose=true") {
		t.Errorf("of an event, the note says %q", note)
	}
	if _, text, note := u.lean("memory_search", `{"query":"anchor","verbose":true}`); strings.Contains(text, "truncated") || note != "" || len(text) < 4*len(filler)/2 {
		t.Errorf("in full it is %s, noted %q", text, note)
	}
	structured, _, note = u.lean("memory_recall", `{"query":"anchor"}`)
	if strings.Count(structured, `"truncated":true`) != 2 || !strings.Contains(structured, `"snippet":"`) || !strings.Contains(note, "memory_recall with an id as key gives a memory whole") {
		t.Errorf("recalled is %s, noted %q", structured, note)
	}
	if _, text, note = u.lean("memory_history", `{"key":"text"}`); !strings.Contains(text, `…","truncated":true`) || !strings.Contains(note, `memory_recall with key="text", as_of=v…`) {
		t.Errorf("the history is %s, noted %q", text, note)
	}
	if _, text, _ = u.lean("memory_history", `{"key":"object"}`); !strings.Contains(text, `[{"value_omitted":true,"truncated":true`) {
		t.Errorf("the history is %s", text)
	}
	if _, text, _ = u.lean("memory_recall", `{"key":"text"}`); !strings.Contains(text, filler+"The anchor") {
		t.Errorf("by its key it is %s", text)
	}
}

func TestScoresHaveThreeDigits(t *testing.T) {
	for score, want := range map[float64]float64{12.3456: 12.3, 1234.5: 1230, .0327868: .0328, 0: 0, 9.999: 10} {
		if got := (form{}).score(score); got != want {
			t.Errorf("%v is shown as %v", score, got)
		}
	}
	if got := (form{verbose: true}).score(.0327868); got != .0328 {
		t.Errorf("in full it is %v", got)
	}
}

func TestTheBeginningOfAText(t *testing.T) {
	for value, want := range map[string]string{`"short"`: "short", `{"a":1}`: "", `"one two three four"`: "one two…", `"oneoneonetwotwo"`: "oneoneone…", `"äöü äöü äöü äöü"`: "äöü äöü…"} {
		if got := beginning(json.RawMessage(value), 10); got != want {
			t.Errorf("%s begins with %q", value, got)
		}
	}
}

func TestADiffLeavesOutWhatTheCallSays(t *testing.T) {
	u := newUser(t)
	if _, err := u.space.As(u.caller).Fork(t.Context(), "", "side", memory.AsOf{}, memory.Write{}); err != nil {
		t.Fatal(err)
	}
	u.must("memory_store", `{"key":"k","value":1,"branch":"side"}`)
	u.must("memory_store", `{"key":"k","value":2,"branch":"side","namespace":"home"}`)
	_, text, _ := u.lean("memory_branch", `{"action":"diff","compare":"side"}`)
	if !strings.Contains(text, `[{"key":"k","change":"added","source":{"value":1}},{"namespace":"home","key":"k","change":"added","source":{"value":2}}]`) {
		t.Errorf("the diff is %s", text)
	}
	if structured, text, _ := u.lean("memory_store", `{"key":"k","value":3}`); strings.Contains(text, "timestamp") || !strings.Contains(structured, `"timestamp"`) {
		t.Errorf("stored is %s, structured %s", text, structured)
	}
}

func TestALeanHitHasNoBookkeepingAndNoBinaryFractions(t *testing.T) {
	u := newUser(t)
	u.must("memory_store", `{"key":"fact","value":"the roof leaks","importance":0.7200000000000001,"metadata":{"source":"mail","base_importance":0.6,"importanceTier":"background","observationTier":"x"}}`)
	u.must("memory_store", `{"key":"bare","value":"the cellar leaks","metadata":{"base_importance":0.6}}`)
	_, text, _ := u.lean("memory_search", `{"query":"leaks"}`)
	for _, want := range []string{`"importance":0.72,`, `"metadata":{"source":"mail"}`} {
		if !strings.Contains(text, want) {
			t.Errorf("got %s, want %s in it", text, want)
		}
	}
	if strings.Contains(text, "base_importance") || strings.Count(text, `"metadata"`) != 1 {
		t.Errorf("got %s, want no bookkeeping", text)
	}
	if _, text, _ := u.lean("memory_search", `{"query":"roof","verbose":true}`); !strings.Contains(text, `"base_importance":0.6`) {
		t.Errorf("in full: got %s, want all metadata", text)
	}
	if _, text, _ := u.lean("memory_recall", `{"key":"fact"}`); !strings.Contains(text, `"base_importance":0.6`) || !strings.Contains(text, `"importance":0.72,`) {
		t.Errorf("by its key: got %s, want all metadata", text)
	}
}

func TestErrorsNameAParameterOnceAndListInSentences(t *testing.T) {
	u := newUser(t)
	for _, c := range []struct{ tool, arguments, want string }{
		{"memory_store", `{"key":"k","value":1,"expires":"soonish"}`, `expires: "soonish" is not a moment: use "in 2h", "30 days", RFC 3339 or a date`},
		{"memory_recall", `{"key":"k","as_of":"whenever"}`, `as_of: "whenever" is not a moment: use RFC 3339`},
		{"memory_recall", `{"key":"k","branch":"nosuch"}`, `branch "nosuch": there are default`},
		{"memory_store", `{"key":"a\u0000b","value":1}`, `key has a NUL character, which readers of keys take for their end: leave it out`},
	} {
		if got := u.refused(c.tool, c.arguments); !strings.Contains(got, c.want) {
			t.Errorf("%s %s: refused with %q, want %q", c.tool, c.arguments, got, c.want)
		}
	}
}
