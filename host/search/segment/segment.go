package segment

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sort"
	"strings"
)

// Segment is an opened segment. It is safe for concurrent use.
type Segment struct {
	data                                                   []byte
	docs, count                                            int
	terms, restarts, postings, positions, lengths, payload []byte
}

// ErrCorrupt is the error of Open for bytes that are not an intact segment.
var ErrCorrupt = errors.New("the segment is damaged")

func corrupt(format string, args ...any) error {
	return fmt.Errorf("open segment: %w: %s", ErrCorrupt, fmt.Sprintf(format, args...))
}

// Open validates all of a segment. It retains data, which must not change. The error is ErrCorrupt.
func Open(data []byte) (*Segment, error) {
	s, err := split(data)
	if err != nil {
		return nil, err
	}
	if err := s.check(); err != nil {
		return nil, err
	}
	return s, nil
}

// split locates the sections and verifies their checksums.
func split(data []byte) (*Segment, error) {
	if len(data) < headerSize || string(data[:len(magic)]) != magic {
		return nil, corrupt("it does not begin as one")
	}
	head := headerSize - 4
	if checksum(data[:head]) != binary.LittleEndian.Uint32(data[head:]) {
		return nil, corrupt("its header is not what was written")
	}
	s := &Segment{data: data, docs: int(binary.LittleEndian.Uint32(data[len(magic):])), count: int(binary.LittleEndian.Uint32(data[len(magic)+4:]))}
	rest := data[headerSize:]
	for i, part := range []*[]byte{&s.terms, &s.restarts, &s.postings, &s.positions, &s.lengths, &s.payload} {
		at := data[len(magic)+8+i*12:]
		size := binary.LittleEndian.Uint64(at)
		if size > uint64(len(rest)) {
			return nil, corrupt("it ends early")
		}
		*part, rest = rest[:size:size], rest[size:]
		if checksum(*part) != binary.LittleEndian.Uint32(at[8:]) {
			return nil, corrupt("section %d is not what was written", i+1)
		}
	}
	if len(rest) != 0 || s.docs != len(s.lengths) || len(s.postings) < padding {
		return nil, corrupt("its sizes do not add up")
	}
	return s, nil
}

// Data returns the bytes that Open opens. The caller must not change them.
func (s *Segment) Data() []byte { return s.data }

// Docs returns the number of documents; they are numbered from 0.
func (s *Segment) Docs() int { return s.docs }

// Lengths returns the length codes given to Finish, a byte for each document. The caller must not change them.
func (s *Segment) Lengths() []byte { return s.lengths }

// Payload returns the payload given to Finish. The caller must not change it.
func (s *Segment) Payload() []byte { return s.payload }

// Size returns the size of the terms, postings, positions and lengths in bytes.
func (s *Segment) Size() int {
	return len(s.terms) + len(s.restarts) + len(s.postings) + len(s.positions) + len(s.lengths)
}

// Positions returns the size of the positions in bytes.
func (s *Segment) Positions() int { return len(s.positions) }

// Postings are a term's postings.
type Postings struct {
	Count     int // the document frequency
	postings  []byte
	positions []byte
}

// entry is a term of the dictionary.
type entry struct {
	Postings
	term                   []byte
	postingsEnd, placedEnd int // offsets in their sections
}

// next decodes the term at an offset into e, which holds the previous term, and returns the offset after it.
func (s *Segment) next(at int, e *entry) (int, error) {
	var numbers [5]uint64
	read := func(i int) bool {
		n, size := binary.Uvarint(s.terms[min(at, len(s.terms)):])
		numbers[i] = n
		at += size
		return size > 0 && n <= 1<<32
	}
	if !read(0) || !read(1) || int(numbers[0]) > len(e.term) || int(numbers[1]) > len(s.terms)-at {
		return at, corrupt("a term cannot be read")
	}
	e.term = append(e.term[:numbers[0]], s.terms[at:at+int(numbers[1])]...)
	at += int(numbers[1])
	if !read(2) || !read(3) || !read(4) {
		return at, corrupt("a term's sizes cannot be read")
	}
	from, placed := e.postingsEnd, e.placedEnd
	if int(numbers[3]) > len(s.postings)-padding-from || int(numbers[4]) > len(s.positions)-placed {
		return at, corrupt("a term's postings are not there")
	}
	e.Count = int(numbers[2])
	e.postingsEnd, e.placedEnd = from+int(numbers[3]), placed+int(numbers[4])
	e.postings = s.postings[from : e.postingsEnd+padding]
	e.positions = s.positions[placed:e.placedEnd]
	return at, nil
}

// restart returns the offset of a run of terms, and the entry before it.
func (s *Segment) restart(i int) (at int, e entry) {
	r := s.restarts[i*restartSize:]
	e.postingsEnd, e.placedEnd = int(binary.LittleEndian.Uint32(r[4:])), int(binary.LittleEndian.Uint32(r[8:]))
	return int(binary.LittleEndian.Uint32(r)), e
}

// firstOf returns the first term of a run, which is stored without a shared prefix.
func (s *Segment) firstOf(i int) []byte {
	at := int(binary.LittleEndian.Uint32(s.restarts[i*restartSize:]))
	_, shared := binary.Uvarint(s.terms[at:])
	size, own := binary.Uvarint(s.terms[at+shared:])
	at += shared + own
	return s.terms[at : at+int(size)]
}

// From calls do for each term ≥ from, in ascending order, until do returns false. The term is valid until do returns.
func (s *Segment) From(from string, do func(term []byte, p Postings) bool) {
	runs := len(s.restarts) / restartSize
	run := sort.Search(runs, func(i int) bool { return string(s.firstOf(i)) > from })
	for run = max(0, run-1); run < runs; run++ {
		at, e := s.restart(run)
		for range min(restartEach, s.count-run*restartEach) {
			var err error
			if at, err = s.next(at, &e); err != nil {
				return // impossible: Open has validated the terms
			}
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
