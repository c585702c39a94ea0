package salvage

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/alcove-memory/alcove/host/store/bolt/layout"
)

// The page format is that of bbolt's version 2: a header of 16 bytes (id, flags, count, overflow), then elements of 16 bytes that
// point to keys and values behind them, one after the other without gaps. Numbers have the byte order of the machine, which is
// little-endian on every platform that this program is built for.
const (
	pageElement = 16
	branchPage  = 0x01
	leafPage    = 0x02
	bucketLeaf  = 0x01 // flag of an element whose value is a bucket
	maxNesting  = 64   // levels of pages, far more than any file needs
	maxPage     = 64 << 20
	maxVisits   = 3 // of a page that several others refer to

	chunkRecords = 2000    // records that a repair writes in one transaction
	chunkBytes   = 4 << 20 // likewise, bytes
)

// pages reads a database file page by page, with as many in memory as a tree has levels.
type pages struct {
	file   io.ReaderAt
	length uint64 // bytes
	meta   layout.Meta
	visits []uint8     // of each page
	free   [][]byte    // buffers of a page
	large  []byte      // a larger one
	lists  [][]Element // buffers of the elements of a page
	faults []error
	more   int  // faults that are not listed
	broken bool // pages are damaged, not only records

	repeated bool // the page being visited was visited before

	after   []byte // the last key of an earlier visit; nil: start at the first
	stopped bool   // by the visitor

	metaFaults []error // of the two meta pages
	mended     []byte  // a meta page as it must be; nil: both are whole, or it cannot be told
}

// openPages starts from the newer of the two meta pages. A damaged one is a fault: it may have been the newer one.
func openPages(file io.ReaderAt, length int64) (*pages, error) {
	p := &pages{file: file, length: uint64(max(length, 0))}
	for _, size := range []uint64{4096, 8192, 16384, 32768, 65536} {
		if p.findMeta(size) {
			return p, nil
		}
	}
	return nil, errNoMeta
}

// openPagesOf opens a file for reading. The caller closes it.
func openPagesOf(path string) (*pages, *os.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, fmt.Errorf("read the database: %w", err)
	}
	info, err := f.Stat()
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	p, err := openPages(f, info.Size())
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return p, f, nil
}

// structureFault notes a fault of a page, whose records may be lost with it.
func (p *pages) structureFault(format string, values ...any) {
	p.broken = true
	p.fault(format, values...)
}

// probe runs look without counting its visits and faults.
func (p *pages) probe(look func()) {
	visits, faults, more, broken := p.visits, p.faults, p.more, p.broken
	p.visits = make([]uint8, len(visits))
	look()
	p.visits, p.faults, p.more, p.broken = visits, faults, more, broken
}

func (p *pages) fault(format string, values ...any) {
	if len(p.faults) < MaxFaults {
		p.faults = append(p.faults, fmt.Errorf(format, values...))
		return
	}
	p.more++
}

// page reads a page with its overflow pages, damaged or not; nil when it cannot be read. The caller returns it with release.
func (p *pages) page(id uint64) []byte {
	count := uint64(len(p.visits))
	if id < 2 || id >= count {
		p.structureFault("page %d is referred to, and the file has %d pages", id, count)
		return nil
	}
	p.visits[id]++
	if p.visits[id] > 1 {
		p.structureFault("page %d is referred to twice", id)
		if p.visits[id] > maxVisits {
			return nil
		}
	}
	page, err := p.read(id, 1)
	if err != nil {
		p.structureFault("page %d cannot be read: %w", id, err)
		return nil
	}
	overflow := uint64(binary.LittleEndian.Uint32(page[12:]))
	tooLong := overflow >= count-id || (overflow+1)*p.meta.PageSize > maxPage
	if own := binary.LittleEndian.Uint64(page); own != id || tooLong {
		p.structureFault("page %d has the page number %d and %d overflow pages", id, own, overflow)
	}
	if tooLong {
		return page
	}
	for next := id + 1; next <= id+overflow; next++ {
		if p.visits[next]++; p.visits[next] > 1 {
			p.structureFault("page %d is referred to twice", next)
		}
	}
	if overflow == 0 {
		return page
	}
	p.release(page)
	if page, err = p.read(id, overflow+1); err != nil {
		p.structureFault("page %d cannot be read: %w", id, err)
		return nil
	}
	return page
}

func (p *pages) read(id, count uint64) ([]byte, error) {
	var page []byte
	size := count * p.meta.PageSize
	if last := len(p.free) - 1; count == 1 && last >= 0 {
		page, p.free = p.free[last], p.free[:last]
	} else if count > 1 && uint64(cap(p.large)) >= size {
		page, p.large = p.large[:size], nil
	} else {
		page = make([]byte, size)
	}
	if n, err := p.file.ReadAt(page, int64(id*p.meta.PageSize)); n < len(page) {
		return nil, err
	}
	return page, nil
}

func (p *pages) release(page []byte) {
	if uint64(len(page)) == p.meta.PageSize {
		p.free = append(p.free, page)
	} else if cap(page) > cap(p.large) {
		p.large = page
	}
}

// bucket is where the elements of a bucket are: in pages, or inline in its value.
type bucket struct {
	root     uint64
	inline   []byte // a page
	sequence uint64
}

// none reports that the bucket is missing.
func (b bucket) none() bool { return b.root == 0 && b.inline == nil }

func (p *pages) bucketOf(what string, value []byte) (b bucket, ok bool) {
	if len(value) < 16 || len(value) > 16 && len(value) < 16+layout.PageHeader {
		p.structureFault("%s is truncated", what)
		return b, false
	}
	b = bucket{root: binary.LittleEndian.Uint64(value), sequence: binary.LittleEndian.Uint64(value[8:])}
	if len(value) > 16 {
		b.inline = value[16:]
	}
	if (b.root == 0) != (b.inline != nil) {
		p.structureFault("%s has the root page %d and %d bytes", what, b.root, len(value))
	}
	return b, true
}

// scan visits the elements of a bucket in stored order. They are valid until visit returns.
func (p *pages) scan(what string, b bucket, visit func(Element)) {
	if b.inline == nil {
		p.walk(what, b.root, 0, keyRange{}, visit)
		return
	}
	if id, overflow := binary.LittleEndian.Uint64(b.inline), binary.LittleEndian.Uint32(b.inline[12:]); id != 0 || overflow != 0 {
		p.structureFault("%s, which is inline, has the page number %d and %d overflow pages", what, id, overflow)
	}
	list, leaf := p.elements(what, b.inline, inline)
	if !leaf {
		p.structureFault("%s is inline and no leaf", what)
	}
	p.visitAll(what, list, keyRange{}, visit)
}

// keyRange is the range of keys of a page: from min, and below max unless that is nil.
type keyRange struct{ min, max []byte }

func (s keyRange) has(key []byte) bool {
	return bytes.Compare(key, s.min) >= 0 && (s.max == nil || bytes.Compare(key, s.max) < 0)
}

func (p *pages) walk(what string, id uint64, depth int, in keyRange, visit func(Element)) {
	if depth > maxNesting {
		p.structureFault("%s has more than 64 levels of pages", what)
		return
	}
	page := p.page(id)
	if page == nil {
		p.structureFault("%s has lost page %d and what is below it", what, id)
		return
	}
	name := pageName{id, what}
	list, leaf := p.elements(name, page, id)
	if leaf {
		p.repeated = p.visits[id] > 1
		p.visitAll(name, list, in, visit)
		p.repeated = false
		p.release(page)
		return
	}
	for i, e := range list {
		if p.stopped {
			break
		}
		if !in.has(e.Key) {
			p.structureFault("%s refers to keys outside of its range", name)
		}
		if p.after != nil && i+1 < len(list) && bytes.Compare(list[i+1].Key, p.after) <= 0 {
			continue
		}
		below := keyRange{e.Key, in.max}
		if i+1 < len(list) {
			below.max = list[i+1].Key
		}
		p.walk(what, e.child, depth+1, below, visit)
	}
	p.release(page)
}

// visitAll visits elements, and checks that they are sorted and within the range.
func (p *pages) visitAll(what any, list []Element, in keyRange, visit func(Element)) {
	for i, e := range list {
		if i > 0 && bytes.Compare(list[i-1].Key, e.Key) >= 0 {
			p.structureFault("elements %d and %d of %s are not sorted", i-1, i, what)
		} else if !in.has(e.Key) {
			p.structureFault("element %d of %s is outside of its range", i, what)
		}
		if !p.stopped && (p.after == nil || bytes.Compare(e.Key, p.after) > 0) {
			visit(e)
		}
	}
	p.lists = append(p.lists, list[:0])
}

// pageName names a page in a fault. It is formatted only for one.
type pageName struct {
	id uint64
	of string
}

func (n pageName) String() string { return fmt.Sprintf("page %d, of %s,", n.id, n.of) }

// MaxFaults is how many faults one examination lists.
const MaxFaults = 20
