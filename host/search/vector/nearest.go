package vector

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"runtime/debug"
	"slices"

	"github.com/alcove-memory/alcove/host/store"
)

// Near is a vector's number and score: higher is nearer. Cosine scores range from −1 to 1.
type Near struct {
	Number uint32
	Score  float64
}

// Scan is the representation that a query scans.
type Scan uint8

// The scans. All return scores of full precision.
const (
	Auto   Scan = iota // by the number of vectors
	Floats             // all vectors in full precision
	Codes              // seven bits an element; the best are rescored in full precision. Bits, where no codes are kept
	Bits               // one bit an element; the best are rescored in codes if they are kept, and the best of those in full precision
)

// Numbers of rescored vectors: the minimum, and the surplus over K or factor of K.
const (
	leastRescored, rescoredMore = 40, 30 // codes → full precision
	leastRecoded, recodedEach   = 800, 8 // bits → codes
	recodedPart                 = 300    // and at least one in so many
	sparseFloats, sparseCodes   = 16, 3  // a query of less than one row in so many looks rows up one by one
)

// Query is a nearest-neighbour query.
type Query struct {
	Vector []float32
	Among  []uint64 // the numbers that are searched, a bit each: number n is bit n%64 of word n/64; nil: all
	K      int
	Scan   Scan
}

// Nearest returns up to K vectors nearest to a query, nearest first; ties are ordered by number.
func (s *Set) Nearest(ctx context.Context, q Query) (list []Near, err error) {
	ready, err := s.Ready(q.Vector)
	if err != nil {
		return nil, fmt.Errorf("find the nearest vectors: %w", err)
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true)) // bits may be those of a mapped file
	defer store.RecoverFault(&err)
	s.mu.RLock()
	defer s.mu.RUnlock()
	among := s.count
	if q.Among != nil {
		among = min(among, sizeOf(q.Among))
	}
	if q.K = min(q.K, among); q.K <= 0 {
		return nil, nil
	}
	r := &search{set: s, ctx: ctx, wanted: s.rowsAmong(q.Among), query: make([]float32, s.stride.floats)}
	copy(r.query, ready)
	if q.Scan == Auto {
		q.Scan = scanOf(among, q.K, s.options.Codes)
	}
	if q.Scan == Codes && !s.coded {
		q.Scan = Bits
	}
	rows, err := r.candidates(q, among)
	if err != nil {
		return nil, fmt.Errorf("find the nearest vectors: %w", err)
	}
	return r.exact(rows, q.K)
}

// scanOf chooses the scan: full precision if nearly all would be rescored.
func scanOf(among, k, codes int) Scan {
	switch {
	case among <= max(leastRescored, k+rescoredMore):
		return Floats
	case among <= max(codes, recodedEach*k):
		return Codes
	}
	return Bits
}

// search is one running query.
type search struct {
	set    *Set
	ctx    context.Context
	wanted []uint64 // rows
	query  []float32
}

// wantedOf returns which rows of a chunk the query searches.
func (r *search) wantedOf(chunk int) []uint64 {
	return r.wanted[chunk*chunkRows/64:][:chunkRows/64]
}

// candidates returns the rows to be scored in full precision.
func (r *search) candidates(q Query, among int) ([]uint32, error) {
	s := r.set
	switch q.Scan {
	case Floats:
		if among*sparseFloats < 64*len(s.groups) {
			return r.all(), nil
		}
		return r.scan(q.K, r.floatScores())
	case Codes:
		wanted := max(leastRescored, q.K+rescoredMore)
		coded := encodeQuery(r.query, s.stride.codes)
		if among*sparseCodes < 64*len(s.groups) {
			return r.recode(r.all(), &coded, wanted), nil
		}
		return r.scan(wanted, r.codeScores(&coded))
	}
	rows, err := r.scanBits(max(leastRecoded, recodedEach*q.K, among/recodedPart))
	if !s.coded {
		return rows, err
	}
	coded := encodeQuery(r.query, s.stride.codes)
	return r.recode(rows, &coded, max(leastRescored, q.K+rescoredMore)), err
}

// all returns the rows that the query searches.
func (r *search) all() []uint32 {
	rows := make([]uint32, 0, sizeOf(r.wanted))
	for i, word := range r.wanted {
		for ; word != 0; word &= word - 1 {
			rows = append(rows, uint32(i*64+bits.TrailingZeros64(word)))
		}
	}
	return rows
}

// scores computes the score of each row of a chunk, approximately or exactly.
type scores func(c *chunk, into []float32)

// scan scores all rows and returns the best.
func (r *search) scan(wanted int, score scores) ([]uint32, error) {
	s := r.set
	kept := newBest(wanted)
	into := make([]float32, chunkRows)
	for i, c := range s.chunks {
		if err := r.ctx.Err(); err != nil {
			return nil, err
		}
		wanted := r.wantedOf(i)
		if isEmpty(wanted) {
			continue
		}
		score(c, into)
		worst := kept.worst()
		for j, x := range into {
			if x < worst || wanted[j/64]>>(j%64)&1 == 0 {
				continue
			}
			row := uint32(i*chunkRows + j)
			kept.offer(candidate{x, s.numberOf(row), row})
			worst = kept.worst()
		}
	}
	return kept.rows(), nil
}

func (r *search) floatScores() scores {
	s := r.set
	row := make([]float32, s.stride.floats)
	return func(c *chunk, into []float32) {
		if c.floats != nil {
			s.kernels.dotFloats(r.query, c.floats, into)
		}
		if c.inMemory == chunkRows {
			return
		}
		for i, at := range c.sources {
			if at.reader == 0 {
				continue
			}
			into[i] = float32(math.Inf(-1))
			if s.readers.read(at, row[:s.options.Dimensions]) == nil { // exact reports a read error
				s.kernels.dotFloats(r.query, row, into[i:i+1])
			}
		}
	}
}

func (r *search) codeScores(q *codedQuery) scores {
	dots := make([]int32, chunkRows)
	return func(c *chunk, into []float32) {
		r.set.kernels.dotCodes(q.elements, c.codes, dots)
		for i, dot := range dots {
			into[i] = q.score(dot, c.steps[i])
		}
	}
}

func (r *search) bitScores() scores {
	s := r.set
	query, counts, under := make([]uint64, s.stride.bits), make([]uint64, chunkRows), make([]uint8, chunkRows/bitGroup)
	setBits(r.query[:s.options.Dimensions], query, 1)
	scale := 2 / float32(s.options.Dimensions)
	return func(c *chunk, into []float32) {
		s.kernels.differ(query, c.bits, 0, counts, under)
		if c.norms == nil {
			for i, count := range counts {
				into[i] = -float32(int64(count))
			}
			return
		}
		for i, count := range counts {
			into[i] = (1 - float32(int64(count))*scale) * c.norms[i]
		}
	}
}

// scanBits returns the rows whose bits differ least, wanted or some more of them.
func (r *search) scanBits(wanted int) ([]uint32, error) {
	s := r.set
	if s.options.Metric == Dot {
		return r.scan(wanted, r.bitScores())
	}
	query, counts, under := make([]uint64, s.stride.bits), make([]uint64, chunkRows), make([]uint8, chunkRows/bitGroup)
	setBits(r.query[:s.options.Dimensions], query, 1)
	kept := newNearby(wanted, s.options.Dimensions)
	for i, c := range s.chunks {
		if err := r.ctx.Err(); err != nil {
			return nil, err
		}
		if isEmpty(r.wantedOf(i)) {
			continue
		}
		s.kernels.differ(query, c.bits, kept.below, counts, under)
		for j, word := range r.wantedOf(i) {
			kept.offer(uint32(i*chunkRows+j*64), word&binary.LittleEndian.Uint64(under[j*8:]), counts[j*64:][:64])
		}
	}
	return kept.rows(2 * wanted), nil
}

// recode returns the best rows by their codes.
func (r *search) recode(rows []uint32, q *codedQuery, wanted int) []uint32 {
	s := r.set
	if len(rows) <= wanted {
		return rows
	}
	kept := newBest(wanted)
	var dot [1]int32
	for _, row := range rows {
		c, i := s.chunks[row/chunkRows], int(row%chunkRows)
		s.kernels.dotCodes(q.elements, c.codes[i*s.stride.codes:(i+1)*s.stride.codes], dot[:])
		kept.offer(candidate{q.score(dot[0], c.steps[i]), s.numberOf(row), row})
	}
	return kept.rows()
}

// exact scores rows in full precision and returns the best k.
func (r *search) exact(rows []uint32, k int) ([]Near, error) {
	s := r.set
	v, kept := make([]float32, s.stride.floats), newBest(k)
	var dot [1]float32
	for _, row := range r.shortlist(rows, k) {
		if err := s.read(row, v); err != nil {
			return nil, fmt.Errorf("read vector %d: %w", s.numberOf(row), err)
		}
		s.kernels.dotFloats(r.query, v, dot[:])
		kept.offer(candidate{dot[0], s.numberOf(row), row})
	}
	slices.SortFunc(kept.list, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.number, b.number))
	})
	list := make([]Near, len(kept.list))
	for i, c := range kept.list {
		list[i] = Near{c.number, float64(c.score)}
	}
	return list, nil
}

// Score returns the score of a number's vector for a query; ok reports whether it has a vector.
func (s *Set) Score(query []float32, number uint32) (score float64, ok bool, err error) {
	ready, err := s.Ready(query)
	if err != nil {
		return 0, false, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	row := s.row(number)
	if row == none {
		return 0, false, nil
	}
	r := &search{set: s, query: make([]float32, s.stride.floats)}
	copy(r.query, ready)
	list, err := r.exact([]uint32{row}, 1)
	if err != nil {
		return 0, false, err
	}
	return list[0].Score, true, nil
}

// Estimate approximates the scores of numbers by codes, whether they are kept or not; NaN for a number without a vector, or one that
// cannot be read.
func (s *Set) Estimate(query []float32, numbers []uint32) []float64 {
	scores := make([]float64, len(numbers))
	ready, err := s.Ready(query)
	coded := encodeQuery(ready, s.stride.codes)
	s.mu.RLock()
	defer s.mu.RUnlock()
	row := coder{set: s, codes: make([]uint8, s.stride.codes), floats: make([]float32, s.stride.floats)}
	var dot [1]int32
	for i, number := range numbers {
		scores[i] = math.NaN()
		if err != nil {
			continue
		}
		if codes, step, ok := row.of(number); ok {
			s.kernels.dotCodes(coded.elements, codes, dot[:])
			scores[i] = float64(coded.score(dot[0], step))
		}
	}
	return scores
}

// coder reads codes of rows, or makes them.
type coder struct {
	set    *Set
	codes  []uint8
	floats []float32
}

// of returns the codes of a number, which are good until the next call; ok is false if it has no vector that can be read.
func (c *coder) of(number uint32) (codes []uint8, step float32, ok bool) {
	row := c.set.row(number)
	if row == none {
		return nil, 0, false
	}
	if kept, at := c.set.chunks[row/chunkRows], int(row%chunkRows); kept.codes != nil {
		return kept.codes[at*c.set.stride.codes:][:c.set.stride.codes], kept.steps[at], true
	}
	if c.set.read(row, c.floats) != nil {
		return nil, 0, false
	}
	return c.codes, encode(c.floats[:c.set.options.Dimensions], c.codes), true
}
