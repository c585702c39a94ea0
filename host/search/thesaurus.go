package search

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Thesaurus finds semantically similar terms.
type Thesaurus interface {
	// Near returns the terms that are similar to a word, most similar first. term is the word's by an analyser, whose terms
	// the result has. It is safe for concurrent use.
	Near(word, term string, by *Analyser) []NearTerm
}

// NearTerm is a term with its similarity to another, from 0 to 1.
type NearTerm struct {
	Term string
	Near float64
}

// NearWords configures the matching of similar terms.
type NearWords struct {
	Thesaurus Thesaurus
	Weight    float64 // of a similar term beside the term itself
	Most      int     // active documents of a view: larger ones match no similar terms, which would take too long; 0: no limit
}

// SetNearWords lets documents that lack a query term match a similar one, with a score of weight × similarity × idf.
// Capitalised words of a query are taken for names, and are not replaced; nor are words with digits. nil switches it off.
func (x *Index) SetNearWords(n *NearWords) { x.nearWords.Store(n) }

// mostNear bounds the substitutes of a term.
const mostNear = 24

// addSubstitutes looks up the similar terms of each term of the question, names and numbers excepted, unless the view has too many documents.
func (r *ranking) addSubstitutes() {
	n := r.index.nearWords.Load()
	if n == nil || n.Most > 0 && r.total.documents > n.Most {
		return
	}
	text, by := r.query.Text, r.index.questionAnalyser(r.view, r.query)
	surfaces := map[string]string{}
	by.eachWord(text, func(w word) {
		surface := text[w.start:w.end]
		if _, known := surfaces[w.term]; !known && !isName(surface, w.start) && !strings.ContainsFunc(surface, unicode.IsDigit) {
			surfaces[w.term] = strings.ToLower(surface)
		}
	})
	for i := range r.asked.clauses {
		c := &r.asked.clauses[i]
		if surface, ok := surfaces[c.label]; ok && c.kind == exactly && !c.added {
			near := n.Thesaurus.Near(surface, c.label, by)
			c.near, c.nearWeight = near[:min(mostNear, len(near))], n.Weight
		}
	}
}

// isName reports whether a word is probably a name: it has a capital, and does not begin the text.
func isName(word string, start int) bool {
	first, _ := utf8.DecodeRuneInString(word)
	return unicode.IsUpper(first) && start > 0
}

// hasSubstitutes reports whether any clause has similar terms.
func (q *question) hasSubstitutes() bool {
	return slices.ContainsFunc(q.clauses, func(c clause) bool { return len(c.near) > 0 })
}

// addSubstituteScores adds the scores of similar terms to the matches.
func (r *ranking) addSubstituteScores() {
	if !r.asked.hasSubstitutes() {
		return
	}
	var n nearest
	for _, l := range r.leaves {
		n.start(l)
		for i := range r.asked.clauses {
			if c := &r.asked.clauses[i]; len(c.near) > 0 && !r.isSpeaker(i) {
				n.each(c, func(doc uint32, near float64) { n.add(doc, c.nearWorth(near)) })
			}
		}
		r.addWorth(l, &n)
	}
}

// isSpeaker reports whether a clause is a word of a speaker's name.
func (r *ranking) isSpeaker(clause int) bool { return r.turns != nil && r.turns.inNames[clause] }

// nearest finds the documents of a leaf that lack a clause and have a similar term.
type nearest struct {
	leaf    *leaf
	seen    []uint32  // by document: the last clause that was seen to have it
	clauses uint32    // so far
	worth   []float64 // by document: what similar terms add
	touched []uint32  // documents with a worth
}

// start begins with a leaf.
func (n *nearest) start(l *leaf) {
	docs := l.part.docs()
	n.leaf, n.clauses, n.touched = l, 0, n.touched[:0]
	n.seen, n.worth = zeroed(n.seen, docs), zeroed(n.worth, docs)
}

// each calls do for the matching documents that lack a clause, with the similarity of their nearest similar term.
func (n *nearest) each(c *clause, do func(doc uint32, near float64)) {
	n.clauses++
	n.leaf.each(c.label, func(doc uint32) { n.seen[doc] = n.clauses })
	for _, t := range c.near { // nearest first: the first of a document counts
		n.leaf.each(t.Term, func(doc uint32) {
			if n.seen[doc] != n.clauses && n.leaf.matching.has(doc) {
				n.seen[doc] = n.clauses
				do(doc, t.Near)
			}
		})
	}
}

func (n *nearest) add(doc uint32, worth float64) {
	if n.worth[doc] == 0 {
		n.touched = append(n.touched, doc)
	}
	n.worth[doc] += worth
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

// addWorth adds the worths to the matches of a leaf, and adds new matches.
func (r *ranking) addWorth(l *leaf, n *nearest) {
	for i := range l.matches {
		m := &l.matches[i]
		m.score += n.worth[m.local]
		n.worth[m.local] = 0
	}
	before := len(l.matches)
	for _, doc := range n.touched {
		if number := l.part.rows[doc]; n.worth[doc] > 0 && number != none && r.wants(number) {
			l.matches = append(l.matches, match{local: doc, row: number, score: n.worth[doc]})
		}
	}
	if r.matches += len(l.matches) - before; len(l.matches) > before {
		slices.SortFunc(l.matches, func(a, b match) int { return cmp.Compare(a.local, b.local) })
	}
}

// explainNear explains the score of a similar term in a document that lacks a clause; the zero Term if there is none.
func (r *ranking) explainNear(l *leaf, i int, doc uint32) (t Term) {
	c := &r.asked.clauses[i]
	if r.isSpeaker(i) {
		return t
	}
	for _, n := range c.near {
		frequency := l.part.frequency(&clause{label: n.Term}, doc)
		if frequency > 0 {
			return Term{Term: c.label + "≈" + n.Term, Frequency: int(frequency), Documents: c.found, IDF: c.idf, Score: c.nearWorth(n.Near), Near: n.Near}
		}
	}
	return t
}
