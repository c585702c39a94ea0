package search

import "slices"

// admits reports whether a slot's turn is a possible hit.
func (c *turnScorer) admits(slot uint32) bool {
	if !c.filtered || !c.possible.has(slot) {
		return c.possible.has(slot)
	}
	if c.tested.add(slot) && c.wants(c.threads.slots[slot].row) {
		c.wanted.add(slot)
	}
	return c.wanted.has(slot)
}

// admitted returns the possible hits among the slots of a word of a bitset.
func (c *turnScorer) admitted(i int, word uint64) uint64 {
	word &= c.possible.word(i)
	if !c.filtered {
		return word
	}
	admitted := uint64(0)
	eachBit(i, word, func(slot uint32) {
		if c.admits(slot) {
			admitted |= 1 << (slot % 64)
		}
	})
	return admitted
}

// admit finds the possible hits, before per-document filters, among the turns that the view selects.
func (c *turnScorer) admit() {
	if len(c.asked.conditions) > 0 || c.restricted {
		c.admitMatching()
		return
	}
	shared := c.possible
	for _, l := range c.leaves {
		c.index.eachExpired(l.part, c.now, func(local uint32) {
			slot := c.threads.slotOfRow(l.part.rows[local])
			if slot == none || !c.possible.has(slot) {
				return
			}
			if &c.possible[0] == &shared[0] {
				c.possible = slices.Clone(shared)
			}
			c.possible.remove(slot)
		})
	}
}

// admitMatching collects the slots of the possible hits.
func (c *turnScorer) admitMatching() {
	c.possible = newBitset(len(c.threads.slots))
	for _, l := range c.leaves {
		for i, word := range l.matching {
			eachBit(i, word, func(local uint32) {
				if slot := c.threads.slotOfRow(l.part.rows[local]); slot != none {
					c.possible.add(slot)
				}
			})
		}
	}
}

// selectedTurns is the turns that a selection has in a view.
type selectedTurns struct {
	slots      bitset
	onlyActive bool
	at         uint64 // the changes of threads that slots has seen
}

// turnsOf returns the slots of the selection's turns in a view, until the next change. The caller holds cacheMu.
func (s *selection) turnsOf(x *Index, v *visible, onlyActive bool) bitset {
	t, turns := &x.table.threads, &s.turns
	if turns.onlyActive != onlyActive {
		*turns = selectedTurns{onlyActive: onlyActive} // other searches may hold the slots
	}
	turns.slots = append(turns.slots, newBitset(len(t.slots))[len(turns.slots):]...)
	for i := range turns.slots {
		if t.changedAt[i] > turns.at {
			turns.slots[i] = s.turnsIn(x, v, i, onlyActive)
		}
	}
	turns.at = t.changes
	return turns.slots
}

// turnsIn returns the selection's turns in a view among the slots of a word of a bitset.
func (s *selection) turnsIn(x *Index, v *visible, i int, onlyActive bool) (word uint64) {
	slots := x.table.threads.slots
	for at := i * 64; at < min(i*64+64, len(slots)); at++ {
		r := &slots[at]
		if r.row == none || !v.rows.has(r.row) {
			continue
		}
		facet := uint32(r.facet)
		if facet == manyFacets {
			facet = x.table.row(r.row).facet
		}
		if c := s.of(x, facet); c.selected && (c.active || !onlyActive) {
			word |= 1 << (at % 64)
		}
	}
	return word
}
