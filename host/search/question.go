package search

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Question is a text as an analyser understands it. It does not change.
type Question struct {
	by    *Analyser
	asked question
}

// Question parses the text of a query.
func (a *Analyser) Question(text string) *Question { return &Question{a, a.parse(text)} }

// question is a parsed query.
type question struct {
	clauses    []clause    // scored, by label
	conditions []condition // required or excluded
}

// clause is a scored unit of a query: a term, all terms with a prefix or within an edit distance, or a phrase.
type clause struct {
	label  string // the term, or the clause as written
	kind   clauseKind
	phrase []string        // consecutive terms
	lists  map[*part]*list // of the phrase
	word   string          // the operand of the kind's operator
	stem   string          // of the word
	weight float64
	added  bool // by expansion

	near       []NearTerm // similar terms, nearest first
	nearWeight float64

	found int // document frequency among active documents
	idf   float64
	small *[3][256]float64 // scores of the frequencies 1, 2 and 3 by length; nil: not tabulated
}

type clauseKind int

const (
	exactly    clauseKind = iota
	startsWith            // terms that begin with word, and its stem
	roughly               // terms within an edit distance of word
	together              // the terms of phrase, one after the other
)

// open returns the postings of a clause in a part; nil if there are none.
func (c *clause) open(p *part) (list reader, documents int) {
	switch c.kind {
	case exactly:
		return p.find(c.label)
	case together:
		return c.openPhrase(p)
	}
	return p.union(c.terms(p))
}

func (c *clause) openPhrase(p *part) (reader, int) {
	found, ok := c.lists[p]
	if !ok {
		if c.lists == nil {
			c.lists = map[*part]*list{}
		}
		found = &list{}
		p.eachWithPhrase(c.phrase, func(doc uint32, times int) {
			found.docs, found.frequencies = append(found.docs, doc), append(found.frequencies, uint32(times))
		})
		c.lists[p] = found
	}
	if len(found.docs) == 0 {
		return nil, 0
	}
	return &listReader{list: found}, len(found.docs)
}

// is reports whether the clause matches a term.
func (c *clause) is(term string) bool {
	switch c.kind {
	case startsWith:
		return strings.HasPrefix(term, c.word) || term == c.stem
	case roughly:
		stemmed := []rune(c.stem)
		return near(stemmed, term, edits(len(stemmed)))
	case together:
		return false
	}
	return term == c.label
}

// terms returns the terms of a part that the clause matches.
func (c *clause) terms(p *part) (terms []string) {
	switch c.kind {
	case startsWith:
		p.eachTerm(c.word, func(term string) { terms = append(terms, term) })
		if !strings.HasPrefix(c.stem, c.word) {
			terms = append(terms, c.stem)
		}
	case roughly:
		stemmed := []rune(c.stem)
		p.eachTerm("", func(term string) {
			if near(stemmed, term, edits(len(stemmed))) {
				terms = append(terms, term)
			}
		})
	default:
		terms = append(terms, c.label)
	}
	return terms
}

// union merges the postings of several terms into one list.
func (p *part) union(terms []string) (reader, int) {
	frequencies := make([]uint32, p.docs())
	for _, term := range terms {
		list, _ := p.find(term)
		if list == nil {
			continue
		}
		for docs, tfs := list.Next(); len(docs) > 0; docs, tfs = list.Next() {
			for i, doc := range docs {
				frequencies[doc] += tfs[i]
			}
		}
	}
	all := &list{}
	for doc, f := range frequencies {
		if f > 0 {
			all.docs, all.frequencies = append(all.docs, uint32(doc)), append(all.frequencies, f)
		}
	}
	if len(all.docs) == 0 {
		return nil, 0
	}
	return &listReader{list: all}, len(all.docs)
}

// edits is the allowed edit distance for a word of this many letters.
func edits(letters int) int {
	switch {
	case letters < 3:
		return 0
	case letters < 6:
		return 1
	}
	return 2
}

// near reports whether the Levenshtein distance between a word and a term is at most `most`.
func near(word []rune, term string, most int) bool {
	if d := utf8.RuneCountInString(term) - len(word); d > most || -d > most {
		return false
	}
	row := make([]int, len(word)+1)
	for i := range row {
		row[i] = i
	}
	for j, letter := range []rune(term) {
		diagonal, least := row[0], j+1
		row[0] = j + 1
		for i, want := range word {
			change := diagonal
			if letter != want {
				change++
			}
			diagonal = row[i+1]
			row[i+1] = min(change, row[i]+1, diagonal+1)
			least = min(least, row[i+1])
		}
		if least > most {
			return false
		}
	}
	return row[len(word)] <= most
}

// occur says whether an operand is wanted or excluded.
type occur int

const (
	wanted occur = iota
	excluded
)

// condition is a required or excluded part of a query.
type condition struct {
	occur  occur
	phrase []string // consecutive terms
	clause *clause  // or a clause
}

// apply returns the documents of the set that meet the condition.
func (c condition) apply(p *part, documents bitset) bitset {
	met := newBitset(p.docs())
	if c.clause != nil {
		if list, _ := c.clause.open(p); list != nil {
			for docs, _ := list.Next(); len(docs) > 0; docs, _ = list.Next() {
				for _, doc := range docs {
					met.add(doc)
				}
			}
		}
	} else {
		p.eachWithPhrase(c.phrase, func(doc uint32, _ int) { met.add(doc) })
	}
	left := make(bitset, min(len(documents), len(met)))
	if c.occur == excluded {
		left = slices.Clone(documents)
	}
	for i := range min(len(documents), len(met)) {
		if c.occur == excluded {
			left[i] = documents[i] &^ met[i]
		} else {
			left[i] = documents[i] & met[i]
		}
	}
	return left
}

// parse parses a query: words, "quoted phrases", excluded -words and -"phrases", prefixes* and fuzzy~ words. Phrases are
// required when the query has no other words, and else score like a rare word: a question may quote a title that its answer
// does not repeat. parse never fails: anything else is a word, and a query of exclusions alone is read literally.
func (a *Analyser) parse(text string) question {
	p := parser{by: a}
	p.read(text)
	if p.empty() {
		p = parser{by: a}
		p.plain.WriteString(text)
	}
	return p.question()
}

// parser collects the parts of a question.
type parser struct {
	by         *Analyser
	plain      strings.Builder // words without operators
	clauses    []clause
	conditions []condition
	quoted     []clause // phrases
	stops      []string // stop words of phrases
	beside     bool     // the query has words beside its phrases
	wide       int      // clauses that match several terms
}

// Costly clauses beyond these numbers are read as plain words.
const (
	maxWide       = 8 // prefix and fuzzy clauses
	maxConditions = 16
)

func (p *parser) empty() bool {
	return p.clauses == nil && p.stops == nil && len(p.by.terms(p.plain.String())) == 0
}

func (p *parser) read(text string) {
	for text != "" {
		text = strings.TrimLeftFunc(text, unicode.IsSpace)
		occur := wanted
		if rest, found := strings.CutPrefix(text, "-"); found && startsOperand(rest) {
			text, occur = rest, excluded
		}
		if phrase, rest, ok := quoted(text); ok && len(p.conditions)+len(p.quoted) < maxConditions {
			p.phrase(phrase, occur)
			text = rest
			continue
		}
		end := strings.IndexFunc(text, func(r rune) bool { return unicode.IsSpace(r) || isQuote(r) })
		if end == 0 { // an unclosed quote
			_, end = utf8.DecodeRuneInString(text)
		}
		if end < 0 {
			end = len(text)
		}
		p.word(text[:end], occur)
		text = text[end:]
	}
}

func isQuote(r rune) bool { return r == '"' || r == '“' || r == '”' }

func startsOperand(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return unicode.IsLetter(r) || isQuote(r)
}

// quoted parses a quoted phrase at the beginning of a text.
func quoted(text string) (phrase, rest string, ok bool) {
	r, size := utf8.DecodeRuneInString(text)
	if !isQuote(r) {
		return "", text, false
	}
	end := strings.IndexFunc(text[size:], isQuote)
	if end < 0 {
		return "", text, false
	}
	_, closing := utf8.DecodeRuneInString(text[size+end:])
	return text[size : size+end], text[size+end+closing:], true
}

// eachWord calls do for the words of a query. The last character of a run without spaces is skipped: the bigram before it
// covers it.
func (p *parser) eachWord(text string, do func(word)) {
	last := -1
	p.by.eachWord(text, func(w word) {
		if w.lone && w.start < last {
			return
		}
		last = w.end
		do(w)
	})
}

// clauseOf returns the clause of a word: its term, or for a lone character of a bigram script all bigrams that begin with
// it.
func (p *parser) clauseOf(w word) clause {
	if w.lone && p.wide < maxWide {
		p.wide++
		return clause{label: w.term + "*", kind: startsWith, word: w.term, stem: w.term}
	}
	return clause{label: w.term}
}

// phrase adds a quoted phrase: a condition if it is excluded, else a clause beside those of its words.
func (p *parser) phrase(text string, occur occur) {
	if occur == excluded {
		p.require(text, occur)
		return
	}
	words := p.words(text)
	if len(words) > 0 {
		p.quoted = append(p.quoted, p.phraseOf(text, words))
	}
	for _, w := range words {
		if w.stop {
			p.stops = append(p.stops, w.term)
		} else {
			p.clauses = append(p.clauses, p.clauseOf(w))
		}
	}
}

func (p *parser) words(text string) (words []word) {
	p.eachWord(text, func(w word) { words = append(words, w) })
	return words
}

// phraseOf returns the clause of the words of a phrase. That of a lone character of a bigram script has no phrase.
func (p *parser) phraseOf(text string, words []word) clause {
	if len(words) == 1 && words[0].lone {
		return p.clauseOf(words[0])
	}
	c := clause{label: `"` + text + `"`, kind: together}
	for _, w := range words {
		c.phrase = append(c.phrase, w.term)
	}
	return c
}

// require adds the condition that the words occur as a phrase, or do not.
func (p *parser) require(text string, occur occur) {
	if words := p.words(text); len(words) > 0 {
		p.conditions = append(p.conditions, conditionOf(p.phraseOf(text, words), occur))
	}
}

func conditionOf(c clause, occur occur) condition {
	if c.kind == together {
		return condition{occur: occur, phrase: c.phrase}
	}
	return condition{occur: occur, clause: &c}
}

// word adds a field of the query: one or several words, perhaps with an operator at the end.
func (p *parser) word(text string, occur occur) {
	kind := exactly
	bare := strings.TrimRight(text, "?!.,;:)")
	if cut, found := strings.CutSuffix(bare, "*"); found {
		bare, kind = cut, startsWith
	} else if cut, found := strings.CutSuffix(bare, "~"); found {
		bare, kind = cut, roughly
	}
	if p.wide >= maxWide {
		kind = exactly
	}
	if kind != exactly {
		p.wide++
		head, last := lastWord(bare)
		if last != "" {
			c := clause{label: last + []string{"", "*", "~"}[kind], kind: kind, word: last, stem: p.by.stem(last)}
			p.word(head, occur)
			p.operator(c, occur)
			return
		}
	}
	if occur == wanted || len(p.conditions) >= maxConditions {
		p.plain.WriteString(text)
		p.plain.WriteByte(' ')
		return
	}
	p.require(text, excluded)
}

func (p *parser) operator(c clause, occur occur) {
	if occur == excluded {
		p.conditions = append(p.conditions, condition{occur: excluded, clause: &c})
		return
	}
	p.clauses = append(p.clauses, c)
	p.beside = true
}

// lastWord splits off the word that a text ends with, lower-cased; empty if the text ends otherwise.
func lastWord(text string) (head, last string) {
	start := len(text)
	for start > 0 {
		r, size := utf8.DecodeLastRuneInString(text[:start])
		if !isWordRune(r) {
			break
		}
		start -= size
	}
	return text[:start], cut(strings.ToLower(text[start:]))
}

// question assembles the parsed parts. Stop words are kept only if there is nothing else.
func (p *parser) question() question {
	clauses := p.clauses
	var stops []string
	p.eachWord(p.plain.String(), func(w word) {
		if w.stop {
			stops = append(stops, w.term)
			return
		}
		clauses = append(clauses, p.clauseOf(w))
		p.beside = true
	})
	for _, phrase := range p.quoted {
		switch {
		case !p.beside:
			p.conditions = append(p.conditions, conditionOf(phrase, wanted))
		case len(phrase.phrase) > 1:
			clauses = append(clauses, phrase)
		}
	}
	if len(clauses) == 0 {
		for _, term := range append(stops, p.stops...) {
			clauses = append(clauses, clause{label: term})
		}
	}
	for i := range clauses {
		clauses[i].weight = 1
	}
	slices.SortFunc(clauses, func(a, b clause) int { return strings.Compare(a.label, b.label) })
	clauses = slices.CompactFunc(clauses, func(a, b clause) bool { return a.label == b.label })
	return question{clauses, p.conditions}
}
