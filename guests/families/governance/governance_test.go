package governance_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/guests/families/governance"
	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/go/alcovetest"
)

type world struct {
	*testing.T
	*alcovetest.Space
}

func open(t *testing.T, rule map[string]any) *world {
	w := &world{t, alcovetest.New(t, governance.Family(), alcovetest.Manifest(t, "manifest.json"))}
	w.Put(alcove.Memory{Key: "rule", Value: alcove.JSON("Two of us look at each change."), Type: "steering_rule"})
	if rule != nil {
		w.as("boss").call("memory_namespace_set_standard", map[string]any{"namespace": "default", "id": "rule", "governance": rule}, nil)
	}
	return w.as("ann")
}

func (w *world) as(agent string) *world { w.Caller = agent; return w }

func (w *world) call(tool string, arguments map[string]any, result any) {
	w.T.Helper()
	if err := w.Space.Tool(tool, arguments, result); err != nil {
		w.T.Fatalf("call %s with %v: %v", tool, arguments, err)
	}
}

func (w *world) fails(code alcove.Code, says, tool string, arguments map[string]any) {
	w.T.Helper()
	if err := w.Space.Tool(tool, arguments, nil); alcove.CodeOf(err) != code || !strings.Contains(err.Error(), says) {
		w.T.Errorf("%s %v: %v; want %s that says %q", tool, arguments, err, code, says)
	}
}

func (w *world) store(key, text string) error {
	_, err := w.Space.Store(alcove.Entry{Namespace: "default", Key: key, Value: alcove.JSON(text)})
	return err
}

type waiting struct {
	ID, Op, By, Branch, Approver string
	Keys                         []string
}

// pending are the changes that wait.
func (w *world) pending() []waiting {
	w.T.Helper()
	var out struct{ Pending []waiting }
	w.call("memory_pending_list", nil, &out)
	return out.Pending
}

// held stores a memory, which has to wait, and returns its change.
func (w *world) held(key, text string) waiting {
	w.T.Helper()
	if err := w.store(key, text); err != nil || w.Memory(key) != nil {
		w.T.Fatalf("%s is not held: %v, %v", key, w.Memory(key), err)
	}
	list := w.pending()
	return list[len(list)-1]
}

type approval struct {
	Merged        bool
	Votes, Needed int
}

var byAgents = map[string]any{"write": "approve", "delete": "approve", "approver": map[string]any{"consensus": 1}}

func TestAWriteWaitsUntilAnotherAgentApproves(t *testing.T) {
	w := open(t, byAgents)
	p := w.held("tea", "Ann drinks tea.")
	if p.By != "ann" || p.Op != "write" || strings.Join(p.Keys, " ") != "tea" || !strings.HasPrefix(p.Branch, "proposals/governance/") || p.Approver != "consensus:1" {
		t.Errorf("waiting %+v, want ann's write of tea on a branch of governance, to be approved by one other", p)
	}
	if found, err := w.Search("tea", 5); err != nil || len(found) > 0 {
		t.Errorf("found %v (%v)", found, err)
	}
	w.fails(alcove.Denied, "own change", "memory_pending_approve", map[string]any{"id": p.ID})
	w.as("").fails(alcove.Denied, "own change", "memory_pending_approve", map[string]any{"id": p.ID})
	var out approval
	w.as("bob").call("memory_pending_approve", map[string]any{"id": p.ID}, &out)
	if m := w.Memory("tea"); !out.Merged || m == nil || m.Agent != "ann" {
		t.Errorf("memory_pending_approve = %+v and tea is %+v, want it merged as ann's", out, m)
	}
	if found, err := w.Search("tea", 5); err != nil || len(found) != 1 {
		t.Errorf("found %v (%v)", found, err)
	}
	w.as("eve").fails(alcove.NotFound, "waits", "memory_pending_approve", map[string]any{"id": p.ID})
	if list := w.pending(); len(list) != 0 {
		t.Errorf("%+v wait", list)
	}
}

func TestADeletionWaits(t *testing.T) {
	w := open(t, map[string]any{"delete": "approve", "approver": map[string]any{"agent": "bob"}})
	if err := w.store("tea", "Ann drinks tea."); err != nil || w.Memory("tea") == nil {
		t.Fatalf("writing is free: %v", err)
	}
	if err := w.Delete("tea"); err != nil || w.Memory("tea") == nil {
		t.Fatalf("it is gone: %v", err)
	}
	p := w.pending()[0]
	w.as("eve").fails(alcove.Denied, "agent:bob", "memory_pending_approve", map[string]any{"id": p.ID})
	w.as("bob").call("memory_pending_approve", map[string]any{"id": p.ID}, nil)
	if p.Op != "delete" || p.By != "ann" || w.Memory("tea") != nil {
		t.Errorf("the change %+v is approved and tea is %v, want ann's deletion done", p, w.Memory("tea"))
	}
}

func TestAHumanDecidesAtTheCommandLine(t *testing.T) {
	w := open(t, map[string]any{"write": "approve"})
	p := w.held("tea", "Ann drinks tea.")
	w.as("human").fails(alcove.Denied, "command line", "memory_pending_approve", map[string]any{"id": p.ID})
	w.as("operator").fails(alcove.Denied, "command line", "memory_pending_reject", map[string]any{"id": p.ID})
	w.Operator = true
	w.call("memory_pending_approve", map[string]any{"id": p.ID}, nil)
	if w.Memory("tea") == nil {
		t.Error("it is not merged")
	}
}

func TestAgentsApproveByConsensus(t *testing.T) {
	w := open(t, map[string]any{"write": "approve", "approver": map[string]any{"consensus": 2}})
	p := w.held("tea", "Ann drinks tea.")
	for range 2 { // who votes twice has one vote
		var out approval
		if w.as("bob").call("memory_pending_approve", map[string]any{"id": p.ID}, &out); out.Merged || out.Votes != 1 || out.Needed != 2 {
			t.Errorf("bob's vote = %+v, want 1 of 2 and nothing merged", out)
		}
	}
	w.as("eve").Write, w.Read = []string{"else"}, []string{"default", "else"}
	w.fails(alcove.Denied, "may not write", "memory_pending_approve", map[string]any{"id": p.ID})
	w.Write, w.Read = nil, nil
	var out approval
	if w.as("carl").call("memory_pending_approve", map[string]any{"id": p.ID}, &out); !out.Merged || w.Memory("tea") == nil {
		t.Errorf("the second vote = %+v, want the change merged", out)
	}
}

func TestARejectedChangeIsDropped(t *testing.T) {
	w := open(t, byAgents)
	p := w.held("tea", "Ann drinks tea.")
	w.as("bob").call("memory_pending_reject", map[string]any{"id": p.ID, "reason": "no", "remember": "forever"}, nil)
	if w.Memory("tea") != nil || len(w.pending()) != 0 {
		t.Error("it is there")
	}
	if err := w.as("ann").store("milk", "Milk."); alcove.CodeOf(err) != alcove.Denied || !strings.Contains(err.Error(), "rejected, as bob decided") {
		t.Errorf("another one: %v", err)
	}
	if p := w.as("eve").held("milk", "Milk."); p.By != "eve" {
		t.Errorf("of another agent: %+v", p)
	}
	w.call("memory_pending_reject", map[string]any{"id": w.pending()[0].ID}, nil) // her own
}

func TestAnApprovalIsRemembered(t *testing.T) {
	w := open(t, byAgents)
	p := w.held("tea", "Ann drinks tea.")
	w.as("bob").fails(alcove.InvalidArgument, "without a session", "memory_pending_approve", map[string]any{"id": p.ID, "remember": "session"})
	w.call("memory_pending_approve", map[string]any{"id": p.ID, "remember": "forever"}, nil)
	if err := w.as("ann").store("milk", "Milk."); err != nil || w.Memory("milk") == nil {
		t.Errorf("it waits again: %v", err)
	}
	w.as("bob").held("wine", "Wine.")
}

func TestAChangeThatClashesIsNotMerged(t *testing.T) {
	w := open(t, byAgents)
	w.Put(alcove.Memory{Key: "tea", Value: alcove.JSON("Old.")})
	if err := w.store("tea", "New."); err != nil {
		t.Fatal(err)
	}
	w.Put(alcove.Memory{Key: "tea", Value: alcove.JSON("Other.")})
	w.as("bob").fails(alcove.Conflict, "tea", "memory_pending_approve", map[string]any{"id": w.pending()[0].ID})
	if w.Memory("tea").Text() != "Other." || len(w.pending()) != 1 {
		t.Errorf("tea is %q and %v wait, want the other text and one change", w.Memory("tea").Text(), w.pending())
	}
}

func TestARuleIsSetByThoseWhoMayOnly(t *testing.T) {
	w := open(t, map[string]any{"write": "owner", "approver": "human"})
	if err := w.store("tea", "Tea."); alcove.CodeOf(err) != alcove.Denied || !strings.Contains(err.Error(), "owner") {
		t.Errorf("store: %v, want it denied but for the owner", err)
	}
	if err := w.as("boss").store("tea", "Tea."); err != nil {
		t.Error(err)
	}
	var out struct {
		Standards []struct{ ID, Content, Write string }
	}
	w.call("memory_namespace_get_standard", map[string]any{"namespace": "default/below", "inherit": true}, &out)
	if len(out.Standards) != 1 || out.Standards[0].Content != "Two of us look at each change." || out.Standards[0].Write != "owner" {
		t.Errorf("standards with those above = %+v, want the one of the owner", out)
	}
	for _, bad := range []map[string]any{{"approver": "eve"}, {"approver": map[string]any{"consensus": 0}}, {"write": "nobody"}, {"approver": map[string]any{"agent": "a", "consensus": 2}}} {
		w.fails(alcove.InvalidArgument, "", "memory_namespace_set_standard", map[string]any{"namespace": "default", "id": "rule", "governance": bad})
	}
	w.fails(alcove.NotFound, "", "memory_namespace_set_standard", map[string]any{"namespace": "default", "id": "none"})
	w.Write, w.Read = []string{"mine"}, []string{"default"}
	w.fails(alcove.Denied, "may write", "memory_namespace_clear_standard", map[string]any{"namespace": "default"})
	w.Write, w.Read = nil, nil
	w.call("memory_namespace_clear_standard", map[string]any{"namespace": "default"}, nil)
	if err := w.as("ann").store("milk", "Milk."); err != nil || w.Memory("milk") == nil {
		t.Errorf("after it is gone: %v", err)
	}
	w.fails(alcove.NotFound, "no rule", "memory_namespace_clear_standard", map[string]any{"namespace": "default"})
}

type verified struct {
	Verified    bool
	Version     uint64
	LogSequence uint64 `json:"log_sequence"`
	Checked     int
	Unsealed    int
	Fault       string
}

func TestAnAlteredVersionIsNamed(t *testing.T) {
	w := open(t, nil)
	w.Config["seal_always"] = true
	for _, text := range []string{"Green tea.", "Black tea.", "White tea."} {
		if err := w.store("tea", text); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Tell(); err != nil {
		t.Fatal(err)
	}
	var out verified
	if w.call("memory_verify", map[string]any{"id": "tea"}, &out); !out.Verified || out.Checked == 0 || out.Version != w.Memory("tea").Version {
		t.Fatalf("memory_verify = %+v, want the version of now verified", out)
	}
	now := w.Memory("tea")
	w.Ops[alcove.OpMemoryHistory] = func([]byte) (any, error) {
		altered := *now
		altered.Counters, altered.Value = nil, alcove.JSON("White te0.")
		return alcove.MemoryHistoryResponse{Versions: []alcove.Memory{altered}}, nil
	}
	out = verified{}
	if w.call("memory_verify", map[string]any{"id": "tea"}, &out); out.Verified || out.Version != now.Version || out.LogSequence == 0 {
		t.Errorf("memory_verify of an altered version = %+v, want version %d not verified and its place in the log", out, now.Version)
	}
	delete(w.Ops, alcove.OpMemoryHistory)
	out = verified{}
	if w.call("memory_verify", map[string]any{"from": 1, "to": 2}, &out); !out.Verified {
		t.Errorf("the log: %+v", out)
	}
	out = verified{}
	if w.call("memory_verify", map[string]any{"from": 1, "to": 9, "namespace": "empty"}, &out); out.Verified || !strings.Contains(out.Fault, "nothing was checked") {
		t.Errorf("a part of the log without events: %+v, want that nothing was checked", out)
	}
	w.fails(alcove.InvalidArgument, "before from", "memory_verify", map[string]any{"from": 9, "to": 1})
	w.fails(alcove.InvalidArgument, "give id", "memory_verify", nil)
	w.fails(alcove.NotFound, "", "memory_verify", map[string]any{"id": "none"})
}

func TestARuleThatNothingEnforcesSaysSo(t *testing.T) {
	w := open(t, nil)
	type answer struct {
		Enforced bool
		Note     string
	}
	tools := map[string]map[string]any{
		"memory_namespace_set_standard": {"namespace": "default", "id": "rule", "governance": byAgents},
		"memory_namespace_get_standard": {"namespace": "default"},
	}
	for _, c := range []struct {
		revoke   string
		enforced bool
		says     string
	}{
		{"", true, ""},
		{"records.read", true, "alcove family grant governance records.read"},
		{"store", false, "alcove family grant governance records.read --hook store,stored"},
	} {
		if c.revoke != "" {
			w.Revoke(c.revoke)
		}
		for tool, arguments := range tools {
			var got answer
			w.as("boss").call(tool, arguments, &got)
			if got.Enforced != c.enforced || (got.Note != "") != (c.says != "") || !strings.HasSuffix(got.Note, c.says) {
				t.Errorf("%s without %q: got %+v, want enforced %t, and a note with %q", tool, c.revoke, got, c.enforced, c.says)
			}
		}
	}
	if err := w.as("ann").store("tea", "Ann drinks tea."); err != nil || w.Memory("tea") == nil {
		t.Errorf("with the hook off, tea is %v (%v), want it stored, as the note says", w.Memory("tea"), err)
	}
	for _, c := range [][2]string{{"", "seal_always=true"}, {"stored", "alcove family grant governance --hook stored"}} {
		revoke, says := c[0], c[1]
		if revoke != "" {
			w.Revoke(revoke)
		}
		var v struct {
			Verified bool
			Checked  int
			Fault    string
		}
		w.call("memory_verify", map[string]any{"id": "rule"}, &v)
		if v.Verified || !strings.Contains(v.Fault, says) {
			t.Errorf("memory_verify without %q: got %+v, want that nothing was checked, with %q", revoke, v, says)
		}
	}
}

func TestQuotasAreShownToThoseTheyAreOf(t *testing.T) {
	w := open(t, nil)
	w.Quota("default", alcovetest.Allowance{Memories: 2, Bytes: 1000})
	for i, ok := range []bool{true, true, false} {
		if err := w.store(string(rune('a'+i)), "x"); (err == nil) != ok || !ok && alcove.CodeOf(err) != alcove.Exhausted {
			t.Errorf("store %d: %v, want it to succeed: %t, or %s", i, err, ok, alcove.Exhausted)
		}
	}
	var out json.RawMessage
	w.call("memory_quota_status", nil, &out)
	if !strings.Contains(string(out), `"agent_id":"ann","day":"2026-06-01","memories":2,"most_memories":2`) {
		t.Errorf("memory_quota_status = %s, want ann's 2 of 2 memories of the day", out)
	}
}

// Eighty changes wait, each with a long value: the list has them all, and as many values as it has room for.
func TestAListOfManyWaitingChangesTellsWhatItLeavesOut(t *testing.T) {
	w := open(t, byAgents)
	for i := range 80 {
		if err := w.store(fmt.Sprint("tea", i), strings.Repeat("green ", 200)); err != nil {
			t.Fatal(err)
		}
	}
	var out struct {
		Pending []struct {
			Changes []struct{ After string }
			More    int
		}
	}
	w.call("memory_pending_list", nil, &out)
	shown, bytes, more := 0, 0, 0
	for _, p := range out.Pending {
		for _, change := range p.Changes {
			shown, bytes = shown+1, bytes+len(change.After)
		}
		more += p.More
	}
	if len(out.Pending) != 80 || shown == 0 || more == 0 || shown+more != 80 || bytes > 32<<10 {
		t.Errorf("%d changes are listed, %d with their value, in all %d bytes, and %d without; want 80, some with values of at most 32768 bytes, and the rest without", len(out.Pending), shown, bytes, more)
	}
}
