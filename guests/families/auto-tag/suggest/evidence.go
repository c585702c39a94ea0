package suggest

import (
	"math"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/guests/families/auto-tag/kind"
	"github.com/alcove-memory/alcove/guests/lib/words"
)

// evidence is something that speaks for or against a tag. What each says is learned: see guests/build/tags.
type evidence uint8

const (
	isWord    evidence = iota // a noun
	isPhrase                  // two nouns
	isName                    // of somebody or something, of several words
	isSubject                 // a topic of the thesaurus

	// Of nouns.
	acronym
	identifier // with a digit
	joint      // with a sign inside
	capital
	person
	short
	long
	abstract // -tion, -ment, -ity…
	agent    // -er, -or
	modifies // the noun after it
	headOf   // the noun before it
	between
	vague // many things have one

	// Of their places.
	begins // the text
	firstNoun
	late
	veryLate
	afterPreposition
	afterDeterminer
	afterAdjective
	afterVerb
	beforeVerb
	beforePreposition
	atEnd

	// Of the thesaurus.
	tellsTopic
	tellsBestTopic
	hintsTopic
	mute
	partOfCue
	phraseTold
	modifierTold
	headTold
	modifierNamed

	// Of topics.
	toldOnce
	toldMore
	toldTwice
	secondTopic
	laterTopic
	tied
	toldByPhrase
	toldEarly
	toldLate
	toldByName

	evidences
)

// Evidences is how many kinds of evidence there are.
const Evidences = int(evidences)

// Case is a tag that a text could have, and the numbers of the evidence for and against it.
type Case struct {
	Fold     string // what the tag folds to
	Evidence []int
}

// Cases are the tags that a text could have, to learn from.
func (s *Suggester) Cases(text string) (list []Case) {
	kept := s.mark(words.Split(text))
	s.weigh(kept, Reading{Subjects: s.subjects(kept), Names: names(text, kept)}, func(c Candidate, of []evidence) {
		one := Case{Fold: c.Fold}
		for _, e := range of {
			one.Evidence = append(one.Evidence, int(e))
		}
		list = append(list, one)
	})
	return list
}

// Held is what evidence says that is not learned: whether somebody's first name is a tag depends on who that is.
func Held() map[int]float64 { return map[int]float64{int(person): -.6} }

// odds is the logarithm of how much likelier than not a person would give a tag.
func (s *Suggester) odds(of []evidence) float64 {
	sum := 0.0
	for _, e := range of {
		sum += s.weights[e]
	}
	return sum
}

// share is odds as a share of one.
func share(odds float64) float64 { return 1 / (1 + math.Exp(-odds)) }

// word is the evidence of a noun. best is the text's first topic.
func (s *Suggester) word(list []marked, i int, best string) []evidence {
	found := append(s.place(list, i, i), isWord)
	found = list[i].form(found)
	before, after := i > 0 && joined(list, i), i+1 < len(list) && list[i+1].noun && joined(list, i+1)
	switch {
	case before && after:
		found = append(found, between)
	case before:
		found = append(found, headOf)
	case after:
		found = append(found, modifies)
	}
	if list[i].part {
		return append(found, partOfCue)
	}
	return s.thesaurus.evidence(found, words.Singular(list[i].Lower), best)
}

// form adds what a noun looks like.
func (w *marked) form(found []evidence) []evidence {
	switch {
	case w.Acronym:
		found = append(found, acronym)
	case w.Mixed && strings.ContainsAny(w.Lower, "0123456789"):
		found = append(found, identifier)
	case w.Mixed:
		found = append(found, joint)
	case w.Capital && !w.Start:
		found = append(found, capital)
	}
	one := words.Singular(w.Lower)
	for _, of := range [...]struct {
		e  evidence
		is bool
	}{
		{person, w.given && w.Capital}, {short, len(w.Lower) < 4}, {long, len(w.Lower) > 8}, {vague, w.vague},
		{agent, strings.HasSuffix(one, "er") || strings.HasSuffix(one, "or")}, {abstract, isAbstract(one)},
	} {
		if of.is {
			found = append(found, of.e)
		}
	}
	return found
}

func isAbstract(w string) bool {
	for _, ending := range [...]string{"tion", "ment", "ity", "ness", "ance", "ence", "ism", "ship"} {
		if strings.HasSuffix(w, ending) {
			return true
		}
	}
	return false
}

// phrase is the evidence of a noun and the one before.
func (s *Suggester) phrase(list []marked, i int) []evidence {
	a, b := &list[i-1], &list[i]
	found := append(s.place(list, i-1, i), isPhrase)
	one, other := words.Singular(a.Lower), words.Singular(b.Lower)
	cues := s.thesaurus.cues
	for _, of := range [...]struct {
		e  evidence
		is bool
	}{
		{phraseTold, cues[one+"-"+other] != nil}, {modifierTold, cues[one] != nil}, {headTold, cues[other] != nil}, {vague, b.vague},
		{modifierNamed, a.Acronym || a.Mixed || a.Capital && !a.Start},
		{between, i > 1 && joined(list, i-1) || i+1 < len(list) && list[i+1].noun && joined(list, i+1)},
	} {
		if of.is {
			found = append(found, of.e)
		}
	}
	return found
}

// place is what the place of the nouns from i to k, inclusive, says.
func (s *Suggester) place(list []marked, i, k int) []evidence {
	found := make([]evidence, 0, 12)
	if i == 0 {
		found = append(found, begins)
	}
	if !slices.ContainsFunc(list[:i], func(w marked) bool { return w.noun }) {
		found = append(found, firstNoun)
	}
	if i > 5 {
		found = append(found, late)
	}
	if i > 10 {
		found = append(found, veryLate)
	}
	if i > 0 && !list[i].Apart {
		found = after(found, &list[i-1])
	}
	if k+1 == len(list) || list[k+1].Apart {
		return append(found, atEnd)
	}
	next := &list[k+1]
	part := s.kinds.Part(&next.Word)
	switch {
	case auxiliary(next.Lower), !next.noun && (part == kind.Past || part == kind.Third || part == kind.Base):
		found = append(found, beforeVerb)
	case preposition(next.Lower):
		found = append(found, beforePreposition)
	}
	return found
}

// after adds what the word before a noun says.
func after(found []evidence, before *marked) []evidence {
	switch {
	case before.noun:
		return found
	case preposition(before.Lower):
		return append(found, afterPreposition)
	case determiner(before.Lower):
		return append(found, afterDeterminer)
	case before.stop || auxiliary(before.Lower):
		return found
	case adjectival(before.Lower) || before.dull:
		return append(found, afterAdjective)
	}
	return append(found, afterVerb)
}

// evidence adds what a word tells of topics.
func (t *thesaurus) evidence(found []evidence, word, best string) []evidence {
	cues := t.cues[word]
	if len(cues) == 0 {
		return found
	}
	c := cues[0]
	switch {
	case !c.taggable:
		return append(found, mute)
	case c.weight == certain:
		found = append(found, tellsTopic)
	default:
		found = append(found, hintsTopic)
	}
	if t.headings[c.heading].name == best {
		found = append(found, tellsBestTopic)
	}
	return found
}

// evidence is that of the topic i of a text.
func (t *Subject) evidence(all []Subject, i int) []evidence {
	found := make([]evidence, 0, 8)
	found = append(found, isSubject)
	switch {
	case t.Score >= 2*certain:
		found = append(found, toldTwice)
	case t.Score > certain:
		found = append(found, toldMore)
	default:
		found = append(found, toldOnce)
	}
	for _, of := range [...]struct {
		e  evidence
		is bool
	}{
		{secondTopic, i == 1}, {laterTopic, i > 1}, {toldByPhrase, t.phrase}, {toldByName, t.named}, {toldEarly, t.at < 2}, {toldLate, t.at > 7},
		{tied, i+1 < len(all) && all[i+1].Score == t.Score || i > 0 && all[i-1].Score == t.Score},
	} {
		if of.is {
			found = append(found, of.e)
		}
	}
	return found
}
