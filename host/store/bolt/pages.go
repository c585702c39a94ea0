package bolt

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
)

// What follows reads the pages of a bbolt file without bbolt, which takes them for whole and ends the process where they
// are not. The layout is that of bbolt's version 2: a page has a header of 16 bytes (id, flags, count, overflow), then
// elements of 16 bytes that point to keys and values behind them; numbers are in the machine's order, which is taken to
// be little-endian as on every platform this program is built for.
const (
	pageHeader  = 16
	pageElement = 16
	branchPage  = 0x01
	leafPage    = 0x02
	bucketLeaf  = 0x01 // flag of an element whose value is a bucket
	fileMagic   = 0xED0CDAED
	fileVersion = 2
	metaSize    = 56 // bytes of a meta page that its checksum covers
	maxNesting  = 64 // levels of pages, far above what a file can need
)

// pages is a database file, read into memory.
type pages struct {
	data   []byte
	size   uint64 // of a page
	high   uint64 // pages in use lie below
	root   uint64 // page of the outermost bucket
	txid   uint64
	seen   map[uint64]bool
	faults []error
}

var errNoMeta = errors.New("neither of the database's two first pages is whole: it cannot be read at all; restore a backup")

// readPages finds the newer of the two whole meta pages.
func readPages(data []byte) (*pages, error) {
	p := &pages{data: data, seen: map[uint64]bool{}}
	found := false
	for _, size := range []uint64{4096, 8192, 16384, 32768, 65536} {
		for place := range uint64(2) {
			if p.meta(place*size, size) {
				found = true
			}
		}
		if found {
			return p, nil
		}
	}
	return nil, errNoMeta
}

// meta takes over a meta page if it is whole and newer.
func (p *pages) meta(at, size uint64) bool {
	if at+pageHeader+metaSize+8 > uint64(len(p.data)) {
		return false
	}
	m := p.data[at+pageHeader:]
	le := binary.LittleEndian
	sum := fnv.New64a()
	sum.Write(m[:metaSize])
	if le.Uint32(m) != fileMagic || le.Uint32(m[4:]) != fileVersion || uint64(le.Uint32(m[8:])) != size || le.Uint64(m[metaSize:]) != sum.Sum64() {
		return false
	}
	if txid := le.Uint64(m[48:]); p.size == 0 || txid > p.txid {
		p.size, p.root, p.high, p.txid = size, le.Uint64(m[16:]), le.Uint64(m[40:]), txid
	}
	return true
}

func (p *pages) fault(format string, values ...any) {
	if len(p.faults) < maxFaults {
		p.faults = append(p.faults, fmt.Errorf(format, values...))
	}
}

// page is a page's bytes, with those it overflows into; nil when it is not what it must be.
func (p *pages) page(id uint64) []byte {
	start := id * p.size
	if id < 2 || id >= p.high || start+p.size > uint64(len(p.data)) {
		p.fault("page %d is referred to, and the file has %d", id, min(p.high, uint64(len(p.data))/p.size))
		return nil
	}
	if p.seen[id] {
		p.fault("page %d is referred to twice", id)
		return nil
	}
	p.seen[id] = true
	head := p.data[start:]
	overflow := uint64(binary.LittleEndian.Uint32(head[12:]))
	if own := binary.LittleEndian.Uint64(head); own != id || overflow >= p.high || start+(overflow+1)*p.size > uint64(len(p.data)) {
		p.fault("page %d says that it is page %d with %d more", id, own, overflow)
		return nil
	}
	return p.data[start : start+(overflow+1)*p.size]
}

// element is a key with a value or, in a branch page, with the page below it.
type element struct {
	key, value []byte
	bucket     bool
	child      uint64
}

// elements takes a page apart. Those that lead out of the page, or are out of order, are faults and left out.
func (p *pages) elements(what string, page []byte) (list []element, leaf bool) {
	le := binary.LittleEndian
	flags, count := le.Uint16(page[8:]), int(le.Uint16(page[10:]))
	leaf = flags == leafPage
	if flags != leafPage && flags != branchPage || pageHeader+count*pageElement > len(page) {
		p.fault("%s has the flags %#x and %d elements: it is damaged", what, flags, count)
		return nil, false
	}
	var last []byte
	for i := range count {
		at := pageHeader + i*pageElement
		e, ok := p.element(page, at, leaf)
		if !ok || i > 0 && bytes.Compare(e.key, last) <= 0 {
			p.fault("element %d of %s is damaged", i, what)
			continue
		}
		last = e.key
		list = append(list, e)
	}
	return list, leaf
}

func (p *pages) element(page []byte, at int, leaf bool) (e element, ok bool) {
	le := binary.LittleEndian
	slice := func(from, size uint64) []byte {
		if from > uint64(len(page)) || size > uint64(len(page))-from {
			return nil
		}
		return page[from : from+size : from+size]
	}
	if !leaf {
		e.key = slice(uint64(at)+uint64(le.Uint32(page[at:])), uint64(le.Uint32(page[at+4:])))
		e.child = le.Uint64(page[at+8:])
		return e, e.key != nil
	}
	flags, from, keySize, valueSize := le.Uint32(page[at:]), uint64(at)+uint64(le.Uint32(page[at+4:])), uint64(le.Uint32(page[at+8:])), uint64(le.Uint32(page[at+12:]))
	e.bucket = flags == bucketLeaf
	e.key, e.value = slice(from, keySize), slice(from+keySize, valueSize)
	return e, e.key != nil && e.value != nil && flags <= bucketLeaf
}

// walk visits the elements of a bucket in order, given its page.
func (p *pages) walk(what string, id uint64, depth int, visit func(element)) {
	if depth > maxNesting {
		p.fault("%s is nested too deep: it is damaged", what)
		return
	}
	page := p.page(id)
	if page == nil {
		p.fault("%s is missing what is in page %d", what, id)
		return
	}
	list, leaf := p.elements(fmt.Sprintf("page %d, of %s,", id, what), page)
	for _, e := range list {
		if leaf {
			visit(e)
			continue
		}
		p.walk(what, e.child, depth+1, visit)
	}
}

// bucket visits the elements of a bucket, given the value that stands for it: its page, or a page that is in the value.
func (p *pages) bucket(what string, value []byte, visit func(element)) {
	if len(value) < 16 {
		p.fault("%s is cut short", what)
		return
	}
	if root := binary.LittleEndian.Uint64(value); root != 0 {
		p.walk(what, root, 0, visit)
		return
	}
	if len(value) < 16+pageHeader {
		p.fault("%s is cut short", what)
		return
	}
	list, leaf := p.elements(what, value[16:])
	if !leaf {
		p.fault("%s is damaged", what)
	}
	for _, e := range list {
		visit(e)
	}
}

// buckets are the buckets in a bucket, by name. value nil: the outermost.
func (p *pages) buckets(what string, value []byte) map[string][]byte {
	found := map[string][]byte{}
	visit := func(e element) {
		if e.bucket {
			found[string(e.key)] = e.value
		}
	}
	if value == nil {
		p.walk(what, p.root, 0, visit)
	} else {
		p.bucket(what, value, visit)
	}
	return found
}
