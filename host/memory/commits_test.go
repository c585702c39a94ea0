package memory

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/memory/retention"
	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt"
)

// oneOfEach calls everything that commits, each as a call of its own, and returns what each wrote by the call's id.
func oneOfEach(t *testing.T, s *Space) map[string]CommittedBy {
	t.Helper()
	ctx, want := t.Context(), map[string]CommittedBy{}
	act := func(call, branch string, changes []CommittedChange, do func(a *Access) error) {
		t.Helper()
		by := Caller{Agent: "ann", Client: "editor", Session: "s1", Family: "fam", Call: call}
		a := by
		a.Rights = FullRights()
		if err := do(s.As(a)); err != nil {
			t.Fatalf("%s: %v", call, err)
		}
		want[call] = CommittedBy{Branch: branch, Caller: by, Changes: changes}
	}
	at := func(key string) []CommittedChange { return []CommittedChange{{Namespace: Default, Key: key}} }
	first := store.SequenceName(1)
	act("store", Default, at("k"), func(a *Access) error {
		_, err := a.Store(ctx, Location{}, []Item{{Key: "k", Value: json.RawMessage(`1`)}}, Write{})
		return err
	})
	act("append", Default, []CommittedChange{{Namespace: Default, Collection: events, Key: first}}, func(a *Access) error {
		_, err := a.Append(ctx, Location{}, "said", json.RawMessage(`1`), Write{})
		return err
	})
	act("fork", "draft", nil, func(a *Access) error {
		_, err := a.Fork(ctx, "", "draft", AsOf{}, Write{})
		return err
	})
	act("state", "draft", at("k"), func(a *Access) error {
		_, err := a.SetState(ctx, Location{Branch: "draft"}, []string{"k"}, Archived, Write{})
		return err
	})
	act("import", "draft", at("in"), func(a *Access) error {
		_, err := a.Import(ctx, "draft", []PortableMemory{{Key: "in", Value: json.RawMessage(`1`)}}, Write{})
		return err
	})
	act("merge", Default, []CommittedChange{{Namespace: Default, Collection: events, Key: store.SequenceName(2)}, {Namespace: Default, Key: "in"}, {Namespace: Default, Key: "k"}},
		func(a *Access) error {
			_, err := a.Merge(ctx, Merge{Source: "draft"}, Write{})
			return err
		})
	act("forget", Default, []CommittedChange{{Namespace: Default, Key: "k", Deleted: true}}, func(a *Access) error {
		_, err := a.Forget(ctx, Location{}, []string{"k"}, Write{})
		return err
	})
	act("create", "new", nil, func(a *Access) error {
		_, err := a.Create(ctx, "new", Write{})
		return err
	})
	act("delete", "new", nil, func(a *Access) error { return a.Delete(ctx, "new", Write{}) })
	act("stage", Default, []CommittedChange{{Namespace: Default, Collection: "fam/notes", Key: "r"}, {Namespace: Default, Key: "staged"},
		{Namespace: Default, Collection: "fam/all", Key: "everywhere"}}, func(a *Access) error { return stageOne(ctx, a, "") })
	act("proposal", "proposed", []CommittedChange{{Namespace: Default, Collection: "fam/notes", Key: "r"}, {Namespace: Default, Key: "staged"}}, func(a *Access) error {
		if _, err := a.Forget(ctx, Location{}, []string{"staged"}, Write{}); err != nil {
			return err
		}
		return stageOne(ctx, a, "proposed")
	})
	return want
}

// stageOne commits a memory and a record, and unless it is a proposal a record of all branches.
func stageOne(ctx context.Context, a *Access, proposal string) error {
	stage, err := a.Stage(ctx, "")
	if err != nil {
		return err
	}
	if _, err := stage.Put(ctx, "", []Item{{Key: "staged", Value: json.RawMessage(`1`)}}); err != nil {
		return err
	}
	if err := stage.PutRecord(ctx, records, "", "r", json.RawMessage(`{"text":"`+proposal+`"}`), nil); err != nil {
		return err
	}
	if proposal == "" {
		if err := stage.PutRecord(ctx, Collection{Name: "fam/all", PerSpace: true}, "", "everywhere", json.RawMessage(`{}`), nil); err != nil {
			return err
		}
	}
	_, err = stage.Commit(ctx, Commit{Proposal: proposal})
	return err
}

func TestACommitIsFoundByTheCallThatMadeItAlsoAfterARestart(t *testing.T) {
	dir := t.TempDir()
	s, closeSpace := openSpace(t, dir, time.Now)
	want := oneOfEach(t, s)
	check := func(s *Space) {
		t.Helper()
		a := s.As(Caller{Rights: FullRights()})
		for call, w := range want {
			found, more, err := a.Commits(t.Context(), CommitQuery{Call: call})
			if err != nil || more != 0 || len(found) == 0 {
				t.Fatalf("the commits of %s: %+v, %d (%v)", call, found, more, err)
			}
			got := found[0]
			if point, err := s.engine.PointOf(t.Context(), got.Version); err != nil || !point.Time.Equal(got.Timestamp) {
				t.Errorf("version %d of %s is of %s, and was committed at %s (%v)", got.Version, call, got.Timestamp, point.Time, err)
			}
			got.Version, got.Timestamp = 0, time.Time{}
			slices.SortFunc(got.Changes, byName)
			slices.SortFunc(w.Changes, byName)
			if g, w := inJSON(t, got), inJSON(t, w); g != w {
				t.Errorf("the commit of %s is\n%s\nnot\n%s", call, g, w)
			}
		}
		fork, _, err := a.Commits(t.Context(), CommitQuery{Call: "fork"})
		if err != nil {
			t.Fatal(err)
		}
		pages, before := 0, uint64(0)
		for {
			page, next, err := a.Commits(t.Context(), CommitQuery{Family: "fam", Agent: "ann", Since: fork[0].Version, Before: before, Limit: 2})
			if err != nil {
				t.Fatal(err)
			}
			if pages += len(page); next == 0 {
				break
			}
			before = next
		}
		if pages != 9 {
			t.Errorf("%d commits were made since the fork, not 9", pages)
		}
	}
	check(s)
	closeSpace()
	again, closeAgain := openSpace(t, dir, time.Now)
	defer closeAgain()
	check(again)
	if _, err := again.As(Caller{Call: "later", Rights: FullRights()}).Store(t.Context(), Location{}, item, Write{}); err != nil {
		t.Fatal(err)
	}
	if found, _, err := again.As(Caller{Rights: FullRights()}).Commits(t.Context(), CommitQuery{Limit: 1}); err != nil || found[0].Caller.Call != "later" {
		t.Errorf("the newest commit is %+v (%v)", found, err)
	}
	check(again)
}

func byName(a, b CommittedChange) int {
	if a.Collection+"/"+a.Key < b.Collection+"/"+b.Key {
		return -1
	}
	return 1
}

func inJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestRetentionForgetsWhoseTheCommitsWereThatItDrops(t *testing.T) {
	now := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	s, closeSpace := openSpace(t, t.TempDir(), func() time.Time { return now })
	defer closeSpace()
	a := s.As(ann)
	for range 4 {
		now = now.Add(24 * time.Hour)
		if _, err := a.Store(t.Context(), Location{}, []Item{{Key: "k", Value: json.RawMessage(`"` + FormatTime(now) + `"`)}}, Write{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.SetRetention(t.Context(), retention.Policy{Keep: 36 * 3600}); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the notes follow the trim before
		retain(t, s)
	}
	found, _, err := a.Commits(t.Context(), CommitQuery{Agent: "ann"})
	if err != nil || len(found) == 0 || len(found) > 2 {
		t.Errorf("of 4 commits, 2 of which were dropped, %d are known (%v)", len(found), err)
	}
	for _, c := range found {
		if len(c.Changes) == 0 {
			t.Errorf("of version %d nothing is left but whose it was", c.Version)
		}
	}
}

func TestASpaceOfBeforeCommitsWereNotedOpensAndNotesThem(t *testing.T) {
	dir := t.TempDir()
	engine, err := bolt.Open(t.Context(), dir, bolt.Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	// All that such a space had at first was the record of its first branch.
	first := store.Write{Branch: store.Catalogue, Key: lineage.BranchKey(1), Value: []byte(`{"name":"default"}`)}
	if _, err := engine.Commit(t.Context(), store.Batch{Writes: []store.Write{first}}); err != nil {
		t.Fatal(err)
	}
	if err := engine.Close(); err != nil {
		t.Fatal(err)
	}
	for _, call := range []string{"first", "second"} {
		s, closeSpace := openSpace(t, dir, time.Now)
		a := s.As(Caller{Call: call, Rights: FullRights()})
		if _, err := a.Store(t.Context(), Location{}, []Item{{Key: call, Value: json.RawMessage(`1`)}}, Write{}); err != nil {
			t.Fatal(err)
		}
		if found, _, err := a.Commits(t.Context(), CommitQuery{Call: call}); err != nil || len(found) != 1 || len(found[0].Changes) != 1 {
			t.Errorf("the commits of %s are %+v (%v)", call, found, err)
		}
		if list, err := a.Branches(t.Context()); err != nil || len(list) != 1 {
			t.Errorf("the branches are %v (%v)", list, err)
		}
		closeSpace()
	}
}
