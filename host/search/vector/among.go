package vector

import "math/bits"

// group is which of 64 rows have vectors, and of which numbers. Most numbers follow each other as their rows do, so that a set of numbers
// becomes one of rows a word at a time.
type group struct {
	used    uint64
	aligned uint64 // the rows whose number is base and the place of the row
	base    uint32
}

// add notes that a row, by its place in the group, has the vector of a number.
func (g *group) add(at, number uint32) {
	g.used |= 1 << at
	if number < at {
		return
	}
	if g.aligned == 0 {
		g.base = number - at
	}
	if number-at == g.base {
		g.aligned |= 1 << at
	}
}

func (g *group) remove(at uint32) {
	g.used &^= 1 << at
	g.aligned &^= 1 << at
}

// among returns the rows whose numbers are in a set; numbers are those of the rows.
func (g *group) among(set []uint64, numbers []uint32) uint64 {
	rows := wordAt(set, g.base) & g.aligned
	for others := g.used &^ g.aligned; others != 0; others &= others - 1 {
		at := bits.TrailingZeros64(others)
		rows |= wordAt(set, numbers[at]) & 1 << at
	}
	return rows
}

// wordAt returns 64 bits of a set from any bit on; those behind its end are zero.
func wordAt(set []uint64, from uint32) uint64 {
	i, shift := int(from/64), from%64
	if i >= len(set) {
		return 0
	}
	word := set[i] >> shift
	if i+1 < len(set) && shift > 0 {
		word |= set[i+1] << (64 - shift)
	}
	return word
}

// rowsAmong returns the rows of the vectors whose numbers are in a set, a bit each; nil: of all.
func (s *Set) rowsAmong(set []uint64) []uint64 {
	rows := make([]uint64, len(s.groups))
	for i := range s.groups {
		if g := &s.groups[i]; set == nil {
			rows[i] = g.used
		} else {
			rows[i] = g.among(set, s.numbers[i*64:])
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
