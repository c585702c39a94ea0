package near

import (
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/alcove-memory/alcove/host/search"
)

// clock is a model whose words are hours, and lie around a circle.
type clock []string

func (c clock) Words() []string { return c }
func (clock) Dimensions() int   { return 2 }

func (c clock) Vector(text string) []float32 {
	i := slices.Index(c, text)
	if i < 0 || text == "void" {
		return nil
	}
	angle := float64(i) * math.Pi / 6
	return []float32{float32(math.Cos(angle)), float32(math.Sin(angle))}
}

func analyser(t *testing.T) *search.Analyser {
	t.Helper()
	a, err := search.NewAnalyser("none")
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func hours() clock { return clock{"ah", "bee", "cee", "dee", "ef", "gee", "ha", "void"} }

func TestWordsAreNearByTheirVectors(t *testing.T) {
	w, err := New(hours())
	if err != nil {
		t.Fatal(err)
	}
	var words []string
	for _, n := range w.Near("bee", "bee", analyser(t)) {
		words = append(words, n.Term)
		if n.Near < leastNear || n.Near > 1 {
			t.Errorf("%s is near by %g", n.Term, n.Near)
		}
	}
	if !slices.Equal(words, []string{"ah", "cee", "dee"}) {
		t.Errorf("near to bee: %v", words)
	}
}

func TestWhatTheModelDoesNotKnowIsNearToNothing(t *testing.T) {
	w, err := New(hours())
	if err != nil {
		t.Fatal(err)
	}
	by := analyser(t)
	for _, word := range []string{"Caroline", "void", ""} {
		if got := w.Near(word, word, by); len(got) != 0 {
			t.Errorf("Near(%q) = %v, want none", word, got)
		}
	}
}

func TestWordsAreAskedForByManyAtOnce(t *testing.T) {
	w, err := New(hours())
	if err != nil {
		t.Fatal(err)
	}
	by := analyser(t)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 50 {
				for _, word := range hours() {
					w.Near(word, word, by)
				}
			}
		})
	}
	all.Wait()
	if len(w.asked) != len(hours()) {
		t.Errorf("%d are remembered", len(w.asked))
	}
}
