package bolt

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"slices"
)

// The two first pages of a file are its heads: each commit writes one, in turn, when all else is on the disk, and acknowledges it
// when that is. bbolt takes the newer one that is whole. If the newer one is damaged, it takes the other, which knows nothing of the
// newest commit, and gives the pages of that away. So a damaged head is mended before bbolt sees it, or the file is not opened.

// meta is what a head says.
type meta struct {
	size     uint64 // of a page
	root     uint64 // page of the outermost bucket
	freelist uint64 // page of what is free; noFreelist: none
	high     uint64 // pages in use lie below
	txid     uint64 // grows with each commit; an even one is in the first page
}

const (
	noFreelist = ^uint64(0)
	metaSize   = 56 // bytes that the checksum of a head covers
	metaPage   = 0x04
)

var (
	errNoMeta  = errors.New("neither of the database's two first pages is whole: it cannot be read at all; restore a backup")
	errMeta    = errors.New("the page is damaged")
	errOneByte = errors.New("a byte of one of the database's two first pages is damaged, which its checksum tells: nothing is lost by it")
	errNewest  = errors.New("one of the database's two first pages is damaged, and led to the newest commit, which was found by its pages: nothing is lost by it")
	errLoser   = errors.New("one of the database's two first pages is damaged: if it was the newer one, the newest commit is lost")
)

// findHead reads both heads, if pages are of that size.
func (p *pages) findHead(size uint64) bool {
	var heads []meta
	var faults []error
	for place := range uint64(2) {
		page := make([]byte, pageHeader+metaSize+8)
		if n, _ := p.file.ReadAt(page, int64(place*size)); n < len(page) {
			continue
		}
		raw := page[pageHeader:]
		m, err := readMeta(raw, size)
		if err == nil && !bytes.Equal(page[:pageHeader], headOf(place)) {
			faults, p.mended = append(faults, errOneByte), slices.Concat(headOf(place), raw)
		}
		if err != nil && mend(raw, size) {
			m, err = readMeta(raw, size)
			faults, p.mended = append(faults, errOneByte), slices.Concat(headOf(place), raw)
		}
		if err == nil {
			heads = append(heads, m)
		}
	}
	if len(heads) == 0 {
		return false
	}
	if p.lead(heads[0]); len(heads) == 2 && heads[1].txid > heads[0].txid {
		p.lead(heads[1])
	}
	if p.headFaults = faults; len(heads) == 1 {
		p.findNewest()
	}
	return true
}

// lead makes a head the one that pages are found by.
func (p *pages) lead(m meta) {
	p.head = m
	p.visits = make([]uint8, min(m.high, p.length/m.size))
}

func readMeta(raw []byte, size uint64) (m meta, err error) {
	le := binary.LittleEndian
	if le.Uint32(raw) != fileMagic || le.Uint32(raw[4:]) != fileVersion || uint64(le.Uint32(raw[8:])) != size || le.Uint64(raw[metaSize:]) != metaSum(raw) {
		return m, errMeta
	}
	return meta{size: size, root: le.Uint64(raw[16:]), freelist: le.Uint64(raw[32:]), high: le.Uint64(raw[40:]), txid: le.Uint64(raw[48:])}, nil
}

func (m meta) encode() []byte {
	le := binary.LittleEndian
	raw := make([]byte, metaSize+8)
	le.PutUint32(raw, fileMagic)
	le.PutUint32(raw[4:], fileVersion)
	le.PutUint32(raw[8:], uint32(m.size))
	le.PutUint64(raw[16:], m.root)
	le.PutUint64(raw[32:], m.freelist)
	le.PutUint64(raw[40:], m.high)
	le.PutUint64(raw[48:], m.txid)
	le.PutUint64(raw[metaSize:], metaSum(raw))
	return raw
}

// headOf is what stands before a head in its page.
func headOf(place uint64) []byte {
	out := make([]byte, pageHeader)
	binary.LittleEndian.PutUint64(out, place)
	binary.LittleEndian.PutUint16(out[8:], metaPage)
	return out
}

func metaSum(raw []byte) uint64 {
	sum := fnv.New64a()
	sum.Write(raw[:metaSize])
	return sum.Sum64()
}

// mend finds the one byte of a head that was changed. Its checksum has 64 bits, so no other head fits it.
func mend(raw []byte, size uint64) bool {
	known := meta{size: size}.encode()[:12] // what every head begins with
	differ := 0
	for i := range known {
		if raw[i] != known[i] {
			differ++
		}
	}
	if differ > 1 {
		return false // no head, or one that says another size
	}
	for at := range raw {
		was := raw[at]
		for b := range 256 {
			raw[at] = byte(b)
			if bytes.Equal(raw[:len(known)], known) && binary.LittleEndian.Uint64(raw[metaSize:]) == metaSum(raw) {
				return true
			}
		}
		raw[at] = was
	}
	return false
}

// findNewest looks for the tree that the damaged head led to: one that is whole, sums and all, and of a later version than
// what the other leads to. All its pages were on the disk before its head was written.
func (p *pages) findNewest() {
	known := p.newest(p.head)
	var found []meta
	for _, root := range p.roots() {
		m := meta{size: p.head.size, root: root, freelist: noFreelist, high: p.length / p.head.size, txid: p.head.txid + 1}
		if p.newest(m) <= known {
			continue
		}
		if high, whole := p.tree(m); whole {
			m.high = high
			found = append(found, m)
		}
	}
	if len(found) != 1 {
		p.headFaults = append(p.headFaults, errLoser)
		return
	}
	p.headFaults = append(p.headFaults, errNewest)
	p.mended = slices.Concat(headOf(found[0].txid%2), found[0].encode())
	p.lead(found[0])
}

// fallBack leads to the newest tree that can be found, when the newest head leads to none. What is of later commits is not in it.
func (p *pages) fallBack() bool {
	best, version := p.head, uint64(0)
	for _, root := range p.roots() {
		m := meta{size: p.head.size, root: root, freelist: noFreelist, high: p.length / p.head.size, txid: p.head.txid}
		if _, whole := p.tree(m); whole && p.newest(m) > version {
			best, version = m, p.newest(m)
		}
	}
	p.lead(best)
	return version > 0
}

// roots are the pages that may have been that of the outermost bucket.
func (p *pages) roots() (list []uint64) {
	p.quietly(func() {
		p.eachPage(func(id uint64, page []byte, leaf bool) {
			elements, _ := p.elements("", page, id)
			if len(elements) > 1 && bytes.Equal(elements[0].key, topBuckets()[0]) && id != p.head.root && elements[0].bucket == leaf {
				list = append(list, id)
			}
		})
	})
	return list
}

// as reads the file by another head.
func (p *pages) as(m meta) *survey {
	other := &pages{file: p.file, length: p.length}
	other.lead(m)
	return take(other)
}

// newest is the newest version that a head leads to.
func (p *pages) newest(m meta) (version uint64) {
	s := p.as(m)
	s.scan("", s.top[kindPoints], func(e element) {
		if _, err := placeOf(kindPoints, 0).open(e.key, e.value); err == nil {
			version = max(version, fromU64(e.key))
		}
	})
	return version
}

// tree reports whether all that a head leads to is whole, and where its last page ends.
func (p *pages) tree(m meta) (high uint64, whole bool) {
	s := p.as(m)
	if s.foreign() {
		return 0, false
	}
	s.examine()
	for id, n := range s.visits {
		if n > 0 {
			high = uint64(id) + 1
		}
	}
	return high, len(s.all()) == 0 && s.format == format
}

// lostMore reports whether a commit was written that the head does not lead to.
func (p *pages) lostMore() (yes bool) {
	known := p.newest(p.head)
	p.eachOrphan(func(e element) {
		if _, err := placeOf(kindPoints, 0).open(e.key, e.value); err == nil && fromU64(e.key) > known {
			yes = true
		}
	})
	return yes
}

// writeHead writes a head that was mended.
func writeHead(path string, p *pages) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	place := binary.LittleEndian.Uint64(p.mended)
	_, err = f.WriteAt(p.mended, int64(place*p.head.size))
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("mend page %d: %w", place, err)
	}
	return nil
}
