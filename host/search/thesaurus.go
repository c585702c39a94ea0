package search

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Thesaurus finds semantically similar words.
type Thesaurus interface {
	// Near gives words with how near they are, from 0 to 1. It may be called from many goroutines at once.
	Near(word string) []NearWord
}

// NearWord is a word that is near to another.
type NearWord struct {
	Word string
	Near float64
}

// SetThesaurus lets a document that lacks a word of a question count for its nearest word: by weight times how near that
// is, and as much as the word is rare. nil: it does not. Names are left out.
func (x *Index) SetThesaurus(t Thesaurus, weight float64) {
	if t == nil {
		x.thesaurus.Store(nil)
		return
	}
	x.thesaurus.Store(&thesaurus{t, weight})
}

// thesaurus is a Thesaurus with its weight.
type thesaurus struct {
	Thesaurus
	weight float64
}

// mostNear is how many terms may stand for one.
const mostNear = 24

// nearTerm is a term that may stand for another.
type nearTerm struct {
	term string
	near float64
}

// approach notes, for each term of a question that is no name, which terms may stand for it.
func (x *Index) approach(q *question, text string, by *Analyser) {
	t := x.thesaurus.Load()
	if t == nil {
		return
	}
	surfaces := map[string]string{}
	by.eachWord(text, func(w word) {
		surface := text[w.start:w.end]
		if first, _ := utf8.DecodeRuneInString(surface); unicode.IsUpper(first) && w.start > 0 {
			return // a name, most likely
		}
		if _, known := surfaces[w.term]; !known {
			surfaces[w.term] = strings.ToLower(surface)
		}
	})
	for i := range q.clauses {
		c := &q.clauses[i]
		if surface, ok := surfaces[c.label]; ok && c.kind == exactly {
			c.near, c.nearWeight = nearTerms(t.Near(surface), c.label, by), t.weight
		}
	}
}

// approached reports whether other terms may stand for one of the question's.
func (q *question) approached() bool {
	return slices.ContainsFunc(q.clauses, func(c clause) bool { return len(c.near) > 0 })
}

// nearTerms are the terms of words, the nearest first.
func nearTerms(words []NearWord, self string, by *Analyser) []nearTerm {
	best := map[string]float64{}
	for _, w := range words {
		terms := by.terms(w.Word)
		if len(terms) == 1 && terms[0] != self && w.Near > best[terms[0]] {
			best[terms[0]] = min(w.Near, 1)
		}
	}
	list := make([]nearTerm, 0, len(best))
	for term, near := range best {
		list = append(list, nearTerm{term, near})
	}
	slices.SortFunc(list, func(a, b nearTerm) int { return cmp.Or(cmp.Compare(b.near, a.near), strings.Compare(a.term, b.term)) })
	return list[:min(mostNear, len(list))]
}

// nearby adds to the matches what near words are worth.
func (r *ranking) nearby() {
	if !r.asked.approached() {
		return
	}
	for _, l := range r.leaves {
		worth := map[uint32]float64{}
		for i := range r.asked.clauses {
			if c := &r.asked.clauses[i]; len(c.near) > 0 && !r.isSpeaker(c.label) {
				r.addNear(l, c, worth)
			}
		}
		r.addWorth(l, worth)
	}
}

func (r *ranking) isSpeaker(term string) bool {
	return slices.ContainsFunc(r.index.table.speakers, func(terms []string) bool { return slices.Contains(terms, term) })
}

// addNear adds the scores of a clause's near words in documents that lack the clause.
func (r *ranking) addNear(l *leaf, c *clause, worth map[uint32]float64) {
	nearest := map[uint32]float64{}
	for _, t := range c.near { // the nearest first, so what comes first stays
		l.each(t.term, func(doc uint32) {
			if _, there := nearest[doc]; !there && l.matching.has(doc) {
				nearest[doc] = t.near
			}
		})
	}
	l.each(c.label, func(doc uint32) { delete(nearest, doc) })
	for doc, near := range nearest {
		worth[doc] += c.nearWorth(near)
	}
}

func (c *clause) nearWorth(near float64) float64 { return c.idf * c.weight * c.nearWeight * near }

// each goes through the documents of a leaf that have a term.
func (l *leaf) each(term string, do func(doc uint32)) {
	list, _ := l.part.find(term)
	if list == nil {
		return
	}
	for docs, _ := list.Next(); len(docs) > 0; docs, _ = list.Next() {
		for _, doc := range docs {
			do(doc)
		}
	}
}

// addWorth adds to the matches of a leaf, and adds new matches.
func (r *ranking) addWorth(l *leaf, worth map[uint32]float64) {
	for i := range l.matches {
		m := &l.matches[i]
		m.score += worth[m.local]
		delete(worth, m.local)
	}
	for doc, more := range worth {
		if number := l.part.rows[doc]; number != none && r.wants(number) {
			l.matches = append(l.matches, match{local: doc, row: number, score: more})
			r.matches++
		}
	}
	slices.SortFunc(l.matches, func(a, b match) int { return cmp.Compare(a.local, b.local) })
}

// explainNear is the score of a near word in a document that lacks a clause; the zero Term if there is none.
func (r *ranking) explainNear(l *leaf, c *clause, doc uint32) (t Term) {
	if r.isSpeaker(c.label) {
		return t
	}
	for _, n := range c.near {
		frequency := l.part.frequency(&clause{label: n.term}, doc)
		if frequency > 0 {
			return Term{Term: c.label + "≈" + n.term, Frequency: int(frequency), Documents: c.found, IDF: c.idf, Score: c.nearWorth(n.near)}
		}
	}
	return t
}
