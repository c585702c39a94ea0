package search

import "slices"

// converse makes turns count for what they are in their conversation.
func (r *ranking) converse() {
	if r.query.Plain || len(r.index.turns) == 0 {
		return
	}
	date, rest := dateIn(r.query.Text)
	r.date = date
	if (!rest || len(r.scores) == 0) && date != (day{}) {
		r.saidOnDate()
	}
	for doc := range r.scores {
		if t := r.index.docs[doc].turn; t != nil {
			r.scores[doc] *= r.speakerFactor(t) * r.dateFactor(t)
		}
	}
	r.giveToNeighbours()
}

// saidOnDate finds what was said on a date, whatever its words, when a question asks for nothing else, or nothing else
// that is there.
func (r *ranking) saidOnDate() {
	for _, docs := range r.index.turns {
		for _, doc := range docs {
			d := &r.index.docs[doc]
			if r.passes(doc) && d.turn != nil && r.date.factor(d.turn.said, 1) > 1 {
				r.scores[doc]++
			}
		}
	}
}

// speakerFactor is how much more a turn counts because its speaker is named.
func (r *ranking) speakerFactor(t *turn) float64 {
	for _, term := range t.speaker {
		if _, found := slices.BinarySearch(r.terms, term); found {
			return 1 + r.index.conversation.Speaker
		}
	}
	return 1
}

func (r *ranking) dateFactor(t *turn) float64 {
	return r.date.factor(t.said, r.index.conversation.Date)
}

// giveToNeighbours lets the best turns give a part of their scores to the turns around them. Of what a turn is given, the
// earlier turns' parts are added first, and of turns at one position those of the lesser key.
func (r *ranking) giveToNeighbours() {
	part := r.index.conversation.Neighbour
	if part == 0 {
		return
	}
	givers := r.best(neighbourhood, func(doc uint32) bool { return r.index.docs[doc].turn != nil })
	slices.SortFunc(givers, func(a, b candidate) int { return r.index.docs[a.doc].inConversation(&r.index.docs[b.doc]) })
	r.before = map[uint32]float64{}
	given := map[uint32]float64{}
	for _, giver := range givers {
		r.before[giver.doc] = giver.score
		r.neighbours(giver.doc, func(doc uint32, distance int64) { given[doc] += part / float64(distance) * giver.score })
	}
	for doc, more := range given {
		if _, known := r.before[doc]; !known {
			r.before[doc] = r.scores[doc]
		}
		r.scores[doc] += more
	}
}

// neighbours calls do for each document in the view, that passes the query's filters, around a turn.
func (r *ranking) neighbours(doc uint32, do func(doc uint32, distance int64)) {
	here := r.index.docs[doc].turn.position
	for distance := int64(-reach); distance <= reach; distance++ {
		there := here
		if there.at += distance; distance == 0 || (there.at < here.at) != (distance < 0) { // no overflow
			continue
		}
		for _, other := range r.index.turns[there] {
			if r.passes(other) {
				do(other, max(distance, -distance))
			}
		}
	}
}

func (r *ranking) passes(doc uint32) bool {
	d := &r.index.docs[doc]
	return r.visible.has(doc) && r.view.selects(d.name.namespace, d.name.collection) && !d.expired(r.view) && r.wants(d)
}

// explainTurn tells what the conversation made of a turn's score.
func (r *ranking) explainTurn(doc uint32, e *Explanation) {
	t := r.index.docs[doc].turn
	if t == nil || r.query.Plain {
		return
	}
	if f := r.speakerFactor(t); f != 1 {
		e.Speaker = f
	}
	if f := r.dateFactor(t); f != 1 {
		e.Date = f
	}
	if was, ok := r.before[doc]; ok {
		e.Around = r.scores[doc] - was
	}
}
