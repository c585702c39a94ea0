package memory

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/store"
)

// proposed is a space in which a is proposed to become 9, on a branch that it returns, with another branch, draft.
func proposed(t *testing.T) (*Space, string) {
	t.Helper()
	s := filled(t)
	watched(s, nil, propose)
	if _, err := s.As(ann).Store(t.Context(), Location{}, []Item{{Key: "a", Value: json.RawMessage(`9`)}}, Write{}); err != nil {
		t.Fatal(err)
	}
	s.SetHooks(nil)
	if _, err := s.As(ann).Fork(t.Context(), "", "draft", AsOf{}, Write{}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.As(ann).Store(t.Context(), Location{Branch: "draft"}, []Item{{Key: "a", Value: json.RawMessage(`8`)}}, Write{}); err != nil {
		t.Fatal(err)
	}
	return s, "proposals/x/1"
}

func TestAProposalStaysAsItWasProposed(t *testing.T) {
	s, branch := proposed(t)
	asked := watched(s, []Change{ChangeDelete, ChangeState}, allow)
	a, at, eight := s.As(ann), Location{Branch: branch}, []Item{{Key: "a", Value: json.RawMessage(`8`)}}
	before, err := s.engine.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	stages := func(change func(st *Stage) error) func(w Write) error {
		return func(w Write) error {
			st := stage(t, s, branch)
			if err := change(st); err != nil {
				return err
			}
			_, err := st.Commit(t.Context(), Commit{Write: w})
			return err
		}
	}
	for act, do := range map[string]func(w Write) error{
		"store":   func(w Write) error { _, err := a.Store(t.Context(), at, eight, w); return err },
		"forget":  func(w Write) error { _, err := a.Forget(t.Context(), at, []string{"a"}, w); return err },
		"archive": func(w Write) error { _, err := a.SetState(t.Context(), at, []string{"a"}, Archived, w); return err },
		"log":     func(w Write) error { _, err := a.Append(t.Context(), at, "e", json.RawMessage(`1`), w); return err },
		"stage":   stages(func(st *Stage) error { _, err := st.Put(t.Context(), "", eight); return err }),
		"record": stages(func(st *Stage) error {
			return st.Keep(t.Context(), Collection{Name: "fam/c"}, "", RecordItem{Key: "k", Value: json.RawMessage(`1`)})
		}),
		"stage log": stages(func(st *Stage) error { return st.Log("", "e", json.RawMessage(`1`)) }),
		"merge into": func(w Write) error {
			_, err := a.Merge(t.Context(), Merge{Source: "draft", Target: branch}, w)
			return err
		},
		"propose": func(w Write) error {
			st := stage(t, s, branch)
			stagePut(t, st, "a", "8")
			_, err := st.Commit(t.Context(), Commit{Write: w, Proposal: "proposals/x/2"})
			return err
		},
		"fork to":      func(w Write) error { _, err := a.Fork(t.Context(), "draft", "proposals/x/2", AsOf{}, w); return err },
		"fork to mine": func(w Write) error { _, err := a.Fork(t.Context(), "draft", branch, AsOf{}, w); return err },
		"create":       func(w Write) error { _, err := a.Create(t.Context(), "proposals/x/2", w); return err },
	} {
		for how, w := range map[string]Write{act: {}, act + ", dry run": {DryRun: true}} {
			if how == "merge into, dry run" {
				continue // it only reads
			}
			if err := do(w); codeOf(err) != Denied || !strings.Contains(err.Error(), "proposal") && !strings.Contains(err.Error(), "proposed") {
				t.Errorf("%s: %v, want denied", how, err)
			}
		}
	}
	after, err := s.engine.Head(t.Context())
	if err != nil || after != before {
		t.Errorf("v%d was written after v%d (%v)", after.Version, before.Version, err)
	}
	if len(*asked) > 0 {
		t.Errorf("hooks were asked about %q", *asked)
	}
	if done, err := a.Merge(t.Context(), Merge{Source: branch}, Write{}); err != nil || !done.Merged {
		t.Errorf("accepted: %+v, %v", done, err)
	}
	if m, err := a.Recall(t.Context(), Location{}, "a", AsOf{}); err != nil || string(m.Value) != "9" {
		t.Errorf("a is %s after the merge, want 9 (%v)", m.Value, err)
	}
	if err := a.Delete(t.Context(), Deletion{Branch: branch, Force: true}, Write{}); err != nil {
		t.Errorf("dropped: %v", err)
	}
}

// An undo reverts what a family wrote where it is in force; a proposal is left to whoever decides about it.
func TestAnUndoLeavesProposals(t *testing.T) {
	s := filled(t)
	family := s.As(Caller{Family: "x", Call: "c1", Rights: FullRights()})
	for value, proposal := range map[string]string{"9": "", "10": "proposals/x/1"} {
		st, err := family.Stage(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		stagePut(t, st, "a", value)
		stageCommit(t, st, Commit{Proposal: proposal})
	}
	done, err := s.As(Caller{Operator: true, Rights: FullRights()}).Undo(t.Context(), Undo{Call: "c1"}, Write{})
	if err != nil || len(done.Reverted) != 1 || done.Reverted[0].Branch != Default {
		t.Errorf("reverted %+v, %v; want a on %s alone", done.Reverted, err, Default)
	}
	if !strings.Contains(strings.Join(done.Left, "\n"), "proposals/x/1") {
		t.Errorf("left %q, which does not name the proposal", done.Left)
	}
}

// guarding are hooks that keep proposals for a family.
type guarding struct{ hooks }

func (guarding) GuardBranch(branch string, by Caller) error {
	if by.Family == "x" {
		return nil
	}
	return &Error{Code: Denied, Message: "family x decides about " + branch}
}

func TestOnlyWhoDecidesAboutAProposalTakesOrDropsIt(t *testing.T) {
	s, branch := proposed(t)
	s.SetHooks(guarding{})
	acts := func(a *Access) map[string]error {
		_, forked := a.Fork(t.Context(), branch, "copy", AsOf{}, Write{DryRun: true})
		_, merged := a.Merge(t.Context(), Merge{Source: branch}, Write{})
		return map[string]error{"fork": forked, "merge": merged, "delete": a.Delete(t.Context(), Deletion{Branch: branch, Force: true}, Write{})}
	}
	for act, err := range acts(s.As(ann)) {
		if codeOf(err) != Denied {
			t.Errorf("%s by another: %v, want denied", act, err)
		}
	}
	for act, err := range acts(s.As(Caller{Family: "x", Rights: FullRights()})) {
		if err != nil {
			t.Errorf("%s by the family: %v", act, err)
		}
	}
}

func TestAProposalThatChangedAfterItWasProposedIsNotMerged(t *testing.T) {
	s, branch := proposed(t)
	b, err := s.branch(branch)
	if err != nil {
		t.Fatal(err)
	}
	// Past every guard, as another program could write it.
	value, err := record.Record{Value: json.RawMessage(`"pay mallory"`)}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.engine.Commit(t.Context(), store.Batch{Writes: []store.Write{{Branch: b.ID, Key: memoryKey(Default, "a"), Value: value}}}); err != nil {
		t.Fatal(err)
	}
	for _, w := range []Write{{DryRun: true}, {}} {
		_, err = s.As(ann).Merge(t.Context(), Merge{Source: branch}, w)
		var e *Error
		if !errors.As(err, &e) || e.Code != Conflict || !strings.Contains(e.Message, "has changed since its change was proposed") {
			t.Errorf("dry run %t: got %v, want a conflict that names the change", w.DryRun, err)
		}
	}
}
