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
	lexicon     *lexicon
	thesaurus   *thesaurus
	kinds       *kind.Teller
	importances map[string]float64
	weights     [evidences]float64
}

// New makes one.
func New() *Suggester {
	return &Suggester{newLexicon(), newThesaurus(), kind.New(), importances(), weights()}
}

// Reading is what was read out of a text.
type Reading struct {
	Candidates []Candidate // of tags, the best first
	Voting     []string    // folded words that may tell its topics
	Subjects   []Subject   // topics of the thesaurus
	Type       string      // empty: the text shows none
	Importance float64     // 0 to 1
	Names      []string    // of people, places and products, as they are written
	Dates      []string
	Numbers    []string // amounts with their units
}

// Candidate is a tag that a text could have, and whether the collection has it.
type Candidate struct {
	Tag    string   `json:"tag"`
	Fold   string   `json:"-"`     // what it has in common with its other forms
	Also   []string `json:"-"`     // what other names of it fold to
	Score  float64  `json:"score"` // how likely a person would give it
	Known  bool     `json:"known"`
	topic  bool     // the first of the thesaurus
	likely bool     // by the tags that people gave in the collection
}

// mostSubjects is how many topics of the thesaurus a reading has.
const mostSubjects = 4

// maxCandidates is how many candidates a reading has at most: at a store, the host looks each of them up.
const maxCandidates = 14

// Read reads a text.
func (s *Suggester) Read(text string) Reading {
	list := words.Split(text)
	kept := s.mark(list)
	told := s.kinds.Tell(text, list)
	r := Reading{Type: kindOf(told), Names: names(text, kept), Dates: dates(text, list), Numbers: numbers(text, list)}
	r.Importance = s.importance(r, told, kept)
	r.Subjects = s.subjects(kept)
	r.Candidates, r.Voting = s.candidates(kept, r), voting(kept, r.Subjects)
	return r
}

// Voting is what Read gives as such, for less work.
func (s *Suggester) Voting(text string) []string {
	list := s.meanings(words.Split(text))
	return voting(list, s.subjects(list))
}

// subjects are the topics that the thesaurus tells for certain.
func (s *Suggester) subjects(list []marked) []Subject {
	found := s.thesaurus.subjects(list)
	n := 0
	for n < min(len(found), mostSubjects) && found[n].Score >= certain {
		n++
	}
	return found[:n]
}

// marked is a word with its meaning.
type marked struct {
	words.Word
	meaning
	noun bool
	part bool // of a cue of several words
}

func (s *Suggester) mark(list []words.Word) []marked {
	kept := s.meanings(list)
	s.nouns(kept)
	return kept
}

func (s *Suggester) meanings(list []words.Word) []marked {
	kept := make([]marked, len(list))
	for i, w := range list {
		kept[i] = marked{Word: w, meaning: s.lexicon.words[w.Lower]}
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
			expected += told.Shares[i] * s.importances[name]
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
	if w, ok := s.importances[kind]; ok {
		return w
	}
	return s.importances[Observation]
}

// candidates are topics of the thesaurus, nouns, pairs of nouns and names, the likeliest first.
func (s *Suggester) candidates(list []marked, r Reading) []Candidate {
	c := &collected{}
	s.weigh(list, r, func(tag Candidate, of []evidence) {
		tag.Score = s.odds(of)
		c.add(tag)
	})
	return c.best()
}

// weigh calls with each candidate and what speaks for and against it.
func (s *Suggester) weigh(list []marked, r Reading, each func(Candidate, []evidence)) {
	best := ""
	for i := range r.Subjects {
		t := &r.Subjects[i]
		if i == 0 {
			best = t.Name
		}
		each(Candidate{Tag: t.Name, Fold: t.Folds[0], Also: t.Folds[1:], topic: i == 0}, t.evidence(r.Subjects, i))
	}
	for i := range list {
		if !list[i].noun {
			continue
		}
		tag, fold := list[i].one(), words.Stem(list[i].Lower)
		each(Candidate{Tag: tag, Fold: fold}, s.word(list, i, best))
		if i > 0 && joined(list, i) {
			before := list[i-1].Lower
			each(Candidate{Tag: before + "-" + tag, Fold: words.Stem(before) + "-" + fold}, s.phrase(list, i))
		}
	}
	for _, name := range r.Names {
		if tag := words.Tag(name); strings.Contains(tag, "-") {
			each(Candidate{Tag: tag, Fold: words.Fold(tag)}, []evidence{isName})
		}
	}
}

// collected are candidates, each once. Their scores are logarithms of odds until the best are taken. Few are looked for by going through
// them: this runs at every store, and maps are slow in a guest.
type collected struct{ list []Candidate }

// repeated is what it says, for each word of a candidate, that a text has it once more.
const repeated = .7

func (c *collected) add(one Candidate) {
	if one.Fold == "" || len(one.Tag) >= maxTag {
		return
	}
	for i := range c.list {
		if old := &c.list[i]; old.Fold == one.Fold {
			old.Score = max(old.Score, one.Score) + repeated*float64(1+strings.Count(one.Tag, "-"))
			return
		}
	}
	c.list = append(c.list, one)
}

func (c *collected) best() []Candidate {
	sortCandidates(c.list)
	list := c.list[:min(len(c.list), maxCandidates)]
	for i := range list {
		list[i].Score = share(list[i].Score)
	}
	return list
}

// joined says whether a noun and the one before it are one phrase.
func joined(list []marked, i int) bool {
	before := &list[i-1]
	return !list[i].Apart && before.noun && before.To-before.From == len(before.Lower) // no possessive
}

// maxTag is the length of the longest tag, in bytes.
const maxTag = 40

// one is the word in the singular; names have none.
func (w *marked) one() string {
	if w.Capital && !w.Start || w.Capital && strings.HasSuffix(w.Lower, "as") { // Hamburg, Jonas
		return w.Lower
	}
	return words.Singular(w.Lower)
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
