package search

import "math/bits"

// members are the documents that the view and the query's filters admit.
func (r *ranking) members() Set {
	set := newBitset(len(r.visible.rows)*64 + 64)
	for _, l := range r.leaves {
		r.addMembers(set, l)
	}
	for i := range set {
		set[i] &= r.visible.rows.word(i)
	}
	return Set(set)
}

// addMembers adds those of a leaf.
func (r *ranking) addMembers(set bitset, l *leaf) {
	rows, runs := l.part.rows, l.part.numbersInRuns()
	for i, word := range l.matching {
		if word == 0 {
			continue
		}
		if !l.tested && runs.has(uint32(i)) {
			first := uint32(bits.TrailingZeros64(word))
			set.addWord(rows[i*64+int(first)]-first, word)
			continue
		}
		eachBit(i, word, func(local uint32) {
			if number := rows[local]; r.visible.rows.has(number) && (!l.tested || r.wants(number)) {
				set[number/64] |= 1 << (number % 64)
			}
		})
	}
}

// plainMembers are the members that are no turns.
func (r *ranking) plainMembers() Set {
	set := r.members()
	if r.turns == nil {
		return set
	}
	for i, word := range set {
		if word != 0 {
			set[i] = word &^ turnsOf(r.turns.threads.slotOf, i)
		}
	}
	return set
}

// turnsOf returns which of 64 rows are turns, by the slots of all, without a branch for each.
func turnsOf(slots []uint32, word int) (turns uint64) {
	if word*64 >= len(slots) {
		return 0
	}
	for i, slot := range slots[word*64 : min(word*64+64, len(slots))] {
		turns |= (uint64(slot^none) + 1<<32 - 1) >> 32 << i
	}
	return turns
}

// slotOf is the slot of a row that is scored as a turn, or none.
func (r *ranking) slotOf(row uint32) uint32 {
	if r.turns == nil {
		return none
	}
	return r.turns.threads.slotOfRow(row)
}

// numbersInRuns returns which groups of 64 documents have rows whose numbers follow each other, a bit each.
func (p *part) numbersInRuns() bitset {
	if p.sealed == nil {
		return nil
	}
	if known := p.runs.Load(); known != nil {
		return *known
	}
	runs := newBitset(len(p.rows)/64 + 1)
	for i := range len(p.rows) / 64 {
		if isRun(p.rows[i*64:][:64]) {
			runs.add(uint32(i))
		}
	}
	p.runs.Store(&runs)
	return runs
}

// isRun reports whether each number follows the one before. Those of removed rows may be any.
func isRun(numbers []uint32) bool {
	base, known := uint32(0), false
	for i, n := range numbers {
		at := n - uint32(i)
		if n == none || known && at == base {
			continue
		}
		if known || n < uint32(i) {
			return false
		}
		base, known = at, true
	}
	return true
}

// addWord inserts the numbers of a word that begins at any number; the set has room for them.
func (b bitset) addWord(from uint32, word uint64) {
	i, shift := from/64, from%64
	b[i] |= word << shift
	if above := word >> (64 - shift); above != 0 {
		b[i+1] |= above
	}
}
