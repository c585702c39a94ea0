package search

import "slices"

// explain breaks a document's score down.
func (r *ranking) explain(number uint32) *Explanation {
	d := r.index.table.row(number)
	n := r.normOf(number)
	e := &Explanation{Documents: r.total.documents, Length: lengthOf(d.length), Average: r.average(), K1: n.K1, B: n.B}
	at := r.index.table.placeOf(number)
	l := r.leafOf[at.part]
	for i := range r.asked.clauses {
		c := &r.asked.clauses[i]
		if frequency := l.part.frequency(c, at.local); frequency > 0 {
			e.Terms = append(e.Terms, Term{Term: c.label, Frequency: int(frequency), Documents: c.found, IDF: c.idf,
				Score: c.idf * c.weight * n.weight(frequency, d.length)})
		} else if t := r.explainNear(l, i, at.local); t.Term != "" {
			e.Terms = append(e.Terms, t)
		}
	}
	if slot := r.slotOf(number); slot != none {
		e.Turn = r.turns.explain(slot)
	}
	return e
}

// frequency is a clause's frequency in a document.
func (p *part) frequency(c *clause, doc uint32) uint32 {
	list, _ := c.open(p)
	if list == nil {
		return 0
	}
	return frequencyIn(list, doc)
}

// frequencyIn is the frequency in a document that is not before the current block.
func frequencyIn(list reader, doc uint32) uint32 {
	list.Skip(doc)
	docs, frequencies := list.Next()
	if at, found := slices.BinarySearch(docs, doc); found {
		return frequencies[at]
	}
	return 0
}
