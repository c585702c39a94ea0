package semantic

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/alcove-memory/alcove/host/search"
	"github.com/alcove-memory/alcove/host/testing/await"
)

// restarted is a world with the documents of a former one, which it closes, and whose index was saved as a state.
func restarted(t *testing.T, former *world, state string, s Settings) *world {
	t.Helper()
	former.keeper.Saving()
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
	w.awaitVectors()
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
	again.awaitVectors()
	if got := again.answers(); !slices.Equal(got, want) {
		t.Errorf("after the start %.200v are near, before %.200v", got, want)
	}
}

func TestASnapshotIsSavedThoughADocumentWaits(t *testing.T) {
	e := &letters{}
	s := byLetters(e)
	w := filled(t, s)
	e.failing(errors.New("away"))
	late := w.say("late", "zzzz")
	again := restarted(t, w, "state 1", s)
	l := again.keeper.lanes()[0]
	l.load(t.Context())
	if n := again.unclaimed(); l.set.Len() != leastSnapshot+300 || n != 0 {
		t.Errorf("loading assigns %d vectors and leaves %d rows, want %d and none: the snapshot is not used", l.set.Len(), n, leastSnapshot+300)
	}
	e.failing(nil)
	again.keeper.Start(again)
	again.awaitVectors()
	if got := again.nearest("zzzz", 1); !slices.Equal(got, []uint32{late}) {
		t.Errorf("%v is nearest to the text of the document that waited, want %d", got, late)
	}
}

func TestAnEqualTextIsNotEmbeddedAgainAfterAStart(t *testing.T) {
	e := &letters{}
	s := byLetters(e)
	s.Costly = true
	w := restarted(t, filled(t, s), "state 1", s)
	w.keeper.Start(w)
	w.awaitVectors()
	before := e.count()
	w.say("again", textOf(7))
	w.awaitVectors()
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
		{"a damaged part", "state 1", func(w *world, _ string) { w.blobs.blobs[w.part()][20000] ^= 1 }},
		{"a part is truncated", "state 1", func(w *world, _ string) { w.blobs.blobs[w.part()] = w.blobs.blobs[w.part()][:8000] }},
		{"a part is missing", "state 1", func(w *world, _ string) { delete(w.blobs.blobs, w.part()) }},
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
			w.keeper.Saving()
			w.keeper.Saved("state 1")
			if err := w.keeper.Close(); err != nil {
				t.Fatal(err)
			}
			c.spoil(w, l.snapshotName())
			again := newWorld(t, w.blobs, Options{})
			again.set(s)
			again.hold(w, c.state)
			again.keeper.lanes()[0].load(t.Context())
			if n := again.keeper.lanes()[0].set.Len(); n != 0 && c.name != "a file is missing" {
				t.Errorf("loading assigns %d vectors by a snapshot that is not of these numbers, want none", n)
			}
			again.keeper.Start(again)
			again.awaitVectors()
			if got := again.answers(); !slices.Equal(got, want) {
				t.Errorf("after the start %.200v are near, before %.200v", got, want)
			}
		})
	}
}

// part is the name of a blob with a part of a snapshot.
func (w *world) part() string {
	names := w.blobs.names()
	return names[slices.IndexFunc(names, func(name string) bool { return strings.Contains(name, partPrefix) })]
}

// TestADamagedFileIsFoundAfterAStartByASnapshot flips a byte of a file that a start reads only in part.
func TestADamagedFileIsFoundAfterAStartByASnapshot(t *testing.T) {
	s := atOnce(new(atomic.Int64))
	w := filled(t, s)
	want := w.answers()
	right := w.scores()
	w.keeper.Saving()
	w.keeper.Saved("state 1")
	if err := w.keeper.Close(); err != nil {
		t.Fatal(err)
	}
	file := w.blobs.names()[0]
	rows := w.keeper.lanes()[0].files[0].rows
	for _, at := range []int{9, 17, blobHeader, blobHeader + rows*blobEntry, blobHeader + rows*blobEntry + 1000, len(w.blobs.blobs[file]) - 1} {
		left := &cupboard{blobs: maps.Clone(w.blobs.blobs)}
		left.blobs[file] = slices.Clone(left.blobs[file])
		left.blobs[file][at] ^= 1
		again := newWorld(t, left, Options{})
		again.set(s)
		again.hold(w, "state 1")
		again.keeper.lanes()[0].load(t.Context())
		for question, near := range again.scores() {
			for number, score := range near {
				if score != right[question][number] {
					t.Errorf("byte %d: number %d has the score %v for %d, want %v", at, number, score, question, right[question][number])
				}
			}
		}
		again.keeper.Start(again)
		again.awaitVectors()
		await.That(t, "the damaged file is dropped", func() bool { return !slices.Contains(left.names(), file) })
		again.awaitVectors()
		if got := again.answers(); !slices.Equal(got, want) {
			t.Errorf("byte %d: after the start %.200v are near, before %.200v", at, got, want)
		}
	}
}

// scores are those of all numbers for some texts.
func (w *world) scores() (all []map[uint32]float64) {
	w.t.Helper()
	for i := range 5 {
		v, err := w.keeper.Embed(w.t.Context(), "", textOf(41*i))
		if err != nil {
			w.t.Fatal(err)
		}
		found, err := w.keeper.Nearest(w.t.Context(), search.Query{Vector: v}, everything(w.next), int(w.next))
		if err != nil {
			w.t.Fatal(err)
		}
		scores := map[uint32]float64{}
		for _, n := range found {
			scores[n.Number] = n.Score
		}
		all = append(all, scores)
	}
	return all
}

// TestASnapshotStoresOnlyPartsThatChanged saves the index again and again.
func TestASnapshotStoresOnlyPartsThatChanged(t *testing.T) {
	w := filled(t, atOnce(new(atomic.Int64)))
	save := func(state string) string {
		w.keeper.Saving()
		w.keeper.Saved(state)
		w.paid()
		return w.part()
	}
	first, second := save("state 1"), save("state 2")
	if first != second {
		t.Errorf("without changes, the part is %s and then %s, want it kept", first, second)
	}
	w.remove(3)
	if third := save("state 3"); third == second {
		t.Errorf("after a vector was removed, the part is still %s", third)
	}
	if parts := len(slices.DeleteFunc(w.blobs.names(), func(name string) bool { return !strings.Contains(name, partPrefix) })); parts != 1 {
		t.Errorf("%d parts are stored, want the last one alone", parts)
	}
}

func TestAPurgeErasesTheSnapshotToo(t *testing.T) {
	s := atOnce(new(atomic.Int64))
	w := restarted(t, filled(t, s), "state 1", s)
	w.keeper.Start(w)
	w.awaitVectors()
	name := w.keeper.lanes()[0].snapshotName()
	if !slices.Contains(w.blobs.names(), name) {
		t.Fatalf("files %v, want the snapshot among them", w.blobs.names())
	}
	w.remove(5)
	if err := w.keeper.Scrub(t.Context()); err != nil {
		t.Fatal(err)
	}
	if slices.ContainsFunc(w.blobs.names(), func(left string) bool { return left == name || strings.Contains(left, partPrefix) }) {
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
				w.awaitVectors()
				w.keeper.IndexFilled()
			}
			w.change(r, r.IntN(20))
			w.awaitVectors()
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
			w.add(ref(fmt.Sprint("new", w.next), r.Uint64()), text) // a version has one text
		case there:
			w.remove(number)
			if r.IntN(2) == 0 {
				was.Version = r.Uint64()
				w.addAs(number, was, text)
			}
		default:
			w.addAs(number, ref(fmt.Sprint("again", number), r.Uint64()), text)
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
	anew.awaitVectors()
	if got, want := w.status().Vectors, anew.status().Vectors; got != want {
		w.t.Fatalf("%s: %d vectors, want %d", when, got, want)
	}
	if got, want := w.answers(), anew.answers(); !slices.Equal(got, want) {
		w.t.Fatalf("%s: %v are near, want %v", when, got, want)
	}
}

// killed is a world as the next start finds it after a kill, if the index was saved as a state when it had the documents of a former one.
func killed(t *testing.T, blobs *cupboard, saved *world, state string, s Settings) *world {
	t.Helper()
	blobs.mu.Lock()
	left := &cupboard{blobs: maps.Clone(blobs.blobs)}
	blobs.mu.Unlock()
	w := newWorld(t, left, Options{})
	w.set(s)
	w.hold(saved, state)
	return w
}

// now is the documents that a world has.
func (w *world) now() *world {
	w.mu.Lock()
	defer w.mu.Unlock()
	return &world{docs: maps.Clone(w.docs), refs: maps.Clone(w.refs), next: w.next}
}

// paid waits until a snapshot is written of the state that was saved last, or none will be.
func (w *world) paid() {
	w.t.Helper()
	l := w.keeper.lanes()[0]
	await.That(w.t, "no snapshot is to be written", func() bool { return !l.isScheduled() })
	l.work.Lock() // until it is stored
	defer l.work.Unlock()
}

func TestAStartAfterAKillAssignsVectorsByTheNumbersOfTheLastSave(t *testing.T) {
	s := atOnce(new(atomic.Int64))
	w := filled(t, s)
	want, saved := w.answers(), w.now()
	w.keeper.Saving()
	w.keeper.Saved("state 1")
	w.paid()
	w.remove(3) // which the next start takes from the change log
	w.say("later", textOf(9))
	w.awaitVectors()
	again := killed(t, w.blobs, saved, "state 1", s)
	l := again.keeper.lanes()[0]
	l.load(t.Context())
	if l.set.Len() != leastSnapshot+300 {
		t.Errorf("loading assigns %d vectors, want %d: the snapshot is not used", l.set.Len(), leastSnapshot+300)
	}
	again.keeper.Start(again)
	again.awaitVectors()
	if got := again.answers(); !slices.Equal(got, want) {
		t.Errorf("after the start %.200v are near, before %.200v", got, want)
	}
}

// TestASnapshotHasNoNumberThatChangedSinceItsState changes documents between the save of the index and that of the snapshot.
func TestASnapshotHasNoNumberThatChangedSinceItsState(t *testing.T) {
	for seed := range uint64(8) {
		r, s := rand.New(rand.NewPCG(seed, 9)), atOnce(new(atomic.Int64))
		w := filled(t, s)
		for round := range 4 {
			state := fmt.Sprint("state ", round)
			l, saved := w.keeper.lanes()[0], w.now()
			l.work.Lock() // a snapshot is not written yet
			w.keeper.Saving()
			w.change(r, r.IntN(20))
			w.keeper.Saved(state)
			w.change(r, r.IntN(40))
			if err := l.flushTail(t.Context()); err != nil {
				t.Fatal(err)
			}
			l.work.Unlock()
			w.paid()
			w.change(r, r.IntN(30))
			w.awaitVectors()
			when := fmt.Sprintf("seed %d, round %d", seed, round)
			again := killed(t, w.blobs, saved, state, s)
			again.change(r, r.IntN(20)) // as the index is completed from the change log
			again.keeper.Start(again)
			again.change(r, r.IntN(20))
			again.awaitVectors()
			again.matchesAnew(s, when)
			w = again
		}
	}
}

// TestASnapshotIsUsedThoughFilesWereMerged merges small files after the snapshot.
func TestASnapshotIsUsedThoughFilesWereMerged(t *testing.T) {
	s := atOnce(new(atomic.Int64))
	w := filled(t, s)
	say := func(times int) {
		for range times {
			w.say(fmt.Sprint("one", w.next), textOf(int(w.next)))
			w.awaitVectors()
		}
	}
	say(mergedAtOnce - 2)
	before, saved := w.blobs.names(), w.now()
	w.keeper.Saving()
	w.keeper.Saved("state 1")
	w.paid()
	say(mergedAtOnce)
	after := w.blobs.names()
	if !slices.ContainsFunc(before, func(name string) bool { return !slices.Contains(after, name) }) {
		t.Fatalf("files %v, then %v: want some of them merged", before, after)
	}
	again := killed(t, w.blobs, saved, "state 1", s)
	l := again.keeper.lanes()[0]
	l.load(t.Context())
	if n := l.set.Len(); n < leastSnapshot || n >= int(saved.next) {
		t.Errorf("loading assigns %d vectors of %d, want those of the files that are there", n, saved.next)
	}
	again.keeper.Start(again)
	again.awaitVectors()
	again.matchesAnew(s, "after the start")
}
