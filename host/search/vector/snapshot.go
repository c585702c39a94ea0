package vector

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"slices"
)

// The format of a snapshot; numbers are little-endian:
//
//	u32 dimensions  u32 metric  u32 coded  u32 chunks
//	chunks × 16 × { u64 used  u32 block }
//	chunks × { u64 × words of bits  1024 × { u32 reader  u32 at }  codes, where coded is 1: u8 × codes  float32 × 1024  norms, with Dot: float32 × 1024 }
//
// reader is the place of a reader in the list of readers, from 1; rows without a vector have 0.
const snapshotHeader = 16

// errSource refuses a vector that no given reader has.
var errSource = errors.New("a vector is not in any of the files")

// WriteTo writes a snapshot: the set without its vectors of full precision, all of which one of the readers must have. Nobody changes the set
// meanwhile.
func (s *Set) WriteTo(w io.Writer, readers []Reader) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	place := make([]uint32, len(s.readers.list)+1)
	for i, r := range s.readers.list {
		place[i+1] = uint32(slices.Index(readers, r) + 1)
	}
	out := bufio.NewWriterSize(w, 1<<16)
	e := encoder{out: out}
	e.words(uint32(s.options.Dimensions), uint32(s.options.Metric), oneIf(s.coded), uint32(len(s.chunks)))
	for _, g := range s.groups {
		e.long(g.used)
		e.words(g.block)
	}
	for i, c := range s.chunks {
		if err := e.chunk(c, s.groups[i*chunkRows/64:][:chunkRows/64], place); err != nil {
			return fmt.Errorf("write a snapshot of vectors: %w", err)
		}
	}
	return out.Flush()
}

func oneIf(is bool) uint32 {
	if is {
		return 1
	}
	return 0
}

// encoder writes numbers; its writer keeps the first error.
type encoder struct {
	out  *bufio.Writer
	next [8]byte
}

func (e *encoder) long(n uint64) {
	binary.LittleEndian.PutUint64(e.next[:], n)
	e.out.Write(e.next[:8])
}

func (e *encoder) words(list ...uint32) {
	for _, n := range list {
		binary.LittleEndian.PutUint32(e.next[:], n)
		e.out.Write(e.next[:4])
	}
}

func (e *encoder) floats(list []float32) {
	for _, x := range list {
		e.words(math.Float32bits(x))
	}
}

func (e *encoder) chunk(c *chunk, groups []group, place []uint32) error {
	for _, word := range c.bits {
		e.long(word)
	}
	for i, at := range c.sources {
		if groups[i/64].used>>(i%64)&1 == 0 {
			e.words(0, 0)
			continue
		}
		if place[at.reader] == 0 {
			return errSource
		}
		e.words(place[at.reader], at.at)
	}
	e.out.Write(c.codes)
	e.floats(c.steps)
	e.floats(c.norms)
	return nil
}

// Kept is a reader, and how many vectors it has.
type Kept struct {
	Reader Reader
	Rows   int
}

// Restore makes the set that of a snapshot, whose readers are given in the order of WriteTo. A snapshot that is not of such a set is refused, and
// the set is as it was. data is not kept.
func (s *Set) Restore(data []byte, readers []Kept) error {
	restored, err := New(s.options)
	if err == nil {
		err = restored.decode(data, readers)
	}
	if err != nil {
		return fmt.Errorf("restore a snapshot of vectors: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.chunks, s.groups, s.groupOf, s.free = restored.chunks, restored.groups, restored.groupOf, restored.free
	s.coded, s.readers, s.count = restored.coded, restored.readers, restored.count
	return nil
}

// errSnapshot refuses a snapshot that WriteTo has not written.
var errSnapshot = errors.New("it is not one of such vectors")

func (s *Set) decode(data []byte, readers []Kept) error {
	d := decoder{data}
	if len(data) < snapshotHeader || d.word() != uint32(s.options.Dimensions) || d.word() != uint32(s.options.Metric) {
		return errSnapshot
	}
	s.coded = d.word() == 1
	chunks := int(d.word())
	size := s.chunkSize()
	if len(d.rest)%size != 0 || len(d.rest)/size != chunks {
		return errSnapshot
	}
	s.groups = make([]group, chunks*chunkRows/64)
	for g := range s.groups {
		s.groups[g] = group{d.long(), d.word()}
		if err := s.join(uint32(g)); err != nil {
			return err
		}
	}
	for _, r := range readers {
		s.readers.list, s.readers.uses = append(s.readers.list, r.Reader), append(s.readers.uses, 0)
	}
	for i := range chunks {
		c, err := s.decodeChunk(&d, s.groups[i*chunkRows/64:][:chunkRows/64], readers)
		if err != nil {
			return err
		}
		s.chunks = append(s.chunks, c)
	}
	s.readers.dropUnused()
	return nil
}

// mostBlocks is how many blocks of 64 numbers there are.
const mostBlocks = 1 << 26

// join notes the numbers of a group that was read.
func (s *Set) join(g uint32) error {
	block, used := s.groups[g].block, s.groups[g].used
	if used == 0 {
		s.free = append(s.free, g)
		return nil
	}
	if block >= mostBlocks {
		return errSnapshot
	}
	if missing := int(block) + 1 - len(s.groupOf); missing > 0 {
		s.groupOf = append(s.groupOf, make([]uint32, missing)...)
	}
	if s.groupOf[block] != 0 {
		return errSnapshot
	}
	s.groupOf[block] = g + 1
	s.count += bits.OnesCount64(used)
	return nil
}

// chunkSize is the size of a chunk in a snapshot, its groups included.
func (s *Set) chunkSize() int {
	size := chunkRows/64*12 + chunkRows*s.stride.bits*8 + chunkRows*8
	if s.coded {
		size += chunkRows * (s.stride.codes + 4)
	}
	if s.options.Metric == Dot {
		size += chunkRows * 4
	}
	return size
}

func (s *Set) decodeChunk(d *decoder, groups []group, readers []Kept) (*chunk, error) {
	c := s.newChunk()
	for i := range c.bits {
		c.bits[i] = d.long()
	}
	for i := range c.sources {
		at := source{d.word(), d.word()}
		if groups[i/64].used>>(i%64)&1 == 0 {
			continue
		}
		if at.reader == 0 || int(at.reader) > len(readers) || int(at.at) >= readers[at.reader-1].Rows {
			return nil, errSource
		}
		c.sources[i] = at
		s.readers.uses[at.reader-1]++
	}
	copy(c.codes, d.take(len(c.codes)))
	d.floats(c.steps)
	d.floats(c.norms)
	return c, nil
}

// decoder reads numbers of data whose size was checked.
type decoder struct{ rest []byte }

func (d *decoder) take(n int) []byte {
	taken := d.rest[:n]
	d.rest = d.rest[n:]
	return taken
}

func (d *decoder) word() uint32 { return binary.LittleEndian.Uint32(d.take(4)) }

func (d *decoder) long() uint64 { return binary.LittleEndian.Uint64(d.take(8)) }

func (d *decoder) floats(into []float32) {
	for i := range into {
		into[i] = math.Float32frombits(d.word())
	}
}
