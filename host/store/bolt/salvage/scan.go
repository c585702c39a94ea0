package salvage

import (
	"io"

	"github.com/alcove-memory/alcove/host/store/bolt/layout"
)

// File is a database file whose pages are read while bbolt has it open.
type File struct {
	Reader   io.ReaderAt
	Length   uint64 // bytes
	PageSize uint64 // bytes
}

// Scan visits the elements of a bucket, given its root page, in the order of their keys: from behind a key on (nil: from the
// first) until visit says stop. It reads the pages itself, since bbolt takes damaged ones for whole, and returns what is wrong with
// them. An element is good until visit returns.
func Scan(f File, what string, root uint64, after []byte, visit func(Element) (more bool)) []error {
	p := &pages{file: f.Reader, length: f.Length, after: after}
	p.useMeta(layout.Meta{PageSize: f.PageSize, Root: root, Freelist: layout.NoFreelist, High: f.Length / f.PageSize})
	p.scan(what, bucket{root: root}, func(e Element) { p.stopped = !visit(e) })
	return p.faults
}

// Inline returns what is wrong with a bucket in the value of an element: with its header, and with its elements if they are in the value
// too.
func Inline(what string, value []byte) []error {
	p := &pages{}
	b, ok := p.bucketOf(what, value)
	if ok && b.inline != nil {
		p.scan(what, b, func(Element) {})
	}
	return p.faults
}
