// Package vector finds the nearest vectors of a set by exhaustive scans.
//
// A large set is scanned with one bit an element, a smaller one with seven bits; the best candidates are rescored in full
// precision. The codes of seven bits of a large set are not kept: its candidates are read from where the vectors are.
package vector

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/bits"
	"slices"
	"sync"
)

// Metric is the similarity of vectors.
type Metric uint8

// The metrics.
const (
	Cosine Metric = iota // cosine similarity
	Dot                  // dot product
)

// MaxDimensions bounds the elements of a vector.
const MaxDimensions = 8192

// Options configure a set. Zero fields mean the default in the comment.
type Options struct {
	Dimensions int    // required
	Metric     Metric // Cosine
	Codes      int    // the number of rows up to which codes are kept, and scans use them in place of bits; 50,000
	Portable   bool   // use no vector instructions
}

// Reader reads stored vectors in full precision. It is comparable, and safe for concurrent use.
type Reader interface {
	ReadVector(at uint32, into []float32) error
}

// Set is vectors by number. It is safe for concurrent use.
type Set struct {
	options Options
	kernels kernels
	stride  struct{ floats, codes, bits int } // elements of a row; bits in words

	mu      sync.RWMutex
	chunks  []*chunk
	groups  []group  // by 64 rows
	groupOf []uint32 // by 64 numbers: the group with the rows of those, from 1; 0: none has a vector
	free    []uint32 // groups
	coded   bool     // all rows have codes
	readers readers
	count   int
}

// group is 64 rows, of 64 numbers in a row: number n is in row n%64 of its group. So a set of numbers is one of rows a word at a time.
type group struct {
	used  uint64 // the rows with a vector
	block uint32 // of 64 numbers
}

const none = ^uint32(0)

// chunkRows is the number of rows of a chunk, a multiple of bitGroup.
const chunkRows = 1024

// chunk is chunkRows rows. Vectors that are not in floats are read from their Reader.
type chunk struct {
	bits     []uint64
	codes    []uint8   // nil if none are kept
	steps    []float32 // of codes
	norms    []float32 // with Dot only
	floats   []float32 // nil if no row is in memory
	inMemory int       // rows in floats
	sources  []source
	changed  bool // since it was written to a snapshot, or restored
	lent     bool // the bits are a snapshot's
}

// source is the location of a vector: a number of readers, or 0 for floats, and an index.
type source struct{ reader, at uint32 }

// readers are numbered from 1, as long as a vector is read from them.
type readers struct {
	list []Reader
	uses []uint32
}

// use returns the number of a reader, which one vector more is read from; 0: nil, which stands for floats.
func (r *readers) use(reader Reader) uint32 {
	if reader == nil {
		return 0
	}
	at := -1
	for i := len(r.list) - 1; i >= 0; i-- { // the last one is most likely
		if r.list[i] == reader {
			r.uses[i]++
			return uint32(i + 1)
		}
		if r.list[i] == nil {
			at = i
		}
	}
	if at < 0 {
		at = len(r.list)
		r.list, r.uses = append(r.list, nil), append(r.uses, 0)
	}
	r.list[at], r.uses[at] = reader, 1
	return uint32(at + 1)
}

// dropUnused forgets the readers that no vector is read from.
func (r *readers) dropUnused() {
	for i, uses := range r.uses {
		if uses == 0 {
			r.list[i] = nil
		}
	}
}

// forget forgets a reader that no other vector is read from.
func (r *readers) forget(number uint32) {
	if number == 0 {
		return
	}
	if r.uses[number-1]--; r.uses[number-1] == 0 {
		r.list[number-1] = nil
	}
}

// of returns a reader; nil for 0, which stands for floats.
func (r *readers) of(number uint32) Reader {
	if number == 0 {
		return nil
	}
	return r.list[number-1]
}

func (r *readers) usesOf(reader Reader) int {
	if at := slices.Index(r.list, reader); at >= 0 && reader != nil {
		return int(r.uses[at])
	}
	return 0
}

func (r *readers) read(at source, into []float32) error {
	return r.list[at.reader-1].ReadVector(at.at, into)
}

// New returns an empty set.
func New(o Options) (*Set, error) {
	if o.Dimensions < 1 || o.Dimensions > MaxDimensions {
		return nil, fmt.Errorf("make a set of vectors: %d dimensions: they go from 1 to %d", o.Dimensions, MaxDimensions)
	}
	o.Codes = cmp.Or(o.Codes, 50_000)
	s := &Set{options: o, kernels: fastest(), coded: true}
	if o.Portable {
		s.kernels = portable()
	}
	s.stride.floats = padded(o.Dimensions, floatBlock)
	s.stride.codes = padded(o.Dimensions, codeBlock)
	s.stride.bits = padded(o.Dimensions, 64) / 64
	return s, nil
}

func padded(n, block int) int { return (n + block - 1) / block * block }

// Len returns the number of vectors.
func (s *Set) Len() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.count
}

// Has reports whether a number has a vector.
func (s *Set) Has(number uint32) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.row(number) != none
}

// row returns the row of a number; none: it has no vector.
func (s *Set) row(number uint32) uint32 {
	if block := number / 64; int(block) < len(s.groupOf) && s.groupOf[block] > 0 {
		if g := s.groupOf[block] - 1; s.groups[g].used>>(number%64)&1 == 1 {
			return g*64 + number%64
		}
	}
	return none
}

func (s *Set) numberOf(row uint32) uint32 { return s.groups[row/64].block*64 + row%64 }

// errZero rejects a vector without a direction.
var errZero = errors.New("the vector is zero, which is near to nothing")

// Check validates the dimensions and elements of a vector or query.
func (s *Set) Check(v []float32) error {
	if len(v) != s.options.Dimensions {
		return fmt.Errorf("the vector has %d dimensions: those here have %d", len(v), s.options.Dimensions)
	}
	length := norm(v)
	switch {
	case math.IsNaN(length) || math.IsInf(length, 0) || length > math.MaxFloat32:
		return errors.New("the vector has elements that are not finite numbers, or far too large")
	case length < 1e-30:
		return errZero
	}
	return nil
}

// Ready returns the stored form of a vector: with Cosine, normalised. v is not changed.
func (s *Set) Ready(v []float32) ([]float32, error) {
	if err := s.Check(v); err != nil {
		return nil, err
	}
	ready := slices.Clone(v)
	if s.options.Metric == Cosine {
		length := norm(v)
		for i := range ready {
			ready[i] = float32(float64(ready[i]) / length)
		}
	}
	return ready, nil
}

// Put sets a number's vector and holds it in memory.
func (s *Set) Put(number uint32, v []float32) error {
	ready, err := s.Ready(v)
	if err != nil {
		return err
	}
	return s.put(number, ready, nil, 0)
}

// PutKept sets a number's vector, as Ready returned it or nearly so. Only its codes are held in memory; from reads it, at an index, whenever
// full precision is needed. A nil from means that the vector is held in memory; the index is what Source returns then.
func (s *Set) PutKept(number uint32, ready []float32, from Reader, at uint32) error {
	if err := s.Check(ready); err != nil {
		return err
	}
	return s.put(number, ready, from, at)
}

// Source returns the reader of a number's vector, nil if it is held in memory, and its index; ok is false if it has none.
func (s *Set) Source(number uint32) (from Reader, at uint32, ok bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	row := s.row(number)
	if row == none {
		return nil, 0, false
	}
	kept := s.chunks[row/chunkRows].sources[row%chunkRows]
	return s.readers.of(kept.reader), kept.at, true
}

// Uses counts the vectors that are read from a reader.
func (s *Set) Uses(from Reader) int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.readers.usesOf(from)
}

// ReadFrom calls do for the vectors that are read from one of some readers. It takes time in proportion to the set. do must not call the set.
func (s *Set) ReadFrom(readers []Reader, do func(number uint32, from Reader, at uint32)) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	wanted := make([]bool, len(s.readers.list)+1)
	for i, r := range s.readers.list {
		wanted[i+1] = r != nil && slices.Contains(readers, r)
	}
	for row := range s.usedRows() {
		if at := s.chunks[row/chunkRows].sources[row%chunkRows]; wanted[at.reader] {
			do(s.numberOf(row), s.readers.of(at.reader), at.at)
		}
	}
}

// Without returns up to most numbers below a bound that have no vector, the greatest first, and the bound below which others may be.
func (s *Set) Without(bound uint32, most int) (numbers []uint32, left uint32) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for bound > 0 && len(numbers) < most {
		if bound%64 == 0 && s.isFull(bound/64-1) {
			bound -= 64
			continue
		}
		if bound--; s.row(bound) == none {
			numbers = append(numbers, bound)
		}
	}
	return numbers, bound
}

// isFull reports whether all 64 numbers of a block have a vector.
func (s *Set) isFull(block uint32) bool {
	return int(block) < len(s.groupOf) && s.groupOf[block] > 0 && s.groups[s.groupOf[block]-1].used == 1<<64-1
}

// usedRows are the rows with a vector, in their order.
func (s *Set) usedRows() iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		for g := range s.groups {
			for used := s.groups[g].used; used != 0; used &= used - 1 {
				if !yield(uint32(g*64 + bits.TrailingZeros64(used))) {
					return
				}
			}
		}
	}
}

// Moved changes the reader and index of a number's vector.
func (s *Set) Moved(number uint32, to Reader, at uint32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if row := s.row(number); row != none {
		s.setSource(row, source{s.readers.use(to), at})
	}
}

func (s *Set) put(number uint32, v []float32, from Reader, at uint32) error {
	length := float32(1)
	if s.options.Metric == Dot {
		length = float32(norm(v))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	row := s.row(number)
	if row == none {
		row = s.allocate(number)
	}
	c, i := s.chunks[row/chunkRows], row%chunkRows
	if err := c.own(); err != nil {
		s.remove(number)
		return fmt.Errorf("keep a vector: %w", err)
	}
	if c.codes != nil {
		c.steps[i] = encode(v, c.codes[int(i)*s.stride.codes:][:s.stride.codes])
	}
	if c.norms != nil {
		c.norms[i] = length
	}
	first := int(i) / bitGroup * bitGroup * s.stride.bits
	setBits(v, c.bits[first+int(i)%bitGroup:], bitGroup)
	s.setSource(row, source{s.readers.use(from), at})
	if from == nil {
		if c.floats == nil {
			c.floats = make([]float32, chunkRows*s.stride.floats)
		}
		copy(c.floats[int(i)*s.stride.floats:], v)
	}
	return nil
}

// allocate assigns a row to a number.
func (s *Set) allocate(number uint32) uint32 {
	block := number / 64
	for int(block) >= len(s.groupOf) {
		s.groupOf = append(s.groupOf, 0)
	}
	if s.groupOf[block] == 0 {
		if len(s.free) == 0 {
			s.grow()
		}
		last := len(s.free) - 1
		g := s.free[last]
		s.free, s.groups[g].block, s.groupOf[block] = s.free[:last], block, g+1
	}
	g := s.groupOf[block] - 1
	s.groups[g].used |= 1 << (number % 64)
	row := g*64 + number%64
	s.chunks[row/chunkRows].inMemory++ // until setSource
	s.count++
	return row
}

// grow adds a chunk. A set that becomes too large for codes drops them.
func (s *Set) grow() {
	if s.coded && (len(s.chunks)+1)*chunkRows > padded(s.options.Codes, chunkRows) {
		s.coded = false
		for _, c := range s.chunks {
			c.codes, c.steps, c.changed = nil, nil, true
		}
	}
	first := len(s.groups)
	c := s.newChunk()
	c.bits, c.changed = make([]uint64, chunkRows*s.stride.bits), true
	s.chunks = append(s.chunks, c)
	s.groups = append(s.groups, make([]group, chunkRows/64)...)
	for g := len(s.groups) - 1; g >= first; g-- {
		s.free = append(s.free, uint32(g))
	}
}

// newChunk is a chunk without bits.
func (s *Set) newChunk() *chunk {
	c := &chunk{sources: make([]source, chunkRows)}
	if s.coded {
		c.codes, c.steps = make([]uint8, chunkRows*s.stride.codes), make([]float32, chunkRows)
	}
	if s.options.Metric == Dot {
		c.norms = make([]float32, chunkRows)
	}
	return c
}

// setSource sets the location of a row's vector, and frees floats if no row uses it.
func (s *Set) setSource(row uint32, at source) {
	c, i := s.chunks[row/chunkRows], row%chunkRows
	if was := c.sources[i].reader == 0; was != (at.reader == 0) {
		if was {
			c.inMemory--
		} else {
			c.inMemory++
		}
	}
	s.readers.forget(c.sources[i].reader)
	c.changed = true
	if c.sources[i] = at; c.inMemory == 0 {
		c.floats = nil
	}
}

// Remove removes a number's vector.
func (s *Set) Remove(number uint32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remove(number)
}

// remove is Remove. The caller holds mu.
func (s *Set) remove(number uint32) {
	row := s.row(number)
	if row == none {
		return
	}
	c := s.chunks[row/chunkRows]
	c.changed = true
	if c.sources[row%chunkRows].reader == 0 {
		c.inMemory--
	}
	s.readers.forget(c.sources[row%chunkRows].reader)
	c.sources[row%chunkRows] = source{}
	if c.inMemory == 0 {
		c.floats = nil
	}
	g := row / 64
	if s.groups[g].used &^= 1 << (row % 64); s.groups[g].used == 0 {
		s.groupOf[number/64] = 0
		s.free = append(s.free, g)
	}
	s.count--
}

// Vector returns a number's vector in stored form; nil if there is none.
func (s *Set) Vector(number uint32) ([]float32, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	row := s.row(number)
	if row == none {
		return nil, nil
	}
	v := make([]float32, s.stride.floats)
	err := s.read(row, v)
	return v[:s.options.Dimensions], err
}

// read reads a row in full precision into a padded row; elements beyond the dimensions are zero.
func (s *Set) read(row uint32, into []float32) error {
	c, i := s.chunks[row/chunkRows], row%chunkRows
	if at := c.sources[i]; at.reader != 0 {
		return s.readers.read(at, into[:s.options.Dimensions])
	}
	copy(into, c.floats[int(i)*s.stride.floats:(int(i)+1)*s.stride.floats])
	return nil
}
