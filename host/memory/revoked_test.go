package memory

import (
	"encoding/json"
	"testing"
)

// A key may be revoked after its call was admitted. Whatever the call then commits is refused, by whichever way it writes.
func TestNothingIsCommittedWithAKeyThatWasRevokedMeanwhile(t *testing.T) {
	w := openWorld(t, false)
	revoked := map[string]bool{}
	w.checkKey = func(id string) error {
		if revoked[id] {
			return &Error{Code: Denied, Message: "the key was revoked"}
		}
		return nil
	}
	bob := holder("bob", ToBranch, ToAdministerScopes)
	w.must(nil, w.keep(bob, "crew", "old"))
	w.must(w.As(bob).Create(t.Context(), "side", Write{}))
	w.must(w.As(bob).Store(t.Context(), Location{Branch: "side", Namespace: "crew"}, item, Write{}))
	at := Location{Namespace: "crew"}
	staged := func(c Commit, do func(t *Stage) error) func(a *Access) error {
		return func(a *Access) error {
			stage, err := a.Stage(t.Context(), "")
			w.must(nil, err)
			w.must(nil, do(stage))
			_, err = stage.Commit(t.Context(), c)
			return err
		}
	}
	put := func(stage *Stage) error {
		_, err := stage.Put(t.Context(), "crew", item)
		return err
	}
	for what, commit := range map[string]func(a *Access) error{
		"a memory": func(a *Access) error {
			_, err := a.Store(t.Context(), at, item, Write{})
			return err
		},
		"a deletion": func(a *Access) error {
			_, err := a.Forget(t.Context(), at, []string{"old"}, Write{})
			return err
		},
		"an event": func(a *Access) error {
			_, err := a.Append(t.Context(), at, "said", json.RawMessage(`1`), Write{})
			return err
		},
		"a family's work": staged(Commit{}, put),
		"a proposal":      staged(Commit{Proposal: "proposal"}, put),
		"a record": staged(Commit{}, func(stage *Stage) error {
			return stage.PutRecord(t.Context(), records, "crew", "k", json.RawMessage(`{}`), nil)
		}),
		"a fork": func(a *Access) error {
			_, err := a.Fork(t.Context(), "", "fork", AsOf{}, Write{})
			return err
		},
		"a branch": func(a *Access) error {
			_, err := a.Create(t.Context(), "empty", Write{})
			return err
		},
		"a merge": func(a *Access) error {
			_, err := a.Merge(t.Context(), Merge{Source: "side"}, Write{})
			return err
		},
		"the deletion of a branch": func(a *Access) error { return a.Delete(t.Context(), Deletion{Branch: "side", Force: true}, Write{}) },
	} {
		before, err := w.engine.Head(t.Context())
		w.must(nil, err)
		revoked[bob.Key] = true
		err = commit(w.As(bob))
		revoked[bob.Key] = false
		after, headErr := w.engine.Head(t.Context())
		w.must(nil, headErr)
		if codeOf(err) != Denied || after.Version != before.Version {
			t.Errorf("%s with a revoked key: got %v and %d commits, want it denied and none", what, err, after.Version-before.Version)
		}
	}
	w.must(nil, w.keep(bob, "crew", "new"))
}
