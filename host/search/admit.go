package search

import "math/bits"

// admits reports whether a slot's turn is a possible hit.
func (c *conversing) admits(slot uint32) bool {
	if !c.isPossible(slot) || !c.filtered {
		return c.isPossible(slot)
	}
	if c.tested.add(slot) && c.wants(c.threads.slots[slot].row) {
		c.wanted.add(slot)
	}
	return c.wanted.has(slot)
}

// isPossible is admits before per-document filters.
func (c *conversing) isPossible(slot uint32) bool {
	if c.admitted != nil {
		return c.admitted.has(slot)
	}
	s := &c.threads.slots[slot]
	if c.all {
		return s.row != none
	}
	if !c.visible.rows.has(s.row) || c.expired.has(s.row) {
		return false
	}
	facet := uint32(s.facet)
	if facet == manyFacets {
		facet = c.index.table.row(s.row).facet
	}
	return c.selects(facet)
}

// selects reports whether turns of a facet are possible hits.
func (c *conversing) selects(facet uint32) bool {
	return c.facets[facet].selected && (c.facets[facet].active || !c.onlyActive)
}

// admit finds what isPossible needs.
func (c *conversing) admit() {
	if len(c.asked.conditions) > 0 {
		c.admitMatching()
		return
	}
	for _, l := range c.leaves {
		c.index.eachExpired(l.part, c.now, func(local uint32) { c.expired.add(l.part.rows[local]) })
	}
	c.all = c.expired == nil && c.turns == c.threads.count
}

// admitMatching collects the slots of the possible hits.
func (c *conversing) admitMatching() {
	c.admitted = newBitset(len(c.threads.slots))
	for _, l := range c.leaves {
		for i, word := range l.matching {
			for word != 0 {
				number := l.part.rows[i*64+bits.TrailingZeros64(word)]
				word &= word - 1
				if slot := c.threads.slotOfRow(number); slot != none {
					c.admitted[slot/64] |= 1 << (slot % 64)
				}
			}
		}
	}
}
