package search

import "slices"

// pruner limits the turns that a search scores to candidates. Most questions have words that match nearly all turns and decide little. So the
// pruner computes an upper bound of the score of each turn, from the terms of the turns around it, and scores the turns with the highest bounds
// first. Their k-th best score is the threshold: turns with lower bounds are never scored. The result is exact.
type pruner struct {
	turnPostings
	within bitset   // the slots that are within the window of a turn with a sum
	hits   bitset   // the possible hits with a score
	bounds []uint64 // of two slots each, as in sums, in quarters of their unit; without the features of speaker and date

	candidates []uint32 // slots
	chosen     bitset   // the candidates, and those before
	nearby
}

const (
	// Pruning reads all slots, so it needs at least this many matches: a multiple of the turns that must be exact, and a share of all slots.
	prunedDepths, prunedShare = 4, 128
	// Each clause may make a sum greater by its rounding: with so many clauses by an eighth of mostSum.
	mostSummed = 1 << 12
	// margin is how much rounding may lower a bound, relatively.
	margin = 1e-9
	// firstDepths is how many turns are candidates at first, as a multiple of those that must be exact.
	firstDepths = 2
	// sampled is about how many bounds are compared to guess a threshold.
	sampled = 1 << 12
)

// depth is the number of turns that must be the best; 0: all turns need their scores.
func (c *turnScorer) depth() int {
	if c.fuses() || c.asked.hasSubstitutes() {
		return 0
	}
	return max(zoned, c.best.most)
}

// prunes reports whether pruning pays. A date without other words makes turns match that have no postings.
func (c *turnScorer) prunes() bool {
	if c.dateOnly || len(c.asked.clauses) > mostSummed {
		return false
	}
	depth, found := c.depth(), 0
	for i := range c.asked.clauses {
		found += c.asked.clauses[i].found
	}
	return depth > 0 && found >= max(prunedDepths*depth, len(c.threads.slots)/prunedShare)
}

// prune finds the candidates and computes their scores, but for the zones.
func (c *turnScorer) prune() {
	c.sheet.pruner.start(len(c.threads.slots))
	c.findHits()
	c.raiseBounds()
	depth := c.depth()
	guess := c.boundOfRank(firstDepths * depth)
	c.choose(guess)
	c.addCandidates()
	if reached := c.reached(depth); reached < guess {
		c.choose(reached)
		c.addCandidates()
	}
}

// start clears the candidates of an earlier search.
func (p *pruner) start(slots int) {
	for _, set := range []*bitset{&p.within, &p.hits, &p.chosen, &p.near} {
		*set = zeroed(*set, (slots+63)/64)
	}
}

// reached returns the n-th best score of the candidates; 0 if there are fewer.
func (c *turnScorer) reached(depth int) float64 {
	if len(c.sheet.scored) < depth {
		return 0
	}
	score, _ := leastOf(c.sheet.scoresOf(c.sheet.scored), depth)
	return score
}

// findHits finds the possible hits with a score: the turns that match, and those around a turn with a sum.
func (c *turnScorer) findHits() {
	p := &c.sheet.pruner
	copy(p.within, p.summed)
	for range windowReach {
		p.within.widen(c.threads.follows)
	}
	for i, word := range p.within {
		eachBit(i, c.threads.unevenAround(i), func(slot uint32) {
			word &^= 1 << (slot % 64)
			if c.isWithinAny(slot) {
				word |= 1 << (slot % 64)
			}
		})
		p.hits[i] = p.matching[i] | c.admitted(i, word&^p.matching[i])
	}
}

// widen adds the numbers before and after those of a set, where one follows the other.
func (b bitset) widen(follows bitset) {
	before := uint64(0) // the word before, as it was
	for i, word := range b {
		added := (word<<1|before>>63)&follows.word(i) | word&follows.word(i)>>1
		if i+1 < len(b) {
			added |= (b[i+1] & follows.word(i+1)) << 63
		}
		before, b[i] = word, word|added
	}
}

// unevenAround returns, of the slots of a word of a bitset, those in whose window may be other turns than those next to them.
func (t *threads) unevenAround(i int) uint64 {
	before, here, after := t.uneven.word(i-1), t.uneven.word(i), t.uneven.word(i+1)
	around := here
	for n := 1; n <= windowReach; n++ {
		around |= here<<n | before>>(64-n) | here>>n | after<<(64-n)
	}
	return around | here>>(windowReach+1) | after<<(63-windowReach)
}

// isWithinAny reports whether a turn with a sum is in the window of another, at any position but its own.
func (c *turnScorer) isWithinAny(slot uint32) bool {
	from, to, _ := c.threads.search(slot, windowReach, c.possible)
	for at := from; at <= to; at++ {
		if c.sheet.pruner.summed.has(at) && c.shareAround(at, slot, false) > 0 {
			return true
		}
	}
	return false
}

const (
	lowBits   = 0x0000ffff_0000ffff // the low half of each sum of a word
	highBit   = 0x80000000_80000000 // of each bound of a word
	mostBound = 1<<31 - 1
)

// addWindows bounds the scores of the turns, and marks those with a sum. The bound of a turn's window is the sum over its turns, although the
// score counts only the best turn for each term. Slots next to a turn may be of other sessions, which can only raise the bound.
func (p *pruner) addWindows() {
	p.bounds = slices.Grow(p.bounds[:0], len(p.sums)-2)[:len(p.sums)-2]
	here := p.sums[1]
	sharedBefore, shared := uint64(0), here>>16&lowBits
	for i := range p.summed {
		word := uint64(0)
		after, bounds := p.sums[32*i+2:32*i+34], p.bounds[32*i:32*i+32]
		for j := range bounds {
			sharedAfter := after[j] >> 16 & lowBits
			one := (sharedBefore>>32 | shared<<32) + (shared>>32 | sharedAfter<<32)
			bounds[j] = here&lowBits<<2 + one<<1 + sharedBefore + sharedAfter
			has := (here&lowBits + ^uint64(highBit)) & highBit
			word |= (has>>31&1 | has>>62) << (2 * j)
			here, sharedBefore, shared = after[j], shared, sharedAfter
		}
		p.summed[i] = word
	}
}

// raiseBounds raises the bounds of turns after questions, and of turns whose window may have turns other than the adjacent ones.
func (c *turnScorer) raiseBounds() {
	p := &c.sheet.pruner
	for i, summed := range p.summed {
		eachBit(i, summed&c.threads.asking.word(i), func(slot uint32) {
			adds := c.questionAdds(slot)
			for after := slot + 1; after <= slot+windowReach && int(after) < len(c.threads.slots); after++ {
				p.raise(after, p.boundAt(after)+adds)
			}
		})
	}
	for i, hits := range p.hits {
		eachBit(i, hits&c.threads.unevenAround(i), func(slot uint32) { p.raise(slot, c.boundAnywhere(slot)) })
	}
}

// sumAt returns the halves of a slot's sum.
func (g *turnPostings) sumAt(slot uint32) (own, shared uint32) {
	sum := uint32(g.sums[slot/2+1] >> (slot % 2 * 32))
	return sum & mostSum, sum >> 16
}

// boundAt returns the bound of a slot.
func (p *pruner) boundAt(slot uint32) uint32 { return uint32(p.bounds[slot/2] >> (slot % 2 * 32)) }

// raise raises the bound of a slot.
func (p *pruner) raise(slot, bound uint32) {
	if had := p.boundAt(slot); bound > had {
		p.bounds[slot/2] += uint64(bound-had) << (slot % 2 * 32)
	}
}

// questionAdds returns the addend of a question for the bounds of the turns after it.
func (c *turnScorer) questionAdds(slot uint32) uint32 {
	of := &c.index.conversation
	if of.Question == 0 {
		return 0
	}
	_, shared := c.sheet.sumAt(slot)
	return uint32(4*float64(shared)*of.Question/max(of.Window, of.Question)) + 1
}

// boundAnywhere returns the bound of a turn whose window has turns at any positions.
func (c *turnScorer) boundAnywhere(slot uint32) uint32 {
	from, to, _ := c.threads.search(slot, windowReach, c.possible)
	own, _ := c.sheet.sumAt(slot)
	bound, question := 4*uint64(own), uint32(0)
	for at := from; at <= to; at++ {
		_, shared := c.sheet.sumAt(at)
		bound += uint64(4*c.shareAround(at, slot, false)) * uint64(shared)
		if at < slot && c.threads.asking.has(at) {
			question = max(question, c.questionAdds(at))
		}
	}
	return uint32(min(bound+uint64(question), mostBound))
}

// scoreOf returns the greatest score within a bound, without the features of speaker and date.
func (c *turnScorer) scoreOf(bound uint32) float64 { return float64(bound) / (4 * c.sheet.scale) }

// exactPart returns the score of the features of speaker and date, which bounds omit.
func (c *turnScorer) exactPart(slot uint32) float64 {
	of, part := &c.index.conversation, 0.0
	if len(c.named) > 0 {
		part += of.Speaker * c.total * c.named[c.threads.turns[slot].speaker]
	}
	if c.date != (day{}) {
		part += of.Date * c.total * c.date.share(c.threads.turns[slot].said)
	}
	return part
}

// mostExactPart returns the maximum of exactPart.
func (c *turnScorer) mostExactPart() float64 {
	of, most := &c.index.conversation, 0.0
	if len(c.named) > 0 {
		most += of.Speaker * c.total
	}
	if c.date != (day{}) {
		most += of.Date * c.total
	}
	return most
}

// mostPlain is the most that scores without features add to those with them: as if terms occurred without end.
func (c *turnScorer) mostPlain() float64 {
	all := 0.0
	for i := range c.asked.clauses {
		all += c.asked.clauses[i].idf * c.asked.clauses[i].weight
	}
	return matched * all * c.mostShare()
}

// boundOfRank returns a bound that about n turns reach.
func (c *turnScorer) boundOfRank(rank int) float64 {
	s, slots := c.sheet, len(c.threads.slots)
	step := slots/sampled + 1
	s.best = s.best[:0]
	for slot := 0; slot < slots; slot += step {
		if s.hits.has(uint32(slot)) {
			s.best = append(s.best, c.scoreOf(s.boundAt(uint32(slot)))+c.exactPart(uint32(slot)))
		}
	}
	bound, _ := leastOf(s.best, max(1, rank/step))
	return bound
}

// choose adds the turns whose scores may reach a threshold to the candidates, unless they were candidates before.
func (c *turnScorer) choose(threshold float64) {
	p, most := &c.sheet.pruner, c.mostExactPart()
	p.candidates = p.candidates[:0]
	low := threshold*(1-margin) - c.mostPlain()
	lowest := uint64(min(max(0, (low-most)*4*c.sheet.scale*(1-margin)), mostBound))
	reaches := uint64(highBit) - lowest<<32 - lowest
	for i, bounds := range p.bounds {
		if reached := (bounds + reaches) & highBit; reached != 0 {
			slot := uint32(2 * i)
			if reached>>31&1 != 0 {
				c.chooseAbove(slot, low)
			}
			if reached>>63 != 0 {
				c.chooseAbove(slot+1, low)
			}
		}
	}
}

// chooseAbove adds a turn whose score may reach a threshold to the candidates, unless it was a candidate before.
func (c *turnScorer) chooseAbove(slot uint32, low float64) {
	p := &c.sheet.pruner
	if !p.hits.has(slot) || c.scoreOf(p.boundAt(slot))+c.exactPart(slot) < low || !p.chosen.add(slot) {
		return
	}
	p.candidates = append(p.candidates, slot)
}

// excluded is the number of possible hits with a score that are no candidates.
func (c *turnScorer) excluded() int {
	if !c.pruned {
		return 0
	}
	return c.sheet.pruner.hits.count() - len(c.sheet.scored)
}
