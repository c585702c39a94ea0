package bolt_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt"
)

func TestCountersThatAreWrittenLateAreInTheNextIncrement(t *testing.T) {
	s := newStage(t)
	e := s.open(s.dir, bolt.Options{})
	defer e.Close()
	read := s.head(e) // what was counted was counted here, and is written after others have committed
	s.commit(e, store.Batch{Writes: []store.Write{{Branch: 1, Key: stageKey("meanwhile"), Value: []byte("x")}}})
	full, _ := pieces(t, e, 0)
	since := s.head(e)
	s.commit(e, store.Batch{Counters: []store.CounterWrite{{Branch: 1, Key: stageKey("k0001"), Version: read, Value: []byte("7")}}})
	increment, _ := pieces(t, e, since)
	loaded := s.open(load(t, full, increment), bolt.Options{})
	defer loaded.Close()
	found, err := loaded.Counters(t.Context(), store.Lineage{{Branch: 1, At: store.Latest}}, []store.Key{stageKey("k0001")})
	if err != nil || string(found[0]) != "7" {
		t.Errorf("the counter is %q (%v)", found, err)
	}
	_, text := pieces(t, loaded, s.head(loaded))
	if _, want := pieces(t, e, s.head(e)); text != want {
		t.Errorf("an increment of nothing has %s and should have %s", text, want)
	}
}

func TestADirectoryKeepsItsHistory(t *testing.T) {
	dir := t.TempDir()
	var before store.History
	for i := range 3 {
		e, err := bolt.Open(t.Context(), dir, bolt.Options{})
		if err != nil {
			t.Fatal(err)
		}
		h, err := e.History(t.Context())
		if err != nil || len(h) != 1 || h.Root() == "" || i > 0 && !slices.Equal(h, before) {
			t.Errorf("opened %d times: %v (%v)", i+1, h, err)
		}
		if before = h; i == 1 {
			if _, err := e.Compact(t.Context()); err != nil {
				t.Error(err)
			}
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestACopyOfADirectoryContinuesAsASpaceOfItsOwn(t *testing.T) {
	s := newStage(t)
	history := func(dir string) store.History {
		t.Helper()
		e := s.open(dir, bolt.Options{})
		defer e.Close()
		h, err := e.History(t.Context())
		if err != nil {
			t.Fatalf("read the history: %v", err)
		}
		return h
	}
	original := history(s.dir)
	copied := s.copyOf(s.dir).dir
	e := s.open(s.dir, bolt.Options{})
	head := s.head(e)
	s.ok(e.Close())
	mine := history(copied)
	if len(mine) != len(original)+1 || !mine.Continues(original, head) {
		t.Errorf("a copy has the history %v, want one more than %v", mine, original)
	}
	if again := history(copied); !slices.Equal(again, mine) {
		t.Errorf("a copy that is served again has the history %v, want %v", again, mine)
	}
	if now := history(s.dir); !slices.Equal(now, original) {
		t.Errorf("the original has the history %v after it was copied, want %v", now, original)
	}
	moved := filepath.Join(t.TempDir(), "moved")
	s.ok(os.Rename(copied, moved))
	if now := history(moved); !slices.Equal(now, mine) {
		t.Errorf("a directory that was moved has the history %v, want %v", now, mine)
	}
}
