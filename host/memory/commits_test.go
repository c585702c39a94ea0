package memory

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/memory/portable"
	"github.com/alcove-memory/alcove/host/memory/retention"
	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt"
	"github.com/alcove-memory/alcove/host/testing/testclock"
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
			t.Fatalf("act %s: %v", call, err)
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
		_, err := a.Import(ctx, "draft", []portable.Memory{{Key: "in", Value: json.RawMessage(`1`)}}, Write{})
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
	act("delete", "new", nil, func(a *Access) error { return a.Delete(ctx, Deletion{Branch: "new", Force: true}, Write{}) })
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
	now := testclock.At(time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC))
	s, closeSpace := openSpace(t, t.TempDir(), now.Now)
	defer closeSpace()
	a := s.As(ann)
	for range 4 {
		now.Add(24 * time.Hour)
		if _, err := a.Store(t.Context(), Location{}, []Item{{Key: "k", Value: json.RawMessage(`"` + FormatTime(now.Now()) + `"`)}}, Write{}); err != nil {
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

func storeAs(t *testing.T, s *Space, agent, call string) (version uint64) {
	t.Helper()
	receipts, err := s.As(Caller{Agent: agent, Call: call, Rights: FullRights()}).Store(t.Context(), Location{}, []Item{{Key: call, Value: json.RawMessage(`1`)}}, Write{})
	if err != nil {
		t.Fatal(err)
	}
	return receipts[0].Version
}

func TestCommitsAreListedInPagesNewestFirst(t *testing.T) {
	dir := t.TempDir()
	s, closeSpace := openSpace(t, dir, time.Now)
	first := storeAs(t, s, "old", "one")
	storeAs(t, s, "old", "two")
	storeAs(t, s, "new", "three")
	storeAs(t, s, "new", "four")
	closeSpace()
	s, closeSpace = openSpace(t, dir, time.Now)
	defer closeSpace()
	a := s.As(Caller{Rights: FullRights()})
	for _, q := range []struct {
		query CommitQuery
		want  []string
	}{
		{CommitQuery{}, []string{"four", "three", "two", "one"}},
		{CommitQuery{Agent: "old"}, []string{"two", "one"}},
		{CommitQuery{Since: first}, []string{"four", "three", "two"}},
		{CommitQuery{Call: "one"}, []string{"one"}},
	} {
		for limit := 1; limit <= 5; limit++ {
			var calls []string
			q.query.Limit, q.query.Before = limit, 0
			for more := true; more; {
				page, before, err := a.Commits(t.Context(), q.query)
				if err != nil {
					t.Fatal(err)
				}
				for _, c := range page {
					if calls = append(calls, c.Caller.Call); len(c.Changes) != 1 || c.Changes[0].Key != c.Caller.Call || c.Branch != Default {
						t.Errorf("the commit of %s is %+v", c.Caller.Call, c)
					}
				}
				q.query.Before, more = before, before != 0
			}
			if !slices.Equal(calls, q.want) {
				t.Errorf("%+v, %d at a time: %q, want %q", q.query, limit, calls, q.want)
			}
		}
	}
}

func TestRetentionDropsNotes(t *testing.T) {
	now := testclock.At(time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC))
	s, closeSpace := openSpace(t, t.TempDir(), now.Now)
	defer closeSpace()
	for _, call := range []string{"one", "two", "three", "four"} {
		now.Add(24 * time.Hour)
		storeAs(t, s, "ann", call)
	}
	if err := s.SetRetention(t.Context(), retention.Policy{Keep: 12 * 3600}); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the notes follow the trim before
		retain(t, s)
	}
	found, _, err := s.As(Caller{Rights: FullRights()}).Commits(t.Context(), CommitQuery{})
	if err != nil || len(found) != 1 || found[0].Caller.Call != "four" {
		t.Errorf("after the retention there are %+v (%v)", found, err)
	}
	left, err := s.engine.Notes(t.Context(), 0, store.Latest, 10)
	if err != nil || len(left) != 1 {
		t.Errorf("the engine has %d notes (%v)", len(left), err)
	}
}

func TestALongNameInANoteIsCutAndFoundByItsWhole(t *testing.T) {
	s := testSpace(t)
	long := strings.Repeat("\x01\u00e9", 5000)
	for _, call := range []string{long + "a", long + "b"} {
		a := s.As(Caller{Agent: long, Client: long, Session: long, Family: long, Call: call, Rights: FullRights()})
		if _, err := a.Store(t.Context(), Location{}, []Item{{Key: "k", Value: json.RawMessage(`"` + call[len(call)-1:] + `"`)}}, Write{}); err != nil {
			t.Fatal(err)
		}
		found, _, err := a.Commits(t.Context(), CommitQuery{Call: call, Agent: long})
		if err != nil || len(found) != 1 || len(found[0].Caller.Call) > 800 || !strings.HasPrefix(found[0].Caller.Call, "\x01\u00e9") {
			t.Errorf("the commits of a long call are %+v (%v)", found, err)
		}
	}
}

func TestANoteThatIsNoneHindersNothing(t *testing.T) {
	s := testSpace(t)
	if _, err := s.engine.Commit(t.Context(), store.Batch{Note: []byte("of another program")}); err != nil {
		t.Fatal(err)
	}
	storeAs(t, s, "ann", "call")
	if found, _, err := s.As(Caller{Rights: FullRights()}).Commits(t.Context(), CommitQuery{}); err != nil || len(found) != 1 {
		t.Errorf("the commits are %+v (%v)", found, err)
	}
	retain(t, s)
}
