package bolt_test

import (
	"bytes"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt"
)

// TestDamageInManyPlacesAtOnceIsRepairedWithoutAnUntruth flips bytes, and swaps, copies, tears and empties pages.
// ALCOVE_DAMAGE_ROUNDS says how often; ALCOVE_DAMAGE_SEED repeats a run.
func TestDamageInManyPlacesAtOnceIsRepairedWithoutAnUntruth(t *testing.T) {
	if testing.Short() {
		t.Skip("it examines and repairs on one goroutine: the tests without -short run it")
	}
	t.Parallel()
	rounds, err := strconv.Atoi(os.Getenv("ALCOVE_DAMAGE_ROUNDS"))
	if err != nil {
		rounds = 25
	}
	seed, err := strconv.ParseInt(os.Getenv("ALCOVE_DAMAGE_SEED"), 10, 64)
	if err != nil {
		seed = time.Now().UnixNano()
	}
	fresh, used, rng := newFlips(t), flipsOf(worn(t)), rand.New(rand.NewSource(seed))
	refused := 0
	for round := range rounds {
		f := used
		if round%3 == 0 {
			f = fresh
		}
		if !f.survives(rng, round) {
			refused++
		}
		if t.Failed() {
			t.Fatalf("in round %d with the seed %d", round, seed)
		}
	}
	t.Logf("%d rounds; in %d of them nothing could be made of the file; seed %d", rounds, refused, seed)
}

// worn is a stage whose file is full of what was: branches that were erased, versions that were trimmed, counters that were
// counted on.
func worn(t testing.TB) *stage {
	s := small(t)
	e := s.open(s.dir, bolt.Options{})
	for i := range 60 {
		name := stageKey("k" + string(rune('a'+i%20)))
		s.commit(e, store.Batch{
			Writes:   []store.Write{{Branch: 1, Key: name, Value: bytes.Repeat([]byte{byte('a' + i%26)}, 30*i)}, {Branch: 99, Key: name, Value: []byte("erased")}},
			Counters: []store.CounterWrite{{Branch: 1, Key: name, Version: uint64(i + 70), Keep: 10, Value: fmt.Append(nil, i)}},
		})
	}
	s.was = s.contents(e)
	s.ok(e.Reclaim(t.Context(), 99))
	s.ok(e.Trim(t.Context(), 1, 100, []uint64{40}))
	s.ok(e.Trim(t.Context(), 3, 70, nil, store.Keep{Versions: 2}))
	s.ok(e.Close())
	return s
}

// survives damages the store and repairs it; false when it says that it cannot be.
func (f *flips) survives(rng *rand.Rand, round int) bool {
	f.t.Helper()
	dir := f.t.TempDir()
	f.ok(os.CopyFS(filepath.Join(dir, "blobs"), os.DirFS(filepath.Join(f.dir, "blobs"))))
	damaged := bytes.Clone(f.whole)
	for range 1 + rng.Intn(6) {
		harm(rng, damaged)
	}
	f.ok(os.WriteFile(filepath.Join(dir, "alcove.db"), damaged, 0o600))
	e, err := bolt.Open(f.t.Context(), dir, bolt.Options{MapSize: 1 << 20, NoSync: true})
	if err == nil {
		f.ok(e.Check(f.t.Context()))
		_, untrue := lacks(f.says, f.contents(e))
		f.mustHaveNone(round, untrue)
		f.ok(e.Close())
		return true
	}
	r, err := driver.Repair(f.t.Context(), dir, store.Repair{Now: time.Now()})
	if err != nil {
		return false
	}
	if faults, err := driver.Examine(dir); err != nil || len(faults) > 0 {
		f.t.Errorf("after the repair of %q there is %v (%v)", r.Faults, faults, err)
	}
	e = f.open(dir, bolt.Options{NoSync: true})
	if err := e.Check(f.t.Context()); err != nil {
		f.t.Errorf("after the repair of %q: %v", r.Faults, err)
	}
	_, untrue := lacks(f.says, f.contents(e))
	f.mustHaveNone(round, untrue)
	f.ok(e.Close())
	return true
}

func (f *flips) mustHaveNone(round int, untrue []string) {
	f.t.Helper()
	for _, line := range untrue {
		if !strings.HasPrefix(line, "point") && !strings.HasPrefix(line, "branch") && !f.was[line] { // instants and floors that nobody knows any more
			f.t.Errorf("round %d: it says %.100q", round, line)
		}
	}
}

// harm does one thing that a disk may do.
func harm(rng *rand.Rand, data []byte) {
	const page = 4096
	at, other := page*(2+rng.Intn(len(data)/page-2)), page*rng.Intn(len(data)/page)
	switch rng.Intn(6) {
	case 0:
		clear(data[at:][:page])
	case 1:
		copy(data[at:][:page], data[other:][:page])
	case 2:
		rng.Read(data[at+512*rng.Intn(8):][:512])
	default:
		data[rng.Intn(len(data))] ^= byte(1 + rng.Intn(255))
	}
}
