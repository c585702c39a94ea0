package vector

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"slices"
	"sync"
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
	p := s.part(nil)
	p.groups = slices.Clip(s.groups)
	_, err := p.WriteTo(w) // what comes before the rows
	for i := 0; err == nil && i < p.chunks; i++ {
		var left int
		if left, err = p.copy(i, readers); left > 0 {
			err = errSource
		}
		if err == nil {
			_, err = w.Write(p.rows)
			p.rows = p.rows[:0]
		}
	}
	if err != nil {
		return fmt.Errorf("write a snapshot of vectors: %w", err)
	}
	return nil
}

// CopyPart copies a snapshot to memory while the set changes, without some numbers and without those whose vectors no reader has, and returns
// how many were left out. It holds a lock for a thousand vectors at a time, under which without is called; numbers that are removed, or come,
// once it was begun must be among those without. No vector moves from one reader to another meanwhile.
func (s *Set) CopyPart(lock sync.Locker, readers []Reader, without func(number uint32) bool) (p *Part, left int, err error) {
	lock.Lock()
	p = s.part(without)
	lock.Unlock()
	p.rows = make([]byte, 0, p.chunks*s.chunkSize())
	for i := range p.chunks {
		lock.Lock()
		n, err := p.copy(i, readers)
		lock.Unlock()
		if err != nil {
			return nil, 0, fmt.Errorf("copy a snapshot of vectors: %w", err)
		}
		left += n
	}
	return p, left, nil
}

// Part is a snapshot in memory.
type Part struct {
	set     *Set
	without func(number uint32) bool // nil: none
	chunks  int
	groups  []group
	head    []byte
	rows    []byte
}

func (s *Set) part(without func(number uint32) bool) *Part {
	s.mu.RLock()
	defer s.mu.RUnlock()
	p := &Part{set: s, without: without, chunks: len(s.chunks)}
	for _, n := range []uint32{uint32(s.options.Dimensions), uint32(s.options.Metric), oneIf(s.coded), uint32(len(s.chunks))} {
		p.head = binary.LittleEndian.AppendUint32(p.head, n)
	}
	return p
}

// copy copies a chunk, and returns how many of its rows were left out.
func (p *Part) copy(i int, readers []Reader) (left int, err error) {
	s := p.set
	s.mu.RLock()
	defer s.mu.RUnlock()
	if i >= len(s.chunks) {
		return 0, errSnapshot
	}
	place := make([]uint32, len(s.readers.list)+1)
	for j, r := range s.readers.list {
		place[j+1] = uint32(slices.Index(readers, r) + 1)
	}
	c, groups := s.chunks[i], slices.Clone(s.groups[i*chunkRows/64:][:chunkRows/64])
	for g := range groups {
		for used := groups[g].used; used != 0; used &= used - 1 {
			row := bits.TrailingZeros64(used)
			if place[c.sources[g*64+row].reader] == 0 || p.without != nil && p.without(groups[g].block*64+uint32(row)) {
				groups[g].used &^= 1 << row
				left++
			}
		}
	}
	p.groups = append(p.groups, groups...)
	p.add(c, groups, place)
	return left, nil
}

// add adds the rows of a chunk that are used. Of the others nothing is copied: they may have been erased.
func (p *Part) add(c *chunk, groups []group, place []uint32) {
	le, stride := binary.LittleEndian, p.set.stride
	used := func(row int) bool { return groups[row/64].used>>(row%64)&1 != 0 }
	for i, word := range c.bits {
		if !used(i/(bitGroup*stride.bits)*bitGroup + i%bitGroup) {
			word = 0
		}
		p.rows = le.AppendUint64(p.rows, word)
	}
	for i, at := range c.sources {
		if !used(i) {
			at = source{}
		}
		p.rows = le.AppendUint32(le.AppendUint32(p.rows, place[at.reader]), at.at)
	}
	for i := range len(c.codes) / max(stride.codes, 1) {
		code := c.codes[i*stride.codes:][:stride.codes]
		if !used(i) {
			code = make([]uint8, len(code))
		}
		p.rows = append(p.rows, code...)
	}
	for _, list := range [][]float32{c.steps, c.norms} {
		for _, x := range list {
			p.rows = le.AppendUint32(p.rows, math.Float32bits(x))
		}
	}
}

// WriteTo writes the snapshot.
func (p *Part) WriteTo(w io.Writer) (int64, error) {
	for _, g := range p.groups {
		p.head = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint64(p.head, g.used), g.block)
	}
	n, err := w.Write(p.head)
	if err != nil {
		return int64(n), err
	}
	m, err := w.Write(p.rows)
	return int64(n + m), err
}

func oneIf(is bool) uint32 {
	if is {
		return 1
	}
	return 0
}

// Kept is a reader, and how many vectors it has; nil: it is there no longer, and its vectors are left out.
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
	s.free = s.free[:0]
	for g := range s.groups {
		if s.groups[g].used == 0 {
			s.free = append(s.free, uint32(g))
		}
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

// leaveOut has a row of a group be unused.
func (s *Set) leaveOut(g *group, row int) {
	s.count--
	if g.used &^= 1 << row; g.used == 0 {
		s.groupOf[g.block] = 0
	}
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
		if at.reader == 0 || int(at.reader) > len(readers) {
			return nil, errSource
		}
		if readers[at.reader-1].Reader == nil {
			s.leaveOut(&groups[i/64], i%64)
			continue
		}
		if int(at.at) >= readers[at.reader-1].Rows {
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
