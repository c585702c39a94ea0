// Package suggest reads out of a text what it is about: tags, a type, an importance, and who and what it mentions.
//
// It knows no memories and no host. What a collection of memories has in common is given as Statistics.
package suggest

import (
	"math"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/guests/families/auto-tag/kind"
	"github.com/alcove-memory/alcove/guests/lib/words"
)

// Suggester reads texts. It may be used any number of times.
type Suggester struct {
	lexicon *lexicon
	kinds   *kind.Teller
	weights map[string]float64
}

// New makes one.
func New() *Suggester {
	return &Suggester{lexicon: newLexicon(), kinds: kind.New(), weights: weights()}
}

// Reading is what was read out of a text.
type Reading struct {
	Candidates []Candidate // of tags, the best first
	Voting     []string    // folded words that may tell its topics
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
}

// maxCandidates is how many candidates a reading has at most: at a store, the host looks each of them up.
const maxCandidates = 14

// Read reads a text.
func (s *Suggester) Read(text string) Reading {
	list := words.Split(text)
	kept := s.mark(list)
	told := s.kinds.Tell(text, list)
	r := Reading{Type: kindOf(told), Names: names(text, kept), Dates: dates(text, list), Numbers: numbers(text, list)}
	r.Importance = s.importance(r, told, kept)
	r.Candidates, r.Voting = candidates(kept, r.Names), voting(kept)
	return r
}

// marked is a word with its meaning.
type marked struct {
	words.Word
	meaning
	noun bool
}

func (s *Suggester) mark(list []words.Word) []marked {
	kept := make([]marked, len(list))
	for i, w := range list {
		kept[i] = marked{Word: w, meaning: s.lexicon.words[w.Lower]}
	}
	s.nouns(kept)
	return kept
}

// pair is the meaning of a word together with the next.
func (s *Suggester) pair(list []marked, i int) meaning {
	if !list[i].joins || i+1 == len(list) || list[i+1].Apart {
		return meaning{}
	}
	return s.lexicon.pairs[list[i].Lower+" "+list[i+1].Lower]
}

// clear is how sure a type must be to count; of nine, one has a ninth by chance.
const clear = .2

// kindOf is the type that a text shows; empty when it shows none clearly.
func kindOf(told kind.Told) string {
	if told.Kind == Observation || told.Sure < clear {
		return ""
	}
	return told.Kind
}

// importance is that of the type, and in part of those that the text might have, too; more or less by what the words say depends on it,
// by whom and what it names, and by how much it says.
func (s *Suggester) importance(r Reading, told kind.Told, list []marked) float64 {
	base := s.Importance(r.Type)
	if told.Kind != "" {
		expected := 0.0
		for i, name := range kind.Types() {
			expected += told.Shares[i] * s.weights[name]
		}
		base += .8 * (expected - (.7*base + .19)) // the parts that measured texts have of their type, and of others
	}
	var lift float64
	for i, w := range list {
		lift += float64(w.lift) + float64(s.pair(list, i).lift)
	}
	base += .25 * math.Tanh(lift)
	base += .02*float64(min(len(r.Names), 2)) + .03*float64(min(len(r.Dates), 1)) + .02*float64(min(len(r.Numbers), 2))
	const usual = 12 // words
	base += .005 * float64(min(len(list), 2*usual)-usual)
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

// total is the score of a term by how often and how early it is there.
func (t *term) total() float64 {
	score := t.score / (1 + .02*float64(t.first))
	if t.count > 1 {
		score *= 1 + math.Log(float64(t.count))
	}
	return score
}

func (t *term) candidate() Candidate {
	c := Candidate{Tag: t.tag, Fold: t.stem, Score: t.total()}
	if t.stem2 != "" {
		c.Tag, c.Fold = t.tag+"-"+t.tag2, t.stem+"-"+t.stem2
	}
	return c
}

// candidates scores nouns and pairs of nouns.
func candidates(list []marked, names []string) []Candidate {
	t := &terms{list: make([]term, 1, len(list)+8)}
	for i := range list {
		if !list[i].noun {
			continue
		}
		single(t, list, i)
		if i > 0 && joined(list, i) {
			double(t, list, i)
		}
	}
	for _, name := range names {
		tag := words.Tag(name)
		t.add(term{stem: words.Fold(tag), tag: tag, score: .9})
	}
	best := make([]Candidate, 0, maxCandidates+1)
	for i := 1; i < len(t.list); i++ {
		best = insert(best, &t.list[i], maxCandidates)
	}
	return best
}

// joined says whether a noun and the one before it are one phrase.
func joined(list []marked, i int) bool {
	before := &list[i-1]
	return !list[i].Apart && before.noun && before.To-before.From == len(before.Lower) // no possessive
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
	score := w.worth()
	if i > 0 && joined(list, i) || i+1 < len(list) && list[i+1].noun && joined(list, i+1) {
		score *= .7 // the phrase says more
	}
	t.add(term{stem: words.Stem(w.Lower), tag: w.one(), score: score, first: i})
}

// one is the word in the singular; names have none.
func (w *marked) one() string {
	if w.Capital && !w.Start || w.Capital && strings.HasSuffix(w.Lower, "as") { // Hamburg, Jonas
		return w.Lower
	}
	return words.Singular(w.Lower)
}

// worth is how much a noun promises by its form alone.
func (w *marked) worth() float64 {
	switch {
	case w.Acronym:
		return 1.1
	case w.Mixed && strings.ContainsAny(w.Lower, "0123456789"):
		return .6 // a version or a number of something
	case w.Mixed:
		return .9
	case w.Capital && !w.Start:
		return 1.1
	case len(w.Lower) < 4:
		return .8
	}
	return 1
}

// double adds the pair of a word and the one before. Where one is a name, that says more than the pair.
func double(t *terms, list []marked, i int) {
	a, b := &list[i-1], &list[i]
	score := .6 * (a.worth() + b.worth())
	if a.Capital && !a.Start || b.Capital || a.Mixed || b.Mixed {
		score *= .75
	}
	t.add(term{stem: words.Stem(a.Lower), stem2: words.Stem(b.Lower), tag: a.Lower, tag2: b.one(), score: score, first: i - 1})
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
