package bolt_test

import (
	"bytes"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt"
)

// small is a stage of a few pages of everything, closed and compact.
func small(t *testing.T) *stage {
	t.Helper()
	s := &stage{t: t, dir: t.TempDir()}
	e := s.open(s.dir, bolt.Options{})
	for i := range 60 {
		batch := store.Batch{
			Writes:   []store.Write{{Branch: store.BranchID(1 + i%3), Key: stageKey("k" + string(rune('a'+i%20))), Value: bytes.Repeat([]byte{byte('A' + i%26)}, 50+i*40)}},
			Counters: []store.CounterWrite{{Branch: 1, Key: stageKey("k"), Version: uint64(i), Value: []byte("1")}},
			Request:  store.Request{Caller: "c", ID: string(rune('a' + i)), Digest: [32]byte{1}},
		}
		s.commit(e, batch)
	}
	_, err := e.Compact(t.Context())
	s.ok(err)
	s.ok(e.Close())
	return s
}

func TestAWholeFileHasNoFaults(t *testing.T) {
	for _, s := range []*stage{small(t), newStage(t)} {
		if faults, err := bolt.Examine(s.dir); err != nil || len(faults) > 0 {
			t.Errorf("%v (%v)", faults, err)
		}
		r, err := bolt.Repair(t.Context(), s.dir, time.Now())
		if err != nil || r.Folder != "" {
			t.Errorf("a repair of what is whole: %+v (%v)", r, err)
		}
	}
}

// contents are the versions of all branches, by what they are.
func (s *stage) contents(e *bolt.Engine) map[string]bool {
	s.t.Helper()
	found := map[string]bool{}
	for b := range store.BranchID(50) {
		list, _, err := e.Versions(s.t.Context(), store.Lineage{{Branch: b, At: store.Latest}}, store.Range{}, "", 1<<20)
		s.ok(err)
		for _, v := range list {
			found[strings.Join([]string{v.Key.String(), v.Time.String(), string(v.Value)}, " ")] = true
		}
	}
	return found
}

// TestAByteThatFlippedIsFoundOrHarmlessAndRepaired flips bytes all over a file: whatever a damaged file says that the whole
// one did not say is found, and after a repair only true things are said, and what is missing is in the report.
func TestAByteThatFlippedIsFoundOrHarmlessAndRepaired(t *testing.T) {
	s := small(t)
	e := s.open(s.dir, bolt.Options{})
	want := s.contents(e)
	s.ok(e.Close())
	whole, err := os.ReadFile(filepath.Join(s.dir, "alcove.db"))
	s.ok(err)
	rng := rand.New(rand.NewSource(1))
	rounds, found, harmless, aside := 250, 0, 0, 0
	if testing.Short() {
		rounds = 50
	}
	for range rounds {
		dir := t.TempDir()
		s.ok(os.Mkdir(filepath.Join(dir, "blobs"), 0o700))
		damaged := bytes.Clone(whole)
		at := rng.Intn(len(damaged))
		damaged[at] ^= byte(1 + rng.Intn(255))
		s.ok(os.WriteFile(filepath.Join(dir, "alcove.db"), damaged, 0o600))
		faults, err := bolt.Examine(dir)
		s.ok(err)
		if len(faults) == 0 {
			harmless++
			s.sameContents(dir, want, 0, at)
			continue
		}
		found++
		r, err := bolt.Repair(t.Context(), dir, time.Now())
		if err != nil {
			t.Errorf("byte %d: %v", at, err)
			continue
		}
		aside += len(r.Aside)
		s.sameContents(dir, want, len(r.Faults), at)
		kept, err := os.ReadFile(filepath.Join(r.Folder, "alcove.db"))
		if err != nil || !bytes.Equal(kept, damaged) {
			t.Errorf("byte %d: the damaged file was not kept (%v)", at, err)
		}
	}
	t.Logf("%d flips: %d found, %d harmless, %d entries set aside", rounds, found, harmless, aside)
	if found < rounds/4 {
		t.Errorf("only %d of %d flips were found", found, rounds)
	}
}

// sameContents opens a store, checks it, and makes sure that it says nothing that is not true. Without faults it must also
// say all that is.
func (s *stage) sameContents(dir string, want map[string]bool, faults, at int) {
	s.t.Helper()
	e := s.open(dir, bolt.Options{})
	defer e.Close()
	if err := e.Check(s.t.Context()); err != nil && faults > 0 {
		s.t.Errorf("byte %d: after the repair: %v", at, err)
	}
	got := s.contents(e)
	for line := range got {
		if !want[line] {
			s.t.Errorf("byte %d: it says %.80q, which is not true", at, line)
		}
	}
	if faults == 0 && len(got) != len(want) {
		s.t.Errorf("byte %d: nothing was found, and %d of %d versions are there", at, len(got), len(want))
	}
}

func TestARepairKeepsWhatWasPurgedAndWhichRequestsWereMade(t *testing.T) {
	s := small(t)
	e := s.open(s.dir, bolt.Options{})
	request := store.Request{Caller: "c", ID: "kept", Digest: [32]byte{7}}
	s.commit(e, store.Batch{Writes: []store.Write{{Branch: 1, Key: stageKey("ka"), Value: []byte("a marked value")}}, Request: request})
	_, err := e.Purge(t.Context(), stageKey("kb"), func(store.Entry) ([]byte, bool) { return []byte("gone"), true })
	s.ok(err)
	s.ok(e.Close())
	path := filepath.Join(s.dir, "alcove.db")
	data, err := os.ReadFile(path)
	s.ok(err)
	s.ok(os.WriteFile(path, bytes.ReplaceAll(data, []byte("a marked value"), []byte("a merked value")), 0o600))
	r, err := bolt.Repair(t.Context(), s.dir, time.Now())
	if err != nil || len(r.Aside) != 1 || !strings.Contains(r.Aside[0].Key, "ka") {
		t.Fatalf("%+v (%v)", r, err)
	}
	e = s.open(s.dir, bolt.Options{})
	defer e.Close()
	s.ok(e.Check(t.Context()))
	if done, err := e.Commit(t.Context(), store.Batch{Request: request}); err != nil || !done.Replayed {
		t.Errorf("the request that was made before is done again: %+v (%v)", done, err)
	}
	increment, _ := pieces(t, e, s.head(e))
	if !slices.ContainsFunc(increment, func(p store.Piece) bool { return p.Entry != nil && string(p.Entry.Value) == "gone" }) {
		t.Error("the next increment does not carry what was purged")
	}
}

func TestAFileWithoutAWholeStartIsNotRepaired(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "alcove.db"), make([]byte, 65536), 0o600); err != nil {
		t.Fatal(err)
	}
	if faults, err := bolt.Examine(dir); err != nil || len(faults) != 1 || !strings.Contains(faults[0].Error(), "restore a backup") {
		t.Errorf("%v (%v)", faults, err)
	}
	if _, err := bolt.Repair(t.Context(), dir, time.Now()); err == nil || !strings.Contains(err.Error(), "restore a backup") {
		t.Errorf("repair: %v", err)
	}
}

// FuzzExamine gives the reader of pages anything: nothing panics, and it ends.
func FuzzExamine(f *testing.F) {
	f.Add([]byte{}, 0, byte(0))
	f.Add([]byte("alcove"), 4096, byte(255))
	dir := f.TempDir()
	e, err := bolt.Open(f.Context(), dir, bolt.Options{})
	if err != nil {
		f.Fatal(err)
	}
	if err := e.Close(); err != nil {
		f.Fatal(err)
	}
	whole, err := os.ReadFile(filepath.Join(dir, "alcove.db"))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, over []byte, at int, flip byte) {
		damaged := bytes.Clone(whole)
		if at < 0 || at >= len(damaged) {
			return
		}
		copy(damaged[at:], over)
		damaged[(at*31)%len(damaged)] ^= flip
		if err := os.WriteFile(filepath.Join(dir, "alcove.db"), damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := bolt.Examine(dir); err != nil {
			t.Fatal(err)
		}
	})
}
