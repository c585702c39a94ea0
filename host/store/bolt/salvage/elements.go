package salvage

import (
	"encoding/binary"
	"slices"

	"github.com/alcove-memory/alcove/host/store/bolt/layout"
)

// Element is a key with a value or, in a branch page, with the page below it.
type Element struct {
	Key, Value []byte
	Bucket     bool // the value is the header of a bucket
	child      uint64
	others     []Element // other readings, where its page is damaged
}

// header is the stored header of an element: where its key begins in the page, how long key and value are.
type header struct {
	from, key, value uint64
	flags            uint32
	child            uint64
}

func (h header) end() uint64 { return h.from + h.key + h.value }

func readHeader(page []byte, i int, leaf bool) header {
	le := binary.LittleEndian
	at := uint64(layout.PageHeader + i*pageElement)
	e := page[at : at+pageElement]
	if leaf {
		return header{flags: le.Uint32(e), from: at + uint64(le.Uint32(e[4:])), key: uint64(le.Uint32(e[8:])), value: uint64(le.Uint32(e[12:]))}
	}
	return header{from: at + uint64(le.Uint32(e)), key: uint64(le.Uint32(e[4:])), child: le.Uint64(e[8:])}
}

func (h header) element(page []byte) (e Element, ok bool) {
	size := uint64(len(page))
	if h.key == 0 || h.from > size || h.key > size-h.from || h.value > size-h.from-h.key {
		return e, false
	}
	border := h.from + h.key
	return Element{Key: page[h.from:border:border], Value: page[border:h.end():h.end()], Bucket: h.flags == bucketLeaf, child: h.child}, true
}

// inline is passed instead of a page number for a page inside a value.
const inline = 0

// elements decodes a page. Each element begins where the one before ends, the first behind the last header, and the last ends in
// the last overflow page; otherwise the page is damaged, and its elements are guessed.
func (p *pages) elements(what any, page []byte, id uint64) (list []Element, leaf bool) {
	flags, count := binary.LittleEndian.Uint16(page[8:]), int(binary.LittleEndian.Uint16(page[10:]))
	leaf = flags == leafPage
	if flags == leafPage && count == 0 && !zero(page[layout.PageHeader:]) {
		count = -1 // the count is wrong: the page has content
	}
	if count >= 0 && (flags == leafPage || flags == branchPage && count > 0) {
		list, end := p.chain(page, count, leaf)
		if len(list) == count && (id == inline && end == uint64(len(page)) || id != inline && end+p.meta.PageSize > uint64(len(page))) {
			return list, leaf
		}
	}
	p.structureFault("%s has the flags %#x and %d elements: it is damaged", what, flags, count)
	return p.guess(page, count, id)
}

func zero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}

// chain decodes elements as long as each begins where the one before ends.
func (p *pages) chain(page []byte, count int, leaf bool) (list []Element, end uint64) {
	end = uint64(layout.PageHeader + count*pageElement)
	if end > uint64(len(page)) {
		return nil, end
	}
	if last := len(p.lists) - 1; last >= 0 {
		list, p.lists = p.lists[last], p.lists[:last]
	}
	list = slices.Grow(list, count)
	for i := range count {
		h := readHeader(page, i, leaf)
		e, ok := h.element(page)
		if !ok || h.from != end || h.flags > bucketLeaf {
			return list, end
		}
		list, end = append(list, e), h.end()
	}
	return list, end
}

// guess infers the header of a damaged page from its elements, and gives each element with its possible readings.
func (p *pages) guess(page []byte, count int, id uint64) (list []Element, leaf bool) {
	if len(page) < layout.PageHeader+pageElement {
		return nil, true
	}
	best, most := 0, -1
	for _, isLeaf := range []bool{true, false} {
		if n, fit := countElements(page, count, isLeaf); fit > most {
			best, most, leaf = n, fit, isLeaf
		}
	}
	best = min(best, (len(page)-layout.PageHeader)/pageElement)
	if last := readHeader(page, max(best-1, 0), leaf).end(); id != inline && last > uint64(len(page)) && last <= maxPage {
		if all, err := p.read(id, (last+p.meta.PageSize-1)/p.meta.PageSize); err == nil {
			page = all // its overflow count is too small
		}
	}
	for i := range best {
		if e, ok := variants(page, i, best, leaf); ok {
			list = append(list, e)
		}
	}
	return list, leaf
}

// countElements is how many elements a page has, and how many of these are where they must be: as many as its header says, or as the begin
// of the first one says if that explains more elements and leaves fewer unexplained. A begin that is wrong by one header does not.
func countElements(page []byte, said int, leaf bool) (n, fit int) {
	n, fit = max(said, 0), fits(page, max(said, 0), leaf)
	begin := readHeader(page, 0, leaf).from - layout.PageHeader // where the headers end
	other := int(min(begin/pageElement, 1<<16))
	if f := fits(page, other, leaf); f > fit && (said <= 0 || other-f < n-fit) {
		return other, f
	}
	return n, fit
}

// fits counts the elements that begin where the one before ends, if the page had count elements.
func fits(page []byte, count int, leaf bool) (n int) {
	if layout.PageHeader+count*pageElement > len(page) {
		return -1
	}
	end := uint64(layout.PageHeader + count*pageElement)
	for i := range count {
		h := readHeader(page, i, leaf)
		if h.from == end && h.key > 0 && h.flags <= bucketLeaf {
			n++
		}
		end = h.end()
	}
	return n
}

// variants are the readings of element i of a damaged page: its own header, or what its neighbours leave.
func variants(page []byte, i, count int, leaf bool) (first Element, ok bool) {
	h := readHeader(page, i, leaf)
	from, to := uint64(layout.PageHeader+count*pageElement), uint64(len(page))
	if i > 0 {
		from = readHeader(page, i-1, leaf).end()
	}
	if i+1 < count {
		to = readHeader(page, i+1, leaf).from
	}
	tries := []header{h, h}
	tries[1].from = from // only its begin is damaged
	if h.from != from && tries[1].end() == to {
		tries[0], tries[1] = tries[1], tries[0] // it fits between its neighbours
	}
	switch {
	case h.from > to:
	case !leaf:
		tries = append(tries, header{from: h.from, key: to - h.from, child: h.child})
	default:
		key, value := h, h
		key.key, value.value = to-h.from-h.value, to-h.from-h.key
		tries = append(tries, key, value)
	}
	if i+1 == count && leaf { // no neighbour tells its length
		tries = append(tries, lengths(h)...)
	}
	for _, t := range tries {
		e, fits := t.element(page)
		if !fits {
			continue
		}
		if !ok {
			first, ok = e, true
			continue
		}
		first.others = append(first.others, e)
	}
	return first, ok
}

// lengths are the readings of an element whose length of key or value is wrong in one byte.
func lengths(h header) (list []header) {
	for shift := 0; shift < 24; shift += 8 {
		for b := range uint64(256) {
			key, value := h, h
			key.key = key.key&^(255<<shift) | b<<shift
			value.value = value.value&^(255<<shift) | b<<shift
			list = append(list, key, value)
		}
	}
	return list
}
