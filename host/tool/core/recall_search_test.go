package core

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/memory/recalls"
	"github.com/alcove-memory/alcove/host/search"
	"github.com/alcove-memory/alcove/host/tool"
)

// recallAnswer is the answer of a recall by query or topic.
type recalledAnswer struct {
	Facts []struct {
		FactID, FactType string
		Content          json.RawMessage
		Score            float64
		Importance       *float64
		Tags             []string
		Timestamp        string
		Summary          string
	}
	RecallID string
	Memories []struct {
		MemoryID string `json:"memory_id"`
		Content  json.RawMessage
	}
	Count int
	Note  string
}

func (u *user) recall(arguments string) (r recalledAnswer, note string) {
	u.t.Helper()
	answer, note := u.must("memory_recall", arguments)
	if err := json.Unmarshal([]byte(answer), &r); err != nil {
		u.t.Fatal(err)
	}
	return r, note
}

func (u *user) accesses(key string) int64 {
	u.t.Helper()
	n, err := u.space.As(u.caller).Counters(u.t.Context(), memory.Location{}, key)
	if err != nil {
		u.t.Fatal(err)
	}
	return n.Accesses
}

// newsOfVim stores a memory in each of two namespaces.
func newsOfVim(t *testing.T) *user {
	u := newUser(t)
	u.must("memory_store", `{"key":"editor","value":"vim is the editor","type":"decision","importance":0.8,"tags":["tools"],"metadata":{"summary":"vim"}}`)
	u.must("memory_store", `{"key":"plan","value":"learn vim","namespace":"work"}`)
	return u
}

func TestRecallByQueryAnswersFactsOfAllNamespacesAndAnID(t *testing.T) {
	u := newsOfVim(t)
	r, _ := u.recall(`{"query":"vim","searchStrategy":"hybrid"}`)
	if len(r.Facts) != 2 || !strings.HasPrefix(r.RecallID, "rec:") || len(r.RecallID) != 30 {
		t.Fatalf("answered %+v", r)
	}
	if text, _ := u.must("memory_recall", `{"query":"vim"}`); strings.Contains(text, "_deprecated") || strings.Contains(text, "_migrateTo") {
		t.Errorf("a recall by query sends its caller elsewhere: %s", text)
	}
	for _, f := range r.Facts {
		if f.FactID == "default#editor" && (string(f.Content) != `"vim is the editor"` || f.FactType != "decision" || *f.Importance != .8 || f.Tags[0] != "tools" || f.Summary != "vim" || f.Score <= 0 || f.Timestamp == "") {
			t.Errorf("the fact is %+v", f)
		}
	}
	if n := u.accesses("editor"); n != 2 {
		t.Errorf("%d accesses are counted", n)
	}
	for arguments, want := range map[string]int{
		`{"query":"vim","scopeId":"work"}`: 1, `{"query":"vim","scopeIds":["work","default"],"strategy":"text-only"}`: 2, `{"query":"vim","limit":1}`: 1, `{"query":"emacs"}`: 0,
	} {
		if r, _ := u.recall(arguments); len(r.Facts) != want || r.RecallID == "" {
			t.Errorf("%s is answered with %+v", arguments, r)
		}
	}
	if said := u.refused("memory_recall", `{"query":"vim","strategy":"vector-only"}`); !strings.Contains(said, "embedder") {
		t.Errorf("without an embedder: %s", said)
	}
}

func TestRecallByTopicAnswersMemoriesOfOneNamespace(t *testing.T) {
	u := newsOfVim(t)
	for arguments, want := range map[string]string{
		`{"topic":"vim"}`: "default#editor", `{"topic":"vim","semantic":true}`: "default#editor", `{"topic":"vim","mode":"lexical","limit":3}`: "default#editor",
		`{"topic":"vim","semantic":false,"namespace":"work"}`: "work#plan",
	} {
		r, note := u.recall(arguments)
		if r.Count != 1 || len(r.Memories) != 1 || r.Memories[0].MemoryID != want || r.RecallID != "" || note != "" {
			t.Errorf("%s is answered with %+v, %s", arguments, r, note)
		}
	}
	if n := u.accesses("editor"); n != 3 {
		t.Errorf("%d accesses are counted", n)
	}
	_, _, err := u.call("memory_recall", `{"topic":"emacs"}`)
	var none *memory.Error
	if !errors.As(err, &none) || none.Code != memory.NotFound || none.Details["topic"] != "emacs" || !slices.Equal(none.Details["searched_backends"].([]string), []string{"text"}) {
		t.Errorf("of nothing: %v", err)
	}
}

func TestRecallTakesOneOfKeyQueryAndTopic(t *testing.T) {
	u := newsOfVim(t)
	for arguments, want := range map[string]string{
		`{}`:                           "needs key",
		`{"key":"a","query":"b"}`:      "key and query are given",
		`{"key":"a","topic":"b"}`:      "key and topic are given",
		`{"query":"a","topic":"b"}`:    "query and topic are given",
		`{"query":"a","limit":51}`:     "limit must be a whole number from 1 to 50",
		`{"topic":"a","mode":"magic"}`: "mode must be one of",
	} {
		if said := u.refused("memory_recall", arguments); !strings.Contains(said, want) {
			t.Errorf("memory_recall of %s: refused with %q, want %q", arguments, said, want)
		}
	}
	if _, note := u.recall(`{"key":"editor","limit":3}`); !strings.Contains(note, "limit is for query and topic") {
		t.Errorf("the note is %q", note)
	}
}

func TestARecallIsRecordedOnlyWhereItMayBeWritten(t *testing.T) {
	u := newsOfVim(t)
	before := u.version()
	past := `{"query":"vim","as_of":"v` + "2" + `"}`
	if r, _ := u.recall(past); r.RecallID != "" {
		t.Errorf("the past is recorded as %s", r.RecallID)
	}
	dry, err := u.tools.Dispatch(t.Context(), tool.Request{Tool: "memory_recall", Arguments: json.RawMessage(`{"query":"vim"}`), Caller: u.caller, DryRun: true})
	if text, _ := tool.Encode(dry.Structured); err != nil || strings.Contains(string(text), "recallId") || !strings.Contains(string(text), "editor") {
		t.Errorf("a dry run answers %s, %v", text, err)
	}
	u.caller.Rights = memory.FullRights().ReadOnly()
	if r, _ := u.recall(`{"query":"vim"}`); r.RecallID != "" || len(r.Facts) != 2 {
		t.Errorf("a reader gets %+v", r)
	}
	u.caller.Rights = memory.FullRights()
	if got := u.version(); got != before {
		t.Errorf("version %d became %d", before, got)
	}
	if n := u.accesses("editor"); n != 1 { // by the reader
		t.Errorf("%d accesses are counted", n)
	}
	r, _ := u.recall(`{"query":"vim"}`)
	kept, err := recalls.New(recalls.Options{Space: u.space}).Get(t.Context(), u.caller, r.RecallID)
	if err != nil || kept == nil || kept.Query != "vim" || len(kept.Facts) != 2 || kept.Agent != "tester" {
		t.Errorf("kept is %+v, %v", kept, err)
	}
}

func TestRecallFindsOnlyWhatTheCallerMayRead(t *testing.T) {
	u := newsOfVim(t)
	u.caller = memory.Caller{Agent: "ann", Key: "k1", Rights: memory.RightsTo(nil, []string{"work"})}
	if r, _ := u.recall(`{"query":"vim"}`); len(r.Facts) != 1 || r.Facts[0].FactID != "work#plan" {
		t.Errorf("answered %+v", r)
	}
	for _, arguments := range []string{`{"query":"vim","namespace":"default"}`, `{"topic":"vim"}`} {
		if said := u.refused("memory_recall", arguments); !strings.Contains(said, "may not read namespace") {
			t.Errorf("memory_recall of %s: refused with %q, want that it may not read the namespace", arguments, said)
		}
	}
}

func TestAHitIsEncodedAsItsTagsHaveIt(t *testing.T) {
	snippet, yes := `"value":0 <s>`, particulars{
		Tags: []string{`"value":0`, "é\u2028"}, Type: "note", Importance: new(1e-9), Metadata: map[string]json.RawMessage{"b": json.RawMessage(`{"c": [1, 2]}`), "a<": json.RawMessage(`"x"`)},
		Agent: "ann", State: memory.Archived, Supersedes: []string{"old"}, Links: []string{"l", ""}, Expires: "2026-03-01T12:00:00Z",
	}
	for _, value := range []string{``, `"<text> \"value\":0"`, `""`, `{"value":0}`, `{"value": "<"}`, `0`, `null`, `{`} {
		for _, h := range []hit{
			{Key: `"value":0`, Namespace: `value":0`, Branch: `\"value":0`, Score: new(1.5), Snippet: &snippet, particulars: yes},
			{Key: "k", Omitted: true, Truncated: true, Score: new(0.), Snippet: new(""), Similar: 3, Version: 7, Timestamp: "t", dates: dates{"u", "c"}, Fewer: true},
			{Key: "k", Score: new(1e-7), Why: &why{Branch: "b", Explanation: search.Explanation{Terms: []search.Term{{Term: "<t>", IDF: 1e21}}, Turn: &search.Features{Zone: .5}}, Features: map[string]float64{"age": 0}}},
			{Event: "value", Sequence: 7, Data: json.RawMessage(`{"value":0}`), Truncated: true}, {},
		} {
			h.Value = json.RawMessage(value)
			got, err := encodeRow(&h)
			if want, wrong := tool.Encode(&h); (err == nil) != (wrong == nil) || err == nil && string(got) != string(want) {
				t.Errorf("encoded as %s, %v, not %s, %v", got, err, want, wrong)
			}
		}
	}
}
