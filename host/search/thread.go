package search

import (
	"cmp"
	"math/bits"
	"slices"
)

// threads arranges the turns of all versions in slots, each conversation in a range of its own and in its order, so that a
// search finds the turns around one without a look-up. Writers change it with the index's mu locked; sort, which searches
// call, with cacheMu locked.
type threads struct {
	turns     []turn // by slot; an unused one has the session none
	slots     []slot
	asking    bitset        // the slots of questions
	assisting bitset        // the slots of what assistants say
	follows   bitset        // the slots of the shape follows
	uneven    bitset        // the slots of uneven shapes
	slotOf    []uint32      // by row; none: not a turn
	changes   uint64        // of slots, and of views that see them
	changedAt []uint64      // by word of a bitset of slots: changes after the last of them
	threads   []thread      // by session
	unsorted  []uint32      // sessions with turns out of order
	free      [128][]uint32 // the first slots of unused ranges, by sizeClass
}

// slot is what scores need of a turn and its row: little, so that the slots of a search stay in the processor's cache. A removed
// or unused one has the row none.
type slot struct {
	row    uint32
	facet  uint16 // of the row; manyFacets: it does not fit
	length byte
	shape  shape
}

// shape is how a turn lies behind that of the slot before.
type shape uint8

const (
	begins  shape = 1 << iota // the slot before belongs to another session
	follows                   // it is at the position after that of the slot before
	apart                     // it is at a position behind the window of the slot before
)

const manyFacets = 1<<16 - 1

// isRegular reports that no turn of the session before this one is at its position, or more than one position away.
func (s shape) isRegular() bool { return s&(begins|follows) != 0 }

// isUneven reports that a turn of the session before this one is at its position, or two away.
func (s shape) isUneven() bool { return s&(begins|follows|apart) == 0 }

// thread is the range of slots of a session.
type thread struct {
	first    uint32
	size     uint32 // 0, or one of nextSize
	used     uint32 // slots from first on
	removed  uint32 // of these
	unsorted bool
}

// leastThread is the number of slots that a thread begins with.
const leastThread = 2

// nextSize is the size of a thread after another: 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20 and so on.
func nextSize(size uint32) uint32 {
	if size < leastThread {
		return leastThread
	}
	return size + max(1, uint32(1)<<bits.Len32(size)>>3)
}

// sizeClass numbers the sizes of threads.
func sizeClass(size uint32) int {
	power := bits.Len32(size) - 1
	return 4*power + int(size<<2>>power&3)
}

// slotOfRow is the slot of a row, or none.
func (t *threads) slotOfRow(row uint32) uint32 {
	if int(row) >= len(t.slotOf) {
		return none
	}
	return t.slotOf[row]
}

// add puts the turn of a row into its thread.
func (t *threads) add(number uint32, r *row, said *turn) {
	for int(said.session) >= len(t.threads) {
		t.threads = append(t.threads, thread{})
	}
	th := &t.threads[said.session]
	if th.used == th.size {
		t.grow(th)
	}
	for int(number) >= len(t.slotOf) {
		t.slotOf = append(t.slotOf, none)
	}
	at := th.first + th.used
	th.used++
	t.turns[at], t.slots[at] = *said, slot{row: number, facet: uint16(min(r.facet, manyFacets)), length: r.length}
	t.slotOf[number] = at
	t.link(th, at)
	if at > th.first && t.compare(at, at-1) < 0 && !th.unsorted {
		th.unsorted = true
		t.unsorted = append(t.unsorted, said.session)
	}
}

// link sets the shape of a slot of a thread; that of the slot before is there.
func (t *threads) link(th *thread, at uint32) {
	s := begins
	if at > th.first {
		s = shapeBehind(t.turns[at-1].at, t.turns[at].at)
	}
	t.setShape(at, s)
}

// shapeBehind is the shape of a turn at a position behind another of its session.
func shapeBehind(before, at int64) shape {
	if before >= at {
		return 0
	}
	switch gap := uint64(at) - uint64(before); { // an int64 might overflow
	case gap == 1:
		return follows
	case gap > windowReach:
		return apart
	}
	return 0
}

// setShape sets the shape of a slot.
func (t *threads) setShape(at uint32, s shape) {
	t.slots[at].shape = s
	t.asking.set(at, t.turns[at].asks)
	t.assisting.set(at, t.turns[at].role == Assistant)
	t.follows.set(at, s&follows != 0)
	t.uneven.set(at, s.isUneven())
	t.touch(at)
}

// touch notes a change of a slot, or of whether a view sees it.
func (t *threads) touch(at uint32) {
	t.changes++
	for int(at/64) >= len(t.changedAt) {
		t.changedAt = append(t.changedAt, 0)
	}
	t.changedAt[at/64] = t.changes
}

// compare orders the turns of a session.
func (t *threads) compare(a, b uint32) int {
	return cmp.Or(cmp.Compare(t.turns[a].at, t.turns[b].at), cmp.Compare(t.slots[a].row, t.slots[b].row))
}

// grow moves a thread to a greater range.
func (t *threads) grow(th *thread) {
	size := nextSize(th.size)
	first := t.allocate(size)
	for i := range th.used {
		t.move(th.first+i, first+i)
	}
	t.release(th)
	th.first, th.size = first, size
}

// move copies a slot to another.
func (t *threads) move(from, to uint32) {
	t.turns[to], t.slots[to] = t.turns[from], t.slots[from]
	t.setShape(to, t.slots[from].shape)
	if number := t.slots[to].row; number != none {
		t.slotOf[number] = to
	}
}

// allocate returns the first slot of an unused range.
func (t *threads) allocate(size uint32) uint32 {
	class := &t.free[sizeClass(size)]
	if n := len(*class); n > 0 {
		first := (*class)[n-1]
		*class = (*class)[:n-1]
		return first
	}
	first := uint32(len(t.slots))
	for at := first; at < first+size; at++ {
		t.turns, t.slots = append(t.turns, turn{}), append(t.slots, slot{})
		t.empty(at)
	}
	return first
}

// empty makes a slot unused.
func (t *threads) empty(at uint32) {
	t.turns[at], t.slots[at] = turn{position: position{session: none}}, slot{row: none}
	t.setShape(at, begins)
}

// release gives a thread's range back.
func (t *threads) release(th *thread) {
	if th.size == 0 {
		return
	}
	for i := range th.size {
		t.empty(th.first + i)
	}
	class := &t.free[sizeClass(th.size)]
	*class = append(*class, th.first)
}

// remove takes a row's turn out.
func (t *threads) remove(row uint32) {
	at := t.slotOfRow(row)
	if at == none {
		return
	}
	t.slotOf[row] = none
	t.touch(at)
	th := &t.threads[t.turns[at].session]
	t.slots[at].row = none
	if th.removed++; th.removed == th.used {
		t.release(th)
		*th = thread{unsorted: th.unsorted}
		return
	}
	if 2*th.removed > th.used {
		t.compact(th)
	}
}

// compact closes the gaps of removed turns.
func (t *threads) compact(th *thread) {
	kept := th.first
	for i := range th.used {
		if t.slots[th.first+i].row == none {
			continue
		}
		t.move(th.first+i, kept)
		t.link(th, kept)
		kept++
	}
	for at := kept; at < th.first+th.used; at++ {
		t.empty(at)
	}
	th.used, th.removed = kept-th.first, 0
}

// sort brings the threads in order to which turns were added out of order.
func (t *threads) sort() {
	for _, session := range t.unsorted {
		th := &t.threads[session]
		th.unsorted = false
		t.compact(th)
		order := make([]uint32, th.used)
		for i := range order {
			order[i] = th.first + uint32(i)
		}
		slices.SortFunc(order, t.compare)
		turns, rows := make([]turn, th.used), make([]slot, th.used)
		for i, at := range order {
			turns[i], rows[i] = t.turns[at], t.slots[at]
		}
		copy(t.turns[th.first:], turns)
		copy(t.slots[th.first:], rows)
		for i, s := range rows {
			t.slotOf[s.row] = th.first + uint32(i)
			t.link(th, th.first+uint32(i))
		}
	}
	t.unsorted = t.unsorted[:0]
}

// around returns the first and the last of the slots whose turns are within a distance of one, in positions: see search. regular reports
// that each is a position after the one before.
func (t *threads) around(at uint32, reach int, counted bitset) (from, to uint32, regular bool) {
	if r := uint32(reach); at >= r && t.follows.hasRange(at-r+1, at+r) && !t.uneven.has(at-r) && !t.uneven.has(at+r+1) {
		return at - r, at + r, true
	}
	from, to = at, at
	for ; t.slots[from].shape&begins == 0; from-- {
		if !t.slots[from].shape.isRegular() {
			return t.search(at, reach, counted)
		}
		if at-from == uint32(reach) {
			break
		}
	}
	for ; int(to)+1 < len(t.slots) && t.slots[to+1].shape&begins == 0; to++ {
		if !t.slots[to+1].shape.isRegular() {
			return t.search(at, reach, counted)
		}
		if to-at == uint32(reach) {
			break
		}
	}
	return from, to, true
}

// mostTogether bounds the turns around another, on either side, for each position of the distance. Without it, a search of a session with all
// its turns at one position would look at each pair of them.
const mostTogether = 32

// search is around for turns at any positions. Where these are more than mostTogether allows, the nearest slots count. Slots outside counted
// are passed over.
func (t *threads) search(at uint32, reach int, counted bitset) (from, to uint32, regular bool) {
	here, most := &t.turns[at], mostTogether*reach
	from, to = at, at
	for n := 0; n < most && from > 0 && t.turns[from-1].near(here, int64(reach)); {
		if from--; counted.has(from) {
			n++
		}
	}
	for n := 0; n < most && int(to)+1 < len(t.turns) && t.turns[to+1].near(here, int64(reach)); {
		if to++; counted.has(to) {
			n++
		}
	}
	return from, to, false
}

// near reports whether a turn is in another's session and within a distance of it.
func (s *turn) near(other *turn, reach int64) bool {
	if s.session != other.session {
		return false
	}
	distance := s.at - other.at
	return distance <= reach && distance >= -reach && (distance < 0) == (s.at < other.at) // no overflow
}
