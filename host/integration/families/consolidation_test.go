//go:build guests

package families_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family"
	"github.com/alcove-memory/alcove/host/family/jobs"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/testing/await"
	"github.com/alcove-memory/alcove/host/testing/server"
)

// put stores texts under their keys.
func put(t *testing.T, s *memory.Space, items ...memory.Item) {
	t.Helper()
	for part := range slices.Chunk(items, 500) {
		if _, err := server.As(s, "").Store(t.Context(), memory.Location{}, part, memory.Write{}); err != nil {
			t.Fatal(err)
		}
	}
}

func memoryOf(key, text string) memory.Item {
	value, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return memory.Item{Key: key, Value: value}
}

// ask calls a tool, and reads its result into out unless that is nil.
func ask(t *testing.T, f *family.Families, tool, arguments string, out any) family.Result {
	t.Helper()
	result, err := server.CallTool(t.Context(), f, tool, arguments)
	if err != nil {
		t.Fatalf("call %s: %v", tool, err)
	}
	if out != nil {
		if err := json.Unmarshal(result.Output, out); err != nil {
			t.Fatal(err)
		}
	}
	return result
}

func stateOf(t *testing.T, s *memory.Space, branch, key string) memory.State {
	t.Helper()
	m, err := server.As(s, "").Recall(t.Context(), memory.Location{Branch: branch}, key, memory.AsOf{})
	if err != nil || m == nil {
		t.Fatalf("%s on %q: %v, %v", key, branch, m, err)
	}
	return m.State
}

func TestConsolidationProposesAndIsUndoneByDroppingTheBranch(t *testing.T) {
	t.Parallel()
	s, f := server.Parts(t, t.TempDir(), server.Cache())
	put(t, s, memoryOf("tea", "Ann Lee prefers green tea in the morning"), memoryOf("note", "Note: Ann Lee usually prefers green tea in the morning."))
	var out struct {
		Proposed bool
		Changed  int
		Merged   []struct{ Keys []string }
	}
	result := ask(t, f, "memory_consolidate", `{}`, &out)
	if !out.Proposed || out.Changed != 2 || result.Proposal == "" {
		t.Fatalf("%+v on branch %q", out, result.Proposal)
	}
	if got := stateOf(t, s, result.Proposal, "note"); got != memory.Merged {
		t.Errorf("on the branch of the proposal the duplicate is %s", got)
	}
	if kept, err := server.As(s, "").Recall(t.Context(), memory.Location{Branch: result.Proposal}, "tea", memory.AsOf{}); err != nil || !slices.Equal(kept.Supersedes, []string{"note"}) || !slices.Equal(kept.Links, []string{"note"}) {
		t.Errorf("the one that is kept is %+v, %v", kept, err)
	}
	if got := stateOf(t, s, "", "note"); got != memory.Active {
		t.Errorf("the proposal changed the memories: the duplicate is %s", got)
	}
	if err := server.As(s, "").Delete(t.Context(), memory.Deletion{Branch: result.Proposal, Force: true, Final: true}, memory.Write{}); err != nil {
		t.Fatal(err)
	}
	result = ask(t, f, "memory_consolidate", `{}`, &out)
	if out.Changed != 2 || result.Proposal == "" {
		t.Errorf("after the proposal was dropped: %+v", out)
	}
	accepted, err := server.As(s, "").Merge(t.Context(), memory.Merge{Source: result.Proposal}, memory.Write{})
	if err != nil || !accepted.Merged {
		t.Fatalf("Merge = %+v, %v, want it merged", accepted, err)
	}
	if got := stateOf(t, s, "", out.Merged[0].Keys[0]); got != memory.Merged { // which one that is depends on what was recalled
		t.Errorf("after the proposal was merged the duplicate is %s", got)
	}
}

// endedJobs waits until all jobs of a family have ended, and gives them.
func endedJobs(t *testing.T, f *family.Families, name string) (own []jobs.Job) {
	t.Helper()
	await.That(t, "all jobs of "+name+" end", func() bool {
		all, err := f.Jobs(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		own = slices.DeleteFunc(all, func(j jobs.Job) bool { return j.Family != name })
		return len(own) > 0 && !slices.ContainsFunc(own, func(j jobs.Job) bool { return j.State == jobs.Queued || j.State == jobs.Running })
	})
	return own
}

func TestAutoTagTagsANamespaceInJobs(t *testing.T) {
	t.Parallel()
	s, f := server.Parts(t, t.TempDir(), server.Cache())
	var items []memory.Item
	for i := range 450 {
		city := "Bremen"
		if i%45 == 0 || i == 449 { // what is in a fifth of the memories tells nothing
			city = "Hamburg"
		}
		items = append(items, memoryOf(fmt.Sprintf("m%03d", i), fmt.Sprintf("Ann Lee walked to harbour number %d in %s", i, city)))
	}
	for i := 45; i < 450; i += 45 { // only tags that somebody gave are known
		items[i].Tags = []string{"hamburg"}
	}
	put(t, s, items...)
	ask(t, f, "memory_retag", `{}`, nil)
	for _, j := range endedJobs(t, f, "auto-tag") {
		if j.State != jobs.Done {
			t.Errorf("job %s is %s: %s", j.Name, j.State, j.Error)
		}
	}
	for _, key := range []string{"m000", "m449"} {
		m, err := server.As(s, "").Recall(t.Context(), memory.Location{}, key, memory.AsOf{})
		if err != nil || !slices.Contains(m.Tags, "hamburg") || m.Type != "observation" || m.Importance == nil {
			t.Errorf("%s is %+v, %v", key, m, err)
		}
	}
	var out struct{ Tags []struct{ Known bool } }
	ask(t, f, "memory_suggest_tags", `{"text":"a letter from Hamburg"}`, &out)
	if len(out.Tags) == 0 || !slices.ContainsFunc(out.Tags, func(tag struct{ Known bool }) bool { return tag.Known }) {
		t.Errorf("no tag is known: %+v", out)
	}
}

// A search waits 500 ms for a family to rank, so this test has the processors to itself.
func TestRankingPutsWhatWasUsefulFirst(t *testing.T) {
	s, f := server.Parts(t, t.TempDir(), server.Cache())
	put(t, s, memoryOf("one", "the harbour office in Hamburg opens at nine"), memoryOf("two", "the harbour office in Hamburg opens at nine o'clock sharp"))
	on(t, f, "ranking", abi.HookRank)
	// On a busy machine the family can exceed its time to rank. A note says so, and the search is repeated.
	first := func() string {
		found, err := server.As(s, "").Search(t.Context(), memory.Search{Text: "harbour office Hamburg"})
		if err != nil || len(found.Hits) != 2 {
			t.Fatalf("Search = %+v, %v, want 2 hits", found, err)
		}
		if len(found.Notes) > 0 {
			return ""
		}
		return found.Hits[0].Key
	}
	ranked := ""
	await.That(t, "a search is ranked in time", func() bool { ranked = first(); return ranked != "" })
	if ranked != "one" {
		t.Fatalf("%s is first", ranked)
	}
	for range 5 {
		ask(t, f, "memory_rank_feedback", `{"query":"harbour office Hamburg","useful":["two"],"useless":["one"]}`, nil)
	}
	await.That(t, "feedback changes the order", func() bool { return first() == "two" })
}
