package search

import (
	"cmp"
	"math"
	"slices"
)

// candidate is a possible hit.
type candidate struct {
	row                      uint32
	score, lexical, semantic float64
}

// plain is a candidate with a lexical score alone.
func plain(row uint32, score float64) candidate {
	return candidate{row, score, score, math.NaN()}
}

// heap keeps the best candidates in a binary heap with the worst at the root.
type heap struct {
	index *Index
	most  int
	list  []candidate
}

// worse orders candidates totally: by score, then by name.
func (h *heap) worse(a, b *candidate) bool {
	if a.score != b.score {
		return a.score < b.score
	}
	t := h.index.table
	return t.compareNames(t.row(a.row), t.row(b.row)) > 0
}

// isOpen reports whether there are fewer candidates than are wanted.
func (h *heap) isOpen() bool { return len(h.list) < h.most }

// accepts reports whether a candidate with this score may be among the best.
func (h *heap) accepts(score float64) bool {
	return h.isOpen() || h.most > 0 && score >= h.list[0].score
}

func (h *heap) push(c candidate) {
	if h.isOpen() {
		h.list = append(h.list, c)
		h.up(len(h.list) - 1)
		return
	}
	if !h.accepts(c.score) || h.worse(&c, &h.list[0]) {
		return
	}
	h.list[0] = c
	h.down()
}

func (h *heap) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if !h.worse(&h.list[i], &h.list[parent]) {
			return
		}
		h.list[i], h.list[parent] = h.list[parent], h.list[i]
		i = parent
	}
}

func (h *heap) down() {
	for i := 0; ; {
		least := i
		for _, child := range []int{2*i + 1, 2*i + 2} {
			if child < len(h.list) && h.worse(&h.list[child], &h.list[least]) {
				least = child
			}
		}
		if least == i {
			return
		}
		h.list[i], h.list[least] = h.list[least], h.list[i]
		i = least
	}
}

// sorted empties the heap and returns its candidates, best first.
func (h *heap) sorted() []candidate {
	list := h.list
	h.list = nil
	slices.SortFunc(list, func(a, b candidate) int {
		switch {
		case h.worse(&b, &a):
			return -1
		case h.worse(&a, &b):
			return 1
		}
		return cmp.Compare(a.row, b.row)
	})
	return list
}
