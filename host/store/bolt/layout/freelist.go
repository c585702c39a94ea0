package layout

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
)

const (
	freelistPage    = 0x10
	longestFreelist = 64 << 20 // bytes
)

// FreelistPages reads the pages of the list of free ones that a meta page leads to.
func FreelistPages(file io.ReaderAt, m Meta) ([]byte, error) {
	if m.Freelist == NoFreelist {
		return nil, errors.New("the database has no free list")
	}
	at := int64(m.Freelist * m.PageSize)
	header := make([]byte, PageHeader)
	if _, err := file.ReadAt(header, at); err != nil {
		return nil, err
	}
	size := (int64(binary.LittleEndian.Uint32(header[12:])) + 1) * int64(m.PageSize)
	if size > longestFreelist {
		return nil, fmt.Errorf("the free list has %d bytes: at most %d are read", size, longestFreelist)
	}
	pages := make([]byte, size)
	if n, err := file.ReadAt(pages, at); n < len(pages) {
		return nil, errors.Join(err, fmt.Errorf("the free list has %d of %d bytes", n, size))
	}
	return pages, nil
}

// DecodeFreelist returns the numbers in the pages of a list of free pages, which ascend, from 2 to below limit: behind the count, which is
// first among them where the header has no room for it.
func DecodeFreelist(pages []byte, limit uint64) (free []uint64, err error) {
	le := binary.LittleEndian
	count, numbers := uint64(le.Uint16(pages[10:])), pages[PageHeader:]
	if count == math.MaxUint16 {
		count, numbers = le.Uint64(numbers), numbers[8:]
	}
	if flags := le.Uint16(pages[8:]); flags != freelistPage || count > uint64(len(numbers)/8) {
		return nil, errors.New("is damaged")
	}
	last := uint64(1)
	for range count {
		id := le.Uint64(numbers)
		if id <= last || id >= limit {
			return free, fmt.Errorf("has page %d after page %d, of %d", id, last, limit)
		}
		free = append(free, id)
		last, numbers = id, numbers[8:]
	}
	return free, nil
}

// encodeFreelist is the inverse of DecodeFreelist.
func encodeFreelist(page, pageSize uint64, free []uint64) []byte {
	le := binary.LittleEndian
	out := make([]byte, PageHeader, PageHeader+8*(len(free)+1))
	le.PutUint64(out, page)
	le.PutUint16(out[8:], freelistPage)
	le.PutUint16(out[10:], uint16(min(len(free), math.MaxUint16)))
	if len(free) >= math.MaxUint16 {
		out = le.AppendUint64(out, uint64(len(free)))
	}
	for _, id := range free {
		out = le.AppendUint64(out, id)
	}
	pages := (uint64(len(out)) + pageSize - 1) / pageSize
	le.PutUint32(out[12:], uint32(pages-1))
	return append(out, make([]byte, pages*pageSize-uint64(len(out)))...)
}

// WriteFreelist commits a list of free pages, in ascending order, to a file that nobody else has open: behind all pages in use, and then
// the meta page that leads to it. A crash leaves the file as before or as after.
func WriteFreelist(file *os.File, newest Meta, free []uint64) error {
	next := newest
	pages := encodeFreelist(newest.High, newest.PageSize, free)
	next.Freelist, next.High, next.TxID = newest.High, newest.High+uint64(len(pages))/newest.PageSize, newest.TxID+1
	if _, err := file.WriteAt(pages, int64(next.Freelist*next.PageSize)); err != nil {
		return err
	}
	if err := file.Sync(); err != nil {
		return err
	}
	place := next.TxID % 2
	if _, err := file.WriteAt(append(MetaHeader(place), next.Encode()...), int64(place*next.PageSize)); err != nil {
		return err
	}
	return file.Sync()
}
