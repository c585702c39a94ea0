package semantic

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/alcove-memory/alcove/host/search"
)

// restarted is a world with the documents of a former one, which it closes, and whose index was saved as a state.
func restarted(t *testing.T, former *world, state string, s Settings) *world {
	t.Helper()
	former.keeper.Saved(state)
	if err := former.keeper.Close(); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, former.blobs, Options{})
	w.set(s)
	w.hold(former, state)
	return w
}

// unclaimed counts the rows of files that are no document's.
func (w *world) unclaimed() int {
	w.keeper.mu.RLock()
	defer w.keeper.mu.RUnlock()
	l := w.keeper.lanes()[0]
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.known)
}

// filled is a world with vectors of many texts in files.
func filled(t *testing.T, s Settings) *world {
	t.Helper()
	w := newWorld(t, newCupboard(), Options{})
	w.set(s)
	w.keeper.Start(w)
	for i := range leastSnapshot + 300 {
		w.say(fmt.Sprint("k", i), textOf(i))
	}
	w.settle()
	return w
}

func textOf(i int) string { return fmt.Sprint(strings.Repeat("a", i%23), strings.Repeat("b", i/23), i) }

// answers is what is near to some texts.
func (w *world) answers() (all []string) {
	for i := range 20 {
		all = append(all, fmt.Sprint(w.nearest(textOf(37*i), 7)))
	}
	return all
}

func TestAStartAfterASavedStateAssignsVectorsByTheirNumbers(t *testing.T) {
	s := atOnce(new(atomic.Int64))
	w := filled(t, s)
	want := w.answers()
	again := restarted(t, w, "state 1", s)
	l := again.keeper.lanes()[0]
	l.load(t.Context())
	if n := again.unclaimed(); l.set.Len() != leastSnapshot+300 || n != 0 {
		t.Errorf("loading assigns %d vectors and leaves %d rows, want %d and none: the snapshot is not used", l.set.Len(), n, leastSnapshot+300)
	}
	again.keeper.Start(again)
	again.settle()
	if got := again.answers(); !slices.Equal(got, want) {
		t.Errorf("after the start %.200v are near, before %.200v", got, want)
	}
}

func TestAnEqualTextIsNotEmbeddedAgainAfterAStart(t *testing.T) {
	e := &letters{}
	s := byLetters(e)
	s.Costly = true
	w := restarted(t, filled(t, s), "state 1", s)
	w.keeper.Start(w)
	w.settle()
	before := e.count()
	w.say("again", textOf(7))
	w.settle()
	if got := e.count() - before; got != 0 {
		t.Errorf("%d texts were embedded for one that has a vector, want none", got)
	}
}

func TestAQuestionWaitsUntilTheSnapshotIsRestored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := atOnce(new(atomic.Int64))
		w := filled(t, s)
		want := w.answers()
		again := restarted(t, w, "state 1", s)
		read := make(chan struct{})
		again.blobs.open = func() { <-read }
		again.keeper.Start(again)
		var got []string
		go func() { got = again.answers() }()
		synctest.Wait()
		if got != nil {
			t.Errorf("before the vectors are there, %.100v are near, want no answer yet", got)
		}
		close(read)
		synctest.Wait()
		if !slices.Equal(got, want) {
			t.Errorf("then %.200v are near, want %.200v as before the start", got, want)
		}
	})
}

func TestASnapshotOfOtherNumbersOrDamagedIsNotUsed(t *testing.T) {
	s := atOnce(new(atomic.Int64))
	for _, c := range []struct {
		name  string
		state string
		spoil func(w *world, snapshot string)
	}{
		{"another state", "state 2", func(*world, string) {}},
		{"no state", "", func(*world, string) {}},
		{"a damaged head", "state 1", func(w *world, name string) { w.blobs.blobs[name][20] ^= 1 }},
		{"a damaged middle", "state 1", func(w *world, name string) { w.blobs.blobs[name][len(w.blobs.blobs[name])/2] ^= 1 }},
		{"a damaged end", "state 1", func(w *world, name string) { w.blobs.blobs[name][len(w.blobs.blobs[name])-1] ^= 1 }},
		{"cut short", "state 1", func(w *world, name string) { w.blobs.blobs[name] = w.blobs.blobs[name][:30] }},
		{"empty", "state 1", func(w *world, name string) { w.blobs.blobs[name] = nil }},
		{"a file is missing", "state 1", func(w *world, name string) {
			delete(w.blobs.blobs, slices.MinFunc(w.blobs.names(), strings.Compare))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := filled(t, s)
			want := w.answers()
			l := w.keeper.lanes()[0]
			w.keeper.Saved("state 1")
			if err := w.keeper.Close(); err != nil {
				t.Fatal(err)
			}
			c.spoil(w, l.snapshotName())
			again := newWorld(t, w.blobs, Options{})
			again.set(s)
			again.hold(w, c.state)
			again.keeper.lanes()[0].load(t.Context())
			if n := again.keeper.lanes()[0].set.Len(); n != 0 {
				t.Errorf("loading assigns %d vectors by a snapshot that is not of these numbers, want none", n)
			}
			again.keeper.Start(again)
			again.settle()
			if got := again.answers(); !slices.Equal(got, want) {
				t.Errorf("after the start %.200v are near, before %.200v", got, want)
			}
		})
	}
}

func TestAPurgeErasesTheSnapshotToo(t *testing.T) {
	s := atOnce(new(atomic.Int64))
	w := restarted(t, filled(t, s), "state 1", s)
	w.keeper.Start(w)
	w.settle()
	name := w.keeper.lanes()[0].snapshotName()
	if !slices.Contains(w.blobs.names(), name) {
		t.Fatalf("files %v, want the snapshot among them", w.blobs.names())
	}
	w.remove(5)
	if err := w.keeper.Scrub(t.Context()); err != nil {
		t.Fatal(err)
	}
	if slices.Contains(w.blobs.names(), name) {
		t.Errorf("files %v: the snapshot still has the signs of an erased vector", w.blobs.names())
	}
}

// TestStartsAfterAnyHistoryFindWhatAKeeperOfAllDocumentsFinds changes documents and starts again, with a saved state or without, and with
// changes between the load of the index and that of the vectors.
func TestStartsAfterAnyHistoryFindWhatAKeeperOfAllDocumentsFinds(t *testing.T) {
	for seed := range uint64(6) {
		r, texts := rand.New(rand.NewPCG(seed, 7)), new(atomic.Int64)
		s := atOnce(texts)
		w := filled(t, s)
		for round := range 6 {
			state := fmt.Sprint("state ", round)
			if r.IntN(4) == 0 {
				state = "" // as after a crash
			}
			w.change(r, r.IntN(40))
			w = restarted(t, w, state, s)
			w.change(r, r.IntN(20)) // as the index is completed from the change log
			w.keeper.Start(w)
			if r.IntN(2) == 0 {
				w.settle()
				w.keeper.IndexFilled()
			}
			w.change(r, r.IntN(20))
			w.settle()
			w.matchesAnew(s, fmt.Sprintf("seed %d, round %d", seed, round))
		}
	}
}

// change adds, removes and replaces documents.
func (w *world) change(r *rand.Rand, times int) {
	for range times {
		number := uint32(r.IntN(int(w.next)))
		w.mu.Lock()
		was, there := w.refs[number]
		w.mu.Unlock()
		text := search.Doc{Text: []string{textOf(r.IntN(2000))}}
		switch {
		case r.IntN(3) == 0:
			w.add(ref(fmt.Sprint("new", w.next), 2), text)
		case there:
			w.remove(number)
			if r.IntN(2) == 0 {
				was.Version++
				w.addAs(number, was, text)
			}
		default:
			w.addAs(number, ref(fmt.Sprint("again", number), uint64(r.IntN(1000)+10)), text)
		}
	}
}

// matchesAnew compares the vectors with those of a keeper that is given all documents.
func (w *world) matchesAnew(s Settings, when string) {
	w.t.Helper()
	anew := newWorld(w.t, newCupboard(), Options{})
	anew.set(s)
	anew.keeper.Start(anew)
	anew.next = w.next
	for number, r := range w.refs {
		anew.addAs(number, r, w.docs[r])
	}
	anew.settle()
	if got, want := w.status().Vectors, anew.status().Vectors; got != want {
		w.t.Fatalf("%s: %d vectors, want %d", when, got, want)
	}
	if got, want := w.answers(), anew.answers(); !slices.Equal(got, want) {
		w.t.Fatalf("%s: %v are near, want %v", when, got, want)
	}
}
