package search

import (
	"encoding/binary"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/alcove-memory/alcove/host/search/segment"
	"github.com/alcove-memory/alcove/host/store"
)

// part is the postings of some documents of one branch: a growing tail or a sealed segment.
type part struct {
	id       uint32
	branch   store.BranchID
	rows     []uint32 // by document; none for removed ones
	dead     int      // removed documents
	ghosts   []uint32 // rows of tombstones; none for removed ones
	expiring []uint32 // documents that expire
	first    uint64   // the oldest version

	tail   *tail
	frozen bool // the tail is being compressed: nothing is added
	sealed *segment.Segment
	data   []byte // of the sealed segment, until it is stored
	blob   string // the stored file's name; empty: not stored
	purged bool   // it still contains purged text

	columns atomic.Pointer[columns] // nil: none was built
}

func (p *part) docs() int { return len(p.rows) }

// lengths returns the length codes of the part's documents.
func (p *part) lengths() []byte {
	if p.sealed != nil {
		return p.sealed.Lengths()
	}
	return p.tail.lengths
}

// reader iterates over a term's postings block by block: documents in ascending order with their frequencies. The result
// of Next is valid until the next call, and empty at the end.
type reader interface {
	Next() (docs, frequencies []uint32)
	// Skip skips blocks whose documents are all less than doc.
	Skip(doc uint32)
	// Positions calls do for each posting of the last block.
	Positions(do func(i int, positions []byte))
}

// find returns a term's postings and their number; nil if there are none.
func (p *part) find(term string) (r reader, documents int) {
	if p.sealed != nil {
		found, ok := p.sealed.Find(term)
		if !ok {
			return nil, 0
		}
		return found.Cursor(), found.Count
	}
	if l := p.tail.terms[term]; l != nil {
		return &listReader{list: l}, len(l.docs)
	}
	return nil, 0
}

// eachTerm calls do for the part's terms that begin with a prefix.
func (p *part) eachTerm(prefix string, do func(term string)) {
	if p.sealed != nil {
		p.sealed.Prefixed(prefix, func(term []byte, _ segment.Postings) bool {
			do(string(term))
			return true
		})
		return
	}
	for term := range p.tail.terms {
		if strings.HasPrefix(term, prefix) {
			do(term)
		}
	}
}

// tail is the uncompressed postings of a growing part.
type tail struct {
	terms   map[string]*list
	lengths []byte
	size    int // bytes of positions
}

func newTail() *tail { return &tail{terms: map[string]*list{}} }

// list is the postings of a term, or the union of several terms'.
type list struct {
	docs, frequencies []uint32
	positions         []byte
}

// occurrence is a term in a document.
type occurrence struct {
	term      string
	frequency uint32
	positions []byte // as segment.AppendPositions writes them
}

func (t *tail) add(terms []occurrence, length byte) {
	doc := uint32(len(t.lengths))
	t.lengths = append(t.lengths, length)
	for _, o := range terms {
		l := t.terms[o.term]
		if l == nil {
			l = &list{}
			t.terms[strings.Clone(o.term)] = l // the clone does not retain a long text
		}
		l.docs = append(l.docs, doc)
		l.frequencies = append(l.frequencies, o.frequency)
		l.positions = append(l.positions, o.positions...)
		t.size += len(o.positions)
	}
}

// listBlock is the block size of listReader, in postings.
const listBlock = 1024

// listReader is the reader of a list.
type listReader struct {
	list     *list
	at, size int
	placed   int // where the positions of the posting at `at` begin
}

func (r *listReader) Next() (docs, frequencies []uint32) {
	r.pass()
	r.size = min(listBlock, len(r.list.docs)-r.at)
	return r.list.docs[r.at : r.at+r.size], r.list.frequencies[r.at : r.at+r.size]
}

// pass advances past the current block.
func (r *listReader) pass() {
	if r.list.positions != nil {
		for _, frequency := range r.list.frequencies[r.at : r.at+r.size] {
			r.placed += extent(r.list.positions[r.placed:], frequency)
		}
	}
	r.at += r.size
	r.size = 0
}

func (r *listReader) Skip(doc uint32) {
	r.pass()
	to, _ := slices.BinarySearch(r.list.docs, doc)
	r.size = max(0, to-r.at)
	r.pass()
}

func (r *listReader) Positions(do func(i int, positions []byte)) {
	at := r.placed
	for i, frequency := range r.list.frequencies[r.at : r.at+r.size] {
		size := extent(r.list.positions[at:], frequency)
		do(i, r.list.positions[at:at+size])
		at += size
	}
}

// extent is the size of count positions in bytes.
func extent(positions []byte, count uint32) int {
	end := 0
	for range count {
		_, size := binary.Uvarint(positions[end:])
		end += max(0, size)
	}
	return end
}

// write compresses a frozen tail to a segment.
func (t *tail) write(payload []byte) ([]byte, error) {
	terms := make([]string, 0, len(t.terms))
	for term := range t.terms {
		terms = append(terms, term)
	}
	slices.Sort(terms)
	w := &segment.Writer{}
	for _, term := range terms {
		w.Term(term)
		l, at := t.terms[term], 0
		for i, doc := range l.docs {
			size := extent(l.positions[at:], l.frequencies[i])
			w.Add(doc, l.frequencies[i], l.positions[at:at+size])
			at += size
		}
	}
	return w.Finish(t.lengths, payload)
}
