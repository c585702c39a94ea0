package layout

import (
	"encoding/binary"
	"errors"
	"hash/fnv"
	"io"
)

// A bbolt file begins with two meta pages. Each commit writes one, in turn, when all else is on the disk. The number of its
// transaction grows with each commit; an even one is in the first page.
const (
	PageHeader = 16 // bytes before the content of a page
	MetaSize   = 56 // bytes that the checksum of a meta page covers
	metaPage   = 0x04
	NoFreelist = ^uint64(0) // instead of the page of the free list, where it is not stored

	fileMagic   = 0xED0CDAED
	fileVersion = 2
)

var errMeta = errors.New("the checksum or the version of the meta page is wrong")

// Meta is the content of a meta page.
type Meta struct {
	PageSize uint64 // bytes
	Root     uint64 // page of the root bucket
	Freelist uint64 // page that lists the free ones; NoFreelist: none
	High     uint64 // page number that all pages in use are below
	TxID     uint64 // grows with each commit; an even one is in the first page
}

// MetaAt reads a meta page of a file, 0 or 1, given the size of a page in bytes.
func MetaAt(file io.ReaderAt, page, size uint64) (Meta, error) {
	raw := make([]byte, MetaSize+8)
	if _, err := file.ReadAt(raw, int64(page*size+PageHeader)); err != nil {
		return Meta{}, err
	}
	return ReadMeta(raw, size)
}

// ReadMeta decodes and verifies the content of a meta page.
func ReadMeta(raw []byte, size uint64) (m Meta, err error) {
	le := binary.LittleEndian
	if le.Uint32(raw) != fileMagic || le.Uint32(raw[4:]) != fileVersion || uint64(le.Uint32(raw[8:])) != size || le.Uint64(raw[MetaSize:]) != MetaSum(raw) {
		return m, errMeta
	}
	return Meta{PageSize: size, Root: le.Uint64(raw[16:]), Freelist: le.Uint64(raw[32:]), High: le.Uint64(raw[40:]), TxID: le.Uint64(raw[48:])}, nil
}

// Encode is the inverse of ReadMeta.
func (m Meta) Encode() []byte {
	le := binary.LittleEndian
	raw := make([]byte, MetaSize+8)
	le.PutUint32(raw, fileMagic)
	le.PutUint32(raw[4:], fileVersion)
	le.PutUint32(raw[8:], uint32(m.PageSize))
	le.PutUint64(raw[16:], m.Root)
	le.PutUint64(raw[32:], m.Freelist)
	le.PutUint64(raw[40:], m.High)
	le.PutUint64(raw[48:], m.TxID)
	le.PutUint64(raw[MetaSize:], MetaSum(raw))
	return raw
}

// MetaHeader is the header of meta page 0 or 1.
func MetaHeader(place uint64) []byte {
	out := make([]byte, PageHeader)
	binary.LittleEndian.PutUint64(out, place)
	binary.LittleEndian.PutUint16(out[8:], metaPage)
	return out
}

// MetaSum is the checksum of the content of a meta page.
func MetaSum(raw []byte) uint64 {
	sum := fnv.New64a()
	sum.Write(raw[:MetaSize])
	return sum.Sum64()
}

// Metas reads both meta pages. It is an error if one is damaged.
func Metas(file io.ReaderAt, size uint64) (newest, other Meta, err error) {
	if newest, err = MetaAt(file, 0, size); err == nil {
		other, err = MetaAt(file, 1, size)
	}
	if other.TxID > newest.TxID {
		newest, other = other, newest
	}
	return newest, other, err
}

// Sum is the checksum of the meta page.
func (m Meta) Sum() uint64 { return MetaSum(m.Encode()) }
