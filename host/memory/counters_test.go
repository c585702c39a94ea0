package memory

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/memory/counters"
	"github.com/alcove-memory/alcove/host/search"
	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt"
)

// countingEngine is an engine with something that happens before counts are read and written.
type countingEngine struct {
	*bolt.Engine
	reading atomic.Pointer[func()]
	writing atomic.Pointer[func(w store.CounterWrite) error]
}

func (e *countingEngine) Counters(ctx context.Context, l store.Lineage, keys []store.Key) ([][]byte, error) {
	if reading := e.reading.Load(); reading != nil {
		(*reading)()
	}
	return e.Engine.Counters(ctx, l, keys)
}

func (e *countingEngine) Commit(ctx context.Context, b store.Batch) (store.Committed, error) {
	if writing := e.writing.Load(); writing != nil && len(b.Counters) > 0 {
		if err := (*writing)(b.Counters[0]); err != nil {
			return store.Committed{}, err
		}
	}
	return e.Engine.Commit(ctx, b)
}

// countingSpace counts in memory until it is told to flush.
func countingSpace(t *testing.T) (*Space, *countingEngine) {
	t.Helper()
	opened, err := bolt.Open(t.Context(), t.TempDir(), bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	engine := &countingEngine{Engine: opened}
	s, err := Open(t.Context(), Options{Engine: engine, Index: search.New(search.Options{}), CounterDelay: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		engine.reading.Store(nil)
		engine.writing.Store(nil)
		if err := errors.Join(s.Close(context.Background()), opened.Close()); err != nil {
			t.Error(err)
		}
	})
	return s, engine
}

// storedCount is how many accesses of a memory have reached the store.
func storedCount(t *testing.T, s *Space, engine *countingEngine, branch, key string) int64 {
	t.Helper()
	b, err := s.branch(branch)
	if err != nil {
		t.Fatal(err)
	}
	values, err := engine.Engine.Counters(t.Context(), b.Lineage, []store.Key{memoryKey(Default, key)})
	if err != nil {
		t.Fatal(err)
	}
	r, err := counters.Decode(values[0])
	if err != nil {
		t.Fatal(err)
	}
	return r.Accesses
}

func TestAFlushForgetsWhatWasCountedOnABranchThatIsDeletedMeanwhile(t *testing.T) {
	s, engine := countingSpace(t)
	put(t, s, "", "k", "v")
	fork(t, s, "", "f")
	text(t, s, "", "k", AsOf{})
	text(t, s, "f", "k", AsOf{})
	reading := func() {
		engine.reading.Store(nil)
		if err := s.Delete(t.Context(), "f", Write{}); err != nil {
			t.Error(err)
		}
	}
	engine.reading.Store(&reading)
	if err := s.Flush(t.Context()); err != nil {
		t.Errorf("flush: %v", err)
	}
	if n := storedCount(t, s, engine, "", "k"); n != 1 {
		t.Errorf("%d accesses on the other branch are written", n)
	}
	if branches, keys := s.counters.Pending(); branches != 0 || keys != 0 {
		t.Errorf("%d counts of %d branches wait", keys, branches)
	}
}

func TestABranchWhoseCountsCannotBeWrittenKeepsNoOtherFromIt(t *testing.T) {
	s, engine := countingSpace(t)
	put(t, s, "", "k", "v")
	for _, name := range []string{"a", "b", "c", "d"} {
		fork(t, s, "", name)
		text(t, s, name, "k", AsOf{})
	}
	broken := errors.New("a page is torn")
	torn, err := s.branch("b")
	if err != nil {
		t.Fatal(err)
	}
	writing := func(w store.CounterWrite) error {
		if w.Branch == torn.ID {
			return broken
		}
		return nil
	}
	engine.writing.Store(&writing)
	if err := s.Flush(t.Context()); err == nil || !strings.Contains(err.Error(), "branch b") {
		t.Errorf("flush: %v", err)
	}
	for name, want := range map[string]int64{"a": 1, "b": 0, "c": 1, "d": 1} {
		if n := storedCount(t, s, engine, name, "k"); n != want {
			t.Errorf("%d accesses on %s are written, not %d", n, name, want)
		}
	}
	engine.writing.Store(nil)
	if err := s.Flush(t.Context()); err != nil || storedCount(t, s, engine, "b", "k") != 1 {
		t.Errorf("later: %d are written on b (%v)", storedCount(t, s, engine, "b", "k"), err)
	}
}

func TestWhatIsForgottenOrDeletedIsNoLongerCountedAsWaiting(t *testing.T) {
	s, _ := countingSpace(t)
	for i := range 10 {
		key, branch := fmt.Sprint("k", i), fmt.Sprint("b", i)
		put(t, s, "", key, "v")
		text(t, s, "", key, AsOf{})
		if _, err := s.Forget(t.Context(), Location{}, []string{key}, Write{}); err != nil {
			t.Fatal(err)
		}
		fork(t, s, "", branch)
		put(t, s, branch, key, "v")
		text(t, s, branch, key, AsOf{})
		if err := s.Delete(t.Context(), branch, Write{}); err != nil {
			t.Fatal(err)
		}
	}
	if _, keys := s.counters.Pending(); keys != 0 {
		t.Errorf("%d counts wait although nothing is left to count", keys)
	}
}
