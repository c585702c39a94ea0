package mcp

import (
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/memory"
)

func TestAParameterThatAFamilyDoesNotKnowIsNamedInItsNotes(t *testing.T) {
	f := newFake()
	p := withFamilies(t, f, Session{})
	raw := p.request("tools/call", `{"name":"memory_auto_tag","arguments":{"ID":"k","colour":"red"}}`)
	if want := `"alcove/notes":["memory_auto_tag has no parameter \"colour\": it was ignored."]`; !strings.Contains(raw, want) || string(f.last(t).Arguments) != `{"id":"k"}` {
		t.Errorf("answered %s, called with %s", raw, f.last(t).Arguments)
	}
	r, _ := p.operation(`{"method":"memory_auto_tag","params":{"id":"k","colour":"red"}}`)
	if len(r.Metadata.Notes) != 1 || !strings.Contains(r.Metadata.Notes[0], `"colour"`) {
		t.Errorf("noted %q", r.Metadata.Notes)
	}
}

func TestNotesThatAnAnswerHasNoMemberForAreInItsMeta(t *testing.T) {
	p := use(t)
	p.must("memory_store", `{"key":"k","value":1}`)
	for _, c := range [][2]string{
		{"memory_recall", `{"key":"k","colour":"red"}`}, {"memory_forget", `{"key":"none","colour":"red"}`}, {"memory_log", `{"event":"e","data":1,"colour":"red"}`},
		{"memory_status", `{"colour":"red"}`}, {"memory_store", `{"key":"k","value":2,"dry_run":true,"colour":"red"}`}, {"memory_branch", `{"action":"create","name":"b","colour":"red"}`},
	} {
		raw := p.request("tools/call", `{"name":"`+c[0]+`","arguments":`+c[1]+`}`)
		if want := `"alcove/notes":["` + c[0] + ` has no parameter \"colour\": it was ignored."]`; !strings.Contains(raw, want) {
			t.Errorf("%s %s is answered with %s", c[0], c[1], raw)
		}
	}
	for name, arguments := range map[string]string{"memory_search": `{"query":"k","colour":"red"}`, "memory_store": `{"items":[{"key":"k","value":1}],"colour":"red"}`} {
		if raw := p.request("tools/call", `{"name":"`+name+`","arguments":`+arguments+`}`); strings.Contains(raw, "alcove/notes") || !strings.Contains(raw, "colour") {
			t.Errorf("%s, whose answer has a member for notes, is answered with %s", name, raw)
		}
	}
}

func TestAFamilysToolIsCalledInThePast(t *testing.T) {
	f := newFake()
	p := withFamilies(t, f, Session{})
	p.must("memory_tag_suggest", `{"text":"x","asOf":"v7","branch":"default"}`)
	if c := f.last(t); c.AsOf != (memory.AsOf{Version: 7}) || string(c.Arguments) != `{"text":"x"}` {
		t.Errorf("called with %+v", c)
	}
	if refusal := p.refused("memory_auto_tag", `{"id":"k","as_of":"1h ago"}`); refusal.Code != memory.InvalidArgument || !strings.Contains(refusal.Message, "takes no as_of") {
		t.Errorf("refused with %+v", refusal)
	}
	p.must("memory_auto_tag", `{"id":"k","dry_run":true}`)
	if !f.last(t).DryRun {
		t.Error("the family was not told that the run is dry")
	}
}

func TestAMisspelledOptionOfAnOperationIsRefused(t *testing.T) {
	p := use(t)
	for _, options := range []string{`{"dryrun":true}`, `{"dryRun":true}`, `{"DRY_RUN":true}`, `{"timeout":5}`} {
		r, o := p.operation(`{"method":"memory_store","params":{"key":"k","value":1},"options":` + options + `}`)
		if r.Error == nil || !strings.Contains(r.Error.Message, "there is no option") {
			t.Errorf("%s is answered with %s", options, o.text)
		}
	}
	p.operation(`{"method":"memory_store","params":{"key":"k","value":1},"option":{"dry_run":true}}`)
	p.operation(`{"method":"memory_store","params":{"key":"k","value":1},"dryRun":true}`)
	if got := p.must("memory_recall", `{"key":"k"}`).field("found"); got != "false" {
		t.Errorf("stored %s", got)
	}
}
