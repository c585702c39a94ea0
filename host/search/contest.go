package search

import "slices"

// contest narrows the turns that a search scores. Most questions have words that reach nearly all turns and decide little. So each turn
// gets a bound that its score cannot exceed, made of the plain scores of the turns around it, which are there already. Some turns with
// high bounds are scored, to learn what the best turns have at least; and then those that may have as much: the contenders. Their scores
// are what they are without a contest.
type contest struct {
	on         bool
	alone      []float64 // the plain scores, by slot
	told       []float64 // and what of them counts for the turns around
	most       []most    // the possible hits that have a score
	contenders []uint32  // slots
	contends   bitset    // the same
	heard      bitset    // the slots around them, whose words count for them
}

// most is what a turn's score is at most, but for its zone.
type most struct {
	slot  uint32
	score float64
}

const (
	// A contest looks at all slots, so it is worth it from so many matches on: a multiple of the turns that must be exact, and a share of
	// all slots.
	worthwhile, denseShare = 4, 16
	// margin is how much a score may exceed its bound by rounding, relatively.
	margin = 1e-9
	// sampled is about how many bounds are compared to find a high one.
	sampled = 4096
)

// depth is the number of turns that must be the best; 0: all turns need their scores.
func (c *conversing) depth() int {
	if c.query.Vector != nil || c.asked.hasSubstitutes() {
		return 0
	}
	return max(zoned, c.query.K+c.query.Offset)
}

// contend finds the contenders, if that is worth it.
func (c *conversing) contend() {
	s, depth := c.sheet, c.depth()
	if depth == 0 || c.matches < max(worthwhile*depth, len(c.threads.slots)/denseShare) {
		return
	}
	s.contest.start(len(s.scores))
	c.boundTurns()
	c.choose(c.highBound(depth))
	c.addWords()
	least := 0.0
	if len(s.scored) >= depth {
		least, _ = leastOf(s.scoresOf(s.scored), depth)
	}
	s.clearScores()
	c.choose(least)
}

// start begins a contest among a number of slots.
func (k *contest) start(slots int) {
	if k.on = true; len(k.contends) == 0 {
		k.alone, k.told, k.contends, k.heard = make([]float64, slots), make([]float64, slots), newBitset(slots), newBitset(slots)
	}
	clear(k.alone)
	clear(k.told)
}

// boundTurns bounds the scores of the turns that match, and of those around them.
func (c *conversing) boundTurns() {
	c.tellAround()
	k, cover := &c.sheet.contest, c.coverByLength()
	for at := range uint32(len(c.threads.slots)) {
		window, question := c.boundAround(at)
		if alone := k.alone[at]; alone > 0 || window > 0 && c.admits(at) { // what matches is admitted
			k.most = append(k.most, most{at, c.mostOf(at, window, question, cover)})
		}
	}
}

// tellAround notes the plain scores.
func (c *conversing) tellAround() {
	k, spoken := &c.sheet.contest, c.spoken()
	for _, l := range c.leaves {
		for _, m := range l.matches {
			slot := c.threads.slotOfRow(m.row)
			if slot == none {
				continue
			}
			k.alone[slot] = m.score
			if spoken == nil || spoken.has(slot) {
				k.told[slot] = m.score
			}
		}
	}
}

// boundAround returns what a turn's window has at most, which is the sum instead of the best, and what a question before it has.
func (c *conversing) boundAround(at uint32) (window, question float64) {
	slots, told := c.threads.slots, c.sheet.contest.told
	if !c.threads.isRegularAround(at) {
		return c.boundAnywhere(at)
	}
	window = told[at]
	for before := at; before > 0 && at-before < windowReach && slots[before].shape&follows != 0; before-- {
		score := told[before-1]
		window += score * c.shareAround(at, before-1, true)
		if slots[before-1].shape&asking != 0 {
			question = max(question, score)
		}
	}
	for after := at + 1; int(after) < len(slots) && after-at <= windowReach && slots[after].shape&follows != 0; after++ {
		window += told[after] * c.shareAround(at, after, true)
	}
	return window, question
}

// boundAnywhere is boundAround for turns at any positions.
func (c *conversing) boundAnywhere(at uint32) (window, question float64) {
	told := c.sheet.contest.told
	window = told[at]
	from, to, _ := c.threads.search(at, windowReach)
	for near := from; near <= to; near++ {
		window += told[near] * c.shareAround(at, near, false)
		if near < at && c.threads.slots[near].shape&asking != 0 {
			question = max(question, told[near])
		}
	}
	return window, question
}

// spoken returns the slots with a clause that counts for the turns around; nil: those of all matches. A match that has nothing but its
// speaker's name, or words without weight, is not among them.
func (c *conversing) spoken() bitset {
	if !c.onDate && !slices.Contains(c.inNames, true) && !slices.Contains(c.weights, 0) {
		return nil
	}
	spoken := newBitset(len(c.threads.slots))
	for i, weight := range c.weights {
		if weight == 0 {
			continue
		}
		for _, p := range c.postingsOf(i) {
			spoken.add(p.slot)
		}
	}
	return spoken
}

// coverByLength returns by length code what a turn's weighted cover is at most, for each point of its plain score: a clause's weight is at
// most its score by the weight of a single occurrence.
func (c *conversing) coverByLength() *[256]float64 {
	of := &[256]float64{}
	for code := range of {
		for _, n := range c.norms {
			of[code] = max(of[code], c.index.conversation.Cover/n.weight(1, byte(code)))
		}
	}
	return of
}

// mostOf is what a turn's score is at most, but for its zone.
func (c *conversing) mostOf(slot uint32, window, question float64, cover *[256]float64) float64 {
	of, alone := &c.index.conversation, c.sheet.contest.alone[slot]
	most := of.Window*window + (cover[c.threads.slots[slot].length]+matched)*alone + of.Question*question
	if len(c.named) > 0 {
		most += of.Speaker * c.total * c.named[c.threads.turns[slot].speaker]
	}
	if c.date != (day{}) {
		most += of.Date * c.total * c.date.share(c.threads.turns[slot].said)
	}
	return most * (1 + margin)
}

// highBound returns a bound that somewhat more turns than depth have.
func (c *conversing) highBound(depth int) float64 {
	s := c.sheet
	list := s.contest.most
	step := len(list)/sampled + 1
	s.best = s.best[:0]
	for i := 0; i < len(list); i += step {
		s.best = append(s.best, list[i].score)
	}
	high, _ := leastOf(s.best, max(1, depth*3/2/step))
	return high
}

// choose makes the turns contenders whose scores may be at least so high.
func (c *conversing) choose(least float64) {
	k := &c.sheet.contest
	k.contenders = k.contenders[:0]
	clear(k.contends)
	clear(k.heard)
	for _, m := range k.most {
		if m.score < least {
			continue
		}
		k.contenders = append(k.contenders, m.slot)
		k.contends.add(m.slot)
		from, to, _ := c.threads.around(m.slot, windowReach)
		for at := from; at <= to; at++ {
			k.heard.add(at)
		}
	}
}

// hears reports whether a turn's words count: always without a contest.
func (c *conversing) hears(slot uint32) bool {
	s := c.sheet
	if !s.contest.on {
		return true
	}
	if !s.contest.heard.has(slot) {
		return false
	}
	if score := &s.scores[slot]; score.window == 0 && score.alone == 0 {
		s.touched = append(s.touched, slot) // it may be no contender
	}
	return true
}

// others is the number of possible hits with a score that do not contend.
func (c *conversing) others() int {
	if !c.sheet.contest.on {
		return 0
	}
	return len(c.sheet.contest.most) - len(c.sheet.scored)
}

// end ends the contest, if there was one.
func (k *contest) end() { k.on, k.most, k.contenders = false, k.most[:0], k.contenders[:0] }
