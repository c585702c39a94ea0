package family

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/abi/vectors"
	"github.com/alcove-memory/alcove/host/family/ops"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/memory/scope"
	"github.com/alcove-memory/alcove/host/memory/sessions"
)

// putScope commits a change of a scope.
func (w *world) putScope(c memory.Caller, namespace string, change scope.Change) {
	w.t.Helper()
	stage, err := w.space.As(c).Stage(w.t.Context(), "")
	if err != nil {
		w.t.Fatal(err)
	}
	if _, _, err := stage.PutScope(w.t.Context(), namespace, change, memory.CreateOrChangeScope); err != nil {
		w.t.Fatal(err)
	}
	if _, err := stage.Commit(w.t.Context(), memory.Commit{}); err != nil {
		w.t.Fatal(err)
	}
}

// holder returns the holder of a key for everything.
func holder(agent string, further ...memory.Right) memory.Caller {
	return memory.Caller{Agent: agent, Key: "key of " + agent, Rights: memory.FullRights().LimitedTo(append(further, memory.ToUse("*")))}
}

// Every operation of a family that a non-member has ask about a scope answers as for a namespace that never was; and a member's as
// for any other.
func TestAFamilyDoesForANonMemberNothingInAScope(t *testing.T) {
	const crew = `"namespace":"crew"`
	steps := []step{
		{"memory.get", `{"keys":["k"],` + crew + `}`}, {"memory.list", `{` + crew + `}`}, {"memory.history", `{"key":"k",` + crew + `}`}, {"memory.get", `{"keys":["k"],` + crew + `,"as_of":"now"}`},
		{"memory.search", `{"query":"kumquat","namespaces":["crew"]}`}, {"record.get", `{"collection":"own","keys":["r"],` + crew + `}`}, {"record.list", `{"collection":"own",` + crew + `}`},
		{"log.read", `{` + crew + `}`}, {"log.verify", `{` + crew + `}`}, {"link.list", `{"key":"k",` + crew + `}`}, {"feed.read", `{"namespaces":["crew"]}`},
		{"status.get", `{` + crew + `}`}, {"text.count", `{"terms":["kumquat"],"namespaces":["crew"]}`}, {"branch.diff", `{"source":"draft","namespaces":["crew"]}`},
		{"memory.put", `{"items":[{"key":"k","value":1,` + crew + `}]}`}, {"memory.delete", `{"keys":["k"],` + crew + `}`}, {"memory.patch", `{"patches":[{"key":"k",` + crew + `}]}`},
		{"record.put", `{"collection":"own","items":[{"key":"r","value":1}],` + crew + `}`}, {"log.append", `{"event":"e",` + crew + `}`}, {"feed.emit", `{"kind":"rang",` + crew + `}`},
		{"namespace.delete", `{` + crew + `}`}, {"scope.put", `{` + crew + `,"members":["bob"]}`}, {"config.put", `{"changes":[{"key":"weight_a","value":0.6},{"key":"weight_b","value":0.4}],"scope":"namespace","name":"crew"}`},
		{"identity.delegate", `{"name":"n","namespaces":["crew"],"expires_s":60}`},
	}
	found := []step{ // what they answer must lack the scope
		{"memory.search", `{"query":"kumquat","namespaces":["*"]}`}, {"memory.namespaces", `{}`}, {"namespace.list", `{"counts":true}`}, {"feed.read", `{"namespaces":["*"]}`},
		{"text.count", `{"terms":["kumquat"],"namespaces":["*"]}`}, {"branch.diff", `{"source":"draft","namespaces":["*"]}`}, {"branch.merge", `{"source":"draft","preview":true}`},
		{"record.search", `{"collection":"own","query":"kumquat","namespaces":["*"]}`}, {"scope.list", `{"archived":true}`}, {"scope.get", `{` + crew + `}`},
		{"scope.members", `{` + crew + `,"add":["bob"]}`}, {"scope.delete", `{` + crew + `}`}, {"caller.can", `{"action":"read",` + crew + `}`}, {"session.list", `{}`},
		{"caller.can", `{"action":"read","agent":"ann",` + crew + `}`},
	}
	w := open(t, func(o *Options) { o.Delegates = nobodysDelegates{} })
	m := aFamily("asks")
	m.Collections = []abi.Collection{{Name: "own", Searchable: []string{"text"}}}
	shareWeights(m)
	w.with(m, script{steps: append(slices.Clone(steps), found...)})
	ann := holder("ann", memory.ToBranch, memory.ToConfigure)
	bob := holder("bob", memory.ToBranch, memory.ToConfigure)
	w.putScope(ann, "crew", scope.Change{})
	keep := func(branch, text string) {
		t.Helper()
		stage, err := w.space.As(ann).Stage(t.Context(), branch)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := stage.Put(t.Context(), "crew", []memory.Item{{Key: "k", Value: json.RawMessage(`"` + text + `"`)}}); err != nil {
			t.Fatal(err)
		}
		if err := stage.PutRecord(t.Context(), memory.Collection{Name: "asks/own", Fields: []string{"text"}}, "crew", "r", json.RawMessage(`{"text":"`+text+`"}`), nil); err != nil {
			t.Fatal(err)
		}
		if _, err := stage.Commit(t.Context(), memory.Commit{}); err != nil {
			t.Fatal(err)
		}
	}
	keep("", "a kumquat")
	if _, err := w.space.As(ann).Fork(t.Context(), "", "draft", memory.AsOf{}, memory.Write{}); err != nil {
		t.Fatal(err)
	}
	keep("draft", "another kumquat")
	got := w.as(bob, "asks")
	for i, s := range append(slices.Clone(steps), found...) {
		text := string(got[i].OK)
		switch {
		case i < len(steps) && !denied(got[i]):
			t.Errorf("%s %s = %s, %+v, want it denied", s.op, s.request, text, got[i].Error)
		case i >= len(steps) && (strings.Contains(text, "crew") && s.op != "caller.can" || strings.Contains(text, "kumquat") || strings.Contains(text, `"count":1`) || strings.Contains(text, "true}")):
			t.Errorf("%s %s shows the scope: %s", s.op, s.request, text)
		}
	}
	w.putScope(ann, "crew", scope.Change{Add: []string{"bob"}})
	for i, r := range w.as(bob, "asks")[:len(steps)] {
		if denied(r) && steps[i].op != "scope.put" { // which a member may not
			t.Errorf("for a member, %s %s: %+v", steps[i].op, steps[i].request, r.Error)
		}
	}
}

// nobodysDelegates refuses what a caller may not read.
type nobodysDelegates struct{ sampleDelegates }

func (d nobodysDelegates) Draft(c memory.Caller, r ops.Delegation) (ops.Delegated, error) {
	for _, namespace := range r.Namespaces {
		if !c.Rights.MayRead(namespace) {
			return ops.Delegated{}, &memory.Error{Code: memory.Denied, Message: "no"}
		}
	}
	return d.sampleDelegates.Draft(c, r)
}

func TestAnAgentWhoseKeyDoesNotHoldMayDoNothing(t *testing.T) {
	w := open(t, func(o *Options) {
		o.CheckKey = func(id string) error {
			if id == "lost" {
				return &memory.Error{Code: memory.Denied, Message: "the key lost was revoked"}
			}
			return nil
		}
	})
	ann := owner("ann")
	ann.Key = "kept"
	w.putScope(ann, "crew", scope.Change{Add: []string{"bob"}})
	w.with(aFamily("asks"), script{steps: []step{
		{"caller.get", `{}`},
		{"caller.can", `{"action":"write","namespace":"crew","agent":"bob"}`},
		{"caller.can", `{"action":"write","namespace":"crew","agent":"bob","key":"kept"}`},
		{"caller.can", `{"action":"write","namespace":"crew","agent":"bob","key":"lost"}`},
		{"caller.can", `{"action":"write","namespace":"crew","agent":"carl","key":"kept"}`},
		{"caller.can", `{"action":"write","namespace":"crew","key":"lost"}`},
	}})
	for i, want := range []string{`"key":"kept"`, `{"allowed":true}`, `{"allowed":true}`, `the key lost was revoked`, `has no right`, `the key lost was revoked`} {
		if r := w.askAs(t, "asks", "", ann)[i]; !strings.Contains(string(r.OK), want) {
			t.Errorf("%d: %s, %v; not %s", i, r.OK, r.Error, want)
		}
	}
}

func TestAbsentAndForbiddenScopesAnswerAlike(t *testing.T) {
	w := open(t, nil)
	w.putScope(holder("ann"), "crew", scope.Change{})
	asked := []string{"scope.get", "scope.members", "scope.delete"}
	var steps []step
	for _, namespace := range []string{"crew", "wherever"} {
		for _, op := range asked {
			steps = append(steps, step{op, `{"namespace":"` + namespace + `"}`})
		}
	}
	w.with(aFamily("asks"), script{steps: steps})
	got := w.as(holder("bob", memory.ToAdministerScopes), "asks")
	for i, op := range asked {
		forbidden, absent := fmt.Sprintf("%+v", got[i].Error), fmt.Sprintf("%+v", got[i+len(asked)].Error)
		if got[i].Error == nil || strings.ReplaceAll(forbidden, "crew", "wherever") != absent {
			t.Errorf("%s: %s, and %s", op, forbidden, absent)
		}
	}
}

func TestAJobOfAFormerMemberIsRefusedTheScope(t *testing.T) {
	w := open(t, func(o *Options) { o.Stepwise = true })
	m := withJob("tidy", "")
	w.with(m, script{steps: []step{{"memory.put", `{"items":[{"key":"a","namespace":"crew","value":1}]}`}}})
	w.putScope(holder("ann"), "crew", scope.Change{Add: []string{"bob"}})
	run := func(before func()) string {
		t.Helper()
		stage, err := w.space.As(holder("bob")).Stage(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		queue, err := w.JobsOn(stage, "tidy", holder("bob"), "")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := queue.Enqueue(t.Context(), abi.JobEnqueueRequest{Job: "tidy"}); err != nil {
			t.Fatal(err)
		}
		if _, err := stage.Commit(t.Context(), memory.Commit{}); err != nil {
			t.Fatal(err)
		}
		before()
		if err := w.Step(t.Context()); err != nil {
			t.Fatal(err)
		}
		return w.valueAt("crew", "a")
	}
	if got := run(func() {}); got != "1" {
		t.Fatalf("the job of a member wrote %q", got)
	}
	got := run(func() {
		if _, err := w.space.As(owner("")).Forget(t.Context(), memory.Location{Namespace: "crew"}, []string{"a"}, memory.Write{}); err != nil {
			t.Fatal(err)
		}
		w.putScope(holder("ann"), "crew", scope.Change{Remove: []string{"bob"}})
	})
	if got != "" {
		t.Errorf("the job of a former member wrote %q", got)
	}
}

func TestSessionsAreShownToTheirAgentAndToMembersOfItsScopes(t *testing.T) {
	all := func() (list []sessions.Session) {
		for _, agent := range []string{"ann", "bob", "eve"} {
			list = append(list, sessions.Session{ID: "of " + agent, Caller: memory.Caller{Agent: agent}, Began: time.Now()})
		}
		return append(list, sessions.Session{ID: "of a child", Caller: memory.Caller{Agent: "ann/task", Principal: "ann"}})
	}
	w := open(t, func(o *Options) { o.Sessions = all })
	w.putScope(holder("ann"), "crew", scope.Change{Add: []string{"bob"}})
	w.with(aFamily("asks"), script{steps: []step{{"session.list", `{}`}}})
	for agent, want := range map[string]string{"ann": "of ann,of bob,of a child", "bob": "of ann,of bob,of a child", "eve": "of eve"} {
		var got []string
		var answer abi.SessionListResponse
		if err := json.Unmarshal(w.as(holder(agent), "asks")[0].OK, &answer); err != nil {
			t.Fatal(err)
		}
		for _, s := range answer.Sessions {
			got = append(got, s.Session)
		}
		if strings.Join(got, ",") != want {
			t.Errorf("%s is shown %s", agent, got)
		}
	}
}

func TestTheAnswerWithASecretIsNotKept(t *testing.T) {
	w := open(t, func(o *Options) { o.Delegates = sampleDelegates{} })
	w.with(aFamily("asks"), script{steps: []step{{"identity.delegate", `{"name":"task","namespaces":["work"],"expires_s":60}`}, {"memory.put", `{"items":[{"key":"a","value":1}]}`}}})
	call := given{Tool: "asks_do", Caller: owner("ann"), RequestID: "once", Arguments: json.RawMessage(`{}`)}
	first, err := w.Call(t.Context(), call)
	if err != nil || !strings.Contains(string(first.Output), "secret of task") {
		t.Fatalf("Call = %s, %v, want the secret of task", first.Output, err)
	}
	again, err := w.Call(t.Context(), call)
	if err != nil || len(again.Output) > 0 || len(again.Notes) == 0 {
		t.Errorf("again: %s, %q, %v", again.Output, again.Notes, err)
	}
}

func TestTheEndOfASessionIsReportedAfterTheServerWasKilled(t *testing.T) {
	l := listen(t, vectors.Message{Kind: "hook", Result: json.RawMessage(`{}`)})
	l.on(abi.HookSessionEnd)
	l.SessionBegan(sessions.Session{ID: "s1", Caller: memory.Caller{Agent: "ann"}, Began: standing, Calls: 1})
	left, err := l.sessionsLeft(t.Context()) // as the next server does when it begins
	if err != nil || len(left) != 1 || left[0].session.Agent != "ann" || left[0].session.EndedAt == "" {
		t.Fatalf("left are %+v, %v", left, err)
	}
	l.deliverEnds(t.Context(), left)
	var asked abi.HookRequest
	l.read(l.sent(), &asked)
	if asked.Hook != abi.HookSessionEnd || asked.Session == nil || asked.Session.Session != "s1" {
		t.Errorf("the guest was asked %+v", asked)
	}
	if left, err = l.sessionsLeft(t.Context()); err != nil || len(left) != 0 {
		t.Errorf("left afterwards are %+v, %v", left, err)
	}
}

// fullDelegates drafts keys that cannot be issued, because others were meanwhile.
type fullDelegates struct{ sampleDelegates }

func (fullDelegates) Issue(string) error {
	return &memory.Error{Code: memory.Exhausted, Message: "there are too many keys"}
}

func TestAKeyThatCouldNotBeIssuedIsNotAnswered(t *testing.T) {
	w := open(t, func(o *Options) { o.Delegates = fullDelegates{} })
	w.with(aFamily("asks"), script{steps: []step{{"identity.delegate", `{"name":"task","namespaces":["work"],"expires_s":60}`}}})
	result, err := w.call(given{Tool: "asks_do", Caller: owner("ann")})
	if code(err) != memory.Exhausted || !strings.Contains(err.Error(), "issue the key of") || len(result.Output) > 0 {
		t.Errorf("got %s, %v, want no answer and why", result.Output, err)
	}
}
