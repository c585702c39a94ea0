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
	slots    []slot
	slotOf   []uint32 // by row; none: not a turn
	threads  []thread // by session
	unsorted []uint32 // sessions with turns out of order
	free     [32][]uint32
}

// slot is a turn. A removed one has the row none; an unused one has the session none, too.
type slot struct {
	turn
	row    uint32
	length byte
}

// thread is the range of slots of a session.
type thread struct {
	first    uint32
	size     uint32 // 0, or a power of two
	used     uint32 // slots from first on
	removed  uint32 // of these
	unsorted bool
}

// leastThread is the number of slots that a thread begins with.
const leastThread = 4

// slotOfRow is the slot of a row, or none.
func (t *threads) slotOfRow(row uint32) uint32 {
	if int(row) >= len(t.slotOf) {
		return none
	}
	return t.slotOf[row]
}

// add puts a turn into its thread.
func (t *threads) add(row uint32, said *turn, length byte) {
	for int(said.session) >= len(t.threads) {
		t.threads = append(t.threads, thread{})
	}
	th := &t.threads[said.session]
	if th.used == th.size {
		t.grow(th)
	}
	for int(row) >= len(t.slotOf) {
		t.slotOf = append(t.slotOf, none)
	}
	at := th.first + th.used
	th.used++
	t.slots[at] = slot{*said, row, length}
	t.slotOf[row] = at
	if at > th.first && t.slots[at].compare(&t.slots[at-1]) < 0 && !th.unsorted {
		th.unsorted = true
		t.unsorted = append(t.unsorted, said.session)
	}
}

// compare orders the turns of a session.
func (s *slot) compare(other *slot) int {
	return cmp.Or(cmp.Compare(s.at, other.at), cmp.Compare(s.row, other.row))
}

// grow moves a thread to a range of twice its size.
func (t *threads) grow(th *thread) {
	size := max(leastThread, 2*th.size)
	first := t.allocate(size)
	for i := range th.used {
		s := &t.slots[th.first+i]
		t.slots[first+i] = *s
		if s.row != none {
			t.slotOf[s.row] = first + i
		}
	}
	t.release(th)
	th.first, th.size = first, size
}

// allocate returns the first slot of an unused range.
func (t *threads) allocate(size uint32) uint32 {
	class := &t.free[bits.Len32(size)-1]
	if n := len(*class); n > 0 {
		first := (*class)[n-1]
		*class = (*class)[:n-1]
		return first
	}
	first := uint32(len(t.slots))
	for range size {
		t.slots = append(t.slots, unusedSlot())
	}
	return first
}

func unusedSlot() slot { return slot{turn: turn{position: position{session: none}}, row: none} }

// release gives a thread's range back.
func (t *threads) release(th *thread) {
	if th.size == 0 {
		return
	}
	for i := range th.size {
		t.slots[th.first+i] = unusedSlot()
	}
	class := &t.free[bits.Len32(th.size)-1]
	*class = append(*class, th.first)
}

// remove takes a row's turn out.
func (t *threads) remove(row uint32) {
	at := t.slotOfRow(row)
	if at == none {
		return
	}
	t.slotOf[row] = none
	th := &t.threads[t.slots[at].session]
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
		s := t.slots[th.first+i]
		if s.row == none {
			continue
		}
		t.slots[kept] = s
		t.slotOf[s.row] = kept
		kept++
	}
	for at := kept; at < th.first+th.used; at++ {
		t.slots[at] = unusedSlot()
	}
	th.used, th.removed = kept-th.first, 0
}

// sort brings the threads in order to which turns were added out of order.
func (t *threads) sort() {
	for _, session := range t.unsorted {
		th := &t.threads[session]
		th.unsorted = false
		t.compact(th)
		list := t.slots[th.first : th.first+th.used]
		slices.SortFunc(list, func(a, b slot) int { return a.compare(&b) })
		for i := range list {
			t.slotOf[list[i].row] = th.first + uint32(i)
		}
	}
	t.unsorted = t.unsorted[:0]
}

// around calls do for the slots of the turns within a distance of one, in positions, itself included.
func (t *threads) around(at uint32, reach int64, do func(at uint32, distance int64)) {
	here := &t.slots[at]
	from, to := at, at
	for from > 0 && t.slots[from-1].near(here, reach) {
		from--
	}
	for int(to)+1 < len(t.slots) && t.slots[to+1].near(here, reach) {
		to++
	}
	for ; from <= to; from++ {
		distance := t.slots[from].at - here.at
		do(from, max(distance, -distance))
	}
}

// near reports whether a slot is in another's session and within a distance of it.
func (s *slot) near(other *slot, reach int64) bool {
	if s.session != other.session {
		return false
	}
	distance := s.at - other.at
	return distance <= reach && distance >= -reach && (distance < 0) == (s.at < other.at) // no overflow
}
