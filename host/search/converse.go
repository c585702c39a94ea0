package search

import (
	"cmp"
	"context"
	"slices"
)

// turnScorer scores the turns among the documents of a ranking.
type turnScorer struct {
	*ranking
	by       *Analyser
	threads  *threads
	weights  []float64          // of the clauses: their idf, less for words that say little
	inNames  []bool             // the clauses that are words of a speaker's name
	total    float64            // of the weights
	named    map[uint32]float64 // by speaker: the share of the name's words in the question
	date     day
	dateOnly bool  // the question has a date and no other words
	norm     *norm // nil: each collection has its own
	facets   []choice
	possible bitset // the slots of possible hits, before per-document filters; shared until cloned
	tested   bitset // the slots to which the per-document filters were applied,
	wanted   bitset // and those that pass them
	read     []bool // by clause: its postings are in the sheet
	pruned   bool   // the candidates of the sheet's pruning are scored alone
	sheet    *turnSheet
}

// turnSheet accumulates the scores of turns, by slot.
type turnSheet struct {
	scores  []turnScore
	tfs     []uint32     // of the current clause, for zones; all 0 in between
	touched []uint32     // slots with a score
	fresh   []uint32     // slots that the current clause touched
	scored  []scoredTurn // the possible hits among the touched slots, or the candidates
	zones   []zone
	zoned   bitset    // the slots of the zones
	best    []float64 // of leastOf
	pruner

	postings [][]posting // by clause
	some     []posting   // of postingsIn
	nearest  nearest
	block    block // of eachBlock
}

// posting is a turn that has a clause, and how often, with its speaker's name.
type posting struct{ slot, tf uint32 }

// scoredTurn is a turn with its score.
type scoredTurn struct {
	slot, row uint32
	score     float64
}

// turnScore is the unweighted features of a turn.
type turnScore struct {
	window, alone, cover float64
	score                float64 // the score, at the end; before that the best of the current clause
}

// newTurnScorer prepares the scores of turns; it returns nil when there are none, or when they score like other documents.
// The caller holds cacheMu.
func (r *ranking) newTurnScorer(chosen *selection) *turnScorer {
	if r.query.Plain || len(r.visible.voices) == 0 || r.index.conversation.isOff() {
		return nil
	}
	c := &turnScorer{ranking: r, by: r.index.queryAnalyser(r.view), threads: &r.index.table.threads}
	c.threads.sort()
	chosen.of(r.index, uint32(len(r.index.table.facets)-1))
	c.facets = chosen.facets
	c.possible = chosen.turnsOf(r.index, r.visible, r.onlyActive)
	return c
}

// nameSpeakers finds the clauses that are words of the view's speakers, and the share of the question's names that each
// speaker has.
func (c *turnScorer) nameSpeakers() {
	c.inNames, c.named = make([]bool, len(c.asked.clauses)), map[uint32]float64{}
	most, expired := 0.0, map[speakerFacet]int(nil)
	for i := range c.asked.clauses {
		if c.asked.clauses[i].added {
			continue
		}
		for _, speaker := range c.index.table.speakersWith[c.asked.clauses[i].label] {
			if expired == nil {
				expired = c.expiredTurns()
			}
			if c.named[speaker] == 0 && !c.speaks(speaker, expired) {
				continue
			}
			c.inNames[i] = true
			c.named[speaker]++
			most = max(most, c.named[speaker])
		}
	}
	for speaker := range c.named {
		c.named[speaker] /= most
	}
}

// speaks reports whether a speaker has active turns in the view.
func (c *turnScorer) speaks(speaker uint32, expired map[speakerFacet]int) bool {
	return slices.ContainsFunc(c.visible.voices[speaker], func(v voice) bool {
		return v.turns > expired[speakerFacet{speaker, v.facet}] && c.facets[v.facet].isActive()
	})
}

// speakerFacet is a speaker within a facet.
type speakerFacet struct{ speaker, facet uint32 }

// expiredTurns counts the view's expired turns.
func (c *turnScorer) expiredTurns() map[speakerFacet]int {
	expired := map[speakerFacet]int{}
	for _, l := range c.leaves {
		c.index.eachExpired(l.part, c.now, func(local uint32) {
			r := c.index.table.row(l.part.rows[local])
			if turn := c.index.table.turnOf(l.part.rows[local]); turn != nil && c.visible.rows.has(l.part.rows[local]) {
				expired[speakerFacet{turn.speaker, r.facet}]++
			}
		})
	}
	return expired
}

// prepare weighs the clauses. If pruning pays, it also reads the postings of the turns; they are not scored like other documents then.
func (c *turnScorer) prepare(ctx context.Context) error {
	c.sheet, c.read = c.index.turnSheet(), make([]bool, len(c.asked.clauses))
	c.norm = c.norms[""]
	c.admit()
	c.weigh()
	if c.pruned = c.prunes(); c.pruned {
		return c.gather(ctx)
	}
	return nil
}

// score computes the scores of all turns, or of the candidates.
func (c *turnScorer) score() {
	if c.dateOnly || c.date != (day{}) && c.matches == 0 {
		c.pruned = false // no sum is known of what the date adds
		c.saidOnDate()
	}
	if c.pruned {
		c.prune()
	} else {
		c.addWords()
	}
	c.addZones()
}

// addWords computes the scores of all turns but for the zones.
func (c *turnScorer) addWords() {
	c.sheet.scores = enough(c.sheet.scores, len(c.threads.slots))
	for i := range c.asked.clauses {
		c.addClause(i)
	}
	c.addMatches()
	c.addFeatures()
}

// weigh computes the weights of the clauses.
func (c *turnScorer) weigh() {
	date, words, rest := dateIn(c.query.Text, c.by)
	c.date, c.dateOnly = date, date != (day{}) && !rest
	var dated []string
	for _, word := range words {
		dated = append(dated, c.by.terms(word)...)
	}
	of := c.index.conversation
	c.weights = make([]float64, len(c.asked.clauses))
	for i := range c.asked.clauses {
		asked := &c.asked.clauses[i]
		w := asked.idf * asked.weight
		if c.by.fillers[asked.label] {
			w *= of.Filler
		}
		if slices.Contains(dated, asked.label) {
			w *= of.Dated
		}
		c.weights[i] = w
		c.total += w
	}
}

// saidOnDate adds every turn of the query's date as a match. It applies when the query has no other words, or when no
// document has them.
func (c *turnScorer) saidOnDate() {
	for _, l := range c.leaves {
		l.matching.each(func(local uint32) bool {
			number := l.part.rows[local]
			slot := c.threads.slotOfRow(number)
			if slot == none || c.date.share(c.threads.turns[slot].said) == 0 || !c.wants(number) {
				return true
			}
			at, found := l.find(local)
			if !found {
				l.matches = slices.Insert(l.matches, at, match{local: local, row: number})
				c.matches++
			}
			l.matches[at].score++
			return true
		})
	}
}

// addClause adds the scores of a clause's postings to their turns, and the best to each turn around them.
func (c *turnScorer) addClause(i int) {
	asked, weight := &c.asked.clauses[i], c.weights[i]
	if weight == 0 {
		return
	}
	for _, p := range c.postingsOf(i) {
		t, s := &c.threads.slots[p.slot], &c.sheet.scores[p.slot]
		tf := c.frequency(i, p)
		if tf == 0 {
			continue
		}
		factor := c.factorOf(p.slot)
		gain := factor * (weight * c.normOfTurn(t).weight(tf, t.length))
		s.alone += gain
		s.cover += float64(factor * weight)
		if gain > 0 {
			c.spread(p.slot, gain)
		}
	}
	if len(asked.near) > 0 && !c.inNames[i] {
		for _, l := range c.leaves {
			c.sheet.nearest.start(l)
			c.addNearTurns(l, asked, weight)
		}
	}
	for _, slot := range c.sheet.fresh {
		s := &c.sheet.scores[slot]
		if s.window == 0 {
			c.sheet.touched = append(c.sheet.touched, slot)
		}
		s.window += s.score
		s.score = 0
	}
	c.sheet.fresh = c.sheet.fresh[:0]
}

// frequency is how often a turn has a clause, apart from its speaker's name.
func (c *turnScorer) frequency(i int, p posting) uint32 {
	if c.inNames[i] && slices.Contains(c.index.table.speakers[c.threads.turns[p.slot].speaker], c.asked.clauses[i].label) {
		return p.tf - 1
	}
	return p.tf
}

// factorOf returns the factor of a turn's lexical score.
func (c *turnScorer) factorOf(slot uint32) float64 {
	if c.threads.assisting.has(slot) {
		return c.index.conversation.Assistant
	}
	return 1
}

// isPersons reports whether a turn is in a conversation between people.
func (c *turnScorer) isPersons(slot uint32) bool { return c.threads.turns[slot].role == Person }

// normOfTurn is normOf without a look-up if all collections have the same.
func (c *turnScorer) normOfTurn(s *slot) *norm {
	if c.norm != nil {
		return c.norm
	}
	return c.normOf(s.row)
}

// addNearTurns adds the scores of a clause's similar terms to turns that lack the clause.
func (c *turnScorer) addNearTurns(l *leaf, asked *clause, weight float64) {
	c.sheet.nearest.each(asked, func(doc uint32, near float64) {
		if slot := c.threads.slotOfRow(l.part.rows[doc]); slot != none && c.admits(slot) {
			if gain := c.factorOf(slot) * weight * asked.nearWeight * near; gain > 0 {
				c.sheet.scores[slot].alone += gain
				c.spread(slot, gain)
			}
		}
	})
}

// spread raises the current clause's best score of a turn and those around it.
func (c *turnScorer) spread(slot uint32, gain float64) {
	c.raise(slot, gain)
	from, to, regular := c.threads.around(slot, windowReach, c.possible)
	for at := from; at <= to; at++ {
		if share := c.shareAround(slot, at, regular); share > 0 {
			c.raise(at, gain*share)
		}
	}
}

// shareAround returns the share of a turn's score for another turn in its window. Turns at the same position are not neighbours.
func (c *turnScorer) shareAround(slot, at uint32, regular bool) float64 {
	distance := int64(at) - int64(slot)
	if !regular {
		distance = c.threads.turns[at].at - c.threads.turns[slot].at
	}
	switch distance {
	case 0:
		return 0
	case 1, -1:
		return .5
	}
	return .25
}

// raise raises the current clause's best score of a turn.
func (c *turnScorer) raise(slot uint32, gain float64) {
	s := &c.sheet.scores[slot]
	if s.score == 0 {
		c.sheet.fresh = append(c.sheet.fresh, slot)
	}
	s.score = max(s.score, gain)
}

// matched is the weight of the plain score beside the features, so that every match scores above zero.
const matched = 1e-6

// addMatches touches the turns that match, and takes their plain scores.
func (c *turnScorer) addMatches() {
	for _, l := range c.leaves {
		for _, m := range l.matches {
			slot := c.threads.slotOfRow(m.row)
			if slot == none {
				continue
			}
			s := &c.sheet.scores[slot]
			if s.window == 0 {
				c.sheet.touched = append(c.sheet.touched, slot)
			}
			s.score = matched * m.score
		}
	}
}

// addFeatures adds all features but the zone.
func (c *turnScorer) addFeatures() {
	for _, slot := range c.sheet.touched {
		if !c.admits(slot) {
			continue
		}
		s := &c.sheet.scores[slot]
		f := c.features(slot, s)
		s.score += f.withoutZone()
		c.sheet.scored = append(c.sheet.scored, scoredTurn{slot, c.threads.slots[slot].row, s.score})
	}
}

// features are the weighted features of a turn, but the zone.
func (c *turnScorer) features(slot uint32, s *turnScore) Features {
	of := &c.index.conversation
	f := Features{Window: of.Window * s.window, Cover: of.Cover * s.cover}
	if c.isPersons(slot) {
		f.Question = of.Question * c.questionBefore(slot)
	}
	if len(c.named) > 0 {
		f.Speaker = of.Speaker * c.total * c.named[c.threads.turns[slot].speaker]
	}
	if c.date != (day{}) {
		f.Date = of.Date * c.total * c.date.share(c.threads.turns[slot].said)
	}
	return f
}

// questionBefore is the best BM25 score of the questions at the nearest earlier position with turns, within the window.
func (c *turnScorer) questionBefore(slot uint32) float64 {
	slots, asks := c.threads.slots, false
	before := slot
	for range windowReach {
		s := slots[before].shape
		if s&(begins|apart) != 0 {
			break
		}
		if s&follows == 0 {
			return c.bestQuestionBefore(slot)
		}
		before--
		asks = asks || c.threads.asking.has(before)
	}
	if slots[before].shape.isUneven() {
		return c.bestQuestionBefore(slot)
	}
	if !asks {
		return 0
	}
	for at := slot; at > before; at-- {
		if c.admits(at - 1) {
			return c.questionAt(at - 1)
		}
	}
	return 0
}

// bestQuestionBefore is questionBefore for turns at any positions.
func (c *turnScorer) bestQuestionBefore(slot uint32) (best float64) {
	from, _, _ := c.threads.search(slot, windowReach, c.possible)
	here, before, found := c.threads.turns[slot].at, int64(0), false
	for at := slot; at > from; at-- {
		position := c.threads.turns[at-1].at
		if position == here || !c.admits(at-1) {
			continue
		}
		if found && position != before {
			break
		}
		found, before = true, position
		best = max(best, c.questionAt(at-1))
	}
	return best
}

// questionAt returns the BM25 score of a turn if it is a question, else 0.
func (c *turnScorer) questionAt(slot uint32) float64 {
	if !c.threads.asking.has(slot) {
		return 0
	}
	if c.pruned {
		return c.sheet.nearby.turns[c.sheet.number(slot)].alone
	}
	return c.sheet.scores[slot].alone
}

// each calls do for all turns with a score, or for the candidates.
func (c *turnScorer) each(do func(candidate)) {
	for _, t := range c.sheet.scored {
		do(plain(t.row, t.score))
	}
}

// explain returns the features of a turn.
func (c *turnScorer) explain(slot uint32) *Features {
	s := &c.sheet.scores[slot]
	if c.pruned {
		s = c.scoreAlone(slot)
	}
	f := c.features(slot, s)
	if i := slices.IndexFunc(c.sheet.zones, func(z zone) bool { return c.sheet.scored[z.of].slot == slot }); i >= 0 {
		f.Zone = c.index.conversation.Zone * c.sheet.zones[i].score
	}
	return &f
}

// turnSheet returns an empty sheet.
func (x *Index) turnSheet() *turnSheet {
	if s, ok := x.turnSheets.Get().(*turnSheet); ok {
		return s
	}
	return &turnSheet{}
}

// enough returns a slice of zeros of at least a size. It reuses another slice of zeros if that is large enough.
func enough[T any](zeros []T, size int) []T {
	if len(zeros) >= size {
		return zeros
	}
	return make([]T, size+size/8)
}

// release returns the sheet to the pool.
func (c *turnScorer) release() {
	if c.sheet == nil {
		return
	}
	s := c.sheet
	for _, slot := range s.touched {
		s.scores[slot] = turnScore{}
	}
	s.touched, s.scored, s.zones = s.touched[:0], s.scored[:0], s.zones[:0]
	c.index.turnSheets.Put(s)
	c.sheet = nil
}

// scoreTurns scores the turns and ranks the matches.
func (r *ranking) scoreTurns() {
	if !r.keepAll {
		return
	}
	if r.turns != nil {
		r.turns.score()
	}
	r.matches = 0
	r.eachScored(func(c candidate) {
		r.matches++
		if r.best.accepts(c.score) {
			r.best.push(c)
		}
	})
	if r.turns != nil {
		r.matches += r.turns.excluded()
	}
}

// find returns the index of a document among the leaf's matches.
func (l *leaf) find(local uint32) (int, bool) {
	return slices.BinarySearchFunc(l.matches, local, func(m match, local uint32) int { return cmp.Compare(m.local, local) })
}
