package segment

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"sort"
	"strings"
	"sync/atomic"
)

// Segment is an opened segment. It is safe for concurrent use. A method that reads a damaged block panics with a *DamageError, and so
// does one that finds something else than a writer writes.
type Segment struct {
	name        string
	data        []byte
	body        []byte // all behind the checksums of the blocks
	sums        []byte // of the blocks of the body; nil: it was written here
	verified    []atomic.Uint32
	docs, count int

	terms, top, restarts, postings, positions, lengths, payload, orders, groups, digests section
}

// section is where a section is in the body.
type section struct{ from, to int }

func (s section) size() int { return s.to - s.from }

// ErrCorrupt is the error of Open for bytes that are not an intact segment, and that of every DamageError.
var ErrCorrupt = errors.New("the segment is damaged")

// DamageError is what methods panic with.
type DamageError struct {
	Segment *Segment
	what    string
}

func (e *DamageError) Error() string {
	return fmt.Sprintf("read %s: %v: %s", e.Segment.name, ErrCorrupt, e.what)
}

func (e *DamageError) Unwrap() error { return ErrCorrupt }

// damaged ends a method.
func (s *Segment) damaged(format string, args ...any) {
	panic(&DamageError{s, fmt.Sprintf(format, args...)})
}

// Open opens a segment, whose name is for messages. It reads the header and the checksums of the blocks, and verifies a block when it is
// first read. It retains data, which must not change. The error is ErrCorrupt.
func Open(name string, data []byte) (*Segment, error) {
	corrupt := func(format string, args ...any) (*Segment, error) {
		return nil, fmt.Errorf("open %s: %w: %s", name, ErrCorrupt, fmt.Sprintf(format, args...))
	}
	if len(data) < headerSize || string(data[:len(magic)]) != magic {
		return corrupt("it does not begin as one of this version")
	}
	head := headerSize - 4
	if checksum(data[:head]) != binary.LittleEndian.Uint32(data[head:]) {
		return corrupt("its header differs from what was written")
	}
	numbers := data[len(magic):]
	s := &Segment{name: name, data: data, docs: int(binary.LittleEndian.Uint32(numbers)), count: int(binary.LittleEndian.Uint32(numbers[4:]))}
	size := uint64(0)
	for i, part := range s.sections() {
		n := binary.LittleEndian.Uint64(numbers[12+8*i:])
		if n > uint64(len(data)) {
			return corrupt("it ends early")
		}
		*part = section{int(size), int(size + n)}
		size += n
	}
	blocks := (int(size) + verifiedSize - 1) / verifiedSize
	if uint64(len(data)) != uint64(headerSize+4*blocks)+size {
		return corrupt("its sizes do not add up to its own")
	}
	s.sums, s.body = data[headerSize:headerSize+4*blocks], data[headerSize+4*blocks:]
	if checksum(s.sums) != binary.LittleEndian.Uint32(numbers[8:]) {
		return corrupt("its checksums differ from what was written")
	}
	if s.docs != s.lengths.size() || s.postings.size() < padding || s.orders.size() < 8+padding || s.groups.size() < 8+padding || s.restarts.size() != restartSize*s.runs() || s.top.size() < 4*s.tops() ||
		s.digests.size() != 0 && s.digests.size() != 8*s.docs {
		return corrupt("its sections are not as large as they should be")
	}
	s.verified = make([]atomic.Uint32, (blocks+31)/32)
	return s, nil
}

// sections lists the sections in their order.
func (s *Segment) sections() [sections]*section {
	return [sections]*section{&s.terms, &s.top, &s.restarts, &s.postings, &s.positions, &s.lengths, &s.payload, &s.orders, &s.groups, &s.digests}
}

// Blocks returns the number of blocks that are verified on their own.
func (s *Segment) Blocks() int { return len(s.sums) / 4 }

// Verified counts the blocks that have been verified.
func (s *Segment) Verified() (n int) {
	for i := range s.verified {
		n += bits.OnesCount32(s.verified[i].Load())
	}
	return n
}

// Verify verifies a block, whether or not it was verified before.
func (s *Segment) Verify(block int) {
	data := s.body[block*verifiedSize : min((block+1)*verifiedSize, len(s.body))]
	if checksum(data) != binary.LittleEndian.Uint32(s.sums[4*block:]) {
		s.damaged("block %d of %d bytes differs from what was written", block, verifiedSize)
	}
	s.verified[block/32].Or(1 << (block % 32))
}

// need verifies the blocks of a range of the body, once.
func (s *Segment) need(from, to int) {
	if s.sums == nil || from >= to {
		return
	}
	for block := from / verifiedSize; block <= (to-1)/verifiedSize; block++ {
		if s.verified[block/32].Load()&(1<<(block%32)) == 0 {
			s.Verify(block)
		}
	}
}

// read returns verified bytes of a section.
func (s *Segment) read(of section, from, to int) []byte {
	if from < 0 || from > to || to > of.size() {
		s.damaged("bytes %d to %d of %d are referred to", from, to, of.size())
	}
	s.need(of.from+from, of.from+to)
	return s.body[of.from+from : of.from+to]
}

func (s *Segment) all(of section) []byte { return s.read(of, 0, of.size()) }

// Data returns the bytes that Open opens, of which not all may be verified. The caller must not change them.
func (s *Segment) Data() []byte { return s.data }

// Docs returns the number of documents; they are numbered from 0.
func (s *Segment) Docs() int { return s.docs }

// Lengths returns the length codes given to Finish, a byte for each document. The caller must not change them.
func (s *Segment) Lengths() []byte { return s.all(s.lengths) }

// Digest returns the digest of a document that was given to Digests; ok is false if there are none.
func (s *Segment) Digest(doc uint32) (d uint64, ok bool) {
	if s.digests.size() == 0 || int64(doc) >= int64(s.docs) {
		return 0, false
	}
	return binary.LittleEndian.Uint64(s.read(s.digests, 8*int(doc), 8*int(doc)+8)), true
}

// Payload returns the payload given to Finish. The caller must not change it.
func (s *Segment) Payload() []byte { return s.all(s.payload) }

// Size returns the size of the terms, postings, positions and lengths in bytes.
func (s *Segment) Size() int { return s.lengths.to }

// Positions returns the size of the positions in bytes.
func (s *Segment) Positions() int { return s.positions.size() }

// Postings are a term's postings.
type Postings struct {
	Count     int // the document frequency
	segment   *Segment
	postings  section // in the body
	positions section
}

// entry is a term of the dictionary.
type entry struct {
	Postings
	term                   []byte
	postingsEnd, placedEnd int // offsets in their sections
}

// runs and tops are how many there are: terms of a restart, and runs of an entry of the top.
func (s *Segment) runs() int { return (s.count + restartEach - 1) / restartEach }
func (s *Segment) tops() int { return (s.runs() + topEach - 1) / topEach }

// run returns the bytes of a run of terms, and the entry before it.
func (s *Segment) run(i int) (data []byte, e entry) {
	r := s.read(s.restarts, i*restartSize, (i+1)*restartSize)
	number := func(at int) int { return int(binary.LittleEndian.Uint32(r[at:])) }
	from, to := number(0), s.terms.size()
	e.postingsEnd, e.placedEnd = number(4), number(8)
	if i+1 < s.runs() {
		to = int(binary.LittleEndian.Uint32(s.read(s.restarts, (i+1)*restartSize, (i+1)*restartSize+4)))
	}
	return s.read(s.terms, from, to), e
}

// next decodes the first term of data into e, which has the previous term, and returns what follows.
func (s *Segment) next(data []byte, e *entry) []byte {
	shared, data := s.number(data)
	own, data := s.number(data)
	if shared > len(e.term) || own > len(data) {
		s.damaged("a term cannot be read")
	}
	e.term = append(e.term[:shared], data[:own]...)
	data = data[own:]
	count, data := s.number(data)
	postings, data := s.number(data)
	positions, data := s.number(data)
	from, placed := e.postingsEnd, e.placedEnd
	e.postingsEnd, e.placedEnd = from+postings, placed+positions
	if count < 1 || count > s.docs || e.postingsEnd > s.postings.size()-padding || e.placedEnd > s.positions.size() {
		s.damaged("the postings of a term are not there")
	}
	e.Postings = Postings{count, s, section{s.postings.from + from, s.postings.from + e.postingsEnd}, section{s.positions.from + placed, s.positions.from + e.placedEnd}}
	return data
}

// number decodes a number, and returns what follows.
func (s *Segment) number(data []byte) (int, []byte) {
	if len(data) > 0 && data[0] < 0x80 {
		return int(data[0]), data[1:]
	}
	return s.long(data)
}

// long decodes a number of more than a byte.
func (s *Segment) long(data []byte) (int, []byte) {
	n, size := binary.Uvarint(data)
	if size <= 0 || n > 1<<33 {
		s.damaged("a number cannot be read")
	}
	return int(n), data[size:]
}

// firstOf returns the first term of a run, which is written whole.
func (s *Segment) firstOf(run int) []byte {
	data, _ := s.run(run)
	shared, data := s.number(data)
	own, data := s.number(data)
	if shared > 0 || own > len(data) {
		s.damaged("a term cannot be read")
	}
	return data[:own]
}

// topOf returns the first term of a group of runs.
func (s *Segment) topOf(group int) []byte {
	ends := s.all(s.top)
	texts := ends[4*s.tops():]
	from, to := 0, int(binary.LittleEndian.Uint32(ends[4*group:]))
	if group > 0 {
		from = int(binary.LittleEndian.Uint32(ends[4*(group-1):]))
	}
	if from > to || to > len(texts) {
		s.damaged("the term of group %d is not there", group)
	}
	return texts[from:to]
}

// runOf returns the last run that does not begin behind a term, or the first one.
func (s *Segment) runOf(term string) int {
	group := max(0, sort.Search(s.tops(), func(i int) bool { return string(s.topOf(i)) > term })-1)
	first, end := group*topEach, min((group+1)*topEach, s.runs())
	return max(0, first+sort.Search(end-first, func(i int) bool { return string(s.firstOf(first+i)) > term })-1)
}

// From calls do for each term ≥ from, in ascending order, until do returns false. The term is valid until do returns.
func (s *Segment) From(from string, do func(term []byte, p Postings) bool) {
	for run := s.runOf(from); run < s.runs(); run++ {
		data, e := s.run(run)
		for range min(restartEach, s.count-run*restartEach) {
			data = s.next(data, &e)
			if string(e.term) >= from && !do(e.term, e.Postings) {
				return
			}
		}
	}
}

// Find returns a term's postings.
func (s *Segment) Find(term string) (found Postings, ok bool) {
	s.From(term, func(t []byte, p Postings) bool {
		if ok = string(t) == term; ok {
			found = p
		}
		return false
	})
	return found, ok
}

// Prefixed calls do for each term with a prefix, in ascending order, until do returns false.
func (s *Segment) Prefixed(prefix string, do func(term []byte, p Postings) bool) {
	s.From(prefix, func(t []byte, p Postings) bool {
		return strings.HasPrefix(string(t), prefix) && do(t, p)
	})
}
