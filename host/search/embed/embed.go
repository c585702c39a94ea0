// Package embed turns texts into vectors with a server, a static model, or a function.
package embed

import (
	"context"
	"errors"
	"fmt"
	"math"
)

// Embedder turns texts into vectors of equal length. It is safe for concurrent use.
type Embedder interface {
	// Name is the embedder's name in its configuration.
	Name() string
	// Dimensions is the length of its vectors; 0 until it is known.
	Dimensions() int
	// Embed returns a vector for each text, in order; nil for a text without known tokens. ErrRefused: a retry is useless.
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

// ErrRefused means that the embedder will never accept the texts; a retry is useless.
var ErrRefused = errors.New("refused")

// MaxDimensions bounds the elements of a vector.
const MaxDimensions = 8192

// Func adapts a function, such as the embed hook of a tool family, to Embedder.
type Func struct {
	Called  string
	Vectors int // dimensions
	F       func(ctx context.Context, texts []string) ([][]float32, error)
}

// Name implements Embedder.
func (f Func) Name() string { return f.Called }

// Dimensions implements Embedder.
func (f Func) Dimensions() int { return f.Vectors }

// Embed implements Embedder. It validates the function's result.
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

// check validates the number, dimensions and elements of vectors. dimensions 0: any.
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
