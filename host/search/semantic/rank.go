package semantic

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/alcove-memory/alcove/host/search"
	"github.com/alcove-memory/alcove/host/search/vector"
)

// ErrNone means that no embedder has the given name.
var ErrNone = errors.New("there is no such embedder")

// lane returns an embedder's vectors in use; empty name: the default embedder's. Their files stay until done is called.
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

// started reports whether the lane's goroutine began.
func (k *Keeper) started(l *lane) bool {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return l.ended != nil
}

// Standard returns the default embedder's name; empty: none.
func (k *Keeper) Standard() string {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.standard
}

// Dimensions returns the length of an embedder's vectors; 0 if there is no such embedder.
func (k *Keeper) Dimensions(embedder string) int {
	l, done, err := k.lane(embedder)
	if err != nil {
		return 0
	}
	defer done()
	return l.dimensions
}

// Weight returns the weight of vector scores in a collection, from 0 to 1; 0 if there is no such embedder.
func (k *Keeper) Weight(embedder, collection string) float64 {
	l, done, err := k.lane(embedder)
	if err != nil {
		return 0
	}
	defer done()
	return l.current().weight() * k.options.Gate(collection)
}

// Check validates a query's vector for an embedder.
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
	var found []vector.Near
	l.retryDamaged(func() { found, err = l.set.Nearest(ctx, vector.Query{Vector: q.Vector, Among: among, K: most}) })
	if err != nil {
		return nil, err
	}
	least := l.current().Threshold
	near := make([]search.Near, 0, len(found))
	for _, n := range found {
		if least != 0 && n.Score < least {
			break // the list is sorted, nearest first
		}
		near = append(near, search.Near{Number: n.Number, Score: n.Score})
	}
	return near, nil
}

// Fuse implements search.Semantic. A score is the weighted mean of the lexical score, relative to the best one, and the
// vector score, scaled between the candidates' lowest and highest. Without a vector the lexical score counts for both.
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
	if q.Mode == search.Dense {
		for i := range candidates {
			if candidates[i].Score = candidates[i].Semantic; math.IsNaN(candidates[i].Score) {
				candidates[i].Score = math.Inf(-1)
			}
		}
		return
	}
	k.mix(l.current().weight(), candidates)
}

// Estimate implements search.Semantic.
func (k *Keeper) Estimate(q search.Query, numbers []uint32) []float64 {
	l, done, err := k.lane(q.Embedder)
	if err != nil {
		return slices.Repeat([]float64{math.NaN()}, len(numbers))
	}
	defer done()
	return l.estimate(q.Vector, numbers)
}

func (l *lane) estimate(question []float32, numbers []uint32) (scores []float64) {
	l.retryDamaged(func() { scores = l.set.Estimate(question, numbers) })
	return scores
}

// Fusion implements search.Semantic.
func (k *Keeper) Fusion(q search.Query) *search.Fusion {
	if q.Mode != search.Hybrid {
		return nil
	}
	l, done, err := k.lane(q.Embedder)
	if err != nil {
		return nil
	}
	defer done()
	s := l.current()
	if s.Fusion == nil || s.Weight != 0 {
		return nil
	}
	f := *s.Fusion
	f.Gate = k.options.Gate
	return &f
}

// complete estimates the vector scores of candidates that were found lexically.
func (l *lane) complete(question []float32, candidates []search.Candidate) {
	var missing []int
	var numbers []uint32
	for i, c := range candidates {
		if math.IsNaN(c.Semantic) {
			missing, numbers = append(missing, i), append(numbers, c.Number)
		}
	}
	for i, score := range l.estimate(question, numbers) {
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
		w := weight * k.options.Gate(c.Collection)
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

// Embed returns a query's vector; nil for a query without known tokens, or if callers supply the embedder's vectors. After a start it waits until
// the vectors are there that a clean stop left.
func (k *Keeper) Embed(ctx context.Context, embedder, question string) ([]float32, error) {
	l, done, err := k.lane(embedder)
	if err != nil {
		return nil, err
	}
	s, running := l.current(), k.started(l)
	done() // what follows may take long
	if running {
		if err := l.awaitRestored(ctx); err != nil {
			return nil, fmt.Errorf("embed the question: %w", err)
		}
	}
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

// questions is an LRU cache of query vectors.
type questions struct {
	mu    sync.Mutex
	order *list.List // of remembered, most recently used first
	known map[digest]*list.Element
}

type cachedVector struct {
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
	return e.Value.(cachedVector).vector, true
}

func (q *questions) put(key digest, v []float32) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if _, ok := q.known[key]; ok {
		return
	}
	q.known[key] = q.order.PushFront(cachedVector{key, v})
	if q.order.Len() > mostQuestions {
		last := q.order.Back()
		q.order.Remove(last)
		delete(q.known, last.Value.(cachedVector).key)
	}
}

func (q *questions) clear() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.order.Init()
	clear(q.known)
}

// Texts returns the vectors of texts, embedded as documents; nil for a text without known tokens.
func (k *Keeper) Texts(ctx context.Context, embedder string, texts []string) ([][]float32, error) {
	return k.embed(ctx, embedder, texts, func(s Settings) (string, Embedder) { return s.Prefix, s.Embedder })
}

// Questions returns the vectors of texts, embedded as queries; nil for a text without known tokens.
func (k *Keeper) Questions(ctx context.Context, embedder string, texts []string) ([][]float32, error) {
	return k.embed(ctx, embedder, texts, func(s Settings) (string, Embedder) { return s.Question, s.asker() })
}

func (k *Keeper) embed(ctx context.Context, embedder string, texts []string, as func(Settings) (prefix string, by Embedder)) ([][]float32, error) {
	l, done, err := k.lane(embedder)
	if err != nil {
		return nil, err
	}
	s := l.current()
	done()
	if s.Embedder == nil {
		return nil, fmt.Errorf("embed with %s: callers supply its vectors; choose another embedder", s.Name)
	}
	prefix, by := as(s)
	asked := make([]string, len(texts))
	for i, text := range texts {
		asked[i] = prefix + clipped(text, s.MaxChars)
	}
	vectors, err := by.Embed(ctx, asked)
	if err == nil && len(vectors) != len(texts) {
		err = fmt.Errorf("embed with %s: got %d vectors for %d texts", s.Name, len(vectors), len(texts))
	}
	return vectors, err
}
