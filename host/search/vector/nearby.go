package vector

import "math/bits"

// nearby keeps the rows with the least distances of those that it is offered: at least as many as are wanted, and all of equal distance.
type nearby struct {
	wanted int
	below  uint64 // rows of this distance or a larger one are not among them
	rowsAt []int  // by distance, up to below
	kept   int    // rows of distances up to below
	list   []distant
}

// distant is a row and its distance.
type distant struct {
	row      uint32
	distance uint16
}

func newNearby(wanted, mostDistance int) *nearby {
	return &nearby{wanted: wanted, below: uint64(mostDistance) + 1, rowsAt: make([]int, mostDistance+1), list: make([]distant, 0, 4*wanted)}
}

// offer offers those of 64 rows, from first on, whose bit is set in among.
func (n *nearby) offer(first uint32, among uint64, distances []uint64) {
	for ; among != 0; among &= among - 1 {
		if i := bits.TrailingZeros64(among); distances[i] < n.below {
			n.keep(first+uint32(i), distances[i])
		}
	}
}

func (n *nearby) keep(row uint32, distance uint64) {
	n.list = append(n.list, distant{row, uint16(distance)})
	n.rowsAt[distance]++
	n.kept++
	for n.below > 0 && n.kept-n.rowsAt[n.below-1] >= n.wanted {
		n.below--
		n.kept -= n.rowsAt[n.below]
	}
}

// rows returns the rows, in their order and at most so many.
func (n *nearby) rows(most int) []uint32 {
	rows := make([]uint32, 0, min(n.kept, most))
	for _, d := range n.list {
		if uint64(d.distance) < n.below && len(rows) < most {
			rows = append(rows, d.row)
		}
	}
	return rows
}
