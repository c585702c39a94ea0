package bolt_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt"
	"github.com/alcove-memory/alcove/host/testing/must"
)

// pair is a space, and a copy that follows it.
type pair struct {
	t          *testing.T
	of, copy   *bolt.Engine
	dir        string // of the copy
	since      uint64
	steps      func(bolt.Step) error
	random     *rand.Rand
	branches   []store.BranchID
	lastBranch store.BranchID
}

func newPair(t *testing.T) *pair {
	t.Helper()
	p := &pair{t: t, of: must.Get(bolt.Open(t.Context(), t.TempDir(), bolt.Options{})), random: rand.New(rand.NewPCG(1, 2)), branches: []store.BranchID{1, 2}, lastBranch: 2}
	t.Cleanup(func() { _ = p.of.Close() })
	for range 20 {
		p.write()
	}
	p.dir = p.loaded()
	p.since = must.Get(p.of.Head(t.Context())).Version
	p.open()
	t.Cleanup(func() { _ = p.copy.Close() })
	return p
}

// loaded is a directory with a copy as of now.
func (p *pair) loaded() string {
	list, _ := pieces(p.t, p.of, 0)
	dir := p.t.TempDir()
	l := must.Get(bolt.NewLoader(dir))
	for _, piece := range list {
		must.Do(p.t, l.Add(piece))
	}
	l.Continue(must.Get(p.of.History(p.t.Context())))
	must.Do(p.t, l.Finish(p.t.Context()))
	return dir
}

func (p *pair) open() {
	p.t.Helper()
	p.copy = must.Get(bolt.Open(p.t.Context(), p.dir, bolt.Options{Mirror: true, Steps: func(s bolt.Step) error {
		if p.steps == nil {
			return nil
		}
		return p.steps(s)
	}}))
}

func (p *pair) key() store.Key {
	return store.Key{Namespace: "n", Collection: "c", Name: fmt.Sprintf("k%02d", p.random.IntN(30))}
}

// write commits something.
func (p *pair) write() {
	p.t.Helper()
	ctx := p.t.Context()
	branch := p.branches[p.random.IntN(len(p.branches))]
	b := store.Batch{Note: []byte(fmt.Sprint("note ", p.random.IntN(9)))}
	w := store.Write{Branch: branch, Key: p.key(), Value: []byte(strings.Repeat("v", p.random.IntN(9000))), Delete: p.random.IntN(5) == 0}
	if w.Delete {
		w.Value = nil
	}
	b.Writes = []store.Write{w}
	if p.random.IntN(3) == 0 {
		head := must.Get(p.of.Head(ctx))
		b.Counters = []store.CounterWrite{{Branch: branch, Key: p.key(), Version: head.Version, Keep: head.Version / 2, Value: []byte(fmt.Sprint(p.random.IntN(99)))}}
	}
	_, err := p.of.Commit(ctx, b)
	must.Do(p.t, err)
}

// upset does what is no commit: it trims, purges, or drops a branch.
func (p *pair) upset() {
	p.t.Helper()
	ctx := p.t.Context()
	head := must.Get(p.of.Head(ctx)).Version
	switch p.random.IntN(4) {
	case 0:
		must.Do(p.t, p.of.Trim(ctx, p.branches[0], head-uint64(p.random.IntN(10)), []uint64{head / 2}, store.Keep{Versions: 2}))
	case 1:
		purged := must.Get(p.of.Purge(ctx, p.key(), func(store.Entry) ([]byte, bool) { return []byte("gone"), true }))
		p.t.Logf("purged %d versions", len(purged))
	case 2:
		must.Do(p.t, p.of.PurgeNotes(ctx, []uint64{head - 1}))
	case 3:
		must.Do(p.t, p.of.Reclaim(ctx, p.branches[1]))
		p.lastBranch++
		p.branches[1] = p.lastBranch
	}
}

// follow passes on what the space has and the copy lacks.
func (p *pair) follow() (store.Applied, error) {
	p.t.Helper()
	list, _ := pieces(p.t, p.of, p.since)
	history := must.Get(p.of.History(p.t.Context()))
	done, err := p.copy.Apply(p.t.Context(), func(l store.Loader) error {
		for _, piece := range list {
			if err := l.Add(piece); err != nil {
				return err
			}
		}
		l.Continue(history)
		return nil
	})
	if err == nil {
		p.since = done.To.Version
	}
	return done, err
}

func (p *pair) same() {
	p.t.Helper()
	_, want := pieces(p.t, p.of, 0)
	_, got := pieces(p.t, p.copy, 0)
	if got != want {
		p.t.Fatalf("the copy is another one than what it follows: %s", firstDifference(got, want))
	}
	if err := p.copy.Check(p.t.Context()); err != nil {
		p.t.Fatalf("the copy is damaged: %v, want that it is not", err)
	}
}

func TestACopyThatFollowsASpaceBecomesTheSameWithEachIncrement(t *testing.T) {
	p := newPair(t)
	for round := range 60 {
		for range p.random.IntN(8) {
			p.write()
		}
		if round%3 == 2 {
			p.upset()
		}
		if round%7 == 6 { // it goes on where it was, also with the same increment again
			must.Do(t, p.copy.Close())
			p.open()
		}
		if round%5 == 4 {
			before := p.since
			if _, err := p.follow(); err != nil {
				t.Fatalf("round %d: %v, want that the increment is taken", round, err)
			}
			if p.since == before {
				_, err := p.follow()
				must.Do(t, err)
			}
		} else if _, err := p.follow(); err != nil {
			t.Fatalf("round %d: %v, want that the increment is taken", round, err)
		}
		p.same()
	}
}

func TestAnIncrementIsTakenAsAWholeOrNotAtAll(t *testing.T) {
	p := newPair(t)
	_, before := pieces(t, p.copy, 0)
	for range 5 {
		p.write()
	}
	p.upset()
	cut := errors.New("cut")
	list, _ := pieces(t, p.of, p.since)
	for n := range len(list) + 1 {
		_, err := p.copy.Apply(t.Context(), func(l store.Loader) error {
			for _, piece := range list[:n] {
				if err := l.Add(piece); err != nil {
					return err
				}
			}
			return cut
		})
		if !errors.Is(err, cut) {
			t.Fatalf("an increment that was cut after %d pieces: %v, want that it was", n, err)
		}
	}
	p.steps = func(s bolt.Step) error {
		if s == bolt.MirrorApplied {
			return cut
		}
		return nil
	}
	if _, err := p.follow(); !errors.Is(err, cut) {
		t.Fatalf("an interrupt before the commit: %v, want that it was one", err)
	}
	p.steps = nil
	if _, after := pieces(t, p.copy, 0); after != before {
		t.Errorf("after increments that failed the copy has %s, want what it had", firstDifference(after, before))
	}
	_, err := p.follow()
	must.Do(t, err)
	p.same()
}

func TestACopyThatFollowsRefusesOtherWritesAndWhatDoesNotContinueIt(t *testing.T) {
	p := newPair(t)
	ctx := t.Context()
	write := store.Batch{Writes: []store.Write{{Branch: 1, Key: p.key(), Value: []byte("x")}}}
	if _, err := p.copy.Commit(ctx, write); !errors.Is(err, store.ErrReadOnly) {
		t.Errorf("a commit to a copy: %v, want ErrReadOnly", err)
	}
	if _, err := p.copy.PutBlob(ctx, "b", strings.NewReader("x")); !errors.Is(err, store.ErrReadOnly) {
		t.Errorf("a blob of a copy: %v, want ErrReadOnly", err)
	}
	if err := p.copy.Trim(ctx, 1, 3, nil); !errors.Is(err, store.ErrReadOnly) {
		t.Errorf("a trim of a copy: %v, want ErrReadOnly", err)
	}
	other := newPair(t)
	other.write()
	list, _ := pieces(t, other.of, other.since)
	history := must.Get(other.of.History(ctx))
	_, err := p.copy.Apply(ctx, func(l store.Loader) error {
		for _, piece := range list {
			if err := l.Add(piece); err != nil {
				return err
			}
		}
		l.Continue(history)
		return nil
	})
	if !errors.Is(err, store.ErrDiverged) {
		t.Errorf("an increment of another space: %v, want ErrDiverged", err)
	}
	if _, err := p.copy.Adopt(ctx, other.loaded()); !errors.Is(err, store.ErrDiverged) {
		t.Errorf("another space: %v, want ErrDiverged", err)
	}
	must.Do(t, p.copy.Close())
	own := must.Get(bolt.Open(ctx, p.dir, bolt.Options{}))
	_, err = own.Commit(ctx, write)
	must.Do(t, errors.Join(err, own.Close()))
	p.open()
	p.write()
	if _, err := p.follow(); !errors.Is(err, store.ErrDiverged) {
		t.Errorf("an increment of a copy that was written to: %v, want ErrDiverged", err)
	}
}

func TestACopyTakesOverALaterOneAlsoAfterAnInterrupt(t *testing.T) {
	p := newPair(t)
	for range 10 {
		p.write()
	}
	earlier := p.loaded()
	for range 4 {
		p.upset()
		p.write()
	}
	later := p.loaded()
	cut := errors.New("cut")
	p.steps = func(s bolt.Step) error {
		if s == bolt.MirrorMoved {
			return cut
		}
		return nil
	}
	_, before := pieces(t, p.copy, 0)
	if _, err := p.copy.Adopt(t.Context(), later); !errors.Is(err, cut) {
		t.Fatalf("an interrupt: %v, want that it was one", err)
	}
	p.steps = nil
	if _, after := pieces(t, p.copy, 0); after != before {
		t.Errorf("after an interrupt the copy has %s, want what it had", firstDifference(after, before))
	}
	done := must.Get(p.copy.Adopt(t.Context(), later))
	if head := must.Get(p.of.Head(t.Context())); done.From.Version != p.since || done.To != head {
		t.Errorf("took over %d to %v, want %d to %v", done.From.Version, done.To, p.since, head)
	}
	p.since = done.To.Version
	p.same()
	if _, err := p.copy.Adopt(context.Background(), earlier); !errors.Is(err, store.ErrDiverged) {
		t.Errorf("an earlier copy: %v, want ErrDiverged", err)
	}
	p.write()
	_, err := p.follow()
	must.Do(t, err)
	p.same()
	if _, err := os.Stat(filepath.Join(later, "alcove.db")); err == nil {
		t.Errorf("the database of the later copy is in its folder still, want that it was moved")
	}
}
