package mcp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/tool"
)

// diffAnswer and mergeAnswer are what memory_branch answers.
type diffAnswer struct {
	Added, Changed, Removed int
	Clashes                 int `json:"clashing"`
	Summary, Note           string
	Differences             []difference
}

type mergeAnswer struct {
	Merged, Preview     bool
	Applied, Unresolved int
	Summary, Note       string
	Changes             []difference `json:"differences"`
	Clashes             []difference
}

type difference struct {
	Namespace, Key, Change, Clash string
	Source, Target                *struct{ Value json.RawMessage }
	Omitted                       bool `json:"value_omitted"`
}

func TestAForkIsChangedComparedAndMerged(t *testing.T) {
	p := use(t)
	p.must("memory_store", `{"key":"plan","value":"walk"}`)
	if got := p.must("memory_branch", `{"action":"fork","name":"try"}`); got.field("parent") != `"default"` || got.field("current") != `"default"` {
		t.Errorf("forked %s", got.text)
	}
	if got := p.must("memory_branch", `{"action":"switch","name":"try"}`).field("current"); got != `"try"` {
		t.Errorf("switched to %s", got)
	}
	p.must("memory_store", `{"key":"plan","value":"fly"}`)
	p.must("memory_store", `{"key":"ticket","value":"BGO"}`)
	if got := p.must("memory_recall", `{"key":"plan","branch":"default"}`).field("value"); got != `"walk"` {
		t.Errorf("the parent's plan is %s", got)
	}
	p.must("memory_branch", `{"action":"switch","name":"default"}`)
	var d diffAnswer
	p.must("memory_branch", `{"action":"diff","compare":"try"}`).into(&d)
	if d.Added != 1 || d.Changed != 1 || d.Removed != 0 || len(d.Differences) != 2 || string(d.Differences[0].Source.Value) != `"fly"` || string(d.Differences[0].Target.Value) != `"walk"` {
		t.Errorf("the difference is %+v", d)
	}
	preview := p.must("memory_branch", `{"action":"merge","source":"try","preview":true}`)
	if preview.field("merged") != "false" || preview.field("applied") != "2" {
		t.Errorf("the preview is %s", preview.text)
	}
	merged := p.must("memory_branch", `{"action":"merge","source":"try"}`)
	if merged.field("merged") != "true" || merged.field("version") == "" {
		t.Errorf("the merge is %s", merged.text)
	}
	if got := p.must("memory_recall", `{"key":"plan"}`).field("value"); got != `"fly"` {
		t.Errorf("the plan is %s", got)
	}
	p.must("memory_branch", `{"action":"delete","name":"try"}`)
	if got := p.must("memory_branch", `{"action":"list"}`).field("branches"); strings.Contains(got, "try") || !strings.Contains(got, `"default"`) {
		t.Errorf("the branches are %s", got)
	}
}

func clashing(t *testing.T) *peer {
	t.Helper()
	p := use(t)
	p.must("memory_store", `{"items":[{"key":"a","value":{"x":1,"y":1}},{"key":"b","value":1}]}`)
	p.must("memory_branch", `{"action":"fork","name":"side"}`)
	p.must("memory_store", `{"key":"a","value":{"x":2,"y":1},"branch":"side"}`)
	p.must("memory_store", `{"key":"b","value":2,"branch":"side"}`)
	p.must("memory_store", `{"key":"a","value":{"x":1,"y":3}}`)
	p.must("memory_store", `{"key":"b","value":3}`)
	return p
}

func TestAClashStopsAStrictMergeAndSaysWhatToDo(t *testing.T) {
	p := clashing(t)
	var m mergeAnswer
	p.must("memory_branch", `{"action":"merge","source":"side"}`).into(&m)
	if m.Merged || m.Unresolved != 2 || len(m.Clashes) != 2 || m.Clashes[0].Clash != "edit/edit" || !strings.Contains(m.Summary, "resolutions") {
		t.Errorf("the merge is %+v", m)
	}
	if got := p.must("memory_recall", `{"key":"b"}`).field("value"); got != "3" {
		t.Errorf("something was written: %s", got)
	}
}

func TestClashesAreSettledByStrategyAndResolution(t *testing.T) {
	p := clashing(t)
	o := p.must("memory_branch", `{"action":"merge","source":"side","strategy":"fields","resolutions":[{"key":"b","take":"value","value":9}]}`)
	if o.field("merged") != "true" {
		t.Fatalf("the merge is %s", o.text)
	}
	if got := p.must("memory_recall", `{"key":"a"}`).field("value"); got != `{"x":2,"y":3}` {
		t.Errorf("the fields became %s", got)
	}
	if got := p.must("memory_recall", `{"key":"b"}`).field("value"); got != "9" {
		t.Errorf("the resolution became %s", got)
	}
}

func TestSwitchingLastsForItsConnectionOnly(t *testing.T) {
	s := newServer(t, Options{})
	first, second := connect(t, s, Session{}).initialize("a"), connect(t, s, Session{}).initialize("b")
	first.must("memory_branch", `{"action":"create","name":"mine"}`)
	first.must("memory_branch", `{"action":"switch","name":"mine"}`)
	first.must("memory_branch", `{"action":"switch","namespace":"notes"}`)
	if got := first.must("memory_status", `{}`); got.field("branch") != `"mine"` || got.field("namespace") != `"notes"` {
		t.Errorf("the first client is at %s", got.text)
	}
	if got := second.must("memory_status", `{}`); got.field("branch") != `"default"` || got.field("namespace") != `"default"` {
		t.Errorf("the second client is at %s", got.text)
	}
}

func TestASessionBeginsWhereItWasToldTo(t *testing.T) {
	s := newServer(t, Options{})
	connect(t, s, Session{}).must("memory_branch", `{"action":"create","name":"mine"}`)
	p := connect(t, s, Session{Branch: "mine", Namespace: "work", Agent: "ada"}).initialize("tester")
	p.must("memory_store", `{"key":"k","value":1}`)
	if got := p.must("memory_status", `{}`); got.field("branch") != `"mine"` || got.field("namespace") != `"work"` || got.field("keys") != "1" {
		t.Errorf("the session is at %s", got.text)
	}
	if got := p.must("memory_recall", `{"key":"k"}`).field("agent"); got != `"ada"` {
		t.Errorf("the agent is %s", got)
	}
}

func TestDeletingTheBranchOneIsOnLeadsBackToTheDefault(t *testing.T) {
	p := use(t)
	p.must("memory_branch", `{"action":"create","name":"mine"}`)
	p.must("memory_branch", `{"action":"switch","name":"mine"}`)
	if got := p.must("memory_branch", `{"action":"delete","name":"mine"}`).field("current"); got != `"default"` {
		t.Errorf("afterwards the session is on %s", got)
	}
	if got := p.must("memory_status", `{}`).field("branch"); got != `"default"` {
		t.Errorf("afterwards the session is on %s", got)
	}
}

func TestABranchIsDeletedWithItsUnmergedChangesOnlyByForce(t *testing.T) {
	p := use(t)
	p.must("memory_branch", `{"action":"fork","name":"side"}`)
	p.must("memory_branch", `{"action":"switch","name":"side"}`)
	p.must("memory_store", `{"key":"k","value":"v"}`)
	if got := p.refused("memory_branch", `{"action":"delete","name":"side"}`).Message; !strings.Contains(got, "1 change that") {
		t.Errorf("got %s, want the number of changes", got)
	}
	if got := p.must("memory_recall", `{"key":"k"}`).field("value"); got != `"v"` {
		t.Errorf("after the refusal k is %s, want \"v\"", got)
	}
	got := p.must("memory_branch", `{"action":"delete","name":"side","force":true}`)
	if got.field("current") != `"default"` || !strings.Contains(got.field("note"), "default") {
		t.Errorf("got %s, want a note that the session is on default", got.text)
	}
	if list := p.must("memory_branch", `{"action":"list","deleted":true}`).field("branches"); !strings.Contains(list, `"side"`) || !strings.Contains(list, `"deleted"`) {
		t.Errorf("the deleted branches are %s, want side and when", list)
	}
	p.must("memory_branch", `{"action":"restore","name":"side","as":"back"}`)
	if got := p.must("memory_recall", `{"key":"k","branch":"back"}`).field("value"); got != `"v"` {
		t.Errorf("restored, k is %s, want \"v\"", got)
	}
}

func TestAForkCanStartInThePast(t *testing.T) {
	p := use(t)
	version := p.must("memory_store", `{"key":"k","value":"old"}`).field("version")
	p.must("memory_store", `{"key":"k","value":"new"}`)
	p.must("memory_branch", `{"action":"fork","name":"then","as_of":"v`+version+`"}`)
	if got := p.must("memory_recall", `{"key":"k","branch":"then"}`).field("value"); got != `"old"` {
		t.Errorf("the fork has %s", got)
	}
}

func TestBranchSaysWhatIsWrong(t *testing.T) {
	p := use(t)
	for arguments, want := range map[string]string{
		`{}`:                                                "memory_branch needs action: one of create, switch, list, fork, merge, diff, delete, restore",
		`{"action":"rebase"}`:                               `action must be one of create, switch, list, fork, merge, diff, delete, restore, got "rebase"`,
		`{"action":"create"}`:                               "memory_branch create needs name",
		`{"action":"fork"}`:                                 "memory_branch fork needs name",
		`{"action":"switch"}`:                               "memory_branch switch needs name",
		`{"action":"delete"}`:                               "memory_branch delete needs name",
		`{"action":"restore"}`:                              "memory_branch restore needs name",
		`{"action":"restore","name":"none"}`:                "no deleted branch",
		`{"action":"merge"}`:                                "memory_branch merge needs source",
		`{"action":"diff"}`:                                 "memory_branch diff needs compare",
		`{"action":"switch","name":"nowhere"}`:              "nowhere",
		`{"action":"delete","name":"default"}`:              "default",
		`{"action":"merge","source":"s","strategy":"ours"}`: "strategy must be one of strict, source, target, newest, fields",
		`{"action":"merge","source":"s","resolutions":[{"take":"source"}]}`:          "resolutions[0].key",
		`{"action":"merge","source":"s","resolutions":[{"key":"k"}]}`:                "resolutions[0].take",
		`{"action":"merge","source":"s","resolutions":[{"key":"k","take":"value"}]}`: "resolutions[0].value",
		`{"action":"merge","source":"s","resolutions":"all"}`:                        "resolutions must be a list of objects",
		`{"action":"switch","namespace":["a","b"]}`:                                  "one namespace",
		`{"action":"create","name":"no spaces"}`:                                     "no spaces",
	} {
		if got := p.refused("memory_branch", arguments).Message; !strings.Contains(got, want) {
			t.Errorf("memory_branch of %s: refused with %q, want %q", arguments, got, want)
		}
	}
}

func TestALongDiffSaysWhatItLeftOut(t *testing.T) {
	p := use(t)
	p.must("memory_branch", `{"action":"fork","name":"side"}`)
	for i := range 60 {
		p.must("memory_store", fmt.Sprintf(`{"key":"k%02d","value":%q,"branch":"side"}`, i, strings.Repeat("v", 2000)))
	}
	o := p.must("memory_branch", `{"action":"diff","compare":"side"}`)
	var d diffAnswer
	o.into(&d)
	if d.Added != 60 || len(d.Differences) != 50 || !strings.Contains(d.Note, "10 differences were not listed") || !strings.Contains(d.Note, "left out") || len(o.notes) != 1 {
		t.Errorf("%d added, %d listed, note %q", d.Added, len(d.Differences), d.Note)
	}
	if len(o.text) > tool.MaxAnswer+2000 {
		t.Errorf("the answer has %d bytes", len(o.text))
	}
}

func TestInReadOnlyModeOnlyReadingToolsAreOfferedAndTheOthersSayWhy(t *testing.T) {
	for name, p := range map[string]*peer{
		"server":  connect(t, newServer(t, Options{ReadOnly: true}), Session{}).initialize("tester"),
		"session": connect(t, newServer(t, Options{}), Session{Rights: owner().Rights.ReadOnly()}).initialize("tester"),
	} {
		var list struct {
			Result struct{ Tools []wireTool }
		}
		if err := json.Unmarshal([]byte(p.request("tools/list", `{}`)), &list); err != nil {
			t.Fatal(err)
		}
		var offered []string
		for _, each := range list.Result.Tools {
			offered = append(offered, each.Name)
		}
		if strings.Join(offered, ", ") != coreNames(t, true) {
			t.Errorf("%s: offered are %s", name, offered)
		}
		for tool, arguments := range map[string]string{
			"memory_store": `{"key":"k","value":1}`, "memory_forget": `{"key":"k"}`, "memory_log": `{"event":"e","data":1}`,
			"memory_branch": `{"action":"fork","name":"x"}`,
		} {
			refusal := p.refused(tool, arguments)
			if refusal.Code != memory.Denied || !strings.Contains(refusal.Message, "memory_recall, memory_search") {
				t.Errorf("%s: %s is refused with %+v", name, tool, refusal)
			}
		}
		p.must("memory_branch", `{"action":"list"}`)
		p.must("memory_branch", `{"action":"switch","name":"default"}`)
		if got := p.must("memory_status", `{}`).field("read_only"); got != "true" {
			t.Errorf("%s: the status says read_only %s", name, got)
		}
	}
}

func TestAListOfBranchesHasTheMergesIfAskedForThem(t *testing.T) {
	p := clashing(t)
	p.must("memory_branch", `{"action":"merge","source":"side","strategy":"source"}`)
	if got := p.must("memory_branch", `{"action":"list"}`).field("merges"); got != "" {
		t.Errorf("merges that nobody asked for are %s", got)
	}
	if got := p.must("memory_branch", `{"action":"list","merges":true}`).field("merges"); !strings.Contains(got, `"source":"side","target":"default"`) || !strings.Contains(got, `"version":`) {
		t.Errorf("the merges are %s", got)
	}
}
