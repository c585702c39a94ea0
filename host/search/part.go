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
	if l := p.tail.find(term); l != nil {
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
	for i := range p.tail.entries {
		if term := p.tail.entries[i].term; strings.HasPrefix(term, prefix) {
			do(term)
		}
	}
}

// tail is the uncompressed postings of a growing part.
type tail struct {
	number  uint32 // of the part
	entries []entry
	terms   map[string]uint32 // entries
	lengths []byte
	size    int // bytes of positions
}

func newTail(number uint32) *tail { return &tail{number: number, terms: map[string]uint32{}} }

// entry is a term of a tail.
type entry struct {
	term string
	list
	doc, at uint32 // its last document and position
}

// list is the postings of a term, or the union of several terms'.
type list struct {
	docs, frequencies []uint32
	positions         []byte // as segment.AppendPositions writes them
}

// find returns the postings of a term, or nil.
func (t *tail) find(term string) *list {
	number, ok := t.terms[term]
	if !ok {
		return nil
	}
	return &t.entries[number].list
}

// entryOf returns the entry of a word's term.
func (t *tail) entryOf(k *known) *entry {
	if k.tail != t.number {
		k.tail, k.entry = t.number, t.enter(k.term)
	}
	return &t.entries[k.entry]
}

// enter returns the number of a term's entry.
func (t *tail) enter(term string) uint32 {
	number, ok := t.terms[term]
	if !ok {
		number, term = uint32(len(t.entries)), strings.Clone(term) // which does not retain a long text
		t.terms[term] = number
		t.entries = append(t.entries, entry{term: term})
	}
	return number
}

// add adds a document, given its words in their order.
func (t *tail) add(words []placed, length byte) {
	doc := uint32(len(t.lengths))
	t.lengths = append(t.lengths, length)
	for _, w := range words {
		e := t.entryOf(w.known)
		before := len(e.positions)
		e.add(doc, w.at)
		t.size += len(e.positions) - before
	}
}

// add adds a term's next position.
func (e *entry) add(doc, at uint32) {
	if e.doc == doc && len(e.docs) > 0 {
		e.frequencies[len(e.frequencies)-1]++
	} else {
		e.docs = append(e.docs, doc)
		e.frequencies = append(e.frequencies, 1)
		e.doc, e.at = doc, 0
	}
	e.positions = binary.AppendUvarint(e.positions, uint64(at-e.at))
	e.at = at
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
func (t *tail) write(payload []byte) (*segment.Segment, error) {
	w := &segment.Writer{}
	for _, e := range t.sorted() {
		w.Term(e.term)
		at := 0
		for i, doc := range e.docs {
			size := extent(e.positions[at:], e.frequencies[i])
			w.Add(doc, e.frequencies[i], e.positions[at:at+size])
			at += size
		}
	}
	return w.Finish(t.lengths, payload)
}

// sorted returns the entries in the order of their terms.
func (t *tail) sorted() []*entry {
	entries := make([]*entry, len(t.entries))
	for i := range t.entries {
		entries[i] = &t.entries[i]
	}
	slices.SortFunc(entries, func(a, b *entry) int { return strings.Compare(a.term, b.term) })
	return entries
}
