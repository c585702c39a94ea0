package memory

import (
	"encoding/json"
	"testing"
)

func TestAPinnedBranchStaysAsItWasAndTakesNoWrites(t *testing.T) {
	s := testSpace(t)
	put(t, s, "", "k", "one")
	if _, err := s.owner("ann").Pin(t.Context(), Default, "pin", AsOf{}, Write{}); err != nil {
		t.Fatal(err)
	}
	put(t, s, "", "k", "two")
	fork(t, s, "pin", "on")
	put(t, s, "on", "k", "three")
	at := Location{Branch: "pin"}
	for what, write := range map[string]func() error{
		"store": func() error {
			_, err := s.Store(t.Context(), at, []Item{{Key: "x", Value: json.RawMessage(`1`)}}, Write{})
			return err
		},
		"forget":    func() error { _, err := s.Forget(t.Context(), at, []string{"k"}, Write{}); return err },
		"set state": func() error { _, err := s.SetState(t.Context(), at, []string{"k"}, Archived, Write{}); return err },
		"append":    func() error { _, err := s.Append(t.Context(), at, "moved", json.RawMessage(`1`), Write{}); return err },
		"merge":     func() error { _, err := s.Merge(t.Context(), Merge{Source: "on", Target: "pin"}, Write{}); return err },
	} {
		if err := write(); codeOf(err) != Denied {
			t.Errorf("%s on a pinned branch = %v, want %s", what, err, Denied)
		}
	}
	for branch, want := range map[string]string{"pin": "one", "on": "three", "": "two"} {
		if got := text(t, s, branch, "k", AsOf{}); got != want {
			t.Errorf("k on branch %q = %q, want %q", branch, got, want)
		}
	}
}
