package search

import "slices"

// contest narrows the turns that a search scores. Most questions have words that reach nearly all turns and decide little. So each turn
// gets a bound that its score cannot exceed, made of the plain scores of the turns around it, which are there already. Some turns with
// high bounds are scored, to learn what the best turns have at least; and then those that may have as much: the contenders. Their scores
// are what they are without a contest.
type contest struct {
	on         bool
	bounds     []bound  // by slot
	reached    []uint32 // the slots with bounds
	most       []most   // of these, those that are possible hits
	contenders []uint32 // slots
	contends   bitset   // the same
	heard      bitset   // the slots around them, whose words count for them
}

// bound is what a turn has at most of three features, before their weights.
type bound struct{ window, alone, question float64 }

// most is what a turn's score is at most, but for its zone.
type most struct {
	slot  uint32
	score float64
}

const (
	// worthwhile is how many matches make a contest worth it, as a multiple of the turns that must be exact.
	worthwhile = 4
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
	if depth == 0 || c.matches < worthwhile*depth {
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
	if k.on = true; len(k.bounds) == 0 {
		k.bounds, k.contends, k.heard = make([]bound, slots), newBitset(slots), newBitset(slots)
	}
}

// boundTurns bounds the turns that match, and those around them.
func (c *conversing) boundTurns() {
	k, spoken := &c.sheet.contest, c.spoken()
	for _, l := range c.leaves {
		for _, m := range l.matches {
			slot := c.threads.slotOfRow(m.row)
			if slot == none {
				continue
			}
			k.raise(slot, m.score)
			k.bounds[slot].alone = m.score
			if spoken == nil || spoken.has(slot) {
				c.boundAround(slot, m.score)
			}
		}
	}
	cover := c.coverByLength()
	for _, slot := range k.reached {
		if k.bounds[slot].alone > 0 || c.admits(slot) {
			k.most = append(k.most, most{slot, c.mostOf(slot, cover)})
		}
	}
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

// boundAround raises the bounds of the turns around one with a plain score.
func (c *conversing) boundAround(slot uint32, score float64) {
	k, asks := &c.sheet.contest, c.threads.slots[slot].shape&asking != 0
	from, to, regular := c.threads.around(slot, windowReach)
	for at := from; at <= to; at++ {
		share := c.shareAround(slot, at, regular)
		if share == 0 {
			continue
		}
		k.raise(at, score*share)
		if asks && at > slot {
			k.bounds[at].question = max(k.bounds[at].question, score)
		}
	}
}

// raise adds to the bound of a slot's window. That takes the sum for the best.
func (k *contest) raise(slot uint32, score float64) {
	b := &k.bounds[slot]
	if b.window == 0 {
		k.reached = append(k.reached, slot)
	}
	b.window += score
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

// mostOf is what a turn's score is at most, but for its zone.
func (c *conversing) mostOf(slot uint32, cover *[256]float64) float64 {
	of, b := &c.index.conversation, &c.sheet.contest.bounds[slot]
	most := of.Window*b.window + (cover[c.threads.slots[slot].length]+matched)*b.alone + of.Question*b.question
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

// end clears the contest for the next search.
func (k *contest) end() {
	for _, slot := range k.reached {
		k.bounds[slot] = bound{}
	}
	k.on, k.reached, k.most, k.contenders = false, k.reached[:0], k.most[:0], k.contenders[:0]
}
