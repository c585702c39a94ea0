package memory

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/alcove-memory/alcove/host/search"
)

// remarks is the information about a search other than its hits.
type remarks struct {
	notes   []string // for the caller
	cut     bool     // a part was skipped to meet the deadline
	vectors bool     // vectors were searched
}

func (r *remarks) note(text string, cut bool) {
	r.notes, r.cut = append(r.notes, text), r.cut || cut
}

// withReserve returns a context for an optional part of a search. It ends before the search's deadline, early enough to answer without the part,
// and after most at the latest; 0: no limit. cut reports whether the deadline of the search ended it.
func withReserve(ctx context.Context, most time.Duration) (short context.Context, cut func() bool, cancel context.CancelFunc) {
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

// embedQuestion sets the mode and the vector of a query. If it falls back to words alone, a remark gives the reason.
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
		asked.Mode = search.Lexical // vectors have no weight in the collection
		return said, nil
	}
	asked.Embedder, asked.Vector = q.Embedder, q.Vector
	if len(q.Vector) > 0 {
		if err := s.vectors.Check(q.Embedder, q.Vector); err != nil {
			return said, invalid("vector: %v", err)
		}
		return said, nil
	}
	short, cut, cancel := withReserve(ctx, s.questionTime)
	defer cancel()
	asked.Vector, err = s.vectors.Embed(short, q.Embedder, q.Text)
	switch {
	case err == nil && (asked.Vector != nil || q.Mode != Semantic):
		return said, nil
	case err == nil:
		return said, invalid("the embedder makes nothing of this question: give a vector, or search with mode lexical")
	case q.Mode == Semantic:
		return said, &Error{Code: Unavailable, Retryable: true, Cause: err, Message: fmt.Sprintf("the embedder does not answer: %v; until then search with mode lexical", err)}
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
	in := v.searched(q)
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
	case !math.IsNaN(h.Meaning):
		return h.Meaning
	}
	return s.vectors.Weight(q.Embedder, h.Collection)
}
