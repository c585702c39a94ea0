package bolt_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt"
	"github.com/alcove-memory/alcove/host/store/bolt/layout"
)

func tailRequest(i int) store.Request {
	return store.Request{Caller: "client", ID: fmt.Sprint(i), Digest: [32]byte{byte(i)}}
}

// tailCommits commits on two branches: entries, deletions, appends, requests and notes, and now and then a batch with a long tail.
func tailCommits(s *stage, e *bolt.Engine, from, to int) {
	for i := from; i < to; i++ {
		b := store.Batch{Request: tailRequest(i), Note: fmt.Append(nil, "note ", i)}
		writes := 1
		if i%40 == 39 {
			writes = 300
		}
		for w := range writes {
			b.Writes = append(b.Writes, store.Write{Branch: store.BranchID(1 + i%2), Key: stageKey(fmt.Sprint("t", i/2%9, "-", w)), Value: fmt.Append(nil, i), Delete: i%7 == 3})
		}
		if i%5 == 0 {
			b.Appends = []store.Append{{Lineage: store.Lineage{{Branch: 2, At: store.Latest}}, Namespace: "n", Collection: "log",
				Seal: func(store.Entry, uint64, store.Point) ([]byte, error) { return []byte("event"), nil }}}
		}
		s.commit(e, b)
	}
}

// tailAnswers is everything that an engine says of what may be in a tail.
func (s *stage) tailAnswers(e *bolt.Engine, first uint64, requests int) string {
	s.t.Helper()
	var out strings.Builder
	head := s.head(e)
	for b := range store.BranchID(3) {
		for _, limit := range []int{1, 7, 1 << 20} {
			for from := first; from < head; from += 9 {
				changes, next, err := e.Changes(s.t.Context(), b, from, head-from%3, limit)
				fmt.Fprintln(&out, b, from, limit, changes, next, err)
			}
		}
	}
	for version := first; version <= head; version++ {
		p, err := e.PointOf(s.t.Context(), version)
		s.ok(err)
		for _, at := range []time.Time{p.Time, p.Time.Add(-time.Microsecond)} {
			p, err := e.VersionAt(s.t.Context(), at)
			fmt.Fprintln(&out, p, err)
		}
	}
	for i := range requests {
		done, found, err := e.Requested(s.t.Context(), tailRequest(i))
		fmt.Fprintln(&out, i, done, found, err)
		other := tailRequest(i)
		other.Digest[1] = 1
		if _, _, err := e.Requested(s.t.Context(), other); !errors.Is(err, store.ErrRequestReused) {
			s.t.Errorf("request %d with other contents: %v", i, err)
		}
	}
	notes, err := e.Notes(s.t.Context(), 0, head+1, 1000)
	fmt.Fprintln(&out, notes, err)
	return out.String()
}

// TestTailsSayWhatTheirBucketsWillSay compares a store whose newest commits have tails with a copy that moved them.
func TestTailsSayWhatTheirBucketsWillSay(t *testing.T) {
	t.Parallel()
	s := small(t)
	e := s.open(s.dir, bolt.Options{NoSync: true})
	defer e.Close()
	first, done := s.head(e), 0
	for _, more := range []int{1, 5, 45, 50, 90} {
		tailCommits(s, e, done, more)
		done = more
		want := s.tailAnswers(e, first, done)
		_, whole := pieces(t, e, first)
		_, increment := pieces(t, e, s.head(e)-5)
		s.ok(e.Check(t.Context()))
		copied, head := s.copyOf(s.dir), s.head(e)
		for _, o := range []bolt.Options{{ReadOnly: true}, {NoSync: true}} {
			again := s.open(copied.dir, o)
			if !o.ReadOnly {
				s.ok(again.DropNotes(t.Context(), []uint64{head + 1})) // any work but a commit moves tails
			}
			if got := s.tailAnswers(again, first, done); got != want {
				t.Errorf("after %d commits, read-only %t: %s", more, o.ReadOnly, firstDifference(got, want))
			}
			if _, got := pieces(t, again, first); got != whole {
				t.Errorf("a dump after %d commits: %s", more, firstDifference(got, whole))
			}
			if _, got := pieces(t, again, s.head(again)-5); got != increment {
				t.Errorf("an increment after %d commits: %s", more, firstDifference(got, increment))
			}
			s.ok(errors.Join(again.Check(t.Context()), again.Close()))
		}
	}
}

func firstDifference(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("%.300q instead of %.300q", a[i], b[i])
		}
	}
	return fmt.Sprintf("%d lines instead of %d", len(a), len(b))
}

func TestAConditionThatNothingWasWrittenSeesTails(t *testing.T) {
	t.Parallel()
	s := small(t)
	e := s.open(s.dir, bolt.Options{NoSync: true})
	defer e.Close()
	tailCommits(s, e, 0, 3)
	head := s.head(e)
	var conflict *store.ConflictError
	for _, q := range []store.Quiet{{Branch: 1, Since: head - 1}, {Branch: 2, Since: head - 2}} {
		if _, err := e.Commit(t.Context(), store.Batch{Quiet: []store.Quiet{q}}); !errors.As(err, &conflict) || conflict.Have <= q.Since {
			t.Errorf("Commit if nothing was written since %+v: %v, want a conflict", q, err)
		}
	}
	if _, err := e.Commit(t.Context(), store.Batch{Quiet: []store.Quiet{{Branch: 1, Since: head}, {Branch: 2, Since: head - 1}}}); err != nil {
		t.Error(err)
	}
}

// TestARepairMovesTails damages a value in a file whose newest commits have tails.
func TestARepairMovesTails(t *testing.T) {
	t.Parallel()
	s := small(t)
	e := s.open(s.dir, bolt.Options{})
	first := s.head(e)
	tailCommits(s, e, 0, 38)
	s.commit(e, store.Batch{Writes: []store.Write{{Branch: 3, Key: stageKey("z"), Value: []byte("a marked value")}}})
	want := s.tailAnswers(e, first, 38)
	s.ok(e.Close())
	s.damage(func(data []byte) {
		copy(data, bytes.ReplaceAll(data, []byte("a marked value"), []byte("A marked value")))
	})
	r, err := driver.Repair(t.Context(), s.dir, store.Repair{Now: time.Now(), Keep: func(string) bool { return true }})
	if err != nil || len(r.Aside) != 1 {
		t.Fatalf("Repair = %+v (%v), want one entry set aside", r, err)
	}
	e = s.open(s.dir, bolt.Options{})
	defer e.Close()
	s.ok(errors.Join(e.Check(t.Context()), e.DropNotes(t.Context(), []uint64{1 << 40}), e.Check(t.Context())))
	if got := s.tailAnswers(e, first, 38); got != want {
		t.Errorf("answers after the repair differ: %s", firstDifference(got, want))
	}
}

// TestASmallCommitWritesFewPages counts the pages that a commit of one entry writes, on average of many.
func TestASmallCommitWritesFewPages(t *testing.T) {
	t.Parallel()
	s := &stage{t: t, dir: t.TempDir()}
	e := s.open(s.dir, bolt.Options{NoSync: true})
	defer e.Close()
	const commits = 4 * layout.TailEvery
	put := func(from int) {
		for i := range commits {
			k := spreadKey(from + i)
			s.commit(e, store.Batch{Request: store.Request{Caller: "client", ID: k.Name}, Writes: []store.Write{{Branch: 1, Key: k, Value: value}}})
		}
	}
	put(0)
	before := bolt.PagesWritten(e)
	put(commits)
	if pages := float64(bolt.PagesWritten(e)-before) / commits; pages > 10 {
		t.Errorf("a commit writes %.1f pages", pages)
	} else {
		t.Logf("%.1f pages a commit", pages)
	}
}
