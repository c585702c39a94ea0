package search

// zone is the turns around a candidate.
type zone struct {
	of       int    // the candidate, among the scored turns
	from, to uint32 // the first and the last slot
	norm     float64
	score    float64
}

// addZones adds the scores of the zones of the best turns.
func (c *turnScorer) addZones() {
	if c.index.conversation.Zone == 0 {
		return
	}
	c.chooseZones()
	for i := range c.asked.clauses {
		if c.weights[i] > 0 {
			c.addToZones(i)
		}
	}
	for i := range c.sheet.zones {
		z := &c.sheet.zones[i]
		t := &c.sheet.scored[z.of]
		t.score += c.index.conversation.Zone * z.score
		if !c.pruned {
			c.sheet.scores[t.slot].score = t.score
		}
	}
}

// chooseZones makes the zones of the best turns, and of those as good as the last of them unless they are as many again.
func (c *turnScorer) chooseZones() {
	sheet := c.sheet
	least, ties := leastOf(sheet.scoresOf(sheet.scored), zoned)
	average := zoneTurns * c.average()
	sheet.tfs = enough(sheet.tfs, len(c.threads.slots))
	sheet.zoned = zeroed(sheet.zoned, (len(c.threads.slots)+63)/64)
	for i, t := range sheet.scored {
		if t.score < least || t.score == least && ties > zoned || !c.isPersons(t.slot) {
			continue
		}
		z := zone{of: i}
		z.from, z.to, _ = c.threads.around(t.slot, zoneReach, c.possible)
		sheet.zoned.addRange(z.from, z.to)
		p := inZone()
		z.norm = p.K1 * (1 - p.B + p.B*float64(c.length(z.from, z.to))/average)
		sheet.zones = append(sheet.zones, z)
	}
}

// length is the number of terms of the possible hits among a range of slots.
func (c *turnScorer) length(from, to uint32) (n int) {
	for at := from; at <= to; at++ {
		if c.admits(at) {
			n += lengthOf(c.threads.slots[at].length)
		}
	}
	return n
}

// scoresOf lists the scores of turns, until the next call.
func (s *turnSheet) scoresOf(turns []scoredTurn) []float64 {
	s.best = s.best[:0]
	for _, t := range turns {
		s.best = append(s.best, t.score)
	}
	return s.best
}

// leastOf returns the score of that rank from the top, or the lowest, and how many have it. It reorders the scores.
func leastOf(scores []float64, rank int) (least float64, ties int) {
	if len(scores) == 0 {
		return 0, 0
	}
	from, to, at := 0, len(scores), min(rank, len(scores))-1
	for to-from > 1 { // quickselect, by three parts
		pivot, above, below := scores[from+(to-from)/2], from, to
		for i := from; i < below; {
			switch {
			case scores[i] > pivot:
				scores[i], scores[above] = scores[above], scores[i]
				above++
				i++
			case scores[i] < pivot:
				below--
				scores[i], scores[below] = scores[below], scores[i]
			default:
				i++
			}
		}
		if at >= above && at < below {
			return pivot, below - above
		}
		if at < above {
			to = above
		} else {
			from = below
		}
	}
	return scores[from], 1
}

// addToZones adds a clause's scores to the zones.
func (c *turnScorer) addToZones(i int) {
	if c.pruned && c.sheet.dense[i] != nil && !c.inNames[i] && len(c.sheet.postings[i]) == 0 {
		for j := range c.sheet.zones {
			z := &c.sheet.zones[j]
			z.add(c.weights[i], sumOf(c.sheet.dense[i][z.from:z.to+1]))
		}
		return
	}
	postings, tfs := c.postingsIn(i, c.sheet.zoned), c.sheet.tfs
	for _, posting := range postings {
		tfs[posting.slot] = c.frequency(i, posting)
	}
	for j := range c.sheet.zones {
		z := &c.sheet.zones[j]
		z.add(c.weights[i], sumOf(tfs[z.from:z.to+1]))
	}
	for _, posting := range postings {
		tfs[posting.slot] = 0
	}
}

// sumOf sums frequencies.
func sumOf[T uint8 | uint32](frequencies []T) (sum uint32) {
	for _, tf := range frequencies {
		sum += uint32(tf)
	}
	return sum
}

// add adds the score of a clause with a frequency.
func (z *zone) add(weight float64, frequency uint32) {
	if tf := float64(frequency); tf > 0 {
		p := inZone()
		z.score += weight * tf * (p.K1 + 1) / (tf + z.norm)
	}
}
