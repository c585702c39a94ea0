package search

import (
	"math"
	"slices"
)

// pruning narrows the turns that a search scores to candidates. Most questions have words that reach nearly all turns and decide little. So
// a bound is computed for each turn, which its score cannot exceed, from the sums of the terms' scores of the turns around it. The candidates
// are the turns with bounds from a guessed threshold on; if too few of their scores reach it, then from the score on that enough of them
// reach. Their scores are the same as without pruning.
type pruning struct {
	gathered
	within  bitset    // the slots that are within the window of a turn with a sum
	hits    bitset    // the possible hits with a score
	bounds  []float32 // by slot, of hits; without the features of speaker and date
	highest []float32 // the highest bound, by block of 64 slots

	candidates []uint32 // slots
	chosen     bitset   // the same
	near       bitset   // the candidates and the slots within their windows, whose words count for them
}

const (
	// Pruning looks at all slots, so it pays from so many matches on: a multiple of the turns that must be exact, and a share of all slots.
	prunedDepths, prunedShare = 4, 16
	// margin is how much rounding may lower a bound, relatively: bounds are sums of 32-bit numbers.
	margin = 1e-4
	// usualDepths is how many turns most questions have, as a multiple of those that must be exact, whose bounds reach the threshold.
	usualDepths = 3
	// sampled is about how many bounds are compared to guess a threshold.
	sampled = 1 << 12
)

// depth is the number of turns that must be the best; 0: all turns need their scores.
func (c *conversing) depth() int {
	if c.query.Vector != nil || c.asked.hasSubstitutes() {
		return 0
	}
	return max(zoned, c.query.K+c.query.Offset)
}

// prunes reports whether pruning pays. A date without other words makes turns match that have no postings.
func (c *conversing) prunes() bool {
	if c.dateOnly {
		return false
	}
	depth, found := c.depth(), 0
	for i := range c.asked.clauses {
		found += c.asked.clauses[i].found
	}
	return depth > 0 && found >= max(prunedDepths*depth, len(c.threads.slots)/prunedShare)
}

// start clears the bounds and candidates of an earlier search.
func (p *pruning) start(slots int) {
	words := (slots + 63) / 64
	p.bounds, p.highest = slices.Grow(p.bounds[:0], slots)[:slots], zeroed(p.highest, words)
	for _, set := range []*bitset{&p.within, &p.hits, &p.chosen, &p.near} {
		*set = zeroed(*set, words)
	}
}

// prune finds the candidates and computes their scores, but for the zones.
func (c *conversing) prune() {
	depth := c.depth()
	c.sheet.pruning.start(len(c.threads.slots))
	c.findHits()
	c.bound()
	guess := c.boundOfRank(usualDepths * depth)
	c.choose(guess)
	c.addWords()
	if reached := c.reached(depth); reached < guess {
		c.clearScores()
		c.choose(reached)
		c.addWords()
	}
}

// reached is the score that so many candidates reach; 0 if there are fewer.
func (c *conversing) reached(depth int) float64 {
	if len(c.sheet.scored) < depth {
		return 0
	}
	score, _ := leastOf(c.sheet.scoresOf(c.sheet.scored), depth)
	return score
}

// findHits finds the possible hits with a score: the turns that match, and those around a turn with a sum.
func (c *conversing) findHits() {
	p := &c.sheet.pruning
	copy(p.within, p.summed)
	for range windowReach {
		p.within.widen(c.threads.follows)
	}
	for i, word := range p.within {
		uneven := c.threads.unevenAround(i)
		eachBit(i, uneven, func(slot uint32) {
			word &^= 1 << (slot % 64)
			if c.isWithinAny(slot) {
				word |= 1 << (slot % 64)
			}
		})
		matching := p.matching[i]
		eachBit(i, word&^matching, func(slot uint32) {
			if c.admits(slot) {
				matching |= 1 << (slot % 64)
			}
		})
		p.hits[i] = matching
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
func (c *conversing) isWithinAny(slot uint32) bool {
	from, to, _ := c.threads.search(slot, windowReach)
	for at := from; at <= to; at++ {
		if c.sheet.pruning.summed.has(at) && c.shareAround(at, slot, false) > 0 {
			return true
		}
	}
	return false
}

// bound bounds the scores of the turns.
func (c *conversing) bound() {
	p, w := &c.sheet.pruning, c.boundWeights()
	for i, hits := range p.hits {
		if hits != 0 {
			from, to := i*64, min(i*64+64, len(c.threads.slots))
			p.highest[i] = w.boundBlock(p.bounds[from:to], p.sums[from:to+2*windowReach], c.threads.slots[from:to])
		}
	}
	for i, summed := range p.summed {
		eachBit(i, summed&c.threads.asking.word(i), func(slot uint32) {
			for after := slot + 1; after <= slot+windowReach && int(after) < len(p.bounds); after++ {
				p.raise(after, p.bounds[after]+w.question*p.sums[slot+windowReach])
			}
		})
	}
	for i, hits := range p.hits {
		eachBit(i, hits&c.threads.unevenAround(i), func(slot uint32) { p.raise(slot, c.boundAnywhere(slot, w)) })
	}
}

// raise raises the bound of a slot.
func (p *pruning) raise(slot uint32, bound float32) {
	p.bounds[slot] = max(p.bounds[slot], bound)
	p.highest[slot/64] = max(p.highest[slot/64], bound)
}

// boundWeights are the weights of a turn's bound.
type boundWeights struct {
	window, question float32
	sum              [256]float32 // by length: of the turn's own sum
}

// boundWeights returns the weights of the features. A turn's window has at most the sum of what each turn in it gives, where it counts the
// best of each term. A term's weight in the cover is at most its score by the weight of a single occurrence.
func (c *conversing) boundWeights() *boundWeights {
	of, w := &c.index.conversation, &boundWeights{}
	w.window, w.question = float32(of.Window*(1+margin)), float32(of.Question*(1+margin))
	for _, n := range c.norms {
		for code := range w.sum {
			w.sum[code] = max(w.sum[code], float32(of.Cover/n.weight(1, byte(code))*(1+margin)))
		}
	}
	return w
}

// boundBlock bounds the scores of some slots, and returns the highest bound. The sums begin windowReach slots before them. The slots next to a turn have the turns of its
// window, or of other sessions, which makes the bound no lower.
func (w *boundWeights) boundBlock(bounds, sums []float32, slots []slot) (highest float32) {
	n := len(bounds)
	before2, before1, own, after1, after2, slots := sums[:n], sums[1:n+1], sums[2:n+2], sums[3:n+3], sums[4:n+4], slots[:n]
	for i := range bounds {
		window := own[i] + .5*(before1[i]+after1[i]) + .25*(before2[i]+after2[i])
		bound := w.window*window + w.sum[slots[i].length]*own[i]
		if bounds[i] = bound; bound > highest { // max also minds NaN, which takes several times as long
			highest = bound
		}
	}
	return highest
}

// boundAnywhere is the bound of a turn with turns at any positions.
func (c *conversing) boundAnywhere(slot uint32, w *boundWeights) float32 {
	sums := c.sheet.pruning.sums[windowReach:]
	from, to, _ := c.threads.search(slot, windowReach)
	window, question := sums[slot], float32(0)
	for at := from; at <= to; at++ {
		window += sums[at] * float32(c.shareAround(at, slot, false))
		if at < slot && c.threads.asking.has(at) {
			question = max(question, sums[at])
		}
	}
	return w.window*window + w.sum[c.threads.slots[slot].length]*sums[slot] + w.question*question
}

// exactPart is the score of what a bound is without: the features of speaker and date.
func (c *conversing) exactPart(slot uint32) float64 {
	of, part := &c.index.conversation, 0.0
	if len(c.named) > 0 {
		part += of.Speaker * c.total * c.named[c.threads.turns[slot].speaker]
	}
	if c.date != (day{}) {
		part += of.Date * c.total * c.date.share(c.threads.turns[slot].said)
	}
	return part
}

// mostExactPart is what exactPart is at most.
func (c *conversing) mostExactPart() float64 {
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
func (c *conversing) mostPlain() float64 {
	all, most := 0.0, 0.0
	for i := range c.asked.clauses {
		all += c.asked.clauses[i].idf * c.asked.clauses[i].weight
	}
	for _, n := range c.norms {
		most = max(most, n.K1+1)
	}
	return matched * all * most
}

// boundOfRank returns a bound that about so many turns reach.
func (c *conversing) boundOfRank(rank int) float64 {
	s, p := c.sheet, &c.sheet.pruning
	step := len(p.bounds)/sampled + 1
	s.best = s.best[:0]
	for slot := 0; slot < len(p.bounds); slot += step {
		if p.hits.has(uint32(slot)) {
			s.best = append(s.best, float64(p.bounds[slot])+c.exactPart(uint32(slot)))
		}
	}
	bound, _ := leastOf(s.best, max(1, rank/step))
	return bound
}

// choose makes the turns candidates whose scores may reach a threshold.
func (c *conversing) choose(threshold float64) {
	p, most := &c.sheet.pruning, c.mostExactPart()
	p.candidates = p.candidates[:0]
	clear(p.chosen)
	clear(p.near)
	low := threshold*(1-margin) - c.mostPlain()
	lowest := float32(low - most - margin*math.Abs(low-most))
	for i, hits := range p.hits {
		if hits == 0 || p.highest[i] < lowest {
			continue
		}
		eachBit(i, hits, func(slot uint32) {
			if p.bounds[slot] >= lowest && (most == 0 || float64(p.bounds[slot])+c.exactPart(slot) >= low) {
				c.addCandidate(slot)
			}
		})
	}
}

// addCandidate makes a turn a candidate.
func (c *conversing) addCandidate(slot uint32) {
	p := &c.sheet.pruning
	p.candidates = append(p.candidates, slot)
	p.chosen[slot/64] |= 1 << (slot % 64)
	from, to, _ := c.threads.around(slot, windowReach)
	for at := from; at <= to; at++ {
		p.near[at/64] |= 1 << (at % 64)
	}
}

// passedOver is the number of possible hits with a score that are no candidates.
func (c *conversing) passedOver() int {
	if !c.pruned {
		return 0
	}
	return c.sheet.pruning.hits.count() - len(c.sheet.scored)
}
