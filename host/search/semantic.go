package search

import "context"

// Semantic ranks documents by their vectors. Searches with a Vector call it and fuse its scores with the lexical ones.
//
// Documents have dense numbers from 0, stable as long as the index holds the document, and reused after it is dropped.
// Begin, Add, Remove, Saving and Saved are called in commit order, one at a time, and must be quick: implementations defer slow work.
type Semantic interface {
	// EmbedDocument returns the embedding of a document, whose words are given; the zero Embedding if it will be made later. It is safe for
	// concurrent use.
	EmbedDocument(d *Doc, w DocumentWords) Embedding
	// Begin tells which documents the index has already: Add is not called for them.
	Begin(d Documents, h Held)
	// Add tells of a new document and its number, with what EmbedDocument returned, if it was called.
	Add(number uint32, r Ref, e Embedding)
	// Remove releases a number.
	Remove(number uint32)
	// Saving tells that the numbers as they are now are being saved.
	Saving()
	// Saved tells that a saved state of the index has the numbers as they were at the last Saving. When it is loaded again, Begin names it.
	Saved(state string)
	// Nearest returns up to k documents of a set by similarity to the query's vector, best first. Documents without a
	// vector are omitted.
	Nearest(ctx context.Context, q Query, among Set, k int) ([]Near, error)
	// Estimate approximates the scores that Nearest gives documents; NaN for one without a vector.
	Estimate(q Query, numbers []uint32) []float64
	// Fusion says how a query's vector scores are combined with the lexical ones: nil by Fuse.
	Fusion(q Query) *Fusion
	// Fuse sets each candidate's Score. The list has all candidates, so that scores can be normalised over it.
	Fuse(q Query, list []Candidate)
}

// Documents finds the documents of an index. It is safe for concurrent use, but not in what the index calls.
type Documents interface {
	// Refs returns the documents of numbers, in their order; the zero Ref for a number without one.
	Refs(numbers []uint32) ([]Ref, error)
}

// Embedding is a document's vector by an embedder.
type Embedding struct {
	By     string // identifies the embedder's vectors
	Vector []float32
}

// Set is the documents that a view and a query's filters admit: number n is bit n%64 of word n/64. It is valid until Nearest returns.
type Set []uint64

// Has reports whether a number is in the set.
func (s Set) Has(number uint32) bool { return bitset(s).has(number) }

// Len returns the number of members.
func (s Set) Len() int { return bitset(s).count() }

// Each calls do for the members in ascending order until do returns false.
func (s Set) Each(do func(number uint32) bool) { bitset(s).each(do) }

// Near is a document's similarity to a vector; higher is nearer.
type Near struct {
	Number uint32
	Score  float64
}

// Candidate is a possible hit.
type Candidate struct {
	Number     uint32
	Collection string
	Lexical    float64 // the lexical score; 0: no match
	Semantic   float64 // the score of Nearest; NaN: not among the nearest, or without a vector
	Score      float64 // the fused score
}

// DocumentWords are the words of a document's passages, as its analyser found them for the index, so that a text is analysed once.
type DocumentWords struct {
	By   *Analyser
	said [3][]wordPosition // the speaker, the passages, and the caption
}

// Each calls do for the words in their order until do returns false: those of a turn's speaker, of the passages, and of the caption.
func (w DocumentWords) Each(do func(Word) bool) {
	for _, list := range w.said {
		for _, word := range list {
			if !do(Word{word.wordAnalysis}) {
				return
			}
		}
	}
}
