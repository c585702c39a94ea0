package segment

import (
	"encoding/binary"
	"strings"
)

// Lists of documents are kept beside the postings: a directory of their names, counts, widths and ends, and their packed numbers.

// listWriter encodes lists.
type listWriter struct{ directory, numbers []byte }

func (w *listWriter) add(name string, numbers []uint32) {
	width := widthOf(numbers)
	w.numbers = pack(w.numbers, numbers, width)
	w.directory = binary.AppendUvarint(w.directory, uint64(len(name)))
	w.directory = append(w.directory, name...)
	for _, n := range []int{len(numbers), width, len(w.numbers)} {
		w.directory = binary.AppendUvarint(w.directory, uint64(n))
	}
}

// finish returns the section: the size of the directory, the directory, the numbers, and padding for reading them.
func (w *listWriter) finish() []byte {
	out := binary.LittleEndian.AppendUint64(nil, uint64(len(w.directory)))
	out = append(append(out, w.directory...), w.numbers...)
	return append(out, make([]byte, padding)...)
}

// Order keeps documents in an order of the caller's.
func (w *Writer) Order(name string, docs []uint32) { w.orders.add(name, docs) }

// Group keeps documents that have something in common, in ascending order, each once.
func (w *Writer) Group(name string, docs []uint32) {
	gaps, next := make([]uint32, len(docs)), uint32(0)
	for i, doc := range docs {
		gaps[i], next = doc-next, doc+1
	}
	w.groups.add(name, gaps)
}

// Order returns the documents of an order.
func (s *Segment) Order(name string) (docs []uint32, ok bool) {
	s.lists(s.orders, func(found string, list func() []uint32) bool {
		if ok = found == name; ok {
			docs = list()
		}
		return !ok
	})
	for _, doc := range docs {
		if int64(doc) >= int64(s.docs) {
			s.damaged("an order has document %d of %d", doc, s.docs)
		}
	}
	return docs, ok
}

// Groups calls do for the groups whose names begin with a prefix.
func (s *Segment) Groups(prefix string, do func(name string, docs []uint32)) {
	s.lists(s.groups, func(name string, list func() []uint32) bool {
		if !strings.HasPrefix(name, prefix) {
			return true
		}
		docs, next := list(), int64(0)
		for i, gap := range docs {
			next += int64(gap)
			if next >= int64(s.docs) {
				s.damaged("a group has document %d of %d", next, s.docs)
			}
			docs[i] = uint32(next)
			next++
		}
		do(name, docs)
		return true
	})
}

// lists calls do with each list of a section, until it returns false. A list decodes its numbers.
func (s *Segment) lists(of section, do func(name string, list func() []uint32) bool) {
	size := int(min(binary.LittleEndian.Uint64(s.read(of, 0, 8)), uint64(of.size())))
	directory, begin, from := s.read(of, 8, 8+size), 8+size, 0
	number := func() int {
		n, size := binary.Uvarint(directory)
		if size <= 0 || n > 1<<32 {
			s.damaged("the directory of lists cannot be read")
		}
		directory = directory[size:]
		return int(n)
	}
	for len(directory) > 0 {
		length := number()
		if length > len(directory) {
			s.damaged("the name of a list cannot be read")
		}
		name := string(directory[:length])
		directory = directory[length:]
		count, width, end, first := number(), number(), number(), from
		if from = end; width > 32 || count > s.docs || end < first || (count*width+7)/8 > end-first {
			s.damaged("a list of %d numbers ends at %d", count, end)
		}
		if !do(name, func() []uint32 { return unpackAll(s.read(of, begin+first, begin+end+padding), width, count) }) {
			return
		}
	}
}

// unpackAll reads numbers that pack wrote, before padding.
func unpackAll(data []byte, width, count int) []uint32 {
	list := make([]uint32, count)
	if width == 0 {
		return list
	}
	for i := range list {
		list[i] = packed(data, width, i)
	}
	return list
}
