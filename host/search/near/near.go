// Package near finds similar words by the word vectors of a static model.
package near

import (
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
	asked map[string][]search.NearWord
}

// New reads the vectors of a model's words, which takes some microseconds a word.
func New(m Model) (*Words, error) {
	set, err := vector.New(vector.Options{Dimensions: m.Dimensions()})
	if err != nil {
		return nil, fmt.Errorf("look for near words: %w", err)
	}
	w := &Words{model: m, words: m.Words(), set: set, asked: map[string][]search.NearWord{}}
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
func (w *Words) Near(word string) []search.NearWord {
	w.mu.Lock()
	near, known := w.asked[word]
	w.mu.Unlock()
	if known {
		return near
	}
	near = w.find(word)
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.asked) >= mostAsked {
		clear(w.asked)
	}
	w.asked[word] = near
	return near
}

// find returns a word's neighbours; nil for a word that the model knows only in pieces, such as names and rare words.
func (w *Words) find(word string) []search.NearWord {
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
	var near []search.NearWord
	for _, n := range list {
		if other := w.words[n.Number]; n.Score >= leastNear && !strings.EqualFold(other, word) {
			near = append(near, search.NearWord{Word: other, Near: n.Score})
		}
	}
	return near
}
