package family

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/catalogue"
	"github.com/alcove-memory/alcove/host/family/grants"
	"github.com/alcove-memory/alcove/host/family/jobs"
	"github.com/alcove-memory/alcove/host/family/modules"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/testing/await"
	"github.com/alcove-memory/alcove/registry"
)

// writesDuring grants a family to write in a part of its work, beside what it was granted.
func (w *world) writesDuring(name string, during registry.Work) catalogue.Described {
	w.t.Helper()
	return w.grant(grants.Request{Family: name, Capabilities: []registry.Capability{{Name: abi.CanMemoryWrite, During: during}}})
}

// proposals returns the branches of a family's proposals.
func (w *world) proposals(name string) (list []string) {
	w.t.Helper()
	branches, err := w.space.As(owner("")).Branches(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	for _, b := range branches {
		if strings.HasPrefix(b.Name, "proposals/"+name+"/") {
			list = append(list, b.Name)
		}
	}
	return list
}

var putsAndAsks = []step{{"memory.put", `{"items":[{"key":"a","value":1}]}`}, {"caller.get", `{}`}}

func TestAFamilyProposesInItsJobsWhatItWritesInItsCalls(t *testing.T) {
	w := open(t, nil).with(withJob("tidy", ""), script{steps: putsAndAsks})
	w.writesDuring("tidy", registry.Calls)
	job := w.enqueue("tidy")
	await.That(t, "the job is done", func() bool { return w.job(job.ID).State == jobs.Done })
	done := w.job(job.ID)
	if w.value("", "a") != "" || w.value(done.Proposal, "a") != "1" || !strings.Contains(string(done.Result), `"proposes":true`) {
		t.Errorf("after the job a is %q, and %q in its proposal: %s", w.value("", "a"), w.value(done.Proposal, "a"), done.Result)
	}
	got, result := w.do("tidy")
	if result.Proposal != "" || w.value("", "a") != "1" || !strings.Contains(string(got[1].OK), `"proposes":false`) {
		t.Errorf("after the call %+v a is %q", result, w.value("", "a"))
	}
}

func TestAFamilyProposesInItsCallsWhatItWritesInItsJobs(t *testing.T) {
	w := open(t, nil).with(withJob("tidy", ""), script{steps: putsAndAsks})
	w.writesDuring("tidy", registry.Jobs)
	rehearsed, err := w.call(given{Tool: "tidy_do", DryRun: true})
	if err != nil || !strings.Contains(strings.Join(rehearsed.Notes, "\n"), "would be proposed") {
		t.Errorf("a dry run says %q, %v", rehearsed.Notes, err)
	}
	got, result := w.do("tidy")
	if w.value("", "a") != "" || w.value(result.Proposal, "a") != "1" || !strings.Contains(string(got[1].OK), `"proposes":true`) {
		t.Errorf("after the call %+v a is %q", result, w.value("", "a"))
	}
	job := w.enqueue("tidy")
	await.That(t, "the job is done", func() bool { return w.job(job.ID).State == jobs.Done })
	if done := w.job(job.ID); done.Proposal != "" || w.value("", "a") != "1" {
		t.Errorf("after the job %+v a is %q", done, w.value("", "a"))
	}
}

func TestAFamilysProposalsGatherUntilTheyAreDecidedAbout(t *testing.T) {
	w := open(t, nil).with(aFamily("tidy"), script{steps: []step{{"memory.get", `{"keys":["a"]}`}, putsAndAsks[0], {"log.append", `{"event":"did","data":1}`}}})
	w.grant(grants.Request{Family: "tidy", Revoke: []string{"memory.write"}})
	do := func(agent string) (branch string, reads bool) {
		t.Helper()
		result, err := w.call(given{Tool: "tidy_do", Caller: memory.Caller{Agent: agent}})
		if err != nil || result.Proposal == "" || w.value(result.Proposal, "a") != "1" || w.value("", "a") != "" {
			t.Fatalf("%+v, %v, want a proposed", result, err)
		}
		return result.Proposal, strings.Contains(string(responses(t, result.Output)[0].OK), `"key":"a"`)
	}
	first, reads := do("ann")
	if reads {
		t.Error("the first call reads what it proposes")
	}
	if second, reads := do("ann"); second != first || !reads {
		t.Errorf("the second call proposes on %s, and reads a: %t; want %s and true", second, reads, first)
	}
	if other, reads := do("bob"); other == first || reads {
		t.Errorf("another agent's call proposes on %s, and reads a: %t; want a branch of its own and false", other, reads)
	}
	if err := w.space.As(owner("")).Delete(t.Context(), memory.Deletion{Branch: first, Force: true}, memory.Write{}); err != nil {
		t.Fatal(err)
	}
	if third, reads := do("ann"); third == first || reads {
		t.Errorf("after a rejection it proposes on %s, and reads a: %t; want a new branch and false", third, reads)
	}
}

// Two calls propose on one branch, which other families look at and merge.
func TestAFamilyMergesWhatItSawOfAProposalOfSeveralCalls(t *testing.T) {
	w := open(t, nil).with(aFamily("tidy"), script{steps: []step{putsAndAsks[0], {"log.append", `{"event":"did","data":1}`}}})
	w.grant(grants.Request{Family: "tidy", Revoke: []string{"memory.write"}})
	_, first := w.do("tidy")
	_, second := w.do("tidy")
	if second.Proposal != first.Proposal {
		t.Fatalf("the calls proposed on %s and %s, want one branch", first.Proposal, second.Proposal)
	}
	source := `"source":"` + first.Proposal + `"`
	seen := func(r response) (seen uint64) {
		t.Helper()
		var out struct{ Seen uint64 }
		if err := json.Unmarshal(r.OK, &out); err != nil || out.Seen == 0 {
			t.Errorf("got %s, %v (%v), want a seen", r.OK, r.Error, err)
		}
		return out.Seen
	}
	w.with(aFamily("look"), script{steps: []step{{"branch.diff", `{` + source + `}`}, {"branch.merge", `{` + source + `,"preview":true}`},
		{"branch.merge", `{` + source + `}`}}})
	looked := w.as(owner(""), "look")
	at := seen(looked[0])
	if again := seen(looked[1]); again != at {
		t.Errorf("a preview has the seen %d, want that of the difference, %d", again, at)
	}
	if e := looked[2].Error; e == nil || e.Code != abi.CodeConflict {
		t.Errorf("a merge without seen is answered with %s, %v; want a conflict", looked[2].OK, e)
	}
	w.do("tidy")
	w.with(aFamily("late"), script{steps: []step{{"branch.merge", fmt.Sprintf(`{%s,"seen":%d}`, source, at)}, {"branch.diff", `{` + source + `}`}}})
	late := w.as(owner(""), "late")
	if e := late[0].Error; e == nil || e.Code != abi.CodeConflict || w.value("", "a") != "" {
		t.Errorf("a merge behind a further proposal is answered with %s, %v; want a conflict", late[0].OK, e)
	}
	w.with(aFamily("merge"), script{steps: []step{{"branch.merge", fmt.Sprintf(`{%s,"seen":%d,"required":true}`, source, seen(late[1]))}}})
	if got := w.as(owner(""), "merge")[0]; got.Error != nil || w.value("", "a") != "1" {
		t.Errorf("a merge of what was seen is answered with %s, %v, and a is %q; want 1", got.OK, got.Error, w.value("", "a"))
	}
}

// A tool that fails leaves what it kept at once, and nothing else.
func TestARecordThatIsKeptNowStaysIfTheCallFails(t *testing.T) {
	m := aFamily("tidy")
	m.Collections = []abi.Collection{{Name: "failures", Per: "space"}, {Name: "notes"}}
	keep := func(key, now string) step {
		return step{"record.put", `{"collection":"failures","items":[{"key":"` + key + `","value":1}]` + now + `}`}
	}
	fails := script{fails: `{"code":"unavailable","message":"it is down"}`, steps: []step{keep("staged", ""), putsAndAsks[0]}}
	for range 17 {
		fails.steps = append(fails.steps, keep(fmt.Sprintf("kept-%d", len(fails.steps)), `,"now":true`))
	}
	w := open(t, nil).with(m, fails)
	if _, err := w.call(given{Tool: "tidy_do"}); err == nil {
		t.Fatal("the call succeeded, want it to fail")
	}
	w.with(m, script{steps: []step{{"record.list", `{"collection":"failures"}`}, {"memory.get", `{"keys":["a"]}`}}})
	got := w.as(owner(""), "tidy")
	if list := string(got[0].OK); strings.Count(list, `"kept-`) != 16 || strings.Contains(list, `"staged"`) {
		t.Errorf("after a failed call there are the records %s, want the 16 that may be kept at once", list)
	}
	if !strings.Contains(string(got[1].OK), "null") {
		t.Errorf("after a failed call there is the memory %s, want none", got[1].OK)
	}
}

func TestAGuestKnowsWhichOfItsHooksAreOn(t *testing.T) {
	m := withJob("tidy", "")
	m.Hooks.Stored, m.Hooks.Rank = &abi.StoreHook{}, &abi.RankHook{Features: []string{"score"}}
	w := open(t, nil).with(m, script{steps: []step{{"caller.get", `{}`}}})
	for _, c := range []struct {
		revoke []string
		want   string
	}{
		{nil, `"hooks":["job","rank","stored"]`},
		{[]string{"rank"}, `"hooks":["job","stored"]`},
		{[]string{"job", "stored"}, `"hooks":[]`},
	} {
		w.grant(grants.Request{Family: "tidy", Revoke: c.revoke})
		if got := w.as(owner(""), "tidy")[0]; !strings.Contains(string(got.OK), c.want) {
			t.Errorf("without %v: got %s, want %s", c.revoke, got.OK, c.want)
		}
	}
}

func TestAHookThatIsToldOfStoresIsWorkInTheBackground(t *testing.T) {
	m := aFamily("tidy")
	m.Hooks.Stored = &abi.StoreHook{}
	w := open(t, nil).with(m, script{steps: putsAndAsks})
	w.writesDuring("tidy", registry.Calls)
	w.followed("tidy")
	w.store("k", `1`)
	await.That(t, "it proposed something", func() bool { return len(w.proposals("tidy")) == 1 })
	if w.value("", "a") != "" || w.value(w.proposals("tidy")[0], "a") != "1" {
		t.Errorf("a is %q", w.value("", "a"))
	}
}

func TestAToolThatAJobCallsIsPartOfTheJob(t *testing.T) {
	w := open(t, nil).with(aFamily("inner"), script{steps: putsAndAsks}).with(withJob("outer", ""), script{steps: []step{{"tools.call", `{"tool":"inner_do"}`}}})
	w.writesDuring("inner", registry.Calls)
	w.grant(grants.Request{Family: "inner", Revoke: []string{"memory.propose"}})
	job := w.enqueue("outer")
	await.That(t, "the job is done", func() bool { return w.job(job.ID).State == jobs.Done })
	const want = `memory.write for default was granted to family inner for its calls alone`
	if got := w.job(job.ID); w.value("", "a") != "" || !strings.Contains(string(got.Result), want) || !strings.Contains(string(got.Result), "alcove family grant inner memory.write=*") {
		t.Errorf("a is %q, and the job answered %s", w.value("", "a"), got.Result)
	}
	if _, _ = w.do("outer"); w.value("", "a") != "1" {
		t.Errorf("called by a tool, it left a as %q", w.value("", "a"))
	}
}

func TestOnlyWhatWritesIsGrantedForAPartOfTheWork(t *testing.T) {
	w := open(t, nil).with(aFamily("tidy"), script{})
	for _, c := range []registry.Capability{{Name: abi.CanMemoryRead, During: registry.Calls}, {Name: abi.CanHTTP, During: registry.Jobs}, {Name: abi.CanMemoryWrite, During: "nights"}} {
		if _, err := w.Grant(grants.Request{Family: "tidy", Capabilities: []registry.Capability{c}}); err == nil {
			t.Errorf("%s was granted for its %s", c.Name, c.During)
		}
	}
}

func TestAGrantForAPartOfTheWorkIsKeptByReleasesAndNamedByUpdates(t *testing.T) {
	dir := t.TempDir()
	first := pack(t, asking("tags", "1.0.0", "memory.read=*", "memory.write=work", "memory.propose=*"), script{says: `{}`})
	second := pack(t, asking("tags", "2.0.0", "memory.write=work,home", "memory.propose=*"), script{says: `{}`})
	t.Run("the first release", func(t *testing.T) {
		w := openIn(t, dir, release(first))
		if d := w.writesDuring("tags", registry.Calls); !slices.ContainsFunc(d.Grant.Capabilities, func(c registry.Capability) bool { return c.During == registry.Calls }) {
			t.Errorf("it has %+v", d.Grant)
		}
	})
	t.Run("the next release", func(t *testing.T) {
		w := openIn(t, dir, release(second))
		d := w.All()[0]
		i := slices.IndexFunc(d.Grant.Capabilities, func(c registry.Capability) bool { return c.Name == abi.CanMemoryWrite })
		if i < 0 || d.Grant.Capabilities[i].During != registry.Calls {
			t.Errorf("it has %+v", d.Grant)
		}
		if want := "alcove family grant tags memory.write@calls --digest " + modules.Digest(second); d.GrantCommand != want {
			t.Errorf("the command is %s, want %s", d.GrantCommand, want)
		}
	})
	w := open(t, nil).with(aFamily("notes"), script{says: `1`})
	w.writesDuring("notes", registry.Jobs)
	d, err := w.Install(pack(t, aFamily("notes"), script{says: `2`}))
	if err != nil || d.Update == nil || !slices.Contains(d.Update.Dropped, "memory.write@jobs=*") || !strings.Contains(d.GrantCommand, "memory.write@jobs") {
		t.Errorf("another version: %+v, %v", d, err)
	}
}

func TestALockFileThatNamesNoPartOfTheWorkMeansAllOfIt(t *testing.T) {
	w := open(t, nil).with(withJob("tidy", ""), script{steps: putsAndAsks})
	w.grant(grants.Request{Family: "tidy", Revoke: []string{"memory.propose"}})
	data, err := os.ReadFile(filepath.Join(w.dir, registry.File))
	if err != nil || strings.Contains(string(data), "during") {
		t.Fatalf("the lock file has %s, %v", data, err)
	}
	for _, during := range []registry.Work{registry.Calls, registry.Jobs} {
		if !w.catalogue.Powers(w.catalogue.Known("tidy"), memory.Caller{Rights: memory.FullRights()}, during).Allows(abi.CanMemoryWrite, "default") {
			t.Errorf("it may not write in its %s", during)
		}
	}
}
