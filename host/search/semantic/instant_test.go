package semantic

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/search"
)

// instantly is letters as an instant embedder, which counts its texts.
type instantly struct{ texts *atomic.Int64 }

func (i instantly) Vector(text string) []float32 {
	i.texts.Add(1)
	if text == "nothing" {
		return nil
	}
	return spelled(text)
}

func (instantly) OfWords(search.DocumentWords) ([]float32, bool) { return nil, false }

func atOnce(texts *atomic.Int64) Settings {
	s := byLetters(&letters{})
	s.Instant, s.Fusion = instantly{texts}, &search.Fusion{Weight: 2}
	return s
}

func TestAnInstantEmbedderEmbedsWhatIsAdded(t *testing.T) {
	w := newWorld(t, newCupboard(), Options{})
	w.set(atOnce(new(atomic.Int64))) // nothing is embedded in the background before Start
	tea, _ := w.say("a", "tea"), w.say("b", "nothing")
	if got := w.nearest("eat", 3); !slices.Equal(got, []uint32{tea}) {
		t.Errorf("nearest are %v, want %d alone: the other has no vector", got, tea)
	}
	if s := w.status(); s.Vectors != 1 || s.Waiting != 0 {
		t.Errorf("the status is %+v, want one vector and nothing that waits", s)
	}
	if w.keeper.Fusion(search.Query{}) == nil || w.keeper.Fusion(search.Query{Mode: search.Dense}) != nil {
		t.Errorf("the fusion holds for %v, want hybrid queries alone", w.keeper.Fusion(search.Query{Mode: search.Dense}))
	}
	w.keeper.Drop("letters")
	if err := w.keeper.Close(); err != nil || w.keeper.Fusion(search.Query{}) != nil {
		t.Errorf("Close = %v after the embedder was dropped, want its vectors gone", err)
	}
}

func TestSimilaritiesAreEstimated(t *testing.T) {
	w := newWorld(t, newCupboard(), Options{})
	w.set(atOnce(new(atomic.Int64)))
	tea := w.say("a", "tea")
	if got := w.keeper.Estimate(search.Query{Vector: spelled("tea")}, []uint32{tea, 9}); got[0] < .95 || got[1] == got[1] {
		t.Errorf("estimates are %v, want about 1, and NaN", got)
	}
}

func TestVectorsOfAnInstantEmbedderOutliveARestart(t *testing.T) {
	blobs, texts := newCupboard(), new(atomic.Int64)
	w := newWorld(t, blobs, Options{})
	w.set(atOnce(texts))
	w.keeper.Start(w)
	for i := range 50 {
		w.say(fmt.Sprint("k", i), fmt.Sprint("tea ", i))
	}
	w.awaitVectors()
	if err := w.keeper.Close(); err != nil {
		t.Fatal(err)
	}
	again := newWorld(t, blobs, Options{})
	again.docs, texts = w.docs, new(atomic.Int64)
	again.set(atOnce(texts))
	again.keeper.Start(again)
	again.hold(w, "")
	again.awaitVectors()
	if s := again.status(); s.Vectors != 50 || texts.Load() != 0 {
		t.Errorf("%d vectors and %d texts embedded, want 50 from files", s.Vectors, texts.Load())
	}
}

// TestWhatChangesWhileVectorsAreWrittenIsKept adds, removes and replaces documents while the vectors before are written to a file: no
// document gets another's vector, nor its former one.
func TestWhatChangesWhileVectorsAreWrittenIsKept(t *testing.T) {
	blobs := newCupboard()
	w := newWorld(t, blobs, Options{FlushAfter: time.Hour})
	w.set(atOnce(new(atomic.Int64)))
	kept, gone, replaced := w.say("a", "aaa"), w.say("b", "bbb"), w.say("c", "ccc")
	added := uint32(0)
	blobs.during = func() {
		blobs.during = nil
		w.remove(gone)
		w.remove(replaced)
		d := search.Doc{Text: []string{"xyz"}}
		w.addAs(replaced, ref("c", 1), d) // as a purge rewrites a version
		added = w.say("d", "ddd")
	}
	l := w.keeper.lanes()[0]
	if err := l.flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	check := func(when string) {
		t.Helper()
		for text, want := range map[string][]uint32{"aaa": {kept}, "xyz": {replaced}, "ddd": {added}} {
			if got := w.nearest(text, 1); !slices.Equal(got, want) {
				t.Errorf("%s %q is nearest to %v, want %v", when, text, got, want)
			}
		}
		for text, number := range map[string]uint32{"aaa": kept, "xyz": replaced, "ddd": added} {
			v, err := l.set.Vector(number)
			if err != nil || !alike(v, directed(spelled(text))) {
				t.Errorf("%s the vector of %q is %v, %v, want its own", when, text, v, err)
			}
		}
	}
	check("after a flush")
	if l.tailLen() != 2 {
		t.Errorf("%d vectors are unwritten, want 2", l.tailLen())
	}
	if err := l.flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	check("after another")
	if err := w.keeper.Scrub(t.Context()); err != nil {
		t.Fatal(err)
	}
	check("after scrubbing")
	for _, text := range []string{"bbb", "ccc"} {
		if blobs.holds(directed(spelled(text))) {
			t.Errorf("the vector of %q is in a file, want it erased", text)
		}
	}
}
