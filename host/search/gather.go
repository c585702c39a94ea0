package search

import (
	"context"
	"slices"
)

// gathered is the postings of turns, and sums of the terms' scores, for pruning.
type gathered struct {
	dense [][]uint8 // by clause: how often each slot has it, or many; nil: its postings are listed
	spare [][]uint8 // memory for dense

	sums     []float32 // of the terms' scores, by slot + windowReach
	matching bitset    // the slots that match
	summed   bitset    // those of them with a sum: they have a term of some weight that is not their speaker's name
}

const (
	// Clauses are dense that at least this share of the documents have, up to a number.
	denseShare, mostDense = 4, 16
	// many stands for this frequency in a byte, and for greater ones.
	many = 1<<8 - 1
)

// gather reads the postings of the turns, and sums the terms' scores.
func (c *conversing) gather(ctx context.Context) error {
	g := &c.sheet.gathered
	g.start(len(c.threads.slots), len(c.asked.clauses))
	c.chooseDense()
	for i := range c.asked.clauses {
		if err := ctx.Err(); err != nil {
			return err
		}
		c.gatherClause(i)
	}
	for i, summed := range g.summed {
		g.matching[i] |= summed
	}
	c.matches += g.matching.count()
	return nil
}

// start clears the postings and sums of an earlier search.
func (g *gathered) start(slots, clauses int) {
	g.dense = zeroed(g.dense, clauses)
	g.sums = zeroed(g.sums, slots+2*windowReach)
	g.matching, g.summed = zeroed(g.matching, (slots+63)/64), zeroed(g.summed, (slots+63)/64)
}

// zeroed returns a slice of zeros, in the memory of another if that suffices.
func zeroed[S ~[]T, T any](s S, size int) S {
	if cap(s) < size {
		return make(S, size, size+size/8)
	}
	s = s[:size]
	clear(s)
	return s
}

// chooseDense chooses the dense clauses.
func (c *conversing) chooseDense() {
	g, dense := &c.sheet.gathered, 0
	for i := range c.asked.clauses {
		if c.asked.clauses[i].found < c.ranking.total.documents/denseShare || dense == mostDense {
			continue
		}
		if dense == len(g.spare) {
			g.spare = append(g.spare, nil)
		}
		g.spare[dense] = zeroed(g.spare[dense], len(c.threads.slots))
		g.dense[i] = g.spare[dense]
		dense++
	}
}

// gatherClause gathers the postings of a clause.
func (c *conversing) gatherClause(i int) {
	g := &c.sheet.gathered
	list, dense := c.sheet.list(i), g.dense[i]
	c.read[i] = true
	c.eachBlock(i, func(block []posting) {
		if dense != nil {
			list = count(dense, list, block)
		} else {
			list = append(list, block...)
		}
		if c.weights[i] == 0 || c.inNames[i] {
			g.match(block)
		}
		if c.weights[i] > 0 {
			c.sum(i, block)
		}
	})
	c.sheet.postings[i] = list
}

// count notes the frequencies of postings, and returns the list with those that are too many.
func count(frequencies []uint8, list, block []posting) []posting {
	for _, p := range block {
		frequencies[p.slot] = uint8(min(p.tf, many))
		if p.tf >= many {
			list = append(list, p)
		}
	}
	return list
}

// match notes that the turns of postings match.
func (g *gathered) match(block []posting) {
	for _, p := range block {
		g.matching[p.slot/64] |= 1 << (p.slot % 64)
	}
}

// sum notes the turns of a clause's postings, and adds their scores.
func (c *conversing) sum(i int, block []posting) {
	g, slots, named := &c.sheet.gathered, c.threads.slots, c.inNames[i]
	summed, sums := g.summed, g.sums
	small, factor := c.asked.clauses[i].small, c.weights[i]/(c.asked.clauses[i].idf*c.asked.clauses[i].weight)
	for _, p := range block {
		if named {
			if p.tf = c.frequency(i, p); p.tf == 0 {
				continue
			}
		}
		summed[p.slot/64] |= 1 << (p.slot % 64)
		if small != nil && p.tf <= 3 {
			sums[p.slot+windowReach] += float32(factor * small[p.tf-1][slots[p.slot].length])
		} else {
			sums[p.slot+windowReach] += float32(c.weights[i] * c.normOfTurn(&slots[p.slot]).weight(p.tf, slots[p.slot].length))
		}
	}
}

// eachBlock calls do for the turns that have a clause, some at a time. It notes which leaves have other documents with it.
func (c *conversing) eachBlock(i int, do func([]posting)) {
	for _, l := range c.leaves {
		list := l.unread(&c.asked.clauses[i], i)
		if list == nil {
			continue
		}
		rows, slotOf, matching := l.part.rows, c.threads.slotOf, l.matching
		for docs, tfs := list.Next(); len(docs) > 0; docs, tfs = list.Next() {
			block, n := slices.Grow(c.sheet.block[:0], len(docs))[:len(docs)], 0
			for j, doc := range docs {
				if !matching.has(doc) {
					continue
				}
				row := rows[doc]
				if int(row) >= len(slotOf) || slotOf[row] == none {
					l.mixed = true
					continue
				}
				if slot := slotOf[row]; !c.filtered || c.admits(slot) {
					block[n] = posting{slot, tfs[j]}
					n++
				}
			}
			c.sheet.block = block
			do(block[:n])
		}
	}
}

// unread returns a clause's postings from the first on; nil: there are none.
func (l *leaf) unread(c *clause, i int) reader {
	o := &l.opened[i]
	if o.read {
		o.list, _ = c.open(l.part)
	}
	o.read = true
	return o.list
}

// postingsOf returns the turns that have a clause, unless it is dense. They are read once.
func (c *conversing) postingsOf(i int) []posting {
	if !c.read[i] {
		c.read[i] = true
		list := c.sheet.list(i)
		c.eachBlock(i, func(block []posting) { list = append(list, block...) })
		c.sheet.postings[i] = list
	}
	return c.sheet.postings[i]
}

// postingsIn returns the turns of a set of slots that have a clause, until the next call.
func (c *conversing) postingsIn(i int, slots bitset) []posting {
	g, list := &c.sheet.gathered, c.postingsOf(i)
	if c.pruned && g.dense[i] != nil {
		return c.sheet.denseIn(g.dense[i], list, slots)
	}
	if len(c.sheet.some) < len(list) {
		c.sheet.some = make([]posting, len(list)+len(list)/4)
	}
	n, some := 0, c.sheet.some
	for _, p := range list { // without a branch, which would often be predicted wrongly
		some[n] = p
		n += int(slots[p.slot/64] >> (p.slot % 64) & 1)
	}
	return some[:n]
}

// denseIn is postingsIn for a dense clause. The list has the frequencies that are too many.
func (s *turnSheet) denseIn(frequencies []uint8, list []posting, slots bitset) []posting {
	some := s.some[:0]
	for i, word := range slots {
		eachBit(i, word, func(slot uint32) {
			p := posting{slot, uint32(frequencies[slot])}
			if p.tf == many {
				p = list[slices.IndexFunc(list, func(p posting) bool { return p.slot == slot })]
			}
			if p.tf > 0 {
				some = append(some, p)
			}
		})
	}
	s.some = some[:cap(some)]
	return some
}

// list returns memory for the list of a clause.
func (s *turnSheet) list(i int) []posting {
	for len(s.postings) <= i {
		s.postings = append(s.postings, nil)
	}
	return s.postings[i][:0]
}
