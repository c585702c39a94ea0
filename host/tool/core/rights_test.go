package core

import (
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/tool"
)

// guarded is a caller of a space in which the namespace vault, with the word tungsten in everything, is hidden from it.
func guarded(t *testing.T) *user {
	t.Helper()
	u := newUser(t)
	for _, c := range [][2]string{
		{"memory_store", `{"namespace":"home","key":"tea","value":"green tea","links":["pot"]}`},
		{"memory_store", `{"namespace":"work","key":"plan","value":"the tea plan"}`},
		{"memory_branch", `{"action":"fork","name":"side"}`},
		{"memory_store", `{"namespace":"vault","key":"tungsten","value":"tea with tungsten","tags":["tungsten"],"type":"tungsten"}`},
		{"memory_log", `{"namespace":"vault","event":"tungsten","data":"tea with tungsten"}`},
		{"memory_store", `{"namespace":"vault","key":"tungsten","value":"more tea with tungsten","branch":"side"}`},
		{"memory_store", `{"namespace":"home","key":"tea","value":"black tea","branch":"side"}`},
		{"memory_log", `{"namespace":"home","event":"tea","data":"tea was made"}`},
	} {
		u.must(c[0], c[1])
	}
	u.caller = memory.Caller{Agent: "guest", Rights: memory.RightsTo([]string{"work"}, []string{"home"})}
	u.session = tool.NewSession(tool.SessionOptions{Namespace: "home"})
	return u
}

// said is everything that a call says: its answer, its notes or its error.
func (u *user) said(name, arguments string) string {
	u.t.Helper()
	answer, note, err := u.call(name, arguments)
	if err != nil {
		failure, encoded := tool.Encode(tool.FailureOf(err))
		if encoded != nil {
			u.t.Fatalf("encode the failure: %v", encoded)
		}
		return string(failure)
	}
	return answer + note
}

func TestNoCoreToolSaysAnythingOfAHiddenNamespace(t *testing.T) {
	u := guarded(t)
	calls := map[string][]string{
		"memory_store":        {`{"key":"a","value":1}`, `{"key":"a","value":1,"dry_run":true}`, `{"key":"plan","value":1,"namespace":"work"}`, `{"value":1,"namespace":"work","dry_run":true}`},
		"memory_recall":       {`{"key":"tea"}`, `{"key":"plan","namespace":"work"}`, `{"key":"work#plan"}`, `{"key":"tea","as_of":"v3"}`, `{"key":"tea","use":true,"recalls":5}`},
		"memory_search":       {`{"query":"tea"}`, `{"query":"tea","explain":true}`, `{"query":"tea","events":true}`, `{"query":"tea","branch":"side","distinct":true,"expand":true}`, `{"query":"tea","as_of":"v6"}`, `{"facets":true}`, `{"query":"tea","facets":true,"namespace":"*"}`, `{"facets":true,"as_of":"v6"}`},
		"memory_forget":       {`{"key":"none"}`, `{"key":"tea","dry_run":true}`, `{"key":"plan","namespace":"work"}`, `{"key":"plan","namespace":"work","archive":true,"dry_run":true}`},
		"memory_log":          {`{"event":"e","data":1}`, `{"event":"e","data":1,"dry_run":true}`, `{"event":"e","data":1,"namespace":"work"}`},
		"memory_branch":       {`{"action":"list"}`, `{"action":"diff","compare":"side"}`, `{"action":"merge","source":"side","preview":true,"strategy":"source"}`, `{"action":"delete","name":"side"}`, `{"action":"delete","name":"side","dry_run":true}`, `{"action":"create","name":"b"}`, `{"action":"fork","name":"c"}`, `{"action":"switch","name":"side"}`, `{"action":"switch","name":"default"}`, `{"action":"merge","source":"side","strategy":"source"}`},
		"memory_history":      {`{}`, `{"key":"tea"}`, `{"key":"tea","authors":true}`, `{"key":"plan","namespace":"work"}`, `{"changes":true}`, `{"changes":true,"branch":"side","limit":1}`, `{"changes":true,"namespace":"*"}`, `{"buckets":2}`},
		"memory_status":       {`{}`, `{"namespace":"work"}`, `{"branch":"side"}`},
		"memory_capabilities": {`{}`, `{"verbose":true,"include_schema":true}`},
		"memory_load_family":  {`{"intent":"tungsten and tea"}`, `{"family":"none"}`},
		"memory_poll_events":  {`{}`, `{"limit":1}`, `{"namespace":["home","work"],"kinds":["memory_stored"]}`, `{"branch":"side"}`, `{"lastWatermark":99}`, `{"agents":["tungsten"]}`},
		"memory_operation":    {`{"method":"memory_search","params":{"query":"tea"}}`, `{"method":"memory_status"}`, `{"method":"memory_branch","params":{"action":"diff","compare":"side"}}`},
	}
	for _, s := range Specs(Options{}) {
		if len(calls[s.Name]) == 0 {
			t.Errorf("no call of %s is tried", s.Name)
		}
		for _, arguments := range calls[s.Name] {
			if said := u.said(s.Name, arguments); strings.Contains(said, "vault") || strings.Contains(said, "tungsten") {
				t.Errorf("%s %s says %s", s.Name, arguments, said)
			}
		}
	}
	if got := u.keys(`{"query":"tea"}`); !strings.Contains(got, "home#tea") || !strings.Contains(got, "work#plan") {
		t.Errorf("found are %s", got) // or the test would see nothing
	}
}

func TestAHiddenNamespaceIsAsOneThatWasNeverWritten(t *testing.T) {
	u := guarded(t)
	for _, c := range [][2]string{
		{"memory_store", `{"namespace":"vault","key":"tungsten","value":1}`}, {"memory_store", `{"namespace":"vault","key":"tungsten","value":1,"if_version":0,"dry_run":true}`},
		{"memory_recall", `{"namespace":"vault","key":"tungsten"}`}, {"memory_recall", `{"key":"vault#tungsten"}`},
		{"memory_search", `{"query":"tea","namespace":"vault"}`}, {"memory_search", `{"query":"tea","namespace":["home","vault"]}`},
		{"memory_forget", `{"namespace":"vault","key":"tungsten"}`}, {"memory_forget", `{"key":"vault#tungsten","dry_run":true}`}, {"memory_forget", `{"key":"vault#tungsten"}`},
		{"memory_log", `{"namespace":"vault","event":"e","data":1}`}, {"memory_history", `{"namespace":"vault","key":"tungsten"}`}, {"memory_history", `{"key":"vault#tungsten"}`}, {"memory_history", `{"namespace":"vault","changes":true}`}, {"memory_history", `{"namespace":"vault","buckets":3}`},
		{"memory_branch", `{"action":"switch","namespace":"vault"}`}, {"memory_branch", `{"action":"diff","compare":"side","namespace":"vault"}`},
		{"memory_branch", `{"action":"merge","source":"side","namespace":"vault","preview":true}`},
		{"memory_branch", `{"action":"merge","source":"side","preview":true,"resolutions":[{"namespace":"vault","key":"tungsten","take":"source"}]}`},
		{"memory_status", `{"namespace":"vault"}`}, {"memory_poll_events", `{"namespace":"vault"}`}, {"memory_poll_events", `{"namespace":["home","vault"],"kinds":["memory_stored"]}`},
		{"memory_operation", `{"method":"memory_status","options":{"namespace":"vault"}}`},
	} {
		hidden, absent := u.said(c[0], c[1]), u.said(c[0], strings.ReplaceAll(c[1], "vault", "other"))
		if c[0] == "memory_operation" {
			hidden, _, _ = strings.Cut(hidden, `"metadata"`)
			absent, _, _ = strings.Cut(absent, `"metadata"`)
		}
		if absent = strings.ReplaceAll(absent, "other", "vault"); hidden != absent {
			t.Errorf("%s %s says\n%s, and of a namespace that nobody wrote to\n%s", c[0], c[1], hidden, absent)
		}
	}
	if got := u.said("memory_recall", `{"key":"issue#12"}`); got != `{"found":false,"key":"issue#12","note":"There is no memory under \"issue#12\" in namespace home."}` {
		t.Errorf("a key that might be an id is %s", got)
	}
}

func TestTheZeroCallerMayUseNothing(t *testing.T) {
	u := guarded(t)
	u.caller = memory.Caller{}
	for name, arguments := range map[string]string{
		"memory_store": `{"key":"k","value":1}`, "memory_recall": `{"key":"tea"}`, "memory_search": `{"query":"tea"}`, "memory_forget": `{"key":"tea"}`,
		"memory_log": `{"event":"e","data":1}`, "memory_branch": `{"action":"list"}`, "memory_history": `{}`, "memory_status": `{}`, "memory_poll_events": `{}`,
	} {
		if got := u.said(name, arguments); !strings.Contains(got, `"code":"denied"`) {
			t.Errorf("%s says %s", name, got)
		}
	}
}
