package segment

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sort"
	"strings"
)

// Segment is an opened segment. It keeps the bytes that it was opened from, and may be read from many goroutines.
type Segment struct {
	docs, count                                            int
	terms, restarts, postings, positions, lengths, payload []byte
}

// ErrCorrupt is what Open returns for bytes that are no segment, or a damaged one.
var ErrCorrupt = errors.New("the segment is damaged")

func corrupt(format string, args ...any) error {
	return fmt.Errorf("open segment: %w: %s", ErrCorrupt, fmt.Sprintf(format, args...))
}

// Open reads a segment and checks all of it.
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

// split finds the sections and compares their checksums.
func split(data []byte) (*Segment, error) {
	if len(data) < headerSize || string(data[:len(magic)]) != magic {
		return nil, corrupt("it does not begin as one")
	}
	head := headerSize - 4
	if checksum(data[:head]) != binary.LittleEndian.Uint32(data[head:]) {
		return nil, corrupt("its header is not what was written")
	}
	s := &Segment{docs: int(binary.LittleEndian.Uint32(data[len(magic):])), count: int(binary.LittleEndian.Uint32(data[len(magic)+4:]))}
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

// Docs is how many documents there are, numbered from 0.
func (s *Segment) Docs() int { return s.docs }

// Lengths are a byte for each document, as the Writer was given them. The caller must not change them.
func (s *Segment) Lengths() []byte { return s.lengths }

// Payload is the Writer's payload. The caller must not change it.
func (s *Segment) Payload() []byte { return s.payload }

// Size is how many bytes the segment's terms, postings, positions and lengths take.
func (s *Segment) Size() int {
	return len(s.terms) + len(s.restarts) + len(s.postings) + len(s.positions) + len(s.lengths)
}

// Postings are a term's postings.
type Postings struct {
	Count     int // of documents
	postings  []byte
	positions []byte
}

// entry is a term in the dictionary.
type entry struct {
	Postings
	term                   []byte
	postingsEnd, placedEnd int // in their sections
}

// next reads the term at an offset, the one before it being e, and returns the offset behind it.
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

// restart is where a run of terms begins.
func (s *Segment) restart(i int) (at int, e entry) {
	r := s.restarts[i*restartSize:]
	e.postingsEnd, e.placedEnd = int(binary.LittleEndian.Uint32(r[4:])), int(binary.LittleEndian.Uint32(r[8:]))
	return int(binary.LittleEndian.Uint32(r)), e
}

// firstOf is the first term of a run, which shares nothing with the one before it.
func (s *Segment) firstOf(i int) []byte {
	at := int(binary.LittleEndian.Uint32(s.restarts[i*restartSize:]))
	_, shared := binary.Uvarint(s.terms[at:])
	size, own := binary.Uvarint(s.terms[at+shared:])
	at += shared + own
	return s.terms[at : at+int(size)]
}

// From calls do for each term that is at least from, in ascending order, until it returns false. The term is the
// caller's only until do returns.
func (s *Segment) From(from string, do func(term []byte, p Postings) bool) {
	runs := len(s.restarts) / restartSize
	run := sort.Search(runs, func(i int) bool { return string(s.firstOf(i)) > from })
	for run = max(0, run-1); run < runs; run++ {
		at, e := s.restart(run)
		for range min(restartEach, s.count-run*restartEach) {
			var err error
			if at, err = s.next(at, &e); err != nil {
				return // Open has checked that there is none
			}
			if string(e.term) >= from && !do(e.term, e.Postings) {
				return
			}
		}
	}
}

// Find looks a term up.
func (s *Segment) Find(term string) (found Postings, ok bool) {
	s.From(term, func(t []byte, p Postings) bool {
		if ok = string(t) == term; ok {
			found = p
		}
		return false
	})
	return found, ok
}

// Prefixed calls do for each term that begins with a prefix, until it returns false.
func (s *Segment) Prefixed(prefix string, do func(term []byte, p Postings) bool) {
	s.From(prefix, func(t []byte, p Postings) bool {
		return strings.HasPrefix(string(t), prefix) && do(t, p)
	})
}
