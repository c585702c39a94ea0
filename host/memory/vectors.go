package memory

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/search"
	"github.com/alcove-memory/alcove/host/store"
)

// Vectors provides the embedders and the vectors that the Index ranks by beside words.
type Vectors interface {
	// Standard returns the embedder of searches that name none; empty: they rank by words.
	Standard() string
	// Check returns an error for a query's vector that the embedder cannot have made.
	Check(embedder string, v []float32) error
	// Embed returns the vector of a question; nil: none.
	Embed(ctx context.Context, embedder, question string) ([]float32, error)
	// Weight returns the weight of vectors beside words in a collection, from 0 to 1.
	Weight(embedder, collection string) float64
	// Embedders returns the progress of embedding.
	Embedders() []Embedder
	// IndexFilled is called when the index is complete.
	IndexFilled()
	// Scrub erases the vectors of versions dropped from the index.
	Scrub(ctx context.Context) error
}

// Embedder is the state of an embedder's vectors.
type Embedder struct {
	Name       string
	Standard   bool
	Dimensions int
	Vectors    int    // versions with a vector
	Waiting    int    // versions waiting for one
	Refused    int    // versions that it rejects
	Making     bool   // they replace those in use when complete
	Error      string // why embedding is stalled; empty: it is not
}

// Mode is the basis on which hits are ranked.
type Mode string

// The modes of a search. Hybrid ones rank by words if there is no embedder, or it does not answer.
const (
	Hybrid   Mode = "hybrid" // words and vectors; the default
	Lexical  Mode = "lexical"
	Semantic Mode = "semantic"
)

// Vector is a client's embedding of a memory.
type Vector struct {
	Embedder string // its origin; empty: any with as many dimensions
	Values   []float32
}

// largestVector bounds a vector's dimensions.
const largestVector = 8192

func (v Vector) check() error {
	if len(v.Values) > largestVector {
		return invalid("vector has %d dimensions: at most %d are allowed", len(v.Values), largestVector)
	}
	sum := 0.0
	for _, x := range v.Values {
		sum += math.Abs(float64(x))
	}
	if len(v.Values) > 0 && (math.IsNaN(sum) || math.IsInf(sum, 0) || sum == 0) {
		return invalid("vector is zero, or has elements that are no finite numbers")
	}
	if len(v.Embedder) > 64 {
		return invalid("embedder is longer than 64 bytes")
	}
	return nil
}

// remarks are what is known about a search beside its hits.
type remarks struct {
	notes   []string // for the caller
	cut     bool     // something was left out for want of time
	vectors bool     // vectors were searched
}

func (r *remarks) note(text string, cut bool) {
	r.notes, r.cut = append(r.notes, text), r.cut || cut
}

// hurried returns a context for a part of a search that can be left out, which ends while there is still time to answer without it, and
// after most at the latest; 0: no matter. cut reports whether the search's own deadline ended it.
func hurried(ctx context.Context, most time.Duration) (short context.Context, cut func() bool, cancel context.CancelFunc) {
	deadline, bounded := ctx.Deadline()
	left := time.Until(deadline) * 3 / 4
	switch {
	case bounded && (most == 0 || left < most):
		short, cancel = context.WithTimeout(ctx, left)
		return short, func() bool { return short.Err() != nil }, cancel
	case most == 0:
		return ctx, func() bool { return false }, func() {}
	}
	short, cancel = context.WithTimeout(ctx, most)
	return short, func() bool { return false }, cancel
}

// embedQuestion sets the mode and the vector of a query. A remark says why words alone rank, if more was requested.
func (s *Space) embedQuestion(ctx context.Context, q Search, asked *search.Query) (said remarks, err error) {
	if q.Mode == Lexical {
		asked.Mode = search.Lexical
		return said, nil
	}
	if q.Mode == Semantic {
		asked.Mode = search.Dense
	}
	if s.vectors == nil || q.Embedder == "" && s.vectors.Standard() == "" {
		if q.Mode == Semantic || len(q.Vector) > 0 || q.Embedder != "" {
			return said, invalid("no embedder is configured, so searches are by words: omit mode, vector and embedder; the server's operator can add one with alcove embedder set")
		}
		return said, nil
	}
	if q.Mode != Semantic && q.Embedder == "" && s.vectors.Weight("", q.collection()) == 0 {
		asked.Mode = search.Lexical // vectors have no weight there
		return said, nil
	}
	asked.Embedder, asked.Vector = q.Embedder, q.Vector
	if len(q.Vector) > 0 {
		if err := s.vectors.Check(q.Embedder, q.Vector); err != nil {
			return said, invalid("vector: %v", err)
		}
		return said, nil
	}
	short, cut, cancel := hurried(ctx, s.questionTime)
	defer cancel()
	asked.Vector, err = s.vectors.Embed(short, q.Embedder, q.Text)
	switch {
	case err == nil && (asked.Vector != nil || q.Mode != Semantic):
		return said, nil
	case err == nil:
		return said, invalid("the embedder makes nothing of this question: give a vector, or search with mode lexical")
	case q.Mode == Semantic:
		return said, &Error{Code: Unavailable, Retryable: true, Cause: err, Message: fmt.Sprintf("the embedder does not answer: %v; search with mode lexical meanwhile", err)}
	}
	said.note(fmt.Sprintf("Ranked by words alone: %v.", err), cut())
	return said, nil
}

// ask queries the index. If vectors cannot be searched, words alone rank.
func (s *Space) ask(ctx context.Context, v view, q Search, asked search.Query) (search.Result, remarks, error) {
	said, err := s.embedQuestion(ctx, q, &asked)
	if err != nil {
		return search.Result{}, said, err
	}
	in := v.search(q.Namespaces, q.collection())
	result, err := s.index.Search(ctx, in, asked)
	if err != nil && ctx.Err() == nil && asked.Vector != nil && q.Mode != Semantic {
		said = remarks{}
		said.note(fmt.Sprintf("Ranked by words alone: %v.", err), false)
		asked.Vector = nil
		result, err = s.index.Search(ctx, in, asked)
	}
	said.vectors = asked.Vector != nil
	return result, said, err
}

// semanticWeight returns the weight of vectors in the score of a hit.
func (s *Space) semanticWeight(q Search, h search.Hit) float64 {
	switch {
	case math.IsNaN(h.Semantic) || s.vectors == nil:
		return 0
	case q.Mode == Semantic:
		return 1
	}
	return s.vectors.Weight(q.Embedder, h.Collection)
}

// Documents reads versions as documents of the index; missing ones are returned as deleted.
func (s *Space) Documents(ctx context.Context, refs []search.Ref) ([]search.Doc, error) {
	list := make([]search.Doc, len(refs))
	for i, r := range refs {
		e, err := s.version(ctx, r)
		if err != nil {
			return nil, s.translate("read a version", err)
		}
		if !e.Exists() || e.Version != r.Version {
			list[i].Deleted = true
			continue
		}
		d, ok, err := record.Doc(e)
		if err != nil {
			return nil, err
		}
		d.Deleted = d.Deleted || !ok
		list[i] = d
	}
	return list, nil
}

// version reads one version of an entry; the zero Entry: it is gone.
func (s *Space) version(ctx context.Context, r search.Ref) (store.Entry, error) {
	key := store.Key{Namespace: r.Namespace, Collection: r.Collection, Name: r.Key}
	found, err := s.engine.GetAt(ctx, store.Lineage{{Branch: r.Branch, At: r.Version}}, []store.Key{key})
	if err == nil {
		return found[0], nil
	}
	if _, trimmed := asTrimmed(err); !trimmed && !errors.Is(err, store.ErrNotFound) {
		return store.Entry{}, err
	}
	only := store.Range{Namespace: key.Namespace, Collection: key.Collection, Prefix: key.Name, Exact: true}
	for e, err := range store.Entries(ctx, s.engine.Versions, store.Lineage{{Branch: r.Branch, At: store.Latest}}, only, fillPage) {
		if err != nil || e.Version == r.Version {
			return e, err
		}
	}
	return store.Entry{}, nil
}
