package vector

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"sync"
	"unsafe"

	"github.com/alcove-memory/alcove/host/store"
)

// A snapshot is in parts of partChunks chunks, the last one of fewer. Of a chunk it has, little-endian:
//
//	16 × { u64 used  u32 block }
//	u64 × words of bits  1024 × { u32 reader  u32 at }  if coded: u8 × codes  float32 × 1024;  norms, with Dot: float32 × 1024
//
// reader is a number that the caller gives each reader, which is not 0.
const partChunks = 64

var (
	// errSource refuses a vector that no given reader has.
	errSource = errors.New("a vector is not in any of the files")
	// errSnapshot refuses a snapshot that WritePart has not written.
	errSnapshot = errors.New("it is not one of such vectors")
)

// Parts counts the parts of a snapshot, and tells whether it is coded.
func (s *Set) Parts() (n int, coded bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return (len(s.chunks) + partChunks - 1) / partChunks, s.coded
}

// HasChanged reports whether a part is other than when WritePart wrote all of it, or Restore took it.
func (s *Set) HasChanged(part int) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, c := range s.chunks[part*partChunks : min((part+1)*partChunks, len(s.chunks))] {
		if c.changed {
			return true
		}
	}
	return false
}

// Out is what is written of a set.
type Out struct {
	Number  func(Reader) uint32      // of a reader; 0: its vectors are left out
	Without func(number uint32) bool // what is left out besides; nil: nothing
	Lock    sync.Locker              // held for a thousand vectors at a time, and while Without is called
}

// WritePart writes a part of a snapshot while the set changes, and returns how many vectors it leaves out. Numbers that are removed, or come,
// once a snapshot was begun must be among those without. No vector moves from one reader to another meanwhile.
func (s *Set) WritePart(w io.Writer, part int, o Out) (left int, err error) {
	var data []byte
	for i := part * partChunks; i < (part+1)*partChunks; i++ {
		o.Lock.Lock()
		n, there := 0, false
		fault := store.Guard(func() { data, n, there = s.copyChunk(data[:0], i, o) })
		o.Lock.Unlock()
		if fault != nil {
			return left, fmt.Errorf("copy a snapshot of vectors: %w", fault)
		}
		if !there {
			break
		}
		left += n
		if _, err := w.Write(data); err != nil {
			return left, fmt.Errorf("write a snapshot of vectors: %w", err)
		}
	}
	return left, nil
}

// copyChunk appends a chunk, and returns how many of its rows are left out.
func (s *Set) copyChunk(to []byte, i int, o Out) (data []byte, left int, there bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i >= len(s.chunks) {
		return to, 0, false
	}
	number := make([]uint32, len(s.readers.list)+1)
	for j, r := range s.readers.list {
		if r != nil {
			number[j+1] = o.Number(r)
		}
	}
	c := s.chunks[i]
	groups := append([]group(nil), s.groups[i*chunkRows/64:][:chunkRows/64]...)
	for g := range groups {
		for used := groups[g].used; used != 0; used &= used - 1 {
			row := bits.TrailingZeros64(used)
			if number[c.sources[g*64+row].reader] == 0 || o.Without != nil && o.Without(groups[g].block*64+uint32(row)) {
				groups[g].used &^= 1 << row
				left++
			}
		}
	}
	data = s.appendChunk(to, c, groups, number)
	c.changed = left > 0
	return data, left, true
}

// appendChunk appends the rows of a chunk that are used. Of the others nothing is copied: they may have been erased.
func (s *Set) appendChunk(to []byte, c *chunk, groups []group, number []uint32) []byte {
	le := binary.LittleEndian
	used := func(row int) bool { return groups[row/64].used>>(row%64)&1 != 0 }
	for _, g := range groups {
		to = le.AppendUint32(le.AppendUint64(to, g.used), g.block)
	}
	for i, word := range c.bits {
		if !used(i/(bitGroup*s.stride.bits)*bitGroup + i%bitGroup) {
			word = 0
		}
		to = le.AppendUint64(to, word)
	}
	for i, at := range c.sources {
		if !used(i) {
			at = source{}
		}
		to = le.AppendUint32(le.AppendUint32(to, number[at.reader]), at.at)
	}
	for i := range len(c.codes) / max(s.stride.codes, 1) {
		code := c.codes[i*s.stride.codes:][:s.stride.codes]
		if !used(i) {
			code = make([]uint8, len(code))
		}
		to = append(to, code...)
	}
	for _, list := range [][]float32{c.steps, c.norms} {
		for _, x := range list {
			to = le.AppendUint32(to, math.Float32bits(x))
		}
	}
	return to
}

// Kept is a reader, and how many vectors it has; nil: it is there no longer, and its vectors are left out.
type Kept struct {
	Reader Reader
	Rows   int
}

// Restore makes the set that of a snapshot, whose readers are given by their numbers. A snapshot that is not of such a set is refused, and the set
// is as it was. The parts, which begin at multiples of 8 bytes, are not written to, and stay the set's.
func (s *Set) Restore(coded bool, parts [][]byte, readers map[uint32]Kept) error {
	restored, err := New(s.options)
	if err == nil {
		restored.coded = coded
		err = restored.decode(parts, readers)
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

func (s *Set) decode(parts [][]byte, readers map[uint32]Kept) error {
	from, size := sourceDecoder{set: s, kept: readers, places: map[uint32]uint32{}}, s.chunkSize()
	for i, data := range parts {
		if chunks := len(data) / size; len(data)%size != 0 || chunks > partChunks || chunks < partChunks && i < len(parts)-1 {
			return errSnapshot
		}
		for d := (decoder{data}); len(d.rest) > 0; {
			if err := s.decodeChunk(&d, &from); err != nil {
				return err
			}
		}
	}
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

// chunkSize is the size of a chunk in a snapshot.
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

func (s *Set) decodeChunk(d *decoder, from *sourceDecoder) error {
	c, first := s.newChunk(), len(s.groups)
	for range chunkRows / 64 {
		s.groups = append(s.groups, group{d.long(), d.word()})
		if err := s.join(uint32(len(s.groups) - 1)); err != nil {
			return err
		}
	}
	groups := s.groups[first:]
	c.setBits(d.take(8*chunkRows*s.stride.bits), groups)
	for i := range c.sources {
		at := source{d.word(), d.word()}
		if groups[i/64].used>>(i%64)&1 == 0 {
			continue
		}
		place, rows, err := from.reader(at.reader)
		if err != nil {
			return err
		}
		if place == 0 {
			s.leaveOut(&groups[i/64], i%64)
			c.changed = true
			continue
		}
		if int(at.at) >= rows {
			return errSource
		}
		c.sources[i] = source{place, at.at}
		s.readers.uses[place-1]++
	}
	copy(c.codes, d.take(len(c.codes)))
	d.floats(c.steps)
	d.floats(c.norms)
	s.chunks = append(s.chunks, c)
	return nil
}

// setBits has a chunk use the bits of a snapshot where they are, if all of its rows have a vector, and else a copy of them.
func (c *chunk) setBits(data []byte, groups []group) {
	full := true
	for _, g := range groups {
		full = full && g.used == 1<<64-1
	}
	if first := unsafe.SliceData(data); full && binary.NativeEndian.Uint16([]byte{1, 0}) == 1 && uintptr(unsafe.Pointer(first))%8 == 0 {
		c.bits, c.lent = unsafe.Slice((*uint64)(unsafe.Pointer(first)), len(data)/8), true
		return
	}
	c.bits = make([]uint64, len(data)/8)
	for i := range c.bits {
		c.bits[i] = binary.LittleEndian.Uint64(data[8*i:])
	}
}

// own copies bits that are lent, before they change.
func (c *chunk) own() error {
	if !c.lent {
		return nil
	}
	own := make([]uint64, len(c.bits))
	if err := store.Guard(func() { copy(own, c.bits) }); err != nil {
		return err
	}
	c.bits, c.lent = own, false
	return nil
}

// sourceDecoder finds the readers of a snapshot.
type sourceDecoder struct {
	set    *Set
	kept   map[uint32]Kept
	places map[uint32]uint32 // in the set's list, by the number in the snapshot
	last   struct {          // which the next vector is most likely read from
		number, place uint32
		rows          int
	}
}

// reader returns the place of a reader in the set's list, from 1, and how many vectors it has; 0: it is there no longer.
func (f *sourceDecoder) reader(number uint32) (place uint32, rows int, err error) {
	if number == f.last.number && number != 0 {
		return f.last.place, f.last.rows, nil
	}
	kept, known := f.kept[number]
	if !known || number == 0 {
		return 0, 0, errSource
	}
	place, there := f.places[number]
	if list := &f.set.readers; !there && kept.Reader != nil {
		list.list, list.uses = append(list.list, kept.Reader), append(list.uses, 0)
		place = uint32(len(list.list))
		f.places[number] = place
	}
	f.last.number, f.last.place, f.last.rows = number, place, kept.Rows
	return place, kept.Rows, nil
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
