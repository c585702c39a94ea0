package bolt_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt"
)

// TestATrimThatKeepsMoreIsTheSameAfterACrashAndARestore interrupts a trim that keeps versions in histories, and dumps it.
func TestATrimThatKeepsMoreIsTheSameAfterACrashAndARestore(t *testing.T) {
	for _, step := range []bolt.Step{bolt.TrimRecorded, bolt.TrimEntries, bolt.TrimLog} {
		s := &stage{t: t, dir: t.TempDir()}
		crashed := ""
		e := s.open(s.dir, bolt.Options{Steps: func(reached bolt.Step) error {
			if reached == step && crashed == "" {
				crashed = s.copyOf(s.dir).dir
			}
			return nil
		}})
		for i := range 6 {
			s.commit(e, store.Batch{Writes: []store.Write{{Branch: 1, Key: stageKey("k"), Value: fmt.Append(nil, i)}}})
		}
		full, _ := pieces(t, e, 0)
		since := s.head(e)
		s.commit(e, store.Batch{Writes: []store.Write{{Branch: 1, Key: stageKey("other"), Value: []byte("x")}}})
		s.ok(e.Trim(context.Background(), 1, since, []uint64{1}, store.Keep{Versions: 3}))
		want := s.versions(e, 1)
		increment, text := pieces(t, e, since)
		_, all := pieces(t, e, 0)
		if n := strings.Count(all, "entry"); n != 5 { // three, the pinned one, and the other
			t.Errorf("%d versions are kept", n)
		}
		s.ok(e.Close())
		e = s.open(crashed, bolt.Options{})
		if got := s.versions(e, 1); got != want {
			t.Errorf("after a crash at %q there is %s, not %s", step, got, want)
		}
		s.ok(e.Close())
		e = s.open(load(t, full, increment), bolt.Options{})
		if _, got := pieces(t, e, 0); got != all {
			t.Errorf("restored, it is %s\nnot %s\nby %s", got, all, text)
		}
		s.ok(e.Close())
	}
}
