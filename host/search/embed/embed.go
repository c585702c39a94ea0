// Package embed embeds texts: with a server, a static model, or a function.
package embed

import (
	"context"
	"errors"
	"fmt"
	"math"
)

// Embedder turns texts into vectors of one dimension. It may be called from many goroutines at once.
type Embedder interface {
	// Name is the embedder's name in its configuration.
	Name() string
	// Dimensions is how many elements its vectors have; 0 as long as that is not known.
	Dimensions() int
	// Embed gives a vector for each text, in their order, or an error and none. What means nothing to it gets nil.
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

// ErrRefused means that an embedder will never accept the text: trying again does not help.
var ErrRefused = errors.New("refused")

// MaxDimensions bounds the elements of a vector.
const MaxDimensions = 8192

// Func is an embedder made of a function, such as the embed hook of a tool family.
type Func struct {
	Called  string
	Vectors int // dimensions
	F       func(ctx context.Context, texts []string) ([][]float32, error)
}

// Name implements Embedder.
func (f Func) Name() string { return f.Called }

// Dimensions implements Embedder.
func (f Func) Dimensions() int { return f.Vectors }

// Embed implements Embedder. What the function gives is checked.
func (f Func) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	vectors, err := f.F(ctx, texts)
	if err != nil {
		return nil, fmt.Errorf("embed with %s: %w", f.Called, err)
	}
	if err := check(vectors, len(texts), f.Vectors); err != nil {
		return nil, fmt.Errorf("embed with %s: %w", f.Called, err)
	}
	return vectors, nil
}

// check validates the vectors of some texts. dimensions 0: any.
func check(vectors [][]float32, texts, dimensions int) error {
	if len(vectors) != texts {
		return fmt.Errorf("%d vectors came for %d texts", len(vectors), texts)
	}
	for _, v := range vectors {
		if dimensions == 0 {
			dimensions = len(v)
		}
		switch {
		case len(v) == 0 || len(v) > MaxDimensions:
			return fmt.Errorf("a vector has %d dimensions: they go from 1 to %d", len(v), MaxDimensions)
		case len(v) != dimensions:
			return fmt.Errorf("a vector has %d dimensions, and others have %d", len(v), dimensions)
		}
		for _, x := range v {
			if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
				return errors.New("a vector has an element that is not a finite number")
			}
		}
	}
	return nil
}
