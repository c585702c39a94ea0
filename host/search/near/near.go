// Package near finds similar words by the word vectors of a static model.
package near

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/alcove-memory/alcove/host/search"
	"github.com/alcove-memory/alcove/host/search/vector"
)

// Model is a vocabulary with word vectors.
type Model interface {
	Words() []string
	Dimensions() int
	// Vector returns a text's vector; nil if it has none.
	Vector(text string) []float32
}

const (
	mostWords = 200_000 // words of a model that are searched
	mostNear  = 40      // neighbours of a word
	leastNear = .35     // the least cosine similarity of a neighbour
	mostAsked = 4096    // words with cached neighbours
)

// Words is a search.Thesaurus of a model's words. It is safe for concurrent use.
type Words struct {
	model Model
	words []string
	set   *vector.Set

	mu    sync.Mutex
	asked map[wordIn][]search.NearTerm
}

// wordIn is a word with the analyser whose terms are wanted.
type wordIn struct{ word, analyser string }

// New reads the vectors of a model's words, which takes some microseconds a word.
func New(m Model) (*Words, error) {
	set, err := vector.New(vector.Options{Dimensions: m.Dimensions()})
	if err != nil {
		return nil, fmt.Errorf("look for near words: %w", err)
	}
	w := &Words{model: m, words: m.Words(), set: set, asked: map[wordIn][]search.NearTerm{}}
	w.words = w.words[:min(len(w.words), mostWords)]
	for i := range w.words {
		v, err := w.vector(uint32(i))
		if err != nil {
			continue // a zero vector has no neighbours
		}
		if err := set.PutKept(uint32(i), v, w, uint32(i)); err != nil {
			return nil, fmt.Errorf("look for near words: %w", err)
		}
	}
	return w, nil
}

func (w *Words) vector(at uint32) ([]float32, error) { return w.set.Ready(w.model.Vector(w.words[at])) }

// ReadVector implements vector.Reader from the model, so that vectors are not held twice.
func (w *Words) ReadVector(at uint32, into []float32) error {
	v, err := w.vector(at)
	copy(into, v)
	return err
}

// Near implements search.Thesaurus.
func (w *Words) Near(word, term string, by *search.Analyser) []search.NearTerm {
	key := wordIn{word, by.ID()}
	w.mu.Lock()
	near, known := w.asked[key]
	w.mu.Unlock()
	if known {
		return near
	}
	near = nearTerms(w.find(word), term, by)
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.asked) >= mostAsked {
		clear(w.asked)
	}
	w.asked[key] = near
	return near
}

// nearTerms returns the terms of similar words, nearest first.
func nearTerms(words []search.NearTerm, self string, by *search.Analyser) []search.NearTerm {
	best := map[string]float64{}
	for _, w := range words {
		terms := by.Terms(w.Term)
		if len(terms) == 1 && terms[0] != self && w.Near > best[terms[0]] {
			best[terms[0]] = min(w.Near, 1)
		}
	}
	list := make([]search.NearTerm, 0, len(best))
	for term, near := range best {
		list = append(list, search.NearTerm{Term: term, Near: near})
	}
	slices.SortFunc(list, func(a, b search.NearTerm) int {
		return cmp.Or(cmp.Compare(b.Near, a.Near), strings.Compare(a.Term, b.Term))
	})
	return list
}

// find returns a word's neighbours; nil for a word that the model knows only in pieces, such as names and rare words.
func (w *Words) find(word string) []search.NearTerm {
	if _, whole := slices.BinarySearch(w.words, strings.ToLower(word)); !whole {
		return nil
	}
	v := w.model.Vector(word)
	if v == nil {
		return nil
	}
	list, err := w.set.Nearest(context.Background(), vector.Query{Vector: v, K: mostNear + 1})
	if err != nil {
		return nil
	}
	var near []search.NearTerm
	for _, n := range list {
		if other := w.words[n.Number]; n.Score >= leastNear && !strings.EqualFold(other, word) {
			near = append(near, search.NearTerm{Term: other, Near: n.Score})
		}
	}
	return near
}
