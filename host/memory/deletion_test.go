package memory

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestADeletionDoesNotLoseChangesUnasked(t *testing.T) {
	for what, c := range map[string]struct {
		change func(s *Space, at Location) error
		lost   string // empty: it is deleted
	}{
		"nothing": {func(*Space, Location) error { return nil }, ""},
		"a new memory": {func(s *Space, at Location) error {
			_, err := s.Store(t.Context(), at, []Item{{Key: "new", Value: json.RawMessage(`1`)}}, Write{})
			return err
		}, "1 change"},
		"a changed and a forgotten one": {func(s *Space, at Location) error {
			_, err := s.Store(t.Context(), at, []Item{{Key: "a", Value: json.RawMessage(`7`)}}, Write{})
			if err == nil {
				_, err = s.Forget(t.Context(), at, []string{"b"}, Write{})
			}
			return err
		}, "2 changes"},
		"one changed and changed back": {func(s *Space, at Location) error {
			before, err := s.Recall(t.Context(), at, "a", AsOf{})
			for _, value := range []json.RawMessage{json.RawMessage(`7`), before.Value} {
				if err == nil {
					_, err = s.Store(t.Context(), at, []Item{{Key: "a", Value: value}}, Write{})
				}
			}
			return err
		}, ""},
		"a log entry": {func(s *Space, at Location) error {
			_, err := s.Append(t.Context(), at, "e", json.RawMessage(`1`), Write{})
			return err
		}, "1 log entry"},
		"all of another branch": {func(s *Space, at Location) error {
			_, err := s.Merge(t.Context(), Merge{Source: Default, Target: at.Branch}, Write{})
			return err
		}, ""},
	} {
		t.Run(what, func(t *testing.T) {
			s := filled(t)
			if _, err := s.Fork(t.Context(), "", "side", AsOf{}, Write{}); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Store(t.Context(), Location{}, []Item{{Key: "later", Value: json.RawMessage(`1`)}}, Write{}); err != nil {
				t.Fatal(err)
			}
			if err := c.change(s, Location{Branch: "side"}); err != nil {
				t.Fatal(err)
			}
			owner := s.owner("")
			for _, w := range []Write{{DryRun: true}, {}} {
				err := owner.Delete(t.Context(), Deletion{Branch: "side"}, w)
				if c.lost == "" && err != nil {
					t.Errorf("got %v, want it deleted", err)
				}
				if c.lost != "" && (codeOf(err) != Conflict || !strings.Contains(err.Error(), `"side" has `+c.lost+` that "default" lacks`) || !strings.Contains(err.Error(), "force")) {
					t.Errorf("got %v, want a conflict that names %s", err, c.lost)
				}
			}
			if c.lost == "" {
				return
			}
			if _, err := s.branch("side"); err != nil {
				t.Fatalf("the refused deletion: %v", err)
			}
			if err := owner.Delete(t.Context(), Deletion{Branch: "side", Force: true}, Write{}); err != nil {
				t.Errorf("with force: %v", err)
			}
		})
	}
}

func TestWhatAnyBranchMergedIsNotLost(t *testing.T) {
	s := filled(t)
	for _, name := range []string{"side", "other"} {
		if _, err := s.Fork(t.Context(), "", name, AsOf{}, Write{}); err != nil {
			t.Fatal(err)
		}
	}
	for _, key := range []string{"one", "two"} {
		if _, err := s.Store(t.Context(), Location{Branch: "side"}, []Item{{Key: key, Value: json.RawMessage(`1`)}}, Write{}); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Merge(t.Context(), Merge{Source: "side", Target: "other"}, Write{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.owner("").Delete(t.Context(), Deletion{Branch: "side"}, Write{}); err != nil {
		t.Errorf("other merged all of it: %v", err)
	}
	if err := s.owner("").Delete(t.Context(), Deletion{Branch: "other"}, Write{}); codeOf(err) != Conflict || !strings.Contains(err.Error(), "2 changes") {
		t.Errorf("got %v, want a conflict: default merged nothing", err)
	}
}

func TestABranchWithTooManyChangesToCompareIsNotLostUnasked(t *testing.T) {
	s := testSpace(t)
	s.limits.MergeKeys = 2
	if _, err := s.Create(t.Context(), "side", Write{}); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"a", "b", "c"} {
		if _, err := s.Store(t.Context(), Location{Branch: "side"}, []Item{{Key: key, Value: json.RawMessage(`1`)}}, Write{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.owner("").Delete(t.Context(), Deletion{Branch: "side"}, Write{}); codeOf(err) != Conflict || !strings.Contains(err.Error(), "more than 2 changes") {
		t.Errorf("got %v, want a conflict that names the limit", err)
	}
}

func TestARefusedDeletionCountsNoRecordsThatTheCallerMayNotSee(t *testing.T) {
	s := filled(t)
	if _, err := s.Fork(t.Context(), "", "side", AsOf{}, Write{}); err != nil {
		t.Fatal(err)
	}
	put(t, s, "side", "k", "v")
	st := stage(t, s, "side")
	for _, key := range []string{"r", "s"} {
		if err := st.Keep(t.Context(), Collection{Name: "fam/c"}, "", RecordItem{Key: key, Value: json.RawMessage(`1`)}); err != nil {
			t.Fatal(err)
		}
	}
	stageCommit(t, st, Commit{})
	for by, want := range map[string]string{"fam": "has 3 changes that", "other": "has 1 change and records of other families that"} {
		err := s.As(Caller{Family: by, Rights: FullRights()}).Delete(t.Context(), Deletion{Branch: "side"}, Write{})
		if codeOf(err) != Conflict || !strings.Contains(err.Error(), want) {
			t.Errorf("by %s: got %v, want it to say %q", by, err, want)
		}
	}
}
