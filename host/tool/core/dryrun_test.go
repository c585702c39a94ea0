package core

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/memory/effect"
	"github.com/alcove-memory/alcove/host/tool"
)

func TestADryRunOfEveryToolThatWritesWritesNothing(t *testing.T) {
	u := newUser(t)
	u.must("memory_store", `{"key":"k","value":1}`)
	u.must("memory_branch", `{"action":"fork","name":"side"}`)
	u.must("memory_store", `{"key":"k","value":2,"branch":"side"}`)
	before := u.version()
	for _, c := range [][3]string{
		{"memory_store", `{"key":"k","value":3,"dry_run":true}`, `"store":[{"key":"k","replaces_version":`},
		{"memory_store", `{"items":[{"value":3},{"key":"new","value":4}],"DryRun":"true"}`, `"key":"new"`},
		{"memory_forget", `{"key":["k","none"],"dry_run":true}`, `"forget":["k"]`},
		{"memory_forget", `{"key":"k","archive":true,"dry_run":true}`, `"forget":["k"]`},
		{"memory_log", `{"event":"e","data":1,"dry_run":true}`, `"event":"e"`},
		{"memory_branch", `{"action":"create","name":"b","dry_run":true}`, `"action":"create"`},
		{"memory_branch", `{"action":"fork","name":"b","dry_run":true}`, `"action":"fork"`},
		{"memory_branch", `{"action":"delete","name":"side","force":true,"dry_run":true}`, `"action":"delete"`},
		{"memory_branch", `{"action":"merge","source":"side","dry_run":true}`, `"preview":true`},
		{"memory_branch", `{"action":"switch","name":"side","dry_run":true}`, `"action":"switch"`},
		{"memory_operation", `{"method":"memory_store","params":{"key":"k","value":3},"dry_run":true}`, `"dry_run":true`},
		{"memory_operation", `{"method":"memory_store","params":{"key":"k","value":3,"dry_run":true}}`, `"replaces_version"`},
	} {
		if got, _ := u.must(c[0], c[1]); !strings.Contains(got, c[2]) {
			t.Errorf("%s %s is answered with %s", c[0], c[1], got)
		}
	}
	if now := u.version(); now != before {
		t.Errorf("version %d became %d", before, now)
	}
	if branch, _ := u.session.At(); branch != "default" {
		t.Errorf("the session moved to %s", branch)
	}
}

func TestADryRunFailsAsTheCallWould(t *testing.T) {
	u := newUser(t)
	u.must("memory_store", `{"key":"k","value":1}`)
	u.must("memory_branch", `{"action":"fork","name":"unmerged"}`)
	u.must("memory_store", `{"key":"k","value":2,"branch":"unmerged"}`)
	long := strings.Repeat("x", 2000)
	for _, c := range [][2]string{
		{"memory_store", `{"key":"` + long + `","value":1}`}, {"memory_store", `{"key":"k","value":1,"type":"` + long + `"}`}, {"memory_store", `{"key":"k","value":1,"if_version":0}`},
		{"memory_store", `{"key":"k","value":1,"branch":"none"}`}, {"memory_store", `{"key":"k","value":1,"namespace":"no name"}`}, {"memory_log", `{"event":"` + long + `","data":1}`},
		{"memory_log", `{"event":"e","data":1,"branch":"none"}`}, {"memory_forget", `{"key":"` + long + `"}`}, {"memory_branch", `{"action":"fork","name":"default"}`},
		{"memory_branch", `{"action":"fork","name":"b","source":"none"}`}, {"memory_branch", `{"action":"create","name":"no name"}`}, {"memory_branch", `{"action":"delete","name":"none"}`},
		{"memory_branch", `{"action":"delete"}`}, {"memory_branch", `{"action":"delete","name":"unmerged"}`},
	} {
		dry := strings.Replace(c[1], "{", `{"dry_run":true,`, 1)
		if u.refused(c[0], dry) == "" || u.refused(c[0], c[1]) == "" {
			t.Errorf("%s of %.60s succeeds, or its dry run does, want both refused", c[0], c[1])
		}
	}
}

// strict hooks refuse what says "no", note each value, and want to send something first.
type strict struct {
	memory.Hooks
	sent int
}

func (h *strict) Storing(ctx context.Context, s memory.Storing) (memory.Decision, error) {
	if string(s.Items[0].Value) == `"no"` {
		return memory.Decision{}, &memory.Error{Code: memory.Denied, Message: "strict refused it: it says no"}
	}
	if _, err := effect.Of(ctx).Begin(ctx, "a letter"); err == nil {
		h.sent++
	}
	return memory.Decision{Items: s.Items, Notes: []string{"strict has read it"}}, nil
}

func (*strict) Asks(memory.Change, string) bool { return false }

func TestADryRunAsksTheHooksAndSendsNothing(t *testing.T) {
	hooks := &strict{}
	u := newUserWith(t, hooks)
	for _, dry := range []string{``, `"dry_run":true,`} {
		if got := u.refused("memory_store", `{`+dry+`"key":"k","value":"no"}`); got != "strict refused it: it says no" {
			t.Errorf("%q: refused with %s", dry, got)
		}
	}
	if _, note := u.must("memory_store", `{"dry_run":true,"key":"k","value":1}`); !strings.Contains(note, "strict has read it") || !strings.Contains(note, "a letter") || hooks.sent != 0 {
		t.Errorf("a dry run notes %q, and %d were sent", note, hooks.sent)
	}
	answer, _ := u.must("memory_operation", `{"method":"memory_store","params":{"key":"k","value":1},"options":{"dry_run":true}}`)
	if !strings.Contains(answer, "strict has read it") || !strings.Contains(answer, "a letter") || hooks.sent != 0 {
		t.Errorf("a dry operation is answered with %s, and %d were sent", answer, hooks.sent)
	}
	if u.must("memory_store", `{"key":"k","value":1}`); hooks.sent != 1 {
		t.Errorf("%d were sent", hooks.sent)
	}
	if answer, _ := u.must("memory_store", `{"dry_run":true,"key":"k","value":1}`); !strings.Contains(answer, `"store":[{"key":"k","unchanged":true}]`) {
		t.Errorf("storing the same again would do %s", answer)
	}
}

func TestTheLimitsOfABatchCountInADryRun(t *testing.T) {
	u := newUser(t)
	many := strings.Repeat(`{"value":1},`, 1000) + `{"value":1}`
	for name, arguments := range map[string]string{
		"many items": `"items":[` + many + `]`, "a large value": `"key":"k","value":"` + strings.Repeat("x", 1<<20) + `"`,
		"a past expiry": `"key":"k","value":1,"expires":"2001-01-01"`,
	} {
		dry, real := u.refused("memory_store", `{"dry_run":true,`+arguments+`}`), u.refused("memory_store", `{`+arguments+`}`)
		if dry != real {
			t.Errorf("%s: a dry run is refused with %s, the call with %s", name, dry, real)
		}
	}
}

func TestWhoMayOnlyReadCanPreviewAMerge(t *testing.T) {
	u := newUser(t)
	u.must("memory_branch", `{"action":"fork","name":"side"}`)
	u.must("memory_store", `{"key":"k","value":2,"branch":"side"}`)
	u.caller.Rights = u.caller.Rights.ReadOnly()
	if got, _ := u.must("memory_branch", `{"action":"merge","source":"side","preview":true}`); !strings.Contains(got, `"applied":1`) || !strings.Contains(got, `"merged":false`) {
		t.Errorf("the preview is %s", got)
	}
	u.refused("memory_branch", `{"action":"merge","source":"side"}`)
}

func TestTheCommitsOfACallAreFoundByItsRequest(t *testing.T) {
	u := newUser(t)
	_, err := u.tools.Dispatch(t.Context(), tool.Request{Tool: "memory_operation", Caller: u.caller, Session: u.session, RequestID: "r1",
		Arguments: json.RawMessage(`{"method":"memory_store","params":{"key":"k","value":1}}`)})
	if err != nil {
		t.Fatal(err)
	}
	u.must("memory_store", `{"key":"other","value":1}`)
	list, _, err := u.space.As(u.caller).Commits(t.Context(), memory.CommitQuery{Call: "r1"})
	if err != nil || len(list) != 1 || len(list[0].Changes) != 1 || list[0].Changes[0].Key != "k" || list[0].Caller.Agent != "tester" {
		t.Errorf("the call committed %+v (%v)", list, err)
	}
}
