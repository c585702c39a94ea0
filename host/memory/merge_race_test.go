package memory

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/alcove-memory/alcove/host/store"
)

// meddled is an engine that does something before a merge's commits, and counts the keys read before each.
type meddled struct {
	store.Engine
	before []func() // the merge's first commits; the others are left alone
	read   int      // since the last commit of the merge
	reads  []int    // before each
}

func (e *meddled) GetAt(ctx context.Context, l store.Lineage, keys []store.Key) ([]store.Entry, error) {
	e.read += len(keys)
	return e.Engine.GetAt(ctx, l, keys)
}

func (e *meddled) Commit(ctx context.Context, b store.Batch) (store.Committed, error) {
	if len(b.Quiet) == 0 {
		return e.Engine.Commit(ctx, b)
	}
	e.reads = append(e.reads, e.read)
	if len(e.before) > 0 {
		meddle := e.before[0]
		e.before = e.before[1:]
		meddle()
	}
	e.read = 0
	return e.Engine.Commit(ctx, b)
}

// diverged is a space with a branch try that changed some keys, k0 and so on.
func diverged(t testing.TB, keys int) (*Space, *meddled) {
	t.Helper()
	e := &meddled{}
	s := testSpaceOn(t, func(engine store.Engine) store.Engine {
		e.Engine = engine
		return e
	})
	putMany(t, s, "", keys, "old")
	if _, err := s.Fork(t.Context(), "", "try", AsOf{}, Write{}); err != nil {
		t.Fatal(err)
	}
	putMany(t, s, "try", keys, "theirs")
	e.read, e.reads = 0, nil
	return s, e
}

func putMany(t testing.TB, s *Space, branch string, keys int, value string) {
	t.Helper()
	for from := 0; from < keys; from += 1000 {
		var items []Item
		for i := from; i < min(keys, from+1000); i++ {
			items = append(items, Item{Key: fmt.Sprint("k", i), Value: json.RawMessage(`"` + value + `"`)})
		}
		if _, err := s.Store(t.Context(), Location{Branch: branch}, items, Write{}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAMergeBesideWritersDecidesAgainOnlyAboutWhatTheyWrote(t *testing.T) {
	const keys = 200
	s, e := diverged(t, keys)
	for i := range mergeAttempts - 1 {
		e.before = append(e.before, func() { put(t, s, "", "other", fmt.Sprint(i)); put(t, s, "", fmt.Sprint("k", i), "ours") })
	}
	done, err := s.Merge(t.Context(), Merge{Source: "try", Strategy: Target, Limit: 1}, Write{})
	if err != nil || !done.Merged || done.Changed != keys-3 || done.Clashing != 3 || len(done.Clashes) != 1 || done.Next == "" {
		t.Fatalf("got %+v, %v; want %d changes and 3 clashes, of which one is listed, and a next page", done, err, keys-3)
	}
	if len(e.reads) != mergeAttempts || e.reads[0] < 3*keys {
		t.Errorf("the commits came after reads of %d keys; want %d commits, the first after all keys at the base and on both sides", e.reads, mergeAttempts)
	}
	for _, read := range e.reads[1:] {
		if read > 3*3 { // what was written, and what is listed now, at the base and on both sides
			t.Errorf("the commits came after reads of %d keys; want at most 9 for each after the first", e.reads)
		}
	}
	for key, want := range map[string]string{"k0": "ours", "k2": "ours", "k3": "theirs", "other": "2"} {
		if got := text(t, s, "", key, AsOf{}); got != want {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
}

func TestAMergeThatLosesToAStoreStopsAtTheClash(t *testing.T) {
	s, e := diverged(t, 3)
	e.before = []func(){func() { put(t, s, "", "k1", "ours") }}
	done, err := s.Merge(t.Context(), Merge{Source: "try"}, Write{})
	if err != nil || done.Merged || done.Unresolved != 1 || len(done.Clashes) != 1 || done.Clashes[0].Key != "k1" {
		t.Errorf("got %+v, %v; want k1 to stop the merge", done, err)
	}
	if got := text(t, s, "", "k0", AsOf{}); got != "old" {
		t.Errorf("k0 is %q, want %q", got, "old")
	}
}

// planned is a merge of the branch try that was planned and not committed.
func planned(t *testing.T, s *Space) *mergePlan {
	t.Helper()
	a := s.owner("")
	plan, err := s.planMerge(t.Context(), Merge{Source: "try", Target: Default, Strategy: Strict}, a.sign(Write{}), &resolutions{access: a})
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

func TestAMergeThatLosesToAnotherMergeIsPlannedAgain(t *testing.T) {
	s, _ := diverged(t, 3)
	plan := planned(t, s)
	mustMerge(t, s, Merge{Source: "try"})
	put(t, s, "", "k1", "ours")
	done, err := plan.try(t.Context(), plan.write, store.Request{}, true)
	if err != nil || !done.Unchanged || done.Unresolved != 0 {
		t.Errorf("got %+v, %v; want nothing to merge, because the other merge brought all", done, err)
	}
	if got := text(t, s, "", "k1", AsOf{}); got != "ours" {
		t.Errorf("k1 is %q, want %q", got, "ours")
	}
}

func TestAMergeKeepsTheSourceAsItWasWhenItBegan(t *testing.T) {
	s, e := diverged(t, 3)
	e.before = []func(){func() { put(t, s, "try", "k0", "later"); put(t, s, "", "other", "ours") }}
	mustMerge(t, s, Merge{Source: "try"})
	if got := text(t, s, "", "k0", AsOf{}); got != "theirs" {
		t.Errorf("k0 is %q, want %q", got, "theirs")
	}
	if again := mustMerge(t, s, Merge{Source: "try"}); again.Changed != 1 {
		t.Errorf("the next merge changes %d keys, want the one that was written meanwhile", again.Changed)
	}
	if got := text(t, s, "", "k0", AsOf{}); got != "later" {
		t.Errorf("k0 is %q, want %q", got, "later")
	}
}

func TestAMergeWhoseSourceIsDeletedMeanwhileSaysSo(t *testing.T) {
	s, _ := diverged(t, 3)
	plan := planned(t, s)
	if err := s.Delete(t.Context(), "try", Write{}); err != nil {
		t.Fatal(err)
	}
	if done, err := plan.try(t.Context(), plan.write, store.Request{}, false); codeOf(err) != NotFound {
		t.Errorf("got %+v, %v; want that the branch is not found", done, err)
	}
}
