package wordvec

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/host/search"
)

const (
	signWords = Dimensions / 64
	mostNear  = 24   // neighbours of a term
	mostAsked = 4096 // terms with remembered neighbours
	leastNear = .5   // the least cosine similarity of a neighbour

	// mostDiffer bounds the signs in which a neighbour may differ. Vectors with a cosine of .5 differ in 43 of 128 on
	// average, unrelated ones in 64.
	mostDiffer = 52
)

// shape is what is known of a row for a quick comparison.
type shape struct {
	signs  [signWords]uint64
	length float32
}

// shapesOf computes the shapes of all rows.
func (t *Table) shapesOf() []shape {
	list := make([]shape, len(t.terms))
	for row := range list {
		v, square := t.vector(int32(row)), int32(0)
		for i := range Dimensions {
			list[row].signs[i/64] |= uint64(v[i]>>7) << (i % 64)
			square += int32(int8(v[i])) * int32(int8(v[i]))
		}
		list[row].length = float32(math.Sqrt(float64(square)))
	}
	return list
}

// Near implements search.Thesaurus. Terms of other languages than English have no neighbours.
func (t *Table) Near(_, term string, by *search.Analyser) []search.NearTerm {
	if by.ID() != t.analyser.ID() {
		return nil
	}
	t.mu.Lock()
	near, known := t.asked[term]
	t.mu.Unlock()
	if known {
		return near
	}
	near = t.near(term)
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.asked) >= mostAsked {
		clear(t.asked)
	}
	t.asked[term] = near
	return near
}

// near returns the terms nearest to a term by the cosine of their vectors.
func (t *Table) near(term string) []search.NearTerm {
	row, ok := t.rows[term]
	if !ok {
		return nil
	}
	var near []search.NearTerm
	all, v := t.shapes(), t.vector(row)
	mine := all[row]
	for i := range all {
		other := &all[i]
		if bits.OnesCount64(mine.signs[0]^other.signs[0])+bits.OnesCount64(mine.signs[1]^other.signs[1]) > mostDiffer || int32(i) == row || t.isStop(int32(i)) {
			continue
		}
		if c := float64(dot(v, t.vector(int32(i)))) / (float64(mine.length) * float64(other.length)); c >= leastNear {
			near = append(near, search.NearTerm{Term: t.terms[i], Near: c})
		}
	}
	slices.SortFunc(near, func(a, b search.NearTerm) int {
		return cmp.Or(cmp.Compare(b.Near, a.Near), cmp.Compare(a.Term, b.Term))
	})
	return slices.Clone(near[:min(len(near), mostNear)])
}

func (t *Table) isStop(row int32) bool { return strings.HasSuffix(t.terms[row], stopMark) }

func dot(a, b string) (sum int32) {
	b = b[:len(a)]
	for i := range len(a) {
		sum += int32(int8(a[i])) * int32(int8(b[i]))
	}
	return sum
}
