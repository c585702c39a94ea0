package vector

import "math"

// codeZero is the code of 0; codes range from 1 to 127.
const codeZero = 64

// encode quantises a vector in steps of a 63rd of its largest element. It returns the step.
func encode(v []float32, codes []uint8) (step float32) {
	step = largest(v) / (codeZero - 1)
	for i := range codes {
		codes[i] = codeZero
	}
	if step == 0 {
		return 0
	}
	for i, x := range v {
		codes[i] = uint8(int(math.RoundToEven(float64(x/step))) + codeZero)
	}
	return step
}

// codedQuery is a query for dotCodes.
type codedQuery struct {
	elements []int8
	step     float32
	zero     int32 // the dot product with a row of zeros
}

func encodeQuery(v []float32, stride int) codedQuery {
	q := codedQuery{elements: make([]int8, stride), step: largest(v) / 127}
	if q.step == 0 {
		return q
	}
	for i, x := range v {
		q.elements[i] = int8(math.RoundToEven(float64(x / q.step)))
		q.zero += codeZero * int32(q.elements[i])
	}
	return q
}

// score approximates the dot product of the vectors.
func (q *codedQuery) score(dot int32, step float32) float32 {
	return float32(float32(dot-q.zero)*q.step) * step
}

func largest(v []float32) float32 {
	most := uint32(0) // of non-negative numbers the bits are in the order of the numbers
	for _, x := range v {
		most = max(most, math.Float32bits(x)&^(1<<31))
	}
	return math.Float32frombits(most)
}

// setBits writes the signs of the elements as bits into every step-th word.
func setBits(v []float32, words []uint64, step int) {
	for at := 0; at < len(v); at += 64 {
		var w uint64
		for i, x := range v[at:min(at+64, len(v))] {
			w |= positive(x) << i
		}
		words[at/64*step] = w
	}
}

// positive is 1 for a number above zero, else 0, without a branch, which would be predicted wrongly.
func positive(x float32) uint64 {
	const infinite = 0x7f800000 // the bits of the greatest
	return (uint64(math.Float32bits(x)-1) - infinite) >> 63
}

// norm is the Euclidean norm.
func norm(v []float32) float64 {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	return math.Sqrt(sum)
}
