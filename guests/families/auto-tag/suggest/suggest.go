// Package suggest reads out of a text what it is about: tags, a type, an importance, and who and what it mentions.
//
// It knows no memories and no host. What a collection of memories has in common is given as Statistics.
package suggest

import (
	"math"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/guests/lib/words"
)

// Suggester reads texts. It may be used any number of times.
type Suggester struct {
	lexicon *lexicon
	weights map[string]float64
	order   [typesThatShow]string
}

// New makes one.
func New() *Suggester {
	return &Suggester{lexicon: newLexicon(), weights: weights(), order: order()}
}

// Reading is what was read out of a text.
type Reading struct {
	Candidates []Candidate // of tags, the best first
	Type       string      // empty: the text shows none
	Importance float64     // 0 to 1
	Names      []string    // of people, places and products, as they are written
	Dates      []string
	Numbers    []string // amounts with their units
}

// Candidate is a tag that a text could have, and whether the collection has it.
type Candidate struct {
	Tag   string  `json:"tag"`
	Fold  string  `json:"-"` // what it has in common with its other forms
	Score float64 `json:"score"`
	Known bool    `json:"known"`
	// pair says that it is two words that are together only once: worth a tag only where the collection has it.
	pair bool
}

// How many candidates a reading has at most: at a store, the host looks each of them up.
const (
	maxCandidates = 10
	maxPairs      = 4
)

// Read reads a text.
func (s *Suggester) Read(text string) Reading {
	list := words.Split(text)
	kept := s.mark(list)
	r := Reading{Type: s.kind(kept), Names: names(text, kept), Dates: dates(text, list), Numbers: numbers(text, list)}
	r.Importance = s.importance(r, kept)
	r.Candidates = s.candidates(kept, r.Names)
	return r
}

// marked is a word with its meaning.
type marked struct {
	words.Word
	meaning
}

func (s *Suggester) mark(list []words.Word) []marked {
	kept := make([]marked, len(list))
	for i, w := range list {
		kept[i] = marked{w, s.lexicon.words[w.Lower]}
	}
	return kept
}

// pair is the meaning of a word together with the next.
func (s *Suggester) pair(list []marked, i int) meaning {
	if !list[i].joins || i+1 == len(list) || list[i+1].Apart {
		return meaning{}
	}
	return s.lexicon.pairs[list[i].Lower+" "+list[i+1].Lower]
}

// kind is the type that the words show; empty when they show none clearly.
func (s *Suggester) kind(list []marked) string {
	var sums [typesThatShow + 1]float32
	for i, w := range list {
		early := float32(1)
		if i < 8 {
			early = 1.3
		}
		if w.shows > 0 {
			sums[w.shows] += w.weight * early
		}
		if m := s.pair(list, i); m.shows > 0 {
			sums[m.shows] += m.weight * early
		}
	}
	best := 0
	for i := 1; i < len(sums); i++ {
		if sums[i] > sums[best] {
			best = i
		}
	}
	const clear = .55 // one sure word, or two unsure ones
	if best == 0 || sums[best] < clear {
		return ""
	}
	return s.order[best-1]
}

// importance is that of the type, more or less by what the words say.
func (s *Suggester) importance(r Reading, list []marked) float64 {
	base, ok := s.weights[r.Type]
	if !ok {
		base = s.weights[Observation]
	}
	var lift float64
	for i, w := range list {
		lift += float64(w.lift) + float64(s.pair(list, i).lift)
	}
	base += .2 * math.Tanh(lift)
	if len(list) < 4 {
		base -= .1
	}
	if len(r.Names)+len(r.Dates)+len(r.Numbers) > 0 {
		base += .03
	}
	return math.Round(100*min(max(base, .05), .95)) / 100
}

// Importance is that of a type and nothing else.
func (s *Suggester) Importance(kind string) float64 {
	if w, ok := s.weights[kind]; ok {
		return w
	}
	return s.weights[Observation]
}

// term is a word or a pair of words that may become a tag.
type term struct {
	stem, stem2 string // the second is empty for one word
	tag, tag2   string
	score       float64
	count       int
	first       int // the number of the word where it is first
	next        int // the next term of its bucket; 0: none
}

// terms are the terms of a text, each once. They are found by buckets: this runs at every store, and maps are slow in a
// guest.
type terms struct {
	list    []term // from 1 on
	buckets [64]int
}

// add counts a term.
func (t *terms) add(a term) {
	if a.stem == "" || len(a.tag)+len(a.tag2) >= maxTag {
		return
	}
	bucket := &t.buckets[(len(a.stem)*7+int(a.stem[0])+int(a.stem[len(a.stem)-1])*3+len(a.stem2)*11)%len(t.buckets)]
	for i := *bucket; i > 0; i = t.list[i].next {
		if old := &t.list[i]; old.stem == a.stem && old.stem2 == a.stem2 {
			old.count++
			if a.score > old.score {
				old.score = a.score
			}
			return
		}
	}
	a.count, a.next = 1, *bucket
	*bucket = len(t.list)
	t.list = append(t.list, a)
}

// weak says that the term is two words that are together only once: worth a tag only where the collection has it.
func (t *term) weak() bool { return t.stem2 != "" && t.count < 2 && t.score < 1.5 }

// total is the score of a term by how often and how early it is there.
func (t *term) total() float64 {
	score := t.score / (1 + .01*float64(t.first))
	if t.count > 1 {
		score *= 1 + math.Log(float64(t.count))
	}
	return score
}

func (t *term) candidate() Candidate {
	c := Candidate{Tag: t.tag, Fold: t.stem, Score: t.total(), pair: t.weak()}
	if t.stem2 != "" {
		c.Tag, c.Fold = t.tag+"-"+t.tag2, t.stem+"-"+t.stem2
	}
	return c
}

// candidates scores words and pairs of words.
func (s *Suggester) candidates(list []marked, names []string) []Candidate {
	t := &terms{list: make([]term, 1, len(list)+8)}
	for i := range list {
		single(t, list, i)
		double(t, list, i)
	}
	for _, name := range names {
		tag := words.Tag(name)
		t.add(term{stem: words.Fold(tag), tag: tag, score: 1.6})
	}
	singles, pairs := make([]Candidate, 0, maxCandidates+maxPairs+1), make([]Candidate, 0, maxPairs+1)
	for i := 1; i < len(t.list); i++ {
		if t := &t.list[i]; t.weak() {
			pairs = insert(pairs, t, maxPairs)
		} else {
			singles = insert(singles, t, maxCandidates)
		}
	}
	return append(singles, pairs...)
}

// insert puts a term where it belongs among the most best ones.
func insert(best []Candidate, t *term, most int) []Candidate {
	if score := t.total(); len(best) == most && score < best[most-1].Score {
		return best
	}
	best = append(best, t.candidate())
	for i := len(best) - 1; i > 0 && ahead(&best[i], &best[i-1]) < 0; i-- {
		best[i], best[i-1] = best[i-1], best[i]
	}
	return best[:min(len(best), most)]
}

// maxTag is the length of the longest tag, in bytes.
const maxTag = 40

func single(t *terms, list []marked, i int) {
	w := &list[i]
	if w.content() {
		t.add(term{stem: words.Stem(w.Lower), tag: w.one(), score: w.worth(), first: i})
	}
}

// one is the word in the singular; names have none.
func (w *marked) one() string {
	if w.Capital && !w.Start {
		return w.Lower
	}
	return words.Singular(w.Lower)
}

// content says whether the word can say what a text is about.
func (w *marked) content() bool {
	return !w.stop && !w.Number && (w.weight < .5 || w.Acronym) && w.lift == 0 && (len(w.Lower) > 2 || w.Acronym || w.Mixed) && len(w.Lower) <= maxTag
}

// worth is how much a word promises by its form alone.
func (w *marked) worth() float64 {
	n := len(w.Lower)
	worth := .5 + .06*float64(min(n, 10))
	switch {
	case w.Acronym, w.Mixed:
		worth += .4
	case w.Capital && !w.Start:
		worth += .3
	}
	for _, ending := range []string{"ly", "ing", "ed", "able", "ful", "ous", "ive"} {
		if n > 5 && strings.HasSuffix(w.Lower, ending) {
			worth *= .55
			break
		}
	}
	return worth
}

// double adds the pair of a word and the next.
func double(t *terms, list []marked, i int) {
	if i+1 >= len(list) || list[i+1].Apart || !list[i].content() || !list[i+1].content() {
		return
	}
	a, b := &list[i], &list[i+1]
	if strings.IndexByte(a.Lower, '\'') >= 0 || strings.IndexByte(b.Lower, '\'') >= 0 {
		return
	}
	t.add(term{stem: words.Stem(a.Lower), stem2: words.Stem(b.Lower), tag: a.Lower, tag2: b.one(), score: .6 * (a.worth() + b.worth()), first: i})
}

func sortCandidates(list []Candidate) {
	slices.SortFunc(list, func(a, b Candidate) int { return ahead(&a, &b) })
}

// ahead is negative when a comes before b: the better first, then in the order of letters.
func ahead(a, b *Candidate) int {
	switch {
	case a.Score > b.Score:
		return -1
	case a.Score < b.Score:
		return 1
	}
	return strings.Compare(a.Tag, b.Tag)
}
