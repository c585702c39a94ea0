package search

import "context"

// Semantic ranks documents by meaning. An index that was made with one asks it in searches that have a
// vector, and adds its scores to those of the words.
//
// Documents are numbered: a document keeps its number as long as the index holds it, numbers are dense from 0, and
// those of documents that were dropped are given again. Add and Remove are called in commit order, one
// at a time, and must be quick: implementations defer slow work.
type Semantic interface {
	// Add tells of a document and its number.
	Add(number uint32, r Ref)
	// Remove tells that a number stands for no document any more.
	Remove(number uint32)
	// Nearest are the documents of a set that are most like the query's vector, best first, at most k. A document
	// without a vector is left out.
	Nearest(ctx context.Context, q Query, among Set, k int) ([]Near, error)
	// Fuse computes each candidate's Score from its features. The list is complete.
	Fuse(q Query, list []Candidate)
}

// Set is the documents that a view and the filters of a query let through. It is valid until Nearest returns.
type Set interface {
	Has(number uint32) bool
	Len() int
	// Each goes through the numbers in ascending order until do returns false.
	Each(do func(number uint32) bool)
}

// Near is how like a document is to a vector; higher is nearer.
type Near struct {
	Number uint32
	Score  float64
}

// Candidate is a document that may become a hit.
type Candidate struct {
	Number   uint32
	Lexical  float64 // how well its words match; 0: not at all
	Semantic float64 // what Nearest said; NaN: it was not among the nearest, or has no vector
	Score    float64 // what decides
}
