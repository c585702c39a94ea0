package search

import "math/bits"

// nearby is the candidates with the turns in their windows, which are numbered in the order of their slots.
type nearby struct {
	near    bitset            // the slots
	before  []uint32          // by word of near: the number of its first slot
	gains   []float64         // by number: of the current clause
	turns   []nearTurn        // by number
	windows []windowCandidate // of the candidates
}

// nearTurn is the unweighted features of a turn by its own words.
type nearTurn struct{ alone, cover, plain float64 }

// windowCandidate is a candidate with its window.
type windowCandidate struct {
	slot, number, from, to uint32 // from and to are numbers
	regular                bool
	score                  float64 // of the window
}

// addCandidates scores the candidates, but for the zones.
func (c *turnScorer) addCandidates() {
	n := &c.sheet.nearby
	c.addNearby()
	for i := range n.windows {
		w := &n.windows[i]
		s := n.scoreOf(w)
		f := c.features(w.slot, &s)
		c.sheet.scored = append(c.sheet.scored, scoredTurn{w.slot, c.threads.slots[w.slot].row, s.score + f.withoutZone()})
	}
}

// scoreAlone returns the features of one candidate. It overwrites nearby.
func (c *turnScorer) scoreAlone(slot uint32) *turnScore {
	c.sheet.candidates = append(c.sheet.candidates[:0], slot)
	c.addNearby()
	s := c.sheet.scoreOf(&c.sheet.windows[0])
	return &s
}

// scoreOf returns the features of a candidate.
func (n *nearby) scoreOf(w *windowCandidate) turnScore {
	own := &n.turns[w.number]
	return turnScore{window: w.score, alone: own.alone, cover: own.cover, score: matched * own.plain}
}

// addNearby computes the features of the candidates and the turns near them.
func (c *turnScorer) addNearby() {
	c.findNearby()
	for i := range c.asked.clauses {
		c.addClauseNearby(i)
	}
}

// findNearby numbers the candidates and the turns in their windows.
func (c *turnScorer) findNearby() {
	n, candidates := &c.sheet.nearby, c.sheet.candidates
	clear(n.near)
	n.windows = n.windows[:0]
	for _, slot := range candidates {
		from, to, regular := c.threads.around(slot, windowReach, c.possible)
		n.near.addRange(from, to)
		n.windows = append(n.windows, windowCandidate{slot: slot, from: from, to: to, regular: regular})
	}
	n.before = n.before[:0]
	count := 0
	for _, word := range n.near {
		n.before = append(n.before, uint32(count))
		count += bits.OnesCount64(word)
	}
	for i := range n.windows {
		w := &n.windows[i]
		w.number = n.number(w.slot)
		w.from, w.to = w.number-(w.slot-w.from), w.number+(w.to-w.slot)
	}
	n.gains, n.turns = zeroed(n.gains, count), zeroed(n.turns, count)
}

// number is the number of a slot of near.
func (n *nearby) number(slot uint32) uint32 {
	return n.before[slot/64] + uint32(bits.OnesCount64(n.near[slot/64]&(1<<(slot%64)-1)))
}

// addClauseNearby adds a clause's scores to the turns nearby, and the best in its window to each candidate.
func (c *turnScorer) addClauseNearby(i int) {
	n, asked, weight := &c.sheet.nearby, &c.asked.clauses[i], c.weights[i]
	postings := c.postingsIn(i, n.near)
	for _, p := range postings {
		t, number := &c.threads.slots[p.slot], n.number(p.slot)
		norm, of := c.normOfTurn(t), &n.turns[number]
		share := norm.weight(p.tf, t.length)
		of.plain += float64(asked.idf * asked.weight * share) // rounded as by scoring
		tf := c.frequency(i, p)
		if tf == 0 || weight == 0 {
			continue
		}
		if tf != p.tf {
			share = norm.weight(tf, t.length)
		}
		factor := c.factorOf(p.slot)
		gain := factor * (weight * share)
		n.gains[number] = gain
		of.alone += gain
		of.cover += float64(factor * weight)
	}
	if weight == 0 {
		return
	}
	for j := range n.windows {
		c.addWindow(&n.windows[j])
	}
	for _, p := range postings {
		n.gains[n.number(p.slot)] = 0
	}
}

// addWindow adds the best score of the current clause in a candidate's window.
func (c *turnScorer) addWindow(w *windowCandidate) {
	gains := c.sheet.gains
	best := gains[w.number]
	if w.regular && w.to-w.from == 2*windowReach {
		five := gains[w.from : w.from+2*windowReach+1]
		if gain := .5 * greater(five[1], five[3]); gain > best {
			best = gain
		}
		if gain := .25 * greater(five[0], five[4]); gain > best {
			best = gain
		}
		w.score += best
		return
	}
	for number := w.from; number <= w.to; number++ {
		if gain := gains[number]; gain > 0 {
			best = greater(best, gain*c.shareAround(w.slot+number-w.number, w.slot, w.regular))
		}
	}
	w.score += best
}

// greater returns the greater of two numbers; max also minds NaN, which takes several times as long.
func greater(a, b float64) float64 {
	if b > a {
		return b
	}
	return a
}
