package memory

import (
	"context"
	"math"
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
		return invalid("vector is zero, or has elements that are not finite numbers")
	}
	if len(v.Embedder) > 64 {
		return invalid("embedder is longer than 64 bytes")
	}
	return nil
}
