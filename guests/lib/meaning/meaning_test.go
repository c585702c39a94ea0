package meaning

import (
	"math"
	"testing"
)

func TestVectorsWithoutADirectionOrOfAnotherLengthAreNotAlike(t *testing.T) {
	for _, c := range []struct {
		a, b []float32
		want float64
	}{
		{[]float32{1, 0}, []float32{2, 0}, 1},
		{[]float32{1, 0}, []float32{-3, 0}, -1},
		{[]float32{1, 1}, []float32{0, 5}, math.Sqrt2 / 2},
		{[]float32{1, 0}, []float32{0, 1}, 0},
		{[]float32{0, 0}, []float32{1, 1}, 0},
		{[]float32{1}, []float32{1, 1}, 0},
		{nil, nil, 0},
	} {
		if got := Cosine(c.a, c.b); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("Cosine(%v, %v) = %v, want %v", c.a, c.b, got, c.want)
		}
	}
}
