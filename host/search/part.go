package search

import (
	"cmp"
	"encoding/binary"
	"hash/maphash"
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
	expiring []expiry // documents that expire, in the order in which they do unless the part grows
	facets   bitset   // of its documents
	first    uint64   // the oldest version
	last     uint64   // the newest version

	tail   *tail
	frozen bool // the tail is being compressed: nothing is added
	sealed *segment.Segment
	blob   string // the stored file's name; empty: not stored
	file   *file  // the mapped file that sealed reads; nil: sealed is in memory
	purged bool   // it still contains purged text

	columns atomic.Pointer[columns] // nil: none was built
	sets    postingSets
	known   knownSets
	runs    atomic.Pointer[bitset] // of a sealed part, by 64 documents; nil: not asked for
}

// expiry is when a document expires, in µs.
type expiry struct {
	at    int64
	local uint32
}

func (p *part) docs() int { return len(p.rows) }

// each calls do for the rows, tombstones included. do may erase rows.
func (p *part) each(do func(number uint32)) {
	for _, list := range [][]uint32{p.rows, p.ghosts} {
		for _, number := range list {
			if number != none {
				do(number)
			}
		}
	}
}

// note records the properties of a document that searches need of its part.
func (p *part) note(t *table, r *row, local uint32) {
	p.facets.add(r.facet)
	if at := t.expiresAt(r); at != 0 {
		p.expiring = append(p.expiring, expiry{at, local})
	}
}

// inOrder returns the documents in the order in which they expire.
func inOrder(list []expiry) []expiry {
	return slices.SortedFunc(slices.Values(list), func(a, b expiry) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.local, b.local)) })
}

// lengths returns the length codes of the part's documents.
func (p *part) lengths() []byte {
	if p.sealed != nil {
		return p.sealed.Lengths()
	}
	return p.tail.lengths
}

// digest returns the digest of what was analysed of a document; ok is false if the part has none.
func (p *part) digest(local uint32) (d uint64, ok bool) {
	if p.sealed != nil {
		return p.sealed.Digest(local)
	}
	return p.tail.digests[local], true
}

// reader iterates over a term's postings block by block: documents in ascending order with their frequencies. The result
// of Next is valid until the next call, and empty at the end.
type reader interface {
	Next() (docs, frequencies []uint32)
	// Skip skips blocks whose documents are all less than doc.
	Skip(doc uint32)
	// Rewind returns to the first posting.
	Rewind()
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
	terms   numbering // of entries
	seed    maphash.Seed
	lengths []byte
	digests []uint64 // of what was analysed
	size    int      // bytes of positions

	numbers room[uint32]
	places  room[byte]
}

// newTail returns an empty tail.
func newTail(number uint32) *tail { return &tail{number: number, seed: maphash.MakeSeed()} }

// newTail returns an empty tail for a branch: if its last one became full, the spare one, whose lists are about as long as the next will
// be. Others would hold much memory for few documents.
func (x *Index) newTail(b *branch, number uint32) *tail {
	if n := len(b.parts); n == 0 || b.parts[n-1].docs() < x.maxTail {
		return newTail(number)
	}
	t := x.spare.Swap(nil)
	if t == nil {
		return newTail(number)
	}
	t.number = number
	return t
}

// reset empties a tail that nobody reads, and returns the size of the memory that it keeps.
func (t *tail) reset() (size int) {
	entries := t.entries[:cap(t.entries)] // those behind its own have the lists of an earlier tail
	for i := range entries {
		e := &entries[i]
		*e = entry{list: list{e.docs[:0], e.frequencies[:0], e.positions[:0]}}
		size += 8*cap(e.docs) + cap(e.positions)
	}
	clear(t.terms.slots)
	t.entries, t.terms.used, t.lengths, t.digests, t.size = entries[:0], 0, t.lengths[:0], t.digests[:0], 0
	return size + entrySize*cap(entries)
}

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

// entrySize is the size of an entry in memory, in bytes, with its slots.
const entrySize = 112

// find returns the postings of a term, or nil.
func (t *tail) find(term string) *list {
	number := t.numberOf(term, t.hashOf(term))
	if number == none {
		return nil
	}
	return &t.entries[number].list
}

func (t *tail) hashOf(term string) uint32 { return uint32(maphash.String(t.seed, term)) }

// numberOf returns the number of a term's entry, or none.
func (t *tail) numberOf(term string, hash uint32) uint32 {
	return t.terms.find(hash, func(number uint32) bool { return t.entries[number].term == term })
}

// entryOf returns the entry of a word's term.
func (t *tail) entryOf(k *wordAnalysis) *entry {
	if k.tail != t.number {
		k.tail, k.entry = t.number, t.enter(k.term)
	}
	return &t.entries[k.entry]
}

// lookUp finds the entries of a document's words, as far as they have some.
func (t *tail) lookUp(p *preparedDoc) {
	for _, w := range p.words {
		k := w.wordAnalysis
		if k.tail == t.number {
			continue
		}
		if number := t.numberOf(k.term, t.hashOf(k.term)); number != none {
			k.tail, k.entry = t.number, number
		}
	}
}

// enter returns the number of a term's entry, which is new if it has none.
func (t *tail) enter(term string) uint32 {
	hash := t.hashOf(term)
	number := t.numberOf(term, hash)
	if number == none {
		number = uint32(len(t.entries))
		t.terms.add(hash, number)
		if int(number) == cap(t.entries) {
			t.entries = slices.Grow(t.entries, 1)
		}
		t.entries = t.entries[:number+1]
		t.entries[number].term = term
	}
	return number
}

// add adds an analysed document.
func (t *tail) add(p *preparedDoc) {
	doc := uint32(len(t.lengths))
	t.lengths, t.digests = append(t.lengths, lengthCode(p.length)), append(t.digests, p.digest)
	for _, w := range p.words {
		e := t.entryOf(w.wordAnalysis)
		before := len(e.positions)
		t.place(e, doc, w.at)
		t.size += len(e.positions) - before
	}
}

// place adds a term's next position. Slices are set only when they move, as that costs while garbage is collected.
func (t *tail) place(e *entry, doc, at uint32) {
	if e.doc == doc && len(e.docs) > 0 {
		e.frequencies[len(e.frequencies)-1]++
	} else {
		if n := len(e.docs); n == cap(e.docs) && n < longList {
			e.docs, e.frequencies = t.numbers.more(e.docs), t.numbers.more(e.frequencies)
		}
		e.docs = append(e.docs, doc)
		e.frequencies = append(e.frequencies, 1)
		e.doc, e.at = doc, 0
	}
	if n := len(e.positions); n == cap(e.positions) && n < longList {
		e.positions = t.places.more(e.positions)
	}
	if gap := at - e.at; gap < 0x80 {
		e.positions = append(e.positions, byte(gap))
	} else {
		e.positions = binary.AppendUvarint(e.positions, uint64(gap))
	}
	e.at = at
}

// room allocates short lists, of which a tail has thousands.
type room[T any] struct {
	free []T
	size int // of the last piece
}

// Sizes of rooms, and of lists that need none.
const (
	leastRoom = 1 << 6
	mostRoom  = 1 << 13
	longList  = 32
)

// more returns a full list with room for other elements.
func (r *room[T]) more(list []T) []T {
	size := max(2, 4*len(list))
	if len(r.free) < size {
		r.size = min(max(leastRoom, size, 2*r.size), mostRoom)
		r.free = make([]T, r.size)
	}
	piece := r.free[:len(list):size]
	r.free = r.free[size:]
	copy(piece, list)
	return piece
}

// listBlock is the block size of listReader, in postings.
const listBlock = 1024

// listReader is the reader of a list.
type listReader struct {
	list     *list
	at, size int
	placed   int // where the positions of the posting at `placedAt` begin; they are followed no further than they are asked for
	placedAt int
}

func (r *listReader) Next() (docs, frequencies []uint32) {
	r.pass()
	r.size = min(listBlock, len(r.list.docs)-r.at)
	return r.list.docs[r.at : r.at+r.size], r.list.frequencies[r.at : r.at+r.size]
}

// pass advances past the current block.
func (r *listReader) pass() {
	r.at += r.size
	r.size = 0
}

func (r *listReader) Skip(doc uint32) {
	r.pass()
	to, _ := slices.BinarySearch(r.list.docs, doc)
	r.size = max(0, to-r.at)
	r.pass()
}

func (r *listReader) Rewind() { *r = listReader{list: r.list} }

func (r *listReader) Positions(do func(i int, positions []byte)) {
	for _, frequency := range r.list.frequencies[r.placedAt:r.at] {
		r.placed += extent(r.list.positions[r.placed:], frequency)
	}
	r.placedAt = r.at
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

// write compresses a frozen tail to a segment, beside what the writer has.
func (t *tail) write(w *segment.Writer, payload []byte) (*segment.Segment, error) {
	w.Reserve(t.size)
	w.Digests(t.digests)
	for _, e := range t.sorted() {
		w.Term(e.term)
		w.AddAll(e.docs, e.frequencies, e.positions)
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
