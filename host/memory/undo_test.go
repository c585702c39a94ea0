package memory

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/memory/purge"
	"github.com/alcove-memory/alcove/host/store"
)

// undoer is an operator.
func undoer() Caller { return Caller{Agent: "operator", Operator: true, Rights: FullRights()} }

// writes stores a value as a family's call, or with an empty call as a person.
func writes(t *testing.T, s *Space, call, branch, namespace, key, value string) {
	t.Helper()
	by := Caller{Agent: "ann", Rights: FullRights()}
	if call != "" {
		by.Family, by.Call = "fam", call
	}
	at := Location{Branch: branch, Namespace: namespace}
	var err error
	if value == "" {
		_, err = s.As(by).Forget(t.Context(), at, []string{key}, Write{})
	} else {
		_, err = s.As(by).Store(t.Context(), at, []Item{{Key: key, Value: json.RawMessage(value)}}, Write{})
	}
	if err != nil {
		t.Fatalf("%s writes %s: %v", call, key, err)
	}
}

// holds returns the value of a key; empty: there is none.
func holds(t *testing.T, s *Space, branch, namespace, key string) string {
	t.Helper()
	list, err := s.As(undoer()).Get(t.Context(), Location{Branch: branch, Namespace: namespace}, []string{key})
	if err != nil {
		t.Fatal(err)
	}
	if list[0] == nil {
		return ""
	}
	return string(list[0].Value)
}

func undo(t *testing.T, s *Space, u Undo, dry bool) Undone {
	t.Helper()
	done, err := s.As(undoer()).Undo(t.Context(), u, Write{DryRun: dry})
	if err != nil {
		t.Fatalf("Undo(%+v): %v", u, err)
	}
	return done
}

func forkAs(t *testing.T, s *Space, from, name string) {
	t.Helper()
	if _, err := s.As(undoer()).Fork(t.Context(), from, name, AsOf{}, Write{}); err != nil {
		t.Fatal(err)
	}
}

func TestUndoingACallRestoresWhatItWroteOnceAndItsOwnUndoRedoesIt(t *testing.T) {
	s := testSpace(t)
	writes(t, s, "", "", "", "old", `"before"`)
	writes(t, s, "c1", "", "", "old", `"theirs"`)
	writes(t, s, "c1", "", "team/x", "new", `"theirs"`)
	writes(t, s, "", "", "", "gone", `"before"`)
	writes(t, s, "c1", "", "", "gone", "")
	writes(t, s, "c2", "", "", "other", `"theirs"`)
	preview := undo(t, s, Undo{Call: "c1"}, true)
	if !preview.DryRun || len(preview.Commits) != 3 || len(preview.Reverted) != 3 || len(preview.Versions) != 0 || holds(t, s, "", "", "old") != `"theirs"` {
		t.Fatalf("the preview: %+v", preview)
	}
	for round := range 2 {
		done := undo(t, s, Undo{Call: "c1"}, false)
		if round == 0 && len(done.Versions) != 1 || round == 1 && (len(done.Versions) != 0 || done.Already != 3 || len(done.Reverted)+len(done.Kept) != 0) {
			t.Errorf("round %d: %+v", round, done)
		}
		if holds(t, s, "", "", "old") != `"before"` || holds(t, s, "", "team/x", "new") != "" || holds(t, s, "", "", "gone") != `"before"` || holds(t, s, "", "", "other") != `"theirs"` {
			t.Errorf("round %d left other values", round)
		}
	}
	by := undoer()
	by.Call = "undo-1"
	writes(t, s, "c3", "", "", "old", `"again"`)
	if _, err := s.As(by).Undo(t.Context(), Undo{Call: "c3"}, Write{}); err != nil {
		t.Fatal(err)
	}
	if undo(t, s, Undo{Call: "undo-1"}, false); holds(t, s, "", "", "old") != `"again"` {
		t.Errorf("the undone undo left %s", holds(t, s, "", "", "old"))
	}
	if r, err := s.As(undoer()).Search(t.Context(), Search{Text: "again"}); err != nil || len(r.Hits) != 1 {
		t.Errorf("a search finds %+v, %v", r, err)
	}
}

func TestWhatPeopleChangedOrDeletedSinceIsKeptAndNamed(t *testing.T) {
	s := testSpace(t)
	writes(t, s, "c", "", "", "edited", `"theirs"`)
	writes(t, s, "c", "", "", "deleted", `"theirs"`)
	writes(t, s, "c", "", "", "between", `"first"`)
	writes(t, s, "", "", "", "edited", `"mine"`)
	writes(t, s, "", "", "", "deleted", "")
	writes(t, s, "", "", "", "between", `"mine"`)
	writes(t, s, "c", "", "", "between", `"second"`)
	done := undo(t, s, Undo{Call: "c"}, false)
	// A key that did not exist before, and was deleted since, is as it was.
	if len(done.Kept) != 1 || done.Kept[0].Key != "edited" || !strings.Contains(done.Kept[0].Why, "it was changed at v") || done.Already != 1 {
		t.Errorf("Undo = %+v, want edited kept, as changed since, and one already undone", done)
	}
	if holds(t, s, "", "", "edited") != `"mine"` || holds(t, s, "", "", "between") != `"mine"` {
		t.Errorf("edited is %s, between is %s", holds(t, s, "", "", "edited"), holds(t, s, "", "", "between"))
	}
	writes(t, s, "", "", "", "k", `"before"`)
	writes(t, s, "d", "", "", "k", `"theirs"`)
	writes(t, s, "", "", "", "k", "")
	if done = undo(t, s, Undo{Call: "d"}, false); len(done.Kept) != 1 || !strings.Contains(done.Kept[0].Why, "it was deleted at v") || holds(t, s, "", "", "k") != "" {
		t.Errorf("Undo = %+v, want k kept, as deleted since", done)
	}
}

func TestAnUndoReachesTheBranchesThatSeeWhatWasWritten(t *testing.T) {
	s := testSpace(t)
	writes(t, s, "", "", "", "k", `"before"`)
	forkAs(t, s, "", "early")
	writes(t, s, "c", "", "", "k", `"theirs"`)
	forkAs(t, s, "", "late")
	forkAs(t, s, "", "edited")
	writes(t, s, "", "edited", "", "k", `"mine"`)
	writes(t, s, "c", "early", "", "own", `"theirs"`)
	if one := undo(t, s, Undo{Call: "c", Branch: "late"}, true); len(one.Reverted) != 1 || one.Reverted[0].Branch != "late" {
		t.Errorf("on one branch: %+v", one)
	}
	done := undo(t, s, Undo{Call: "c"}, false)
	if len(done.Reverted) != 3 || len(done.Kept) != 1 || done.Kept[0].Branch != "edited" || len(done.Versions) != 3 {
		t.Errorf("Undo = %+v, want 3 reverted, and edited kept", done)
	}
	for branch, want := range map[string]string{"": `"before"`, "early": `"before"`, "late": `"before"`, "edited": `"mine"`} {
		if got := holds(t, s, branch, "", "k"); got != want {
			t.Errorf("on %q k is %s", branch, got)
		}
	}
	if holds(t, s, "early", "", "own") != "" {
		t.Error("what it wrote on another branch is there")
	}
	forkAs(t, s, "", "side")
	writes(t, s, "c4", "side", "", "m", `"theirs"`)
	if _, err := s.As(undoer()).Merge(t.Context(), Merge{Source: "side"}, Write{}); err != nil {
		t.Fatal(err)
	}
	if done = undo(t, s, Undo{Call: "c4"}, false); !strings.Contains(strings.Join(done.Left, ";"), "branch side was merged into default") || holds(t, s, "", "", "m") != `"theirs"` {
		t.Errorf("Undo = %+v, want the merge of side left", done)
	}
}

func TestRecordsOfAFamilyAreRevertedWithTheirIndexesAndWhatCannotBeIsNamed(t *testing.T) {
	s := testSpace(t)
	begun := s.clock()
	by := Caller{Family: "fam", Call: "c", Rights: FullRights()}
	if err := stageOne(t.Context(), s.As(by), ""); err != nil {
		t.Fatal(err)
	}
	if _, err := s.As(by).Append(t.Context(), Location{}, "said", json.RawMessage(`1`), Write{}); err != nil {
		t.Fatal(err)
	}
	done := undo(t, s, Undo{Family: "fam", Since: begun}, false)
	if len(done.Reverted) != 3 || !strings.Contains(strings.Join(done.Left, ";"), "1 events of the log") || !strings.Contains(strings.Join(done.Left, ";"), "counts of accesses") {
		t.Errorf("Undo = %+v, want 3 reverted, the event and the counts left", done)
	}
	if wrong, err := s.Verify(t.Context()); err != nil || len(wrong.Findings) != 0 {
		t.Errorf("afterwards: %+v, %v", wrong, err)
	}
	if done := undo(t, s, Undo{Family: "fam", Since: s.clock().Add(time.Hour)}, false); len(done.Commits) != 0 {
		t.Errorf("of the future: %+v", done)
	}
}

func TestOnlyAnOperatorUndoes(t *testing.T) {
	s := testSpace(t)
	model := undoer()
	model.Operator = false
	limited := undoer()
	limited.Rights = RightsTo([]string{"a"}, []string{"a"})
	for _, by := range []Caller{model, limited, {Family: "fam", Rights: FullRights()}} {
		_, err := s.As(by).Undo(t.Context(), Undo{Call: "c"}, Write{})
		var known *Error
		if !errors.As(err, &known) || known.Code != Denied {
			t.Errorf("Undo by %+v: %v, want it denied", by, err)
		}
	}
	if _, err := s.As(undoer()).Undo(t.Context(), Undo{Family: "fam"}, Write{}); err == nil {
		t.Error("all that a family ever wrote was undone without saying since when")
	}
}

func TestAnUndoBesideWritersLosesNoneOfTheirWrites(t *testing.T) {
	s := testSpace(t)
	const keys = 40
	key := func(i int) string { return string(rune('a'+i%26)) + string(rune('a'+i/26)) }
	for i := range keys {
		writes(t, s, "", "", "", key(i), `"before"`)
		writes(t, s, "c", "", "", key(i), `"theirs"`)
	}
	var all sync.WaitGroup
	all.Go(func() {
		for i := range keys / 2 {
			by := Caller{Agent: "ann", Rights: FullRights()}
			if _, err := s.As(by).Store(context.WithoutCancel(t.Context()), Location{}, []Item{{Key: key(i), Value: json.RawMessage(`"mine"`)}}, Write{}); err != nil {
				t.Error(err)
			}
		}
	})
	_, err := s.As(undoer()).Undo(t.Context(), Undo{Call: "c"}, Write{})
	all.Wait()
	if err != nil && !errors.Is(err, store.ErrConflict) && !isConflict(err) {
		t.Fatal(err)
	}
	undo(t, s, Undo{Call: "c"}, false)
	for i := range keys {
		want := `"before"`
		if i < keys/2 {
			want = `"mine"`
		}
		if got := holds(t, s, "", "", key(i)); got != want {
			t.Errorf("%s is %s", key(i), got)
		}
	}
}

func TestWhatWasPurgedBeforeIsNotRestored(t *testing.T) {
	s := testSpace(t)
	writes(t, s, "", "", "", "k", `"a long text that is purged"`)
	writes(t, s, "c", "", "", "k", `"theirs"`)
	found, err := s.engine.GetAt(t.Context(), s.catalogue.Named(Default).Lineage.At(1<<40), []store.Key{memoryKey(Default, "k")})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Purge(t.Context(), purge.Request{Key: "k", Version: found[0].Version - 1}); err != nil {
		t.Fatal(err)
	}
	done := undo(t, s, Undo{Call: "c"}, false)
	if len(done.Reverted) != 0 || len(done.Kept) != 1 || done.Kept[0].Why != "what was there before was purged" || holds(t, s, "", "", "k") != `"theirs"` {
		t.Errorf("Undo = %+v, want k kept, for what was there before was purged", done)
	}
}
