package search

import "math/bits"

// bitset is a set of small numbers.
type bitset []uint64

func newBitset(size int) bitset { return make(bitset, (size+63)/64) }

func (b bitset) has(n uint32) bool { return int(n/64) < len(b) && b[n/64]&(1<<(n%64)) != 0 }

// add inserts a number and reports whether it is new. The set grows as needed.
func (b *bitset) add(n uint32) bool {
	if missing := int(n/64) + 1 - len(*b); missing > 0 {
		*b = append(*b, make([]uint64, missing)...)
	}
	was := (*b)[n/64]
	(*b)[n/64] = was | 1<<(n%64)
	return was != (*b)[n/64]
}

// hasRange reports whether the set has the numbers from one to another, which are less than 64 apart.
func (b bitset) hasRange(from, to uint32) bool {
	word := b.word(int(from/64)) >> (from % 64)
	if from%64 > 0 {
		word |= b.word(int(from/64)+1) << (64 - from%64)
	}
	wanted := uint64(1)<<(to-from+1) - 1
	return word&wanted == wanted
}

// addRange inserts the numbers from one to another, which the set has room for.
func (b bitset) addRange(from, to uint32) {
	for i := from / 64; i <= to/64; i++ {
		word := ^uint64(0)
		if i == from/64 {
			word <<= from % 64
		}
		if i == to/64 {
			word &= ^uint64(0) >> (63 - to%64)
		}
		b[i] |= word
	}
}

// set inserts a number or deletes it. The set grows as needed.
func (b *bitset) set(n uint32, in bool) {
	if in {
		b.add(n)
		return
	}
	b.remove(n)
}

// remove deletes a number and reports whether it was in the set.
func (b bitset) remove(n uint32) bool {
	if !b.has(n) {
		return false
	}
	b[n/64] &^= 1 << (n % 64)
	return true
}

// word returns the numbers from 64·i on; i may be anywhere.
func (b bitset) word(i int) uint64 {
	if uint(i) >= uint(len(b)) {
		return 0
	}
	return b[i]
}

// eachBit calls do for the numbers of a bitset's word in ascending order.
func eachBit(i int, word uint64, do func(n uint32)) {
	for ; word != 0; word &= word - 1 {
		do(uint32(i*64 + bits.TrailingZeros64(word)))
	}
}

// count returns the size of the set.
func (b bitset) count() (n int) {
	for _, word := range b {
		n += bits.OnesCount64(word)
	}
	return n
}

// all is each as an iterator.
func (b bitset) all(yield func(n uint32) bool) { b.each(yield) }

// each calls do for the numbers in ascending order until do returns false.
func (b bitset) each(do func(n uint32) bool) {
	for i, word := range b {
		for word != 0 {
			if !do(uint32(i*64 + bits.TrailingZeros64(word))) {
				return
			}
			word &= word - 1
		}
	}
}
