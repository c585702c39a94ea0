package semantic

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/alcove-memory/alcove/host/search"
	"github.com/alcove-memory/alcove/host/search/vector"
)

// ErrNone says that there is no such embedder.
var ErrNone = errors.New("there is no such embedder")

// lane is the vectors in use of an embedder; of the standard one when name is empty. They stay until done is called.
func (k *Keeper) lane(name string) (l *lane, done func(), err error) {
	k.mu.RLock()
	defer k.mu.RUnlock()
	if name == "" {
		name = k.standard
	}
	e := k.entries[name]
	if e == nil {
		return nil, nil, fmt.Errorf("%w: %q", ErrNone, name)
	}
	e.serving.using.RLock()
	return e.serving, e.serving.using.RUnlock, nil
}

// Standard is the embedder of searches that name none; empty when they are by words.
func (k *Keeper) Standard() string {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.standard
}

// Dimensions is how many elements an embedder's vectors have; 0 where there is no such embedder.
func (k *Keeper) Dimensions(embedder string) int {
	l, done, err := k.lane(embedder)
	if err != nil {
		return 0
	}
	defer done()
	return l.dimensions
}

// Weight is how much meaning counts beside words in a collection, from 0 to 1; 0 where there is no such embedder.
func (k *Keeper) Weight(embedder, collection string) float64 {
	l, done, err := k.lane(embedder)
	if err != nil {
		return 0
	}
	defer done()
	return l.current().weight() * k.options.Gate(collection)
}

// Check validates a query's vector.
func (k *Keeper) Check(embedder string, v []float32) error {
	l, done, err := k.lane(embedder)
	if err != nil {
		return err
	}
	defer done()
	return l.set.Check(v)
}

// Nearest implements search.Semantic.
func (k *Keeper) Nearest(ctx context.Context, q search.Query, among search.Set, most int) ([]search.Near, error) {
	l, done, err := k.lane(q.Embedder)
	if err != nil {
		return nil, err
	}
	defer done()
	found, err := l.set.Nearest(ctx, vector.Query{Vector: q.Vector, Among: among, K: most})
	if err != nil {
		return nil, err
	}
	least := l.current().Threshold
	near := make([]search.Near, 0, len(found))
	for _, n := range found {
		if least != 0 && n.Score < least {
			break // they come nearest first
		}
		near = append(near, search.Near{Number: n.Number, Score: n.Score})
	}
	return near, nil
}

// Fuse implements search.Semantic: a candidate's score is the weighted mean of how well its words match, as a part of
// the best match, and of where its nearness lies between that of the farthest candidate and that of the nearest. Of a
// document that has no vector the words speak for its meaning too.
func (k *Keeper) Fuse(q search.Query, candidates []search.Candidate) {
	l, done, err := k.lane(q.Embedder)
	if err != nil {
		for i := range candidates {
			candidates[i].Score = candidates[i].Lexical
		}
		return
	}
	defer done()
	l.complete(q.Vector, candidates)
	if q.Mode == search.Meaning {
		for i := range candidates {
			if candidates[i].Score = candidates[i].Semantic; math.IsNaN(candidates[i].Score) {
				candidates[i].Score = math.Inf(-1)
			}
		}
		return
	}
	k.mix(l.current().weight(), candidates)
}

// complete estimates the nearness of candidates that were found by their words alone.
func (l *lane) complete(question []float32, candidates []search.Candidate) {
	var missing []int
	var numbers []uint32
	for i, c := range candidates {
		if math.IsNaN(c.Semantic) {
			missing, numbers = append(missing, i), append(numbers, c.Number)
		}
	}
	for i, score := range l.set.Estimate(question, numbers) {
		candidates[missing[i]].Semantic = score
	}
}

func (k *Keeper) mix(weight float64, candidates []search.Candidate) {
	best, near, far := 0.0, math.Inf(-1), math.Inf(1)
	for _, c := range candidates {
		best = max(best, c.Lexical)
		if !math.IsNaN(c.Semantic) {
			near, far = max(near, c.Semantic), min(far, c.Semantic)
		}
	}
	k.mu.RLock()
	defer k.mu.RUnlock()
	for i := range candidates {
		c := &candidates[i]
		words := 0.0
		if best > 0 {
			words = c.Lexical / best
		}
		semantic := words
		switch {
		case math.IsNaN(c.Semantic):
		case near > far:
			semantic = (c.Semantic - far) / (near - far)
		default:
			semantic = 1
		}
		w := weight * k.options.Gate(k.ref(c.Number).Collection)
		c.Score = (1-w)*words + w*semantic
	}
}

func (s Settings) asker() Embedder {
	if s.Asker != nil {
		return s.Asker
	}
	return s.Embedder
}

const defaultWeight = .5

func (s Settings) weight() float64 {
	switch {
	case s.Weight == 0:
		return defaultWeight
	case s.Weight < 0:
		return 0
	}
	return min(s.Weight, 1)
}

// Embed gives the vector of a question; nil when it means nothing to the embedder, or vectors come with questions.
func (k *Keeper) Embed(ctx context.Context, embedder, question string) ([]float32, error) {
	l, done, err := k.lane(embedder)
	if err != nil {
		return nil, err
	}
	s := l.current()
	done() // asking takes long
	if s.Embedder == nil {
		return nil, nil
	}
	text := s.Question + clipped(question, s.MaxChars)
	key := digestOf(l.id, text)
	if v, ok := k.questions.get(key); ok {
		return v, nil
	}
	vectors, err := s.asker().Embed(ctx, []string{text})
	if err != nil {
		return nil, fmt.Errorf("embed the question: %w", err)
	}
	if len(vectors) != 1 || len(vectors[0]) == 0 {
		return nil, nil
	}
	if err := l.set.Check(vectors[0]); err != nil {
		return nil, fmt.Errorf("embed the question: %w", err)
	}
	k.questions.put(key, vectors[0])
	return vectors[0], nil
}

// questions caches the vectors of the latest queries.
type questions struct {
	mu    sync.Mutex
	order *list.List // of remembered, the last used in front
	known map[digest]*list.Element
}

type remembered struct {
	key    digest
	vector []float32
}

const mostQuestions = 512

func newQuestions() *questions {
	return &questions{order: list.New(), known: map[digest]*list.Element{}}
}

func (q *questions) get(key digest) ([]float32, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	e, ok := q.known[key]
	if !ok {
		return nil, false
	}
	q.order.MoveToFront(e)
	return e.Value.(remembered).vector, true
}

func (q *questions) put(key digest, v []float32) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if _, ok := q.known[key]; ok {
		return
	}
	q.known[key] = q.order.PushFront(remembered{key, v})
	if q.order.Len() > mostQuestions {
		last := q.order.Back()
		q.order.Remove(last)
		delete(q.known, last.Value.(remembered).key)
	}
}

func (q *questions) clear() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.order.Init()
	clear(q.known)
}

// Texts gives the vectors of texts as documents have them, or questions; nil for those that mean nothing to the embedder.
func (k *Keeper) Texts(ctx context.Context, embedder string, texts []string, questions bool) ([][]float32, error) {
	l, done, err := k.lane(embedder)
	if err != nil {
		return nil, err
	}
	s := l.current()
	done()
	if s.Embedder == nil {
		return nil, fmt.Errorf("the vectors of %s are given: it makes none", s.Name)
	}
	prefix, by := s.Prefix, s.Embedder
	if questions {
		prefix, by = s.Question, s.asker()
	}
	asked := make([]string, len(texts))
	for i, text := range texts {
		asked[i] = prefix + clipped(text, s.MaxChars)
	}
	vectors, err := by.Embed(ctx, asked)
	if err == nil && len(vectors) != len(texts) {
		err = fmt.Errorf("%d vectors came for %d texts", len(vectors), len(texts))
	}
	return vectors, err
}
