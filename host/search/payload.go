package search

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// The payload of a stored part: the numbers of its rows, as runs, those of its tombstones, its facets, and what expires. Numbers are varints.

const payloadFormat = 4

// describe encodes the payload of a part.
func (x *Index) describe(p *part) []byte {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return p.describe()
}

func (p *part) describe() []byte {
	w := payloadWriter{[]byte{payloadFormat}}
	w.rows(p.rows)
	w.rows(p.ghosts)
	w.rows(slices.Collect(p.facets.all))
	expiring := inOrder(p.expiring)
	w.uint(uint64(len(expiring)))
	last := int64(0)
	for _, e := range expiring {
		w.out = binary.AppendVarint(w.out, e.at-last)
		w.uint(uint64(e.local))
		last = e.at
	}
	return w.out
}

// payloadWriter encodes the payload of a part.
type payloadWriter struct{ out []byte }

func (w *payloadWriter) uint(n uint64) { w.out = binary.AppendUvarint(w.out, n) }

// rows writes numbers as runs: the length of each, and its first number; 0 begins a run of missing numbers.
func (w *payloadWriter) rows(list []uint32) {
	w.uint(uint64(len(list)))
	for len(list) > 0 {
		run := runOf(list)
		w.uint(uint64(run))
		w.uint(uint64(list[0] + 1)) // none is 0
		list = list[run:]
	}
}

// runOf returns the length of a run of consecutive, or of missing, numbers.
func runOf(list []uint32) int {
	run := 1
	for run < len(list) && (list[0] == none && list[run] == none || list[0] != none && list[run] == list[0]+uint32(run) && list[run] != none) {
		run++
	}
	return run
}

// storedPayload is a decoded payload.
type storedPayload struct {
	rows, ghosts []uint32
	facets       bitset
	expiring     []expiry
}

var errPayload = errors.New("the payload is damaged")

// payloadReader decodes a payload. After the first error everything reads as zero.
type payloadReader struct {
	in  []byte
	bad bool
}

// readPayload decodes the payload of a part with this many documents.
func readPayload(data []byte, documents int) (s storedPayload, err error) {
	if len(data) == 0 {
		return s, errPayload
	}
	if data[0] != payloadFormat {
		return s, fmt.Errorf("the payload has format %d: this version reads format %d", data[0], payloadFormat)
	}
	r := &payloadReader{in: data[1:]}
	s.rows, s.ghosts = r.rows(documents), r.rows(mostGhosts)
	for _, facet := range r.rows(mostFacets) {
		if facet >= mostFacets {
			return storedPayload{}, errPayload
		}
		s.facets.add(facet)
	}
	last := int64(0)
	for range r.count(2) {
		e := expiry{last + r.int(), uint32(r.uint())}
		if last = e.at; int(e.local) >= documents {
			return storedPayload{}, errPayload
		}
		s.expiring = append(s.expiring, e)
	}
	if r.bad || len(r.in) != 0 || len(s.rows) != documents {
		return storedPayload{}, errPayload
	}
	return s, nil
}

// Limits of a part: its tombstones, and the numbers of its facets.
const (
	mostGhosts = 1 << 30
	mostFacets = 1 << 26
)

// rows reads at most so many numbers.
func (r *payloadReader) rows(most int) (list []uint32) {
	n := r.uint()
	if n > uint64(most) {
		r.bad, r.in = true, nil
		return nil
	}
	for uint64(len(list)) < n && !r.bad {
		run, first := r.uint(), r.uint()
		if run == 0 || run > n-uint64(len(list)) || first+run > uint64(none) {
			r.bad, r.in = true, nil
			return nil
		}
		list = slices.Grow(list, int(run))
		for i := range run {
			number := none
			if first > 0 {
				number = uint32(first - 1 + i)
			}
			list = append(list, number)
		}
	}
	return list
}

func (r *payloadReader) uint() uint64 {
	n, size := binary.Uvarint(r.in)
	if size <= 0 {
		r.bad, r.in = true, nil
		return 0
	}
	r.in = r.in[size:]
	return n
}

func (r *payloadReader) int() int64 {
	n, size := binary.Varint(r.in)
	if size <= 0 {
		r.bad, r.in = true, nil
		return 0
	}
	r.in = r.in[size:]
	return n
}

// count reads the number of elements that follow, each of at least so many bytes.
func (r *payloadReader) count(least int) int {
	n := r.uint()
	if n > uint64(len(r.in)/least) {
		r.bad, r.in = true, nil
		return 0
	}
	return int(n)
}

func (r *payloadReader) next(n int) []byte {
	if n > len(r.in) {
		r.bad, r.in = true, nil
		return make([]byte, min(n, 16))
	}
	taken := r.in[:n]
	r.in = r.in[n:]
	return taken
}

func (r *payloadReader) bytes() string { return string(r.next(r.count(1))) }
