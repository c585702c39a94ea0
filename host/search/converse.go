package search

import (
	"cmp"
	"slices"
	"strings"
)

// converse adjusts the scores of conversation turns and ranks the matches.
func (r *ranking) converse() {
	if !r.keepAll {
		return
	}
	if !r.query.Plain && r.visible.turns > 0 {
		date, rest := dateIn(r.query.Text, r.index.queryAnalyser(r.view))
		if r.date = date; date != (day{}) && (!rest || r.matches == 0) {
			r.saidOnDate()
		}
		r.applyFactors()
		r.giveToNeighbours()
	}
	for _, l := range r.leaves {
		for _, m := range l.matches {
			r.best.push(plain(m.row, m.score))
		}
	}
	for _, c := range r.others {
		r.best.push(c)
	}
}

// saidOnDate adds every turn of the query's date as a match. It applies when the query has no other words, or when no
// document has them.
func (r *ranking) saidOnDate() {
	for _, l := range r.leaves {
		l.matching.each(func(local uint32) bool {
			number := l.part.rows[local]
			turn := r.index.table.turnOf(r.index.table.row(number))
			if turn == nil || !r.wants(number) || r.date.factor(turn.saidAt(), 1) == 1 {
				return true
			}
			at, found := l.find(local)
			if !found {
				l.matches = slices.Insert(l.matches, at, match{local: local, row: number})
				r.matches++
			}
			l.matches[at].score++
			return true
		})
	}
}

// find returns the index of a document among the leaf's matches.
func (l *leaf) find(local uint32) (int, bool) {
	return slices.BinarySearchFunc(l.matches, local, func(m match, local uint32) int { return cmp.Compare(m.local, local) })
}

func (r *ranking) applyFactors() {
	speakers := make([]float64, len(r.index.table.speakers)) // 0: not computed yet
	for _, l := range r.leaves {
		for i := range l.matches {
			m := &l.matches[i]
			turn := r.index.table.turnOf(r.index.table.row(m.row))
			if turn == nil {
				continue
			}
			factor := &speakers[turn.speaker]
			if *factor == 0 {
				*factor = r.speakerFactor(turn)
			}
			m.score *= *factor * r.dateFactor(turn)
		}
	}
}

// speakerFactor is the factor for a turn whose speaker the query names.
func (r *ranking) speakerFactor(t *turn) float64 {
	for _, term := range r.index.table.speakers[t.speaker] {
		if slices.ContainsFunc(r.asked.clauses, func(c clause) bool { return c.label == term && !c.added }) {
			return 1 + r.index.conversation.Speaker
		}
	}
	return 1
}

func (r *ranking) dateFactor(t *turn) float64 {
	return r.date.factor(t.saidAt(), r.index.conversation.Date)
}

// giveToNeighbours adds a part of the best turns' scores to the turns around them. Parts are summed in the order of the
// conversation, and by key at one position, so that rounding does not depend on the order of the matches.
func (r *ranking) giveToNeighbours() {
	part := r.index.conversation.Neighbour
	if part == 0 {
		return
	}
	r.given = map[uint32]float64{}
	for _, giver := range r.givers() {
		r.neighbours(giver.row, func(number uint32, distance int64) { r.given[number] += part / float64(distance) * giver.score })
	}
	for number, more := range r.given {
		d := r.index.table.row(number)
		l := r.leafOf[d.part]
		if at, found := l.find(d.local); found {
			l.matches[at].score += more
		} else {
			r.others = append(r.others, plain(number, more))
		}
	}
}

// givers returns the best turns in the order of their conversations.
func (r *ranking) givers() []candidate {
	best := heap{index: r.index, most: neighbourhood}
	t := r.index.table
	for _, l := range r.leaves {
		for _, m := range l.matches {
			if t.turnOf(t.row(m.row)) != nil {
				best.push(plain(m.row, m.score))
			}
		}
	}
	slices.SortFunc(best.list, func(a, b candidate) int {
		x, y := t.row(a.row), t.row(b.row)
		p, q := t.turnOf(x).position, t.turnOf(y).position
		return cmp.Or(cmp.Compare(p.session, q.session), cmp.Compare(p.at, q.at), strings.Compare(t.key(x), t.key(y)))
	})
	return best.list
}

// neighbours calls do for each searchable document near a turn.
func (r *ranking) neighbours(number uint32, do func(number uint32, distance int64)) {
	t := r.index.table
	here := t.turnOf(t.row(number)).position
	for distance := int64(-reach); distance <= reach; distance++ {
		there := here
		if there.at += distance; distance == 0 || (there.at < here.at) != (distance < 0) { // no overflow
			continue
		}
		for _, other := range t.turns[there] {
			if r.passes(other) {
				do(other, max(distance, -distance))
			}
		}
	}
}
