package vector

import "math/bits"

// rowsAmong returns the rows of the vectors whose numbers are in a set, a bit each; nil: of all.
func (s *Set) rowsAmong(set []uint64) []uint64 {
	rows := make([]uint64, len(s.groups))
	for i, g := range s.groups {
		switch {
		case set == nil:
			rows[i] = g.used
		case int(g.block) < len(set):
			rows[i] = g.used & set[g.block]
		}
	}
	return rows
}

// sizeOf counts the members of a set.
func sizeOf(set []uint64) (n int) {
	for _, word := range set {
		n += bits.OnesCount64(word)
	}
	return n
}

// isEmpty reports whether a set has no members.
func isEmpty(set []uint64) bool {
	for _, word := range set {
		if word != 0 {
			return false
		}
	}
	return true
}
