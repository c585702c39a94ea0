package search

// numbering finds the numbers of values by their hashes; it keeps neither the values nor pointers to them. Its size is a power of two.
type numbering struct {
	slots []numberSlot
	used  int
}

// numberSlot is a number plus one, so that zero is none, and the hash of its value.
type numberSlot struct{ hash, number uint32 }

// fewestNumbers is the size of a numbering with any numbers.
const fewestNumbers = 8

// room makes room for as many numbers.
func (n *numbering) room(numbers int) {
	size := max(fewestNumbers, len(n.slots))
	for size*3/4 < numbers {
		size *= 2
	}
	if size == len(n.slots) {
		return
	}
	had := n.slots
	n.slots = make([]numberSlot, size)
	for _, s := range had {
		if s.number != 0 {
			n.slots[n.vacant(s.hash)] = s
		}
	}
}

// vacant is the first empty slot for a hash.
func (n *numbering) vacant(hash uint32) int {
	mask := len(n.slots) - 1
	at := int(hash) & mask
	for n.slots[at].number != 0 {
		at = (at + 1) & mask
	}
	return at
}

// find returns the number of the value with this hash that is the one looked for, or none.
func (n *numbering) find(hash uint32, is func(number uint32) bool) uint32 {
	if at := n.slotOf(hash, is); at >= 0 {
		return n.slots[at].number - 1
	}
	return none
}

func (n *numbering) slotOf(hash uint32, is func(number uint32) bool) int {
	if n.used == 0 {
		return -1
	}
	mask := len(n.slots) - 1
	for at := int(hash) & mask; n.slots[at].number != 0; at = (at + 1) & mask {
		if s := n.slots[at]; s.hash == hash && is(s.number-1) {
			return at
		}
	}
	return -1
}

// add adds the number of a value that is not there yet.
func (n *numbering) add(hash, number uint32) {
	n.used++
	n.room(n.used)
	n.slots[n.vacant(hash)] = numberSlot{hash, number + 1}
}

// remove removes a number, and moves those back that its slot kept from theirs.
func (n *numbering) remove(hash, number uint32) {
	at := n.slotOf(hash, func(other uint32) bool { return other == number })
	if at < 0 {
		return
	}
	n.used--
	mask := len(n.slots) - 1
	for next := (at + 1) & mask; n.slots[next].number != 0; next = (next + 1) & mask {
		if s := n.slots[next]; (next-int(s.hash))&mask >= (next-at)&mask {
			n.slots[at] = s
			at = next
		}
	}
	n.slots[at] = numberSlot{}
}
