package search

import (
	"cmp"
	"context"
	"slices"
)

// conversing scores the turns among the documents of a ranking.
type conversing struct {
	*ranking
	by       *Analyser
	threads  *threads
	weights  []float64          // of the clauses: their idf, less for words that say little
	inNames  []bool             // the clauses that are words of a speaker's name
	total    float64            // of the weights
	named    map[uint32]float64 // by speaker: the share of the name's words in the question
	date     day
	dateOnly bool     // the question has a date and no other words
	norm     *norm    // nil: each collection has its own
	facets   []choice // by facet
	turns    int      // of the view, in facets of possible hits
	expired  bitset   // rows
	all      bool     // every turn is a possible hit, before per-document filters
	admitted bitset   // the slots of possible hits, before per-document filters; nil: all, or facets and expired tell
	tested   bitset   // the slots to which the per-document filters were applied,
	wanted   bitset   // and those that pass them
	read     []bool   // by clause: its postings are in the sheet
	pruned   bool     // the candidates of the sheet's pruning are scored alone
	sheet    *turnSheet
}

// turnSheet accumulates the scores of turns, by slot.
type turnSheet struct {
	scores  []turnScore
	tfs     []uint32     // of the current clause, for zones
	touched []uint32     // slots with a score
	fresh   []uint32     // slots that the current clause touched
	scored  []scoredTurn // the turns among the touched slots that are possible hits; with pruning, the candidates
	zones   []zone
	zoned   bitset    // the slots of the zones
	best    []float64 // of leastOf
	pruning

	postings [][]posting // by clause
	some     []posting   // of postingsIn
	block    []posting   // of eachBlock
}

// posting is a turn that has a clause, and how often, with its speaker's name.
type posting struct{ slot, tf uint32 }

// scoredTurn is a turn with its score.
type scoredTurn struct {
	slot, row uint32
	score     float64
}

// turnScore is what a turn has of the features, before their weights.
type turnScore struct {
	window, alone, cover float64
	plain                float64 // the score without features; with pruning alone
	score                float64 // the score, at the end; before that the best of the current clause
}

// startConversing prepares the scores of turns; it returns nil when there are none, or when they score like other documents.
// The caller holds cacheMu.
func (r *ranking) startConversing(chosen *selection) *conversing {
	if r.query.Plain || len(r.visible.voices) == 0 || r.index.conversation.isOff() {
		return nil
	}
	c := &conversing{ranking: r, by: r.index.queryAnalyser(r.view), threads: &r.index.table.threads}
	c.threads.sort()
	c.nameSpeakers(chosen)
	if len(r.index.table.facets) > 0 {
		chosen.of(r.index, uint32(len(r.index.table.facets)-1))
	}
	c.facets = chosen.facets
	for v, turns := range r.visible.voices {
		if c.selects(v.facet) {
			c.turns += turns
		}
	}
	return c
}

// nameSpeakers finds the clauses that are words of the view's speakers, and the share of the question's names that each
// speaker has.
func (c *conversing) nameSpeakers(chosen *selection) {
	c.inNames, c.named = make([]bool, len(c.asked.clauses)), map[uint32]float64{}
	most := 0.0
	for speaker := range c.speakers(chosen) {
		for _, word := range c.index.table.speakers[speaker] {
			i := slices.IndexFunc(c.asked.clauses, func(asked clause) bool { return asked.label == word && !asked.added })
			if i < 0 {
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

// speakers are those of the view's active turns.
func (c *conversing) speakers(chosen *selection) map[uint32]bool {
	expired := map[voice]int{}
	for _, l := range c.leaves {
		c.index.eachExpired(l.part, c.now, func(local uint32) {
			r := c.index.table.row(l.part.rows[local])
			if turn := c.index.table.turnOf(r); turn != nil && c.visible.rows.has(l.part.rows[local]) {
				expired[voice{r.facet, turn.speaker}]++
			}
		})
	}
	speakers := map[uint32]bool{}
	for v, turns := range c.visible.voices {
		if turns > expired[v] && chosen.of(c.index, v.facet).isActive() {
			speakers[v.speaker] = true
		}
	}
	return speakers
}

// prepare weighs the clauses. If pruning pays, it also reads the postings of the turns; they are not scored like other documents then.
func (c *conversing) prepare(ctx context.Context) error {
	c.sheet, c.read = c.index.turnSheet(len(c.threads.slots)), make([]bool, len(c.asked.clauses))
	c.norm = c.norms[""]
	c.admit()
	c.weigh()
	if c.pruned = c.prunes(); c.pruned {
		return c.gather(ctx)
	}
	return nil
}

// score computes the scores of all turns, or of the candidates.
func (c *conversing) score() {
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

// addWords computes the scores of all turns, or of the candidates, but for the zones.
func (c *conversing) addWords() {
	for i := range c.asked.clauses {
		c.addClause(i)
	}
	c.addMatches()
	c.addFeatures()
}

// weigh computes the clauses' weights.
func (c *conversing) weigh() {
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
func (c *conversing) saidOnDate() {
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

// addClause adds the scores of a clause's postings to their turns, and the best to each turn around them. With pruning, it also adds those
// without features, which matches have otherwise.
func (c *conversing) addClause(i int) {
	asked, weight, postings := &c.asked.clauses[i], c.weights[i], []posting(nil)
	if c.pruned {
		postings = c.postingsIn(i, c.sheet.near)
	} else {
		postings = c.postingsOf(i)
	}
	if weight == 0 && !c.pruned {
		return
	}
	for _, p := range postings {
		t, s := &c.threads.slots[p.slot], &c.sheet.scores[p.slot]
		norm := c.normOfTurn(t)
		share := norm.weight(p.tf, t.length)
		if c.pruned {
			s.plain += float64(asked.idf * asked.weight * share) // rounded as by scoring
		}
		tf := c.frequency(i, p)
		if tf == 0 || weight == 0 {
			continue
		}
		if tf != p.tf {
			share = norm.weight(tf, t.length)
		}
		gain := weight * share
		s.alone += gain
		s.cover += weight
		c.spread(p.slot, gain)
	}
	if len(asked.near) > 0 && !c.inNames[i] {
		for _, l := range c.leaves {
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
func (c *conversing) frequency(i int, p posting) uint32 {
	if c.inNames[i] && slices.Contains(c.index.table.speakers[c.threads.turns[p.slot].speaker], c.asked.clauses[i].label) {
		return p.tf - 1
	}
	return p.tf
}

// normOfTurn is normOf without a look-up if all collections have the same.
func (c *conversing) normOfTurn(s *slot) *norm {
	if c.norm != nil {
		return c.norm
	}
	return c.normOf(s.row)
}

// addNearTurns adds the scores of a clause's similar terms to turns that lack the clause.
func (c *conversing) addNearTurns(l *leaf, asked *clause, weight float64) {
	for doc, near := range l.nearest(asked) {
		if slot := c.threads.slotOfRow(l.part.rows[doc]); slot != none && c.admits(slot) {
			gain := weight * asked.nearWeight * near
			c.sheet.scores[slot].alone += gain
			c.spread(slot, gain)
		}
	}
}

// spread raises the current clause's best score of a turn and those around it.
func (c *conversing) spread(slot uint32, gain float64) {
	c.raise(slot, gain)
	from, to, regular := c.threads.around(slot, windowReach)
	for at := from; at <= to; at++ {
		if share := c.shareAround(slot, at, regular); share > 0 {
			c.raise(at, gain*share)
		}
	}
}

// shareAround is the share of a turn's score that another within its window gets. Others at its own position are no neighbours.
func (c *conversing) shareAround(slot, at uint32, regular bool) float64 {
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

// raise raises the current clause's best score of a turn; with pruning, of a candidate.
func (c *conversing) raise(slot uint32, gain float64) {
	if c.pruned && !c.sheet.chosen.has(slot) {
		return
	}
	s := &c.sheet.scores[slot]
	if s.score == 0 {
		c.sheet.fresh = append(c.sheet.fresh, slot)
	}
	s.score = max(s.score, gain)
}

// matched is the part of a plain score that a turn has beside the features, so that every match scores above zero.
const matched = 1e-6

// addMatches touches the turns that match, and takes their plain scores.
func (c *conversing) addMatches() {
	if c.pruned {
		for _, slot := range c.sheet.candidates {
			c.addMatch(slot, c.sheet.scores[slot].plain)
		}
		return
	}
	for _, l := range c.leaves {
		for _, m := range l.matches {
			if slot := c.threads.slotOfRow(m.row); slot != none {
				c.addMatch(slot, m.score)
			}
		}
	}
}

// addMatch touches a turn, and takes its plain score; 0: it does not match.
func (c *conversing) addMatch(slot uint32, score float64) {
	s := &c.sheet.scores[slot]
	if s.window == 0 {
		c.sheet.touched = append(c.sheet.touched, slot)
	}
	s.score = matched * score
}

// addFeatures adds all features but the zone.
func (c *conversing) addFeatures() {
	slots := c.sheet.touched
	if c.pruned {
		slots = c.sheet.candidates
	}
	for _, slot := range slots {
		if !c.admits(slot) {
			continue
		}
		f, s := c.features(slot), &c.sheet.scores[slot]
		s.score += f.withoutZone()
		c.sheet.scored = append(c.sheet.scored, scoredTurn{slot, c.threads.slots[slot].row, s.score})
	}
}

// features are the weighted features of a turn, but the zone.
func (c *conversing) features(slot uint32) Features {
	of, s := c.index.conversation, &c.sheet.scores[slot]
	f := Features{Window: of.Window * s.window, Cover: of.Cover * s.cover}
	f.Question = of.Question * c.questionBefore(slot)
	if len(c.named) > 0 {
		f.Speaker = of.Speaker * c.total * c.named[c.threads.turns[slot].speaker]
	}
	if c.date != (day{}) {
		f.Date = of.Date * c.total * c.date.share(c.threads.turns[slot].said)
	}
	return f
}

// questionBefore is the best BM25 score of the questions at the position before a turn's that has any turns, within the window.
func (c *conversing) questionBefore(slot uint32) float64 {
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
func (c *conversing) bestQuestionBefore(slot uint32) (best float64) {
	from, _, _ := c.threads.search(slot, windowReach)
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

// questionAt is the BM25 score of a turn that is a question; 0 for another.
func (c *conversing) questionAt(slot uint32) float64 {
	if !c.threads.asking.has(slot) {
		return 0
	}
	return c.sheet.scores[slot].alone
}

// each calls do for all turns with a score, or for the candidates.
func (c *conversing) each(do func(candidate)) {
	for _, t := range c.sheet.scored {
		do(plain(t.row, t.score))
	}
}

// explain returns the features of a turn.
func (c *conversing) explain(slot uint32) *Features {
	f := c.features(slot)
	if i := slices.IndexFunc(c.sheet.zones, func(z zone) bool { return c.sheet.scored[z.of].slot == slot }); i >= 0 {
		f.Zone = c.index.conversation.Zone * c.sheet.zones[i].score
	}
	return &f
}

// turnSheet returns an empty sheet for a number of slots.
func (x *Index) turnSheet(slots int) *turnSheet {
	s, ok := x.turnSheets.Get().(*turnSheet)
	if !ok || len(s.scores) < slots {
		slots += slots / 8
		return &turnSheet{scores: make([]turnScore, slots), tfs: make([]uint32, slots)}
	}
	return s
}

// release gives the sheet back.
func (c *conversing) release() {
	if c.sheet == nil {
		return
	}
	c.clearScores()
	c.sheet.zones = c.sheet.zones[:0]
	c.index.turnSheets.Put(c.sheet)
	c.sheet = nil
}

// clearScores makes the sheet as it was before clauses were added.
func (c *conversing) clearScores() {
	s := c.sheet
	for _, slot := range s.touched {
		s.scores[slot] = turnScore{}
	}
	if c.pruned {
		s.pruning.near.each(func(slot uint32) bool {
			s.scores[slot] = turnScore{}
			return true
		})
	}
	s.touched, s.scored = s.touched[:0], s.scored[:0]
}

// converse scores the turns and ranks the matches.
func (r *ranking) converse() {
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
		r.matches += r.turns.passedOver()
	}
}

// find returns the index of a document among the leaf's matches.
func (l *leaf) find(local uint32) (int, bool) {
	return slices.BinarySearchFunc(l.matches, local, func(m match, local uint32) int { return cmp.Compare(m.local, local) })
}
