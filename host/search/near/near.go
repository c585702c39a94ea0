// Package near finds semantically similar words by the word vectors of a static model.
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

// Model knows the vectors of words.
type Model interface {
	Words() []string
	Dimensions() int
	// Vector is a text's vector; nil when it has none.
	Vector(text string) []float32
}

const (
	mostWords = 200_000 // of a model that are looked among
	mostNear  = 40      // of a word
	leastNear = .35     // cosine: what is farther says little
	mostAsked = 4096    // words whose neighbours are remembered
)

// Words is the words of a model. Its methods may be called from many goroutines at once.
type Words struct {
	model Model
	words []string
	set   *vector.Set

	mu    sync.Mutex
	asked map[string][]search.NearWord
}

// New looks up the vectors of a model's words, which takes some microseconds a word.
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
			continue // a word that means nothing is near to none
		}
		if err := set.PutKept(uint32(i), v, w, uint32(i)); err != nil {
			return nil, fmt.Errorf("look for near words: %w", err)
		}
	}
	return w, nil
}

func (w *Words) vector(at uint32) ([]float32, error) { return w.set.Ready(w.model.Vector(w.words[at])) }

// ReadVector implements vector.Reader: the model has the vectors, and nothing else needs to keep them.
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

// find is empty for a word that is not in the model as a whole: of names and rare words, pieces say little.
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
