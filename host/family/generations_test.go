package family

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/grants"
	"github.com/alcove-memory/alcove/host/family/jobs"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/testing/await"
	"github.com/alcove-memory/alcove/registry"
)

// settled waits until nothing is written any more.
func (w *world) settled() {
	w.t.Helper()
	head := func() uint64 {
		stage, err := w.space.As(owner("")).Stage(w.t.Context(), "")
		if err != nil {
			w.t.Fatal(err)
		}
		return stage.Version()
	}
	quiet := head()
	since := time.Now()
	await.That(w.t, "nothing is written any more", func() bool {
		if now := head(); now != quiet {
			quiet, since = now, time.Now()
		}
		return time.Since(since) > 300*time.Millisecond
	})
}

// answers is a family that notes that it was told, and stores a value under k.
func answers(value string) script {
	return script{steps: []step{noteCall[0], {"memory.put", `{"items":[{"key":"k","value":` + value + `}]}`}}}
}

func TestTwoFamiliesThatAnswerEachOtherStopAfterAGeneration(t *testing.T) {
	w := open(t, nil).with(onStored("ping"), answers(`"ping"`)).with(onStored("pong"), answers(`"pong"`)).followed("ping", "pong")
	w.store("k", `"user"`)
	await.That(t, "an answer to an answer was left out", func() bool {
		for _, name := range []string{"ping", "pong"} {
			if info, err := w.Info(t.Context(), name); err != nil || info.Use.Cut != nil {
				return err == nil
			}
		}
		return false
	})
	w.settled()
	for _, name := range []string{"ping", "pong"} {
		if n := w.told(name); n < 1 || n > 2 {
			t.Errorf("%s was told %d times: of the user's write, and of one answer at most", name, n)
		}
	}
}

func TestAnOperatorAllowsMoreGenerations(t *testing.T) {
	w := open(t, nil).with(onStored("ping"), answers(`"ping"`)).with(onStored("pong"), answers(`"pong"`)).followed("ping", "pong")
	for _, name := range []string{"ping", "pong"} {
		if _, err := w.Grant(grants.Request{Family: name, Hooks: map[abi.Hook]registry.On{abi.HookStored: {Generations: 4}}}); err != nil {
			t.Fatal(err)
		}
	}
	w.store("k", `"user"`)
	await.That(t, "they answered each other again and again", func() bool { return w.told("ping")+w.told("pong") >= 5 })
	w.settled()
	if n := w.told("ping") + w.told("pong"); n > 10 {
		t.Errorf("they were told %d times in five generations", n)
	}
	for hook, n := range map[abi.Hook]int{abi.HookStored: abi.MostGenerations + 1, abi.HookStore: 2} {
		if _, err := w.Grant(grants.Request{Family: "ping", Hooks: map[abi.Hook]registry.On{hook: {Generations: n}}}); code(err) != memory.InvalidArgument {
			t.Errorf("hook %s=%d: %v", hook, n, err)
		}
	}
}

func TestTheGenerationOfAWriteOutlivesARestartAndAJob(t *testing.T) {
	dir := t.TempDir()
	asks := onStored("asks")
	asks.Hooks.Jobs = []abi.Job{{Name: "answer"}}
	enqueue := script{steps: []step{{"job.enqueue", `{"job":"answer","after_s":3600}`}}}
	w := openIn(t, dir, nil).with(asks, enqueue).followed("asks")
	w.store("k", `"user"`)
	var job jobs.Job
	await.That(t, "it queued a job", func() bool {
		list, err := w.Jobs(t.Context())
		if err == nil && len(list) == 1 {
			job = list[0]
		}
		return job.ID != ""
	})
	if job.Generation != 1 {
		t.Errorf("the job is of generation %d", job.Generation)
	}
	var now atomicTime
	now.set(time.Now())
	after := openIn(t, snapshot(w), func(o *Options) { o.Clock = now.get }) // as after a crash
	after.with(asks, script{steps: []step{{"memory.put", `{"items":[{"key":"answer","value":1}]}`}}})
	now.set(now.get().Add(2 * time.Hour))
	after.jobs.WakeUp()
	await.That(t, "the job ran", func() bool { return after.value("", "answer") == "1" })
	page, err := after.space.As(owner("")).Written(t.Context(), memory.WrittenQuery{Memories: true})
	if err != nil || len(page.Entries) != 2 || page.Entries[1].By.Generation != 1 || page.Entries[1].By.Family != "asks" {
		t.Errorf("Written = %+v, %v, want 2, the second of asks in generation 1", page.Entries, err)
	}
}

// heard are the requests of hooks that a family noted: guests with the script of telling.
func heard(w *world, name string, manifest *abi.Manifest) func() []abi.HookRequest {
	w.t.Helper()
	l := &listener{world: w}
	l.trace()
	l.install(name, manifest)
	return func() (list []abi.HookRequest) {
		l.mu.Lock()
		defer l.mu.Unlock()
		for _, data := range l.seen {
			var r abi.HookRequest
			if err := json.Unmarshal(data, &r); err != nil {
				w.t.Fatal(err)
			}
			if r.Context.Family == name {
				list = append(list, r)
			}
		}
		return list
	}
}

// keys lists the keys of entries of hooks' requests, each with its writer.
func keys(requests []abi.HookRequest) (list []string) {
	for _, r := range requests {
		for _, e := range r.Entries {
			text := fmt.Sprintf("%s/%s/%s by %s", e.Collection, e.Namespace, e.Key, e.Agent)
			if e.Family != "" {
				text += " in " + e.Family
			}
			if e.State != "" {
				text += ", " + e.State
			}
			if e.Deleted {
				text += ", deleted"
			}
			list = append(list, text)
		}
	}
	return list
}

func TestAFamilysOwnWritesComeBackOnlyIfItAsks(t *testing.T) {
	other := aFamily("other")
	puts := func(key string) script {
		return script{steps: []step{{"memory.put", `{"items":[{"key":"` + key + `","value":1}]}`}}}
	}
	for own, want := range map[bool][]string{false: {"memory/default/theirs by bob in other"}, true: {"memory/default/mine by bob in watch", "memory/default/theirs by bob in other"}} {
		m := onStored("watch")
		m.Hooks.Stored.Own = own
		w := open(t, nil).with(other, puts("theirs"))
		told := heard(w, "watch", m)
		w.followed("watch")
		// the same family, with another script, is another version: its tool writes, its hook listens
		if _, err := w.callAs("watch", "watch_do", owner("bob"), memory.Item{Key: "mine", Value: json.RawMessage(`1`)}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.call(given{Tool: "other_do", Caller: owner("bob")}); err != nil {
			t.Fatal(err)
		}
		await.That(t, "it was told of the other's write", func() bool { return slices.Contains(keys(told()), want[len(want)-1]) })
		if got := keys(told()); !slices.Equal(got, want) {
			t.Errorf("own %t: it was told of %q", own, got)
		}
	}
}

// callAs writes as a family does in a call of its tool.
func (w *world) callAs(name, tool string, c memory.Caller, items ...memory.Item) (memory.Committed, error) {
	w.t.Helper()
	c.Family, c.Call = name, tool
	stage, err := w.space.As(c).Stage(w.t.Context(), "")
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := stage.Put(w.t.Context(), "", items); err != nil {
		w.t.Fatal(err)
	}
	return stage.Commit(w.t.Context(), memory.Commit{})
}

func TestAStoredHookIsToldOfRecordsThatItsManifestNames(t *testing.T) {
	m := onStored("watch")
	m.Hooks.Stored.Collections = []string{"notes", "calls"}
	m.Collections = append(m.Collections, abi.Collection{Name: "notes"}, abi.Collection{Name: "others"})
	w := open(t, nil)
	told := heard(w, "watch", m)
	w.followed("watch")
	put := func(collection string, perSpace bool, generation int) {
		c := owner("bob")
		c.Family, c.Generation = "watch", generation
		stage, err := w.space.As(c).Stage(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		if err := stage.PutRecord(t.Context(), memory.Collection{Name: "watch/" + collection, PerSpace: perSpace}, "", fmt.Sprint("r", generation), json.RawMessage(`1`), nil); err != nil {
			t.Fatal(err)
		}
		if _, err := stage.Commit(t.Context(), memory.Commit{}); err != nil {
			t.Fatal(err)
		}
	}
	put("others", false, 0)
	put("notes", false, 1) // by its own hook
	put("notes", false, 0)
	put("calls", true, 0)
	w.store("k", `1`)
	await.That(t, "it was told of both", func() bool { return len(keys(told())) >= 2 })
	got := keys(told())
	slices.Sort(got)
	if !slices.Equal(got, []string{"calls/default/r0 by bob in watch", "notes/default/r0 by bob in watch"}) {
		t.Errorf("it was told of %q", got)
	}
}

func TestEntriesOfAStoredHookCarryStateAndWriter(t *testing.T) {
	w := open(t, nil)
	told := heard(w, "watch", onStored("watch"))
	w.followed("watch")
	ann := w.space.As(owner("ann"))
	if _, err := ann.Store(t.Context(), memory.Location{}, []memory.Item{{Key: "k", Value: json.RawMessage(`1`), State: memory.Archived}}, memory.Write{}); err != nil {
		t.Fatal(err)
	}
	gone := owner("bob")
	gone.Call = "1"
	if _, err := w.space.As(gone).Forget(t.Context(), memory.Location{}, []string{"k"}, memory.Write{}); err != nil {
		t.Fatal(err)
	}
	await.That(t, "it was told", func() bool { return len(keys(told())) == 2 })
	if got := keys(told()); !slices.Equal(got, []string{"memory/default/k by ann, archived", "memory/default/k by bob, deleted"}) {
		t.Errorf("it was told of %q", got)
	}
}

func TestAHookIsToldOfNoNamespaceThatItsGrantExcludes(t *testing.T) {
	m := onStored("watch")
	m.Hooks.Store, m.Hooks.Merged = &abi.StoreHook{Changes: []string{"store", "delete"}}, &abi.MergeHook{}
	w := open(t, nil)
	told := heard(w, "watch", m)
	if _, err := w.Grant(grants.Request{Family: "watch", Revoke: []string{"*"}}); err != nil {
		t.Fatal(err)
	}
	hookOn := map[abi.Hook]registry.On{abi.HookStore: {}, abi.HookStored: {}, abi.HookMerged: {}}
	if _, err := w.Grant(grants.Request{Family: "watch", Capabilities: []registry.Capability{{Name: abi.CanMemoryRead, Scope: []string{"work"}}}, Hooks: hookOn}); err != nil {
		t.Fatal(err)
	}
	w.followed("watch")
	a := w.space.As(owner("ann"))
	if _, err := a.Fork(t.Context(), "", "draft", memory.AsOf{}, memory.Write{}); err != nil {
		t.Fatal(err)
	}
	for _, at := range []memory.Location{{Namespace: "private"}, {Branch: "draft", Namespace: "private"}, {Branch: "draft", Namespace: "work"}} {
		if _, err := a.Store(t.Context(), at, []memory.Item{{Key: "k", Value: json.RawMessage(`"in ` + at.Branch + at.Namespace + `"`)}}, memory.Write{}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := a.Forget(t.Context(), memory.Location{Namespace: "private"}, []string{"k"}, memory.Write{}); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Merge(t.Context(), memory.Merge{Source: "draft", Strategy: memory.Source}, memory.Write{}); err != nil {
		t.Fatal(err)
	}
	await.That(t, "it was told of the merge", func() bool {
		return slices.ContainsFunc(told(), func(r abi.HookRequest) bool { return r.Hook == abi.HookMerged })
	})
	for _, r := range told() {
		if data, err := json.Marshal(r); err != nil || strings.Contains(string(data), "private") || r.Merge != nil && r.Merge.Count != 1 {
			t.Errorf("it was told %s, %v", data, err)
		}
	}
	if _, err := w.Grant(grants.Request{Family: "watch", Hooks: map[abi.Hook]registry.On{abi.HookStore: {OnFailure: abi.OnFailureRefuse}}}); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Store(t.Context(), memory.Location{Namespace: "private"}, []memory.Item{{Key: "k", Value: json.RawMessage(`1`)}}, memory.Write{}); err != nil {
		t.Error(err)
	}
	if !slices.ContainsFunc(told(), func(r abi.HookRequest) bool { return r.Hook == abi.HookStore && r.Entries[0].Namespace == "private" }) {
		t.Error("a hook without which nothing may be stored was not asked")
	}
}

func TestAStoreHookThatProposesKeepsAWriteOffItsBranch(t *testing.T) {
	m := onStore("board", abi.OnFailureRefuse)
	m.Hooks.Store.Changes = []string{"store", "delete"}
	w := open(t, nil)
	w.store("old", `1`)
	w.with(m, script{says: `{"propose":"new memories are\nreviewed"}`}).with(aFamily("writes"), script{steps: []step{{"memory.put", `{"items":[{"key":"tool","value":1}]}`}}})
	m2, notes, err := w.keep("k", `"tea"`)
	if err != nil || m2 != nil || len(notes) != 2 || notes[0] != "family board proposes it: new memories are reviewed" || !strings.Contains(notes[1], "proposed on branch proposals/board/") {
		t.Errorf("stored %+v with %q, %v", m2, notes, err)
	}
	if keys, err := w.space.As(owner("")).Forget(t.Context(), memory.Location{}, []string{"old"}, memory.Write{}); err != nil || len(keys) != 1 || w.value("", "old") != "1" {
		t.Errorf("forgot %q, %v", keys, err)
	}
	result, err := w.call(given{Tool: "writes_do"})
	if err != nil || !strings.HasPrefix(result.Proposal, "proposals/board/") || w.value("", "tool") != "" || w.value(result.Proposal, "tool") != "1" {
		t.Errorf("Call = %+v, %v, want what it wrote on the branch of a proposal", result, err)
	}
	if done, err := w.space.As(owner("")).Merge(t.Context(), memory.Merge{Source: result.Proposal}, memory.Write{}); err != nil || !done.Merged || w.value("", "tool") != "1" {
		t.Errorf("Merge = %+v, %v, want it merged", done, err)
	}
}
