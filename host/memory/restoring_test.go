package memory

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/memory/purge"
	"github.com/alcove-memory/alcove/host/memory/retention"
	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/testing/testclock"
)

// deleteKept deletes a branch so that it can be restored.
func deleteKept(t *testing.T, s *Space, name string) {
	t.Helper()
	if err := s.owner("").Delete(t.Context(), Deletion{Branch: name, Force: true}, Write{}); err != nil {
		t.Fatal(err)
	}
	if err := s.WaitIdle(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// restorable are the names of the branches that can be restored.
func restorable(t *testing.T, s *Space) (names []string) {
	t.Helper()
	list, err := s.owner("").Deleted(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range list {
		names = append(names, b.Name)
	}
	return names
}

func forked(t *testing.T, s *Space, name, key, text string) {
	t.Helper()
	if _, err := s.Fork(t.Context(), "", name, AsOf{}, Write{}); err != nil {
		t.Fatal(err)
	}
	put(t, s, name, key, text)
}

func TestADeletedBranchIsRestoredWithAllThatItHad(t *testing.T) {
	now := testclock.At(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	dir := t.TempDir()
	s, end := openSpace(t, dir, now.Now)
	put(t, s, "", "shared", "common")
	forked(t, s, "side", "k", "first")
	put(t, s, "side", "k", "second")
	if _, err := s.Append(t.Context(), Location{Branch: "side"}, "e", json.RawMessage(`1`), Write{}); err != nil {
		t.Fatal(err)
	}
	deleteKept(t, s, "side")

	if _, err := s.Recall(t.Context(), Location{Branch: "side"}, "k", AsOf{}); codeOf(err) != NotFound {
		t.Errorf("recall on the deleted branch: got %v, want not found", err)
	}
	if list, err := s.owner("").Branches(t.Context()); err != nil || len(list) != 1 {
		t.Errorf("the branches are %v (%v), want the default alone", list, err)
	}
	end()
	s, end = openSpace(t, dir, now.Now)
	defer end()
	if got := restorable(t, s); !slices.Equal(got, []string{"side"}) {
		t.Fatalf("after a restart %q can be restored, want side", got)
	}
	owner := s.owner("")
	if b, err := owner.Restore(t.Context(), "side", "back", Write{DryRun: true}); err != nil || b.Name != "back" || len(restorable(t, s)) != 1 {
		t.Errorf("the dry run: %+v, %v", b, err)
	}
	forked(t, s, "side", "k", "another") // its name is free
	if _, err := owner.Restore(t.Context(), "side", "", Write{}); codeOf(err) != Conflict || !strings.Contains(err.Error(), "another name") {
		t.Errorf("under a name in use: got %v, want a conflict", err)
	}
	for range 2 { // the second repeats the request
		if b, err := owner.Restore(t.Context(), "side", "back", Write{RequestID: "r"}); err != nil || b.Name != "back" || b.Parent != Default || !b.Deleted.IsZero() {
			t.Errorf("restored: %+v, %v", b, err)
		}
	}
	at := Location{Branch: "back"}
	if m, err := s.Recall(t.Context(), at, "k", AsOf{}); err != nil || m == nil || string(m.Value) != `"second"` {
		t.Errorf("k is %+v, want \"second\" (%v)", m, err)
	}
	if h, _, err := owner.History(t.Context(), at, "k", AsOf{}, 10); err != nil || len(h) != 2 {
		t.Errorf("the history is %+v (%v), want two versions", h, err)
	}
	if e, err := owner.Events(t.Context(), at, AsOf{}, 0, 10); err != nil || len(e) != 1 {
		t.Errorf("the log is %+v (%v), want one entry", e, err)
	}
	put(t, s, "back", "new", "later")
	if got := restorable(t, s); len(got) != 0 {
		t.Errorf("%q can be restored, want nothing", got)
	}
	if report, err := s.Verify(t.Context()); err != nil || len(report.Findings) != 0 {
		t.Errorf("verify: %+v, %v", report, err)
	}
	if _, err := owner.Restore(t.Context(), "none", "", Write{}); codeOf(err) != NotFound {
		t.Errorf("an unknown branch: got %v, want not found", err)
	}
	if _, err := owner.Restore(t.Context(), "none", "proposals/x/9", Write{}); codeOf(err) != Denied {
		t.Errorf("as a proposal: got %v, want denied", err)
	}
}

// A rejected proposal restored under another name could be merged by anyone.
func TestADroppedProposalIsNeverRestored(t *testing.T) {
	s, branch := proposed(t)
	deleteKept(t, s, branch)
	if _, err := s.owner("").Restore(t.Context(), branch, "mine", Write{}); codeOf(err) != NotFound || len(restorable(t, s)) != 0 {
		t.Errorf("got %v, want not found", err)
	}
}

func TestAPurgeErasesFromDeletedBranchesToo(t *testing.T) {
	s := testSpace(t)
	put(t, s, "", "k", "common")
	forked(t, s, "side", "k", "secret")
	deleteKept(t, s, "side")
	if _, err := s.Purge(t.Context(), purge.Request{Key: "k"}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.owner("").Restore(t.Context(), "side", "", Write{}); err != nil {
		t.Fatal(err)
	}
	if m, err := s.Recall(t.Context(), Location{Branch: "side"}, "k", AsOf{}); err != nil || m != nil && strings.Contains(string(m.Value), "secret") {
		t.Errorf("the restored branch has %+v (%v), want what the purge left", m, err)
	}
}

// hasData reports whether the store has data of a branch.
func hasData(t *testing.T, s *Space, id store.BranchID) bool {
	t.Helper()
	changes, _, err := s.engine.Changes(t.Context(), id, 0, store.Latest, 10)
	if err != nil {
		t.Fatal(err)
	}
	return len(changes) > 0
}

func TestRetentionDropsDeletedBranchesByTheirAge(t *testing.T) {
	now := testclock.At(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	s, end := openSpace(t, t.TempDir(), now.Now)
	defer end()
	forked(t, s, "side", "k", "v")
	b, err := s.branch("side")
	if err != nil {
		t.Fatal(err)
	}
	deleteKept(t, s, "side")
	setRetention(t, s, retention.Policy{Branches: map[string]int64{"side": seconds(24 * time.Hour)}})
	for _, step := range []struct {
		after time.Duration
		kept  int
	}{{23 * time.Hour, 1}, {2 * time.Hour, 0}} {
		now.Add(step.after)
		if done := retain(t, s); len(done.Failed) != 0 {
			t.Errorf("failed: %+v", done.Failed)
		}
		if err := s.WaitIdle(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := restorable(t, s); len(got) != step.kept || hasData(t, s, b.ID) != (step.kept > 0) {
			t.Errorf("after %v more %q can be restored, want %d; data: %t", step.after, got, step.kept, hasData(t, s, b.ID))
		}
	}
}

func TestTheBranchDeletedFirstMakesRoomForAnother(t *testing.T) {
	now := testclock.At(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	s, end := openSpace(t, t.TempDir(), now.Now)
	defer end()
	s.limits.Deleted = 2
	for _, name := range []string{"a", "b", "c"} {
		forked(t, s, name, "k", name)
		deleteKept(t, s, name)
		now.Add(time.Second)
	}
	if got := restorable(t, s); !slices.Equal(got, []string{"b", "c"}) {
		t.Errorf("%q can be restored, want b and c", got)
	}
}
