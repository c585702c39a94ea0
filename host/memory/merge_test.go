package memory

import (
	"crypto/sha256"
	"encoding/json"
	"testing"
)

func mustMerge(t *testing.T, s *Space, m Merge) MergeResult {
	t.Helper()
	result, err := s.Merge(t.Context(), m, Write{})
	if err != nil || !result.Merged {
		t.Fatalf("merge %+v: %+v (%v)", m, result, err)
	}
	return result
}

func TestAWriteInAnotherNamespaceDoesNotMakeAnOldStateABase(t *testing.T) {
	s := testSpace(t)
	put(t, s, "", "k", "one")
	fork(t, s, "", "a")
	if _, err := s.Store(t.Context(), Location{Namespace: "other"}, []Item{{Key: "x", Value: json.RawMessage(`1`)}}, Write{}); err != nil {
		t.Fatal(err)
	}
	fork(t, s, "", "b")
	fork(t, s, "", "c")
	put(t, s, "a", "k", "two")
	for _, target := range []string{"b", "c"} {
		mustMerge(t, s, Merge{Source: "a", Target: target, Namespaces: []string{Default}})
	}
	put(t, s, "b", "k", "one")
	mustMerge(t, s, Merge{Source: "b", Target: "c"})
	if got := text(t, s, "c", "k", AsOf{}); got != "one" {
		t.Errorf("c has %q: that b went back to %q was taken for no change", got, "one")
	}
}

func TestAResolutionCountsWhereOnlyTheTargetChanged(t *testing.T) {
	s := testSpace(t)
	put(t, s, "", "k", "old")
	fork(t, s, "", "try")
	put(t, s, "", "k", "new")
	m := mustMerge(t, s, Merge{Source: "try", Resolutions: []Resolution{{Key: "k", Take: "source"}}})
	if got := text(t, s, "", "k", AsOf{}); got != "old" || len(m.Applied) != 1 {
		t.Errorf("the target has %q after taking the source's side: %+v", got, m)
	}
}

func TestAMergeBringsWhatWasCountedOnTheBranchesBetween(t *testing.T) {
	s := testSpace(t)
	put(t, s, "", "k", "v")
	text(t, s, "", "k", AsOf{})
	fork(t, s, "", "middle")
	text(t, s, "middle", "k", AsOf{})
	fork(t, s, "middle", "leaf")
	mustMerge(t, s, Merge{Source: "leaf"})
	if c, err := s.Counters(t.Context(), Location{}, "k"); err != nil || c.Accesses != 2 {
		t.Errorf("after the merge: %d accesses, not 2 (%v)", c.Accesses, err)
	}
	mustMerge(t, s, Merge{Source: "leaf"})
	if c, err := s.Counters(t.Context(), Location{}, "k"); err != nil || c.Accesses != 2 {
		t.Errorf("after the same merge again: %d accesses, not 2 (%v)", c.Accesses, err)
	}
}

// The digest of a request is stored for a day, also across an upgrade.
func TestAMergeThatIsRepeatedAfterAnUpgradeIsRecognised(t *testing.T) {
	m := Merge{Source: "a", Target: "b", Strategy: Strict, Namespaces: []string{"n"}}
	want := sha256.Sum256([]byte("merge\x00" + `[{"Source":"a","Target":"b","Strategy":"strict","Resolutions":null,"Namespaces":["n"],"Preview":false}]`))
	if got := mergeRequest(Write{RequestID: "r"}, m).Digest; got != want {
		t.Errorf("the digest is %x, not %x", got, want)
	}
}
