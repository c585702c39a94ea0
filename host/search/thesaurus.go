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
	// Near returns similar words with their similarity. It is safe for concurrent use.
	Near(word string) []NearWord
}

// NearWord is a word with its similarity to another, from 0 to 1.
type NearWord struct {
	Word string
	Near float64
}

// SetThesaurus lets documents that lack a query term match a similar word, with a score of weight × similarity × idf.
// Capitalised words of a query are taken for names and not replaced. nil switches it off.
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

// mostNear bounds the substitutes of a term.
const mostNear = 24

// nearTerm is a substitute for a term.
type nearTerm struct {
	term string
	near float64
}

// addSubstitutes looks up the similar terms of each term of a question, names excepted.
func (x *Index) addSubstitutes(q *question, text string, by *Analyser) {
	t := x.thesaurus.Load()
	if t == nil {
		return
	}
	surfaces := map[string]string{}
	by.eachWord(text, func(w word) {
		surface := text[w.start:w.end]
		if first, _ := utf8.DecodeRuneInString(surface); unicode.IsUpper(first) && w.start > 0 {
			return // probably a name
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

// hasSubstitutes reports whether any clause has similar terms.
func (q *question) hasSubstitutes() bool {
	return slices.ContainsFunc(q.clauses, func(c clause) bool { return len(c.near) > 0 })
}

// nearTerms returns the terms of similar words, nearest first.
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

// addSubstituteScores adds the scores of similar words to the matches.
func (r *ranking) addSubstituteScores() {
	if !r.asked.hasSubstitutes() {
		return
	}
	for _, l := range r.leaves {
		worth := map[uint32]float64{}
		for i := range r.asked.clauses {
			if c := &r.asked.clauses[i]; len(c.near) > 0 && !r.isSpeaker(i) {
				for doc, near := range l.nearest(c) {
					worth[doc] += c.nearWorth(near)
				}
			}
		}
		r.addWorth(l, worth)
	}
}

// isSpeaker reports whether a clause is a word of a speaker's name.
func (r *ranking) isSpeaker(clause int) bool { return r.turns != nil && r.turns.inNames[clause] }

// nearest returns the matching documents of a leaf that lack a clause, with the similarity of their nearest similar term.
func (l *leaf) nearest(c *clause) map[uint32]float64 {
	nearest := map[uint32]float64{}
	for _, t := range c.near { // nearest first: the first score of a document stays
		l.each(t.term, func(doc uint32) {
			if _, there := nearest[doc]; !there && l.matching.has(doc) {
				nearest[doc] = t.near
			}
		})
	}
	l.each(c.label, func(doc uint32) { delete(nearest, doc) })
	return nearest
}

func (c *clause) nearWorth(near float64) float64 { return c.idf * c.weight * c.nearWeight * near }

// each calls do for the matching documents of a leaf that have a term.
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

// addWorth adds scores to the matches of a leaf, and adds new matches.
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

// explainNear explains the score of a similar term in a document that lacks a clause; the zero Term if there is none.
func (r *ranking) explainNear(l *leaf, i int, doc uint32) (t Term) {
	c := &r.asked.clauses[i]
	if r.isSpeaker(i) {
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
