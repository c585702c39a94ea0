// Package segment stores the postings of a fixed set of documents in compressed form.
//
// A segment is one run of bytes:
//
//	header     magic, counts, the checksum of the checksums, the sections' sizes, the header's checksum
//	checksums  CRC-32C of each 4 KiB of all that follows
//	terms      sorted and front-coded, each with its count and sizes
//	top        every 1024th term: where they end, and the terms
//	restarts   offsets of every 16th term, its postings and its positions
//	postings   of each term: the skip table, blocks of 128, and the rest as varints
//	positions  of each posting, as varints of their differences
//	lengths    a byte for each document
//	payload    whatever the caller keeps with it
//	orders     lists of documents in orders of the caller's
//	groups     ascending lists of documents
//	digests    8 bytes for each document, or none
//
// Open reads the header and the checksums alone, whatever the size, so that a mapped segment costs nothing until it is searched.
// A block is verified when it is first read. What is read is checked as far as memory safety needs it, for bytes that were written with right
// checksums by another hand.
package segment

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
)

const (
	magic        = "alcvseg4"
	restartEach  = 16 // terms
	restartSize  = 12
	topEach      = 64 // runs of terms
	skipSize     = 12
	sections     = 10
	headerSize   = len(magic) + 4 + 4 + 4 + sections*8 + 4
	verifiedSize = 4 << 10 // a page of memory
)

// Writer builds a segment. The caller adds terms in ascending order, and each term's postings by ascending document.
type Writer struct {
	terms, restarts, postings, positions []byte
	topEnds, topTerms                    []byte
	orders, groups                       listWriter
	digests                              []byte

	count      int
	last, term string
	docs       []uint32
	tfs        []uint32
	before     int // the offset of the term's positions
}

// Term begins a term, which must be greater than the previous one.
func (w *Writer) Term(term string) {
	w.finishTerm()
	w.term, w.before = term, len(w.positions)
}

// Add adds a posting to the current term: a document, the term's frequency there, at least 1, and its positions as
// AppendPositions encodes them.
func (w *Writer) Add(doc, frequency uint32, positions []byte) {
	w.docs = append(w.docs, doc)
	w.tfs = append(w.tfs, frequency)
	w.positions = append(w.positions, positions...)
}

// AddAll is Add for several postings, with the positions of one after those of the other.
func (w *Writer) AddAll(docs, frequencies []uint32, positions []byte) {
	w.docs = append(w.docs, docs...)
	w.tfs = append(w.tfs, frequencies...)
	w.positions = append(w.positions, positions...)
}

// AddShifted is Add for the postings that a cursor was reset to, all of whose documents get greater numbers.
func (w *Writer) AddShifted(list *Cursor, by uint32) {
	for docs, frequencies := list.Next(); len(docs) > 0; docs, frequencies = list.Next() {
		for _, doc := range docs {
			w.docs = append(w.docs, doc+by)
		}
		w.tfs = append(w.tfs, frequencies...)
	}
	w.positions = append(w.positions, list.p.segment.all(list.p.positions)...)
}

// Digests keeps a digest of each document.
func (w *Writer) Digests(list []uint64) {
	w.digests = make([]byte, 0, 8*len(list))
	for _, d := range list {
		w.digests = binary.LittleEndian.AppendUint64(w.digests, d)
	}
}

// Reserve makes room for so many bytes of positions, and as many of postings.
func (w *Writer) Reserve(positions int) {
	w.positions, w.postings = slices.Grow(w.positions, positions), slices.Grow(w.postings, positions)
}

// AppendPositions appends the encoding of ascending positions to out.
func AppendPositions(out []byte, positions []uint32) []byte {
	last := uint32(0)
	for _, p := range positions {
		out = binary.AppendUvarint(out, uint64(p-last))
		last = p
	}
	return out
}

// finishTerm writes the current term if it has postings.
func (w *Writer) finishTerm() {
	if len(w.docs) == 0 {
		return
	}
	began := len(w.postings)
	w.writePostings()
	if w.count%restartEach == 0 {
		w.last = ""
		if w.count%(restartEach*topEach) == 0 {
			w.topTerms = append(w.topTerms, w.term...)
			w.topEnds = binary.LittleEndian.AppendUint32(w.topEnds, uint32(len(w.topTerms)))
		}
		for _, at := range []int{len(w.terms), began, w.before} {
			w.restarts = binary.LittleEndian.AppendUint32(w.restarts, uint32(at))
		}
	}
	shared := 0
	for shared < min(len(w.last), len(w.term)) && w.last[shared] == w.term[shared] {
		shared++
	}
	for _, n := range []int{shared, len(w.term) - shared} {
		w.terms = binary.AppendUvarint(w.terms, uint64(n))
	}
	w.terms = append(w.terms, w.term[shared:]...)
	for _, n := range []int{len(w.docs), len(w.postings) - began, len(w.positions) - w.before} {
		w.terms = binary.AppendUvarint(w.terms, uint64(n))
	}
	w.last = w.term
	w.count++
	w.docs, w.tfs = w.docs[:0], w.tfs[:0]
}

// writePostings writes the skip table, the full blocks, and the rest.
func (w *Writer) writePostings() {
	full := len(w.docs) / blockSize
	table := len(w.postings)
	w.postings = append(w.postings, make([]byte, full*skipSize)...)
	blocks := len(w.postings)
	previous, placed := int64(-1), 0
	for b := range full {
		from, to := b*blockSize, (b+1)*blockSize
		placed += extent(w.positions[w.before+placed:], w.tfs[from:to])
		previous = w.writeBlock(w.docs[from:to], w.tfs[from:to], previous)
		entry := w.postings[table+b*skipSize:]
		binary.LittleEndian.PutUint32(entry, uint32(previous))
		binary.LittleEndian.PutUint32(entry[4:], uint32(len(w.postings)-blocks))
		binary.LittleEndian.PutUint32(entry[8:], uint32(placed))
	}
	for i := full * blockSize; i < len(w.docs); i++ {
		gap := uint64(int64(w.docs[i])-previous-1) << 1
		previous = int64(w.docs[i])
		if w.tfs[i] == 1 {
			w.postings = binary.AppendUvarint(w.postings, gap|1)
			continue
		}
		w.postings = binary.AppendUvarint(w.postings, gap)
		w.postings = binary.AppendUvarint(w.postings, uint64(w.tfs[i]-2))
	}
}

// extent is the size of the positions of postings with these frequencies, of those that begin here.
func extent(positions []byte, frequencies []uint32) int {
	count, end := 0, 0
	for _, f := range frequencies {
		count += int(f)
	}
	for ; count > 0 && end < len(positions); end++ {
		if positions[end] < 0x80 { // the last byte of a varint
			count--
		}
	}
	return end
}

func (w *Writer) writeBlock(docs, tfs []uint32, previous int64) int64 {
	var gaps, more [blockSize]uint32
	for i, doc := range docs {
		gaps[i] = uint32(int64(doc) - previous - 1)
		more[i] = tfs[i] - 1
		previous = int64(doc)
	}
	gapWidth, moreWidth := widthOf(gaps[:]), widthOf(more[:])
	w.postings = append(w.postings, byte(gapWidth), byte(moreWidth))
	w.postings = pack(w.postings, gaps[:], gapWidth)
	w.postings = pack(w.postings, more[:], moreWidth)
	return previous
}

// ErrTooLarge is the error of Finish for a segment with a section of 4 GiB or more.
var ErrTooLarge = errors.New("a segment holds less than 4 GiB of each kind of data")

// Finish returns the segment with a length code for each document and the caller's payload. The writer must not be used
// again. The error is ErrTooLarge.
func (w *Writer) Finish(lengths, payload []byte) (*Segment, error) {
	w.finishTerm()
	w.postings = append(w.postings, make([]byte, padding)...)
	parts := [sections][]byte{w.terms, slices.Concat(w.topEnds, w.topTerms), w.restarts, w.postings, w.positions, lengths, payload, w.orders.finish(), w.groups.finish(), w.digests}
	size := 0
	for _, part := range parts {
		if uint64(len(part)) > math.MaxUint32 {
			return nil, fmt.Errorf("finish segment: %w", ErrTooLarge)
		}
		size += len(part)
	}
	begin := headerSize + 4*((size+verifiedSize-1)/verifiedSize)
	out := make([]byte, begin, begin+size)
	for _, part := range parts {
		out = append(out, part...)
	}
	header := w.header(parts, sumBlocks(out[headerSize:headerSize], out[begin:]))
	copy(out, header)
	s, err := Open("a new segment", out)
	if err != nil {
		return nil, err
	}
	s.sums = nil // it is what was written
	return s, nil
}

// sumBlocks appends the checksums of blocks.
func sumBlocks(sums, body []byte) []byte {
	for block := range slices.Chunk(body, verifiedSize) {
		sums = binary.LittleEndian.AppendUint32(sums, checksum(block))
	}
	return sums
}

func (w *Writer) header(parts [sections][]byte, sums []byte) []byte {
	header := []byte(magic)
	for _, n := range []uint32{uint32(len(parts[5])), uint32(w.count), checksum(sums)} {
		header = binary.LittleEndian.AppendUint32(header, n)
	}
	for _, part := range parts {
		header = binary.LittleEndian.AppendUint64(header, uint64(len(part)))
	}
	return binary.LittleEndian.AppendUint32(header, checksum(header))
}

func checksum(data []byte) uint32 { return crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli)) }
