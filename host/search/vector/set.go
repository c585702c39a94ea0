// Package vector finds the nearest vectors of a set by exhaustive scans.
//
// A large set is scanned in one bit an element, a middling one in codes of seven bits; what these find best is scored
// again in full precision.
package vector

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
)

// Metric says which vectors are near.
type Metric uint8

// The metrics.
const (
	Cosine Metric = iota // by direction alone
	Dot                  // by dot product: length counts
)

// MaxDimensions bounds the elements of a vector.
const MaxDimensions = 8192

// Options configure a set. Zero fields mean the default in the comment.
type Options struct {
	Dimensions int    // required
	Metric     Metric // Cosine
	Codes      int    // up to how many vectors a scan reads codes; beyond it bits; 50,000
	Portable   bool   // do without the processor's vector instructions
}

// Reader reads vectors where they are kept, in full precision. It may be called from many goroutines at once.
type Reader interface {
	ReadVector(at uint32, into []float32) error
}

// Set holds vectors by number. Its methods may be called from many goroutines at once.
type Set struct {
	options Options
	kernels kernels
	stride  struct{ floats, codes, bits int } // elements of a row; bits in words

	mu      sync.RWMutex
	chunks  []*chunk
	rows    []uint32 // by number; none where there is no vector
	numbers []uint32 // by row; none where the row is free
	free    []uint32 // rows
	count   int
}

const none = ^uint32(0)

// chunkRows is how many rows are kept together, a multiple of bitGroup.
const chunkRows = 1024

// chunk is some rows. What is not in floats is read from where it is kept.
type chunk struct {
	codes    []uint8
	bits     []uint64
	steps    []float32
	norms    []float32 // with Dot only
	floats   []float32 // nil when no row is in memory
	inMemory int       // rows that have no place
	places   []place
}

// place is where a vector is kept; the zero place is in floats.
type place struct {
	reader Reader
	at     uint32
}

// New makes an empty set.
func New(o Options) (*Set, error) {
	if o.Dimensions < 1 || o.Dimensions > MaxDimensions {
		return nil, fmt.Errorf("make a set of vectors: %d dimensions: they go from 1 to %d", o.Dimensions, MaxDimensions)
	}
	o.Codes = cmp.Or(o.Codes, 50_000)
	s := &Set{options: o, kernels: fastest()}
	if o.Portable {
		s.kernels = portable()
	}
	s.stride.floats = padded(o.Dimensions, floatBlock)
	s.stride.codes = padded(o.Dimensions, codeBlock)
	s.stride.bits = padded(o.Dimensions, 64) / 64
	return s, nil
}

func padded(n, block int) int { return (n + block - 1) / block * block }

// Len is how many vectors there are.
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

func (s *Set) row(number uint32) uint32 {
	if int(number) >= len(s.rows) {
		return none
	}
	return s.rows[number]
}

// errZero says that a vector has no direction.
var errZero = errors.New("the vector is zero, which is near to nothing")

// Check validates a vector or query.
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

// Ready returns the stored form of a vector: normalised with Cosine. v is not changed.
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

// Put sets a number's vector, which is kept in memory.
func (s *Set) Put(number uint32, v []float32) error {
	ready, err := s.Ready(v)
	if err != nil {
		return err
	}
	s.put(number, ready, place{})
	return nil
}

// PutKept sets a number's vector, which Ready made and which from, at a place, gives again. from is asked whenever full
// precision is needed.
func (s *Set) PutKept(number uint32, ready []float32, from Reader, at uint32) error {
	if err := s.Check(ready); err != nil {
		return err
	}
	s.put(number, ready, place{from, at})
	return nil
}

// Moved tells that a number's vector is kept elsewhere now.
func (s *Set) Moved(number uint32, to Reader, at uint32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if row := s.row(number); row != none {
		s.chunks[row/chunkRows].place(row%chunkRows, place{to, at})
	}
}

func (s *Set) put(number uint32, v []float32, at place) {
	codes := make([]uint8, s.stride.codes)
	step := encode(v, codes)
	length := float32(norm(v))
	s.mu.Lock()
	defer s.mu.Unlock()
	row := s.row(number)
	if row == none {
		row = s.take(number)
	}
	c, i := s.chunks[row/chunkRows], row%chunkRows
	copy(c.codes[int(i)*s.stride.codes:], codes)
	c.steps[i] = step
	if c.norms != nil {
		c.norms[i] = length
	}
	group := int(i) / bitGroup * bitGroup * s.stride.bits
	setBits(v, c.bits[group+int(i)%bitGroup:], bitGroup)
	c.place(i, at)
	if at.reader == nil {
		if c.floats == nil {
			c.floats = make([]float32, chunkRows*s.stride.floats)
		}
		copy(c.floats[int(i)*s.stride.floats:], v)
	}
}

// take gives a number a row.
func (s *Set) take(number uint32) uint32 {
	if len(s.free) == 0 {
		s.grow()
	}
	row := s.free[len(s.free)-1]
	s.free = s.free[:len(s.free)-1]
	for int(number) >= len(s.rows) {
		s.rows = append(s.rows, none)
	}
	s.rows[number], s.numbers[row] = row, number
	s.chunks[row/chunkRows].inMemory++ // until it gets its place
	s.count++
	return row
}

func (s *Set) grow() {
	c := &chunk{
		codes: make([]uint8, chunkRows*s.stride.codes), bits: make([]uint64, chunkRows*s.stride.bits),
		steps: make([]float32, chunkRows), places: make([]place, chunkRows),
	}
	if s.options.Metric == Dot {
		c.norms = make([]float32, chunkRows)
	}
	first := len(s.chunks) * chunkRows
	s.chunks = append(s.chunks, c)
	for i := chunkRows - 1; i >= 0; i-- {
		s.free = append(s.free, uint32(first+i))
		s.numbers = append(s.numbers, none)
	}
}

// place sets where a row's vector is, and gives memory back that no row needs.
func (c *chunk) place(i uint32, at place) {
	if was := c.places[i].reader == nil; was != (at.reader == nil) {
		if was {
			c.inMemory--
		} else {
			c.inMemory++
		}
	}
	if c.places[i] = at; c.inMemory == 0 {
		c.floats = nil
	}
}

// Remove forgets a number's vector.
func (s *Set) Remove(number uint32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	row := s.row(number)
	if row == none {
		return
	}
	c := s.chunks[row/chunkRows]
	if c.places[row%chunkRows].reader == nil {
		c.inMemory--
	}
	c.places[row%chunkRows] = place{}
	if c.inMemory == 0 {
		c.floats = nil
	}
	s.rows[number], s.numbers[row] = none, none
	s.free = append(s.free, row)
	s.count--
}

// Vector is a number's vector as Ready made it; nil when there is none.
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

// read reads a row in full precision. into is as long as a row, and zero beyond its dimensions.
func (s *Set) read(row uint32, into []float32) error {
	c, i := s.chunks[row/chunkRows], row%chunkRows
	if at := c.places[i]; at.reader != nil {
		return at.reader.ReadVector(at.at, into[:s.options.Dimensions])
	}
	copy(into, c.floats[int(i)*s.stride.floats:(int(i)+1)*s.stride.floats])
	return nil
}
