package search

import (
	"context"
	"slices"
)

// turnPostings is the postings of turns, with the sums of their terms' scores, for pruning.
type turnPostings struct {
	dense [][]uint8 // by clause: how often each slot has it, or many; nil: its postings are listed
	spare [][]uint8 // memory for dense

	scale    float64        // units of the sums to a score of 1
	adds     [3][256]uint32 // of the current clause: what it adds to a sum, by frequency (1 to 3) and length
	sums     []uint64       // of what addsOf returns; of the slots 2i−2 and 2i−1, the first in the low half
	matching bitset         // the slots that match
	summed   bitset         // those of them with a sum: they have a term of some weight that is not their speaker's name
}

const (
	// A clause is dense if at least this share of the documents have it; the number of dense clauses is limited.
	denseShare, mostDense = 4, 16
	// many encodes this frequency and greater ones in a byte.
	many = 1<<8 - 1
	// mostSum is the greatest half of a sum.
	mostSum = 1<<16 - 1
)

// gather reads the postings of the turns, sums the scores of their terms, and bounds the scores.
func (c *turnScorer) gather(ctx context.Context) error {
	g := &c.sheet.turnPostings
	g.start(len(c.threads.slots), len(c.asked.clauses))
	g.scale = c.scale()
	c.chooseDense()
	for i := range c.asked.clauses {
		if err := ctx.Err(); err != nil {
			return err
		}
		c.gatherClause(i)
	}
	c.lessenAssistants()
	c.sheet.pruner.addWindows()
	for i, summed := range g.summed {
		g.matching[i] |= summed
	}
	c.matches += g.matching.count()
	return nil
}

// start clears the postings and sums of an earlier search.
func (g *turnPostings) start(slots, clauses int) {
	words := (slots + 63) / 64
	g.dense = zeroed(g.dense, clauses)
	g.sums = zeroed(g.sums, 32*words+2)
	g.matching, g.summed = zeroed(g.matching, words), zeroed(g.summed, words)
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
func (c *turnScorer) chooseDense() {
	g, dense := &c.sheet.turnPostings, 0
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

// scale returns a scale that lets no sum exceed mostSum.
func (c *turnScorer) scale() float64 {
	of, most := &c.index.conversation, 0.0
	for _, weight := range c.weights {
		most += max(0, weight) * (max(of.Window, of.Question)*c.mostShare() + of.Cover)
	}
	if most *= max(1, of.Assistant); most == 0 {
		return 1
	}
	return float64(mostSum-2*len(c.weights)) / most
}

// mostShare is the limit of a term's BM25 score by its weight, for terms that occur without end.
func (c *turnScorer) mostShare() (most float64) {
	for _, n := range c.norms {
		most = max(most, n.K1+1)
	}
	return most
}

// addsOf returns the addend of a term for the sum of a turn, given its weight and its BM25 score: in the low half for the turn's own features,
// in the high half for those of its neighbours, regardless of distance. Both are rounded up.
func (c *turnScorer) addsOf(weight, gain float64) uint32 {
	of, scale := &c.index.conversation, c.sheet.scale
	return uint32(scale*(of.Window*gain+of.Cover*weight)) + 1 | (uint32(scale*max(of.Window, of.Question)*gain)+1)<<16
}

// gatherClause gathers the postings of a clause.
func (c *turnScorer) gatherClause(i int) {
	g := &c.sheet.turnPostings
	list, dense := c.sheet.list(i), g.dense[i]
	c.read[i] = true
	c.tabulateAdds(i)
	c.eachBlock(i, func(b *block) {
		if dense != nil {
			list = count(dense, list, b.postings)
		} else {
			list = append(list, b.postings...)
		}
		if c.weights[i] == 0 || c.inNames[i] {
			g.match(b.postings)
		}
		if c.weights[i] > 0 {
			c.sum(i, b)
		}
	})
	c.sheet.postings[i] = list
}

// tabulateAdds fills adds for a clause.
func (c *turnScorer) tabulateAdds(i int) {
	small := c.asked.clauses[i].small
	if small == nil || c.weights[i] <= 0 {
		return
	}
	factor := c.weights[i] / (c.asked.clauses[i].idf * c.asked.clauses[i].weight)
	for f := range small {
		for code := range small[f] {
			c.sheet.adds[f][code] = c.addsOf(c.weights[i], factor*small[f][code])
		}
	}
}

// count notes the frequencies of postings, and returns the list with those that are too many.
func count(frequencies []uint8, list, postings []posting) []posting {
	for _, p := range postings {
		frequencies[p.slot] = uint8(min(p.tf, many))
		if p.tf >= many {
			list = append(list, p)
		}
	}
	return list
}

// match notes that the turns of postings match.
func (g *turnPostings) match(postings []posting) {
	for _, p := range postings {
		g.matching[p.slot/64] |= 1 << (p.slot % 64)
	}
}

// sum adds the scores of a clause's postings.
func (c *turnScorer) sum(i int, b *block) {
	g, small, named := &c.sheet.turnPostings, c.asked.clauses[i].small != nil, c.inNames[i]
	sums := g.sums
	for j, p := range b.postings {
		if named {
			if p.tf = c.frequency(i, p); p.tf == 0 {
				continue
			}
		}
		var adds uint32
		if f := p.tf - 1; small && f < 3 {
			adds = g.adds[f][b.lengths[j]]
		} else {
			adds = c.addsOf(c.weights[i], c.weights[i]*c.normOfTurn(&c.threads.slots[p.slot]).weight(p.tf, b.lengths[j]))
		}
		sums[p.slot/2+1] += uint64(adds) << (p.slot % 2 * 32)
	}
}

// lessenAssistants multiplies the sums of assistants' turns by their factor, rounded up.
func (c *turnScorer) lessenAssistants() {
	g, factor := &c.sheet.turnPostings, c.index.conversation.Assistant
	for i := range g.matching {
		eachBit(i, c.threads.assisting.word(i), func(slot uint32) {
			own, shared := g.sumAt(slot)
			if own == 0 {
				return
			}
			g.matching.add(slot) // whatever is left of the sum
			less := uint64(0)
			if factor > 0 {
				less = uint64(factor*float64(own)) + 1 | (uint64(factor*float64(shared))+1)<<16
			}
			half := slot % 2 * 32
			g.sums[slot/2+1] = g.sums[slot/2+1]&^(mostSum<<16<<half|mostSum<<half) | less<<half
		})
	}
}

// block is some of a clause's postings.
type block struct {
	postings []posting
	lengths  []byte // the codes of the turns' lengths
}

// eachBlock calls do for the turns that have a clause, some at a time. It notes which leaves have other documents with it.
func (c *turnScorer) eachBlock(i int, do func(*block)) {
	for _, l := range c.leaves {
		list := l.unread(&c.asked.clauses[i], i)
		if list == nil {
			continue
		}
		for docs, tfs := list.Next(); len(docs) > 0; docs, tfs = list.Next() {
			do(c.turnsAmong(l, docs, tfs))
		}
	}
}

// turnsAmong returns the turns among documents of a leaf that are possible hits, until the next call.
func (c *turnScorer) turnsAmong(l *leaf, docs, tfs []uint32) *block {
	b := &c.sheet.block
	b.postings = slices.Grow(b.postings[:0], len(docs))[:len(docs)]
	b.lengths = slices.Grow(b.lengths[:0], len(docs))[:len(docs)]
	n := 0
	if l.whole && !c.filtered && !c.restricted && len(c.asked.conditions) == 0 {
		n = c.firstTurns(l, docs, tfs)
	}
	lengths := l.part.lengths()
	for j := n; j < len(docs); j++ {
		doc := docs[j]
		if !l.matching.has(doc) {
			continue
		}
		slot := c.threads.slotOfRow(l.part.rows[doc])
		if slot == none {
			l.mixed = true
			continue
		}
		if !c.filtered || c.admits(slot) {
			b.postings[n], b.lengths[n] = posting{slot, tfs[j]}, lengths[doc]
			n++
		}
	}
	b.postings, b.lengths = b.postings[:n], b.lengths[:n]
	return b
}

// firstTurns fills the sheet's block with documents of a leaf up to the first that is no turn, and returns their number. All are possible hits.
func (c *turnScorer) firstTurns(l *leaf, docs, tfs []uint32) int {
	rows, slotOf, lengths := l.part.rows, c.threads.slotOf, l.part.lengths()
	tfs, postings, codes := tfs[:len(docs)], c.sheet.block.postings[:len(docs)], c.sheet.block.lengths[:len(docs)]
	for j, doc := range docs {
		row := rows[doc]
		if int(row) >= len(slotOf) || slotOf[row] == none {
			return j
		}
		postings[j], codes[j] = posting{slotOf[row], tfs[j]}, lengths[doc]
	}
	return len(docs)
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
func (c *turnScorer) postingsOf(i int) []posting {
	if !c.read[i] {
		c.read[i] = true
		list := c.sheet.list(i)
		c.eachBlock(i, func(b *block) { list = append(list, b.postings...) })
		c.sheet.postings[i] = list
	}
	return c.sheet.postings[i]
}

// postingsIn returns the turns of a set of slots that have a clause, until the next call.
func (c *turnScorer) postingsIn(i int, slots bitset) []posting {
	g, list := &c.sheet.turnPostings, c.postingsOf(i)
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
