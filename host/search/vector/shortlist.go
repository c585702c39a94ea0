package vector

import (
	"encoding/binary"
	"math"

	"github.com/alcove-memory/alcove/host/store"
)

// IntegerReader is a Reader that keeps vectors as small integers. A vector's elements are these times its scale, rounded.
type IntegerReader interface {
	Reader
	// Integers returns the integers of a vector, which may be in a mapped file, and are not read; nil: it is kept otherwise. The bytes of its
	// scale, a little-endian float32, lie before them.
	Integers(at uint32) (scale *[4]byte, integers *int8)
}

// leastPromising is how many more rows than are wanted there must be for bounds to pay.
const leastPromising = 16

// shortlist returns the rows that may be among the best k. Each score is bounded from both sides by a product of integers, which takes a
// small part of the time of reading a vector in full precision: rows whose upper bound is below k lower bounds are none of the best.
func (r *search) shortlist(rows []uint32, k int) []uint32 {
	s := r.set
	if len(rows) < k+leastPromising || s.options.Dimensions%partBlock != 0 {
		return rows
	}
	b := bounded{integers: make([]*int8, 0, len(rows)), scales: make([]*[4]byte, 0, len(rows)), rows: make([]uint32, 0, len(rows))}
	left := b.add(s, rows)
	if len(b.rows) < k+leastPromising {
		return rows
	}
	var kept []uint32
	if store.Guard(func() { kept = b.best(r.query, k, s.kernels) }) != nil {
		return rows // to read them tells which of them cannot be read
	}
	return append(left, kept...)
}

// bounded is rows whose vectors are kept as integers.
type bounded struct {
	rows     []uint32
	scales   []*[4]byte
	integers []*int8
}

// add adds the rows that are kept as integers, and returns the others.
func (b *bounded) add(s *Set, rows []uint32) (others []uint32) {
	readers := s.readers.ofIntegers()
	for _, row := range rows {
		if at := s.chunks[row/chunkRows].sources[row%chunkRows]; readers[at.reader] != nil {
			if scale, integers := readers[at.reader].Integers(at.at); integers != nil {
				b.rows, b.scales, b.integers = append(b.rows, row), append(b.scales, scale), append(b.integers, integers)
				continue
			}
		}
		others = append(others, row)
	}
	return others
}

// ofIntegers returns the readers that are IntegerReaders, by their numbers; nil for the others, and for 0.
func (r *readers) ofIntegers() []IntegerReader {
	list := make([]IntegerReader, len(r.list)+1)
	for i, reader := range r.list {
		list[i+1], _ = reader.(IntegerReader)
	}
	return list
}

// best returns the rows that may be among the best k.
func (b *bounded) best(query []float32, k int, use kernels) []uint32 {
	q := partQuery(query)
	dots, highest, lows := make([]int32, len(b.rows)), make([]float32, len(b.rows)), newBest(k)
	use.dotIntegers(q.parts, b.integers, dots)
	for i, dot := range dots {
		low, high := q.bounds(dot, math.Float32frombits(binary.LittleEndian.Uint32(b.scales[i][:])))
		highest[i] = high
		lows.offer(candidate{score: low})
	}
	least, kept := lows.worst(), make([]uint32, 0, 2*k)
	for i, high := range highest {
		if !(high < least) {
			kept = append(kept, b.rows[i])
		}
	}
	return kept
}

// partedQuery is a query for dotIntegers.
type partedQuery struct {
	parts []int16
	step  float64
	off   float64 // what a score may differ from that of the parts, for a scale of 1
}

// partQuery quantises a query as finely as sums of products with int8 allow. A score is what dotFloats sums of the elements in full precision,
// each an integer times the scale, rounded. It differs from the product of the integers by at most the sum of
//
//   - what the query loses as integers: the length of the difference, times that of the vector (Cauchy-Schwarz),
//   - what is rounded: each element of the vector, each product, and each addition, by at most a part in 2^24.
//
// A vector is not longer than one of which each integer is 128.
func partQuery(query []float32) partedQuery {
	n := float64(len(query))
	q := partedQuery{parts: make([]int16, len(query)), step: float64(largest(query)) / math.Floor(min(math.MaxInt16, math.MaxInt32/(128*n)))}
	if q.step == 0 {
		return q
	}
	lost := 0.0
	for i, x := range query {
		part := math.RoundToEven(float64(x) / q.step)
		q.parts[i] = int16(part)
		lost += (float64(x) - part*q.step) * (float64(x) - part*q.step)
	}
	const twice = 2 // so that the rounding of the bounds themselves is less
	rounded := (n/floatBlock + floatBlock) / (1 << 24) * norm(query)
	q.off = twice * (math.Sqrt(lost) + rounded) * 128 * math.Sqrt(n)
	return q
}

// bounds are scores that the row of a product is not below, and not above.
func (q *partedQuery) bounds(dot int32, scale float32) (low, high float32) {
	score, off := float64(dot)*q.step*float64(scale), q.off*math.Abs(float64(scale))+math.SmallestNonzeroFloat32*float64(1<<24)
	return float32(score - off), float32(score + off)
}
