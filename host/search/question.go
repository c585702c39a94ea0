package search

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// question is a parsed query.
type question struct {
	clauses    []clause    // what scores, by label
	conditions []condition // what must hold
}

// clause is something that scores: a term, or all terms of a kind.
type clause struct {
	label  string // the term itself, or how the clause is written
	kind   clauseKind
	word   string // what follows from kind
	stem   string // of the word
	weight float64
	added  bool // the question does not have it

	near       []nearTerm // terms that may stand for it, the nearest first
	nearWeight float64

	found int // active documents that have it
	idf   float64
	small *[3][256]float64 // scores of the frequencies 1, 2 and 3 by length; nil: too few postings to bother
}

type clauseKind int

const (
	exactly    clauseKind = iota
	startsWith            // terms that begin with word, and its stem
	roughly               // terms that are few letters from word
)

// open opens the postings of a clause in a part; nil when there are none.
func (c *clause) open(p *part) (list reader, documents int) {
	if c.kind == exactly {
		return p.find(c.label)
	}
	return p.union(c.terms(p))
}

// is reports whether the clause stands for a term.
func (c *clause) is(term string) bool {
	switch c.kind {
	case startsWith:
		return strings.HasPrefix(term, c.word) || term == c.stem
	case roughly:
		stemmed := []rune(c.stem)
		return near(stemmed, term, edits(len(stemmed)))
	}
	return term == c.label
}

// terms are the terms of a part that a clause stands for.
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

// union is the postings of several terms as if they were one.
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

// edits is how many letters a word of so many may be off.
func edits(letters int) int {
	switch {
	case letters < 3:
		return 0
	case letters < 6:
		return 1
	}
	return 2
}

// near reports whether a term is at most so many insertions, deletions or changes of a letter from a word.
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

// condition is a required or excluded part of a query.
type condition struct {
	not    bool
	phrase []string // terms that follow one another
	clause *clause  // instead of a phrase
}

// apply leaves of a part's documents those that meet the condition.
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
		p.eachWithPhrase(c.phrase, func(doc uint32) { met.add(doc) })
	}
	left := make(bitset, min(len(documents), len(met)))
	if c.not {
		left = slices.Clone(documents)
	}
	for i := range min(len(documents), len(met)) {
		if c.not {
			left[i] = documents[i] &^ met[i]
		} else {
			left[i] = documents[i] & met[i]
		}
	}
	return left
}

// parse parses a query: words, "phrases in quotes" that must be there, -words and -"phrases" that must not,
// prefixes* and fuzzy~ words. It never fails: what is no operator is a word, and a question of nothing but exclusions is
// taken literally.
func (a *Analyser) parse(text string) question {
	p := parser{by: a}
	p.read(text)
	if p.empty() {
		p = parser{by: a}
		p.plain.WriteString(text)
	}
	return p.question()
}

// parser collects a question.
type parser struct {
	by         *Analyser
	plain      strings.Builder // words that are nothing special
	clauses    []clause
	conditions []condition
	stops      []string // of phrases
	wide       int      // clauses that stand for several terms
}

// What costs much is read as plain words beyond these numbers.
const (
	maxWide       = 8 // prefixes and fuzzy words
	maxConditions = 16
)

func (p *parser) empty() bool {
	return p.clauses == nil && p.stops == nil && len(p.by.terms(p.plain.String())) == 0
}

func (p *parser) read(text string) {
	for text != "" {
		text = strings.TrimLeftFunc(text, unicode.IsSpace)
		not := false
		if rest, found := strings.CutPrefix(text, "-"); found && startsOperand(rest) {
			text, not = rest, true
		}
		if phrase, rest, ok := quoted(text); ok && len(p.conditions) < maxConditions {
			p.phrase(phrase, not)
			text = rest
			continue
		}
		end := strings.IndexFunc(text, func(r rune) bool { return unicode.IsSpace(r) || isQuote(r) })
		if end == 0 { // a quote that is never closed
			_, end = utf8.DecodeRuneInString(text)
		}
		if end < 0 {
			end = len(text)
		}
		p.word(text[:end], not)
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

// eachWord goes through the words of a question. The last character of a run without spaces is no word of its own: the pair
// before it has it.
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

// clauseOf is the clause of a word: its term, or, of a single character where pairs are terms, all pairs that it begins.
func (p *parser) clauseOf(w word) clause {
	if w.lone && p.wide < maxWide {
		p.wide++
		return clause{label: w.term + "*", kind: startsWith, word: w.term, stem: w.term}
	}
	return clause{label: w.term}
}

// phrase adds words that must follow one another.
func (p *parser) phrase(text string, not bool) {
	words := p.require(text, not)
	if not {
		return
	}
	for _, w := range words {
		if w.stop {
			p.stops = append(p.stops, w.term)
		} else {
			p.clauses = append(p.clauses, p.clauseOf(w))
		}
	}
}

// require makes it a condition that words follow one another, or that they do not.
func (p *parser) require(text string, not bool) (words []word) {
	c := condition{not: not}
	p.eachWord(text, func(w word) {
		words = append(words, w)
		c.phrase = append(c.phrase, w.term)
	})
	if len(words) == 1 && words[0].lone {
		alone := p.clauseOf(words[0])
		c.phrase, c.clause = nil, &alone
	}
	if len(words) > 0 {
		p.conditions = append(p.conditions, c)
	}
	return words
}

// word adds a word, which may be several, and may end in an operator.
func (p *parser) word(text string, not bool) {
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
			p.word(head, not)
			p.operator(c, not)
			return
		}
	}
	if !not || len(p.conditions) >= maxConditions {
		p.plain.WriteString(text)
		p.plain.WriteByte(' ')
		return
	}
	p.require(text, true)
}

func (p *parser) operator(c clause, not bool) {
	if not {
		p.conditions = append(p.conditions, condition{not: true, clause: &c})
		return
	}
	p.clauses = append(p.clauses, c)
}

// lastWord is the last word of a text, if the text ends in it, in lower case, and what is before it.
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

// question assembles the parsed parts. Stop words count only if there is nothing else.
func (p *parser) question() question {
	clauses := p.clauses
	var stops []string
	p.eachWord(p.plain.String(), func(w word) {
		if w.stop {
			stops = append(stops, w.term)
			return
		}
		clauses = append(clauses, p.clauseOf(w))
	})
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
