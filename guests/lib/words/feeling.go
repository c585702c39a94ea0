package words

import (
	"iter"
	"strings"
)

// Emotion is a feeling that a text shows, and how strong it is.
type Emotion struct {
	Name   string
	Weight float64 // 0 to 1
}

// emotions are those that words show, the strongest first.
func emotions() []struct {
	Emotion
	cues []string
} {
	return []struct {
		Emotion
		cues []string
	}{
		{Emotion{"frustrated", .7}, []string{"frustrated", "frustrating", "frustration", "annoyed", "annoying", "annoyance", "stuck", "irritated", "irritating", "exasperated", "fed-up", "infuriating"}},
		{Emotion{"confident", .55}, []string{"confident", "confidence", "certain", "sure", "definitely", "certainly", "convinced", "undoubtedly"}},
		{Emotion{"proud", .5}, []string{"proud", "pride", "proudly", "accomplished", "achievement", "accomplishment", "delighted", "thrilled"}},
		{Emotion{"surprised", .45}, []string{"surprised", "surprising", "surprise", "surprisingly", "unexpected", "unexpectedly", "astonished", "astonishing", "astonishingly", "shocked"}},
	}
}

// Cues are the words of a text, and where each of them is. They are compared with some hundred cues, which takes the time of the words and
// of the cues, and not of each with each.
type Cues struct {
	words  []Word
	places map[string]int // the first place of a word in lower case, from 1
	next   []int          // by place, from 0: the next one of the same word, from 1; 0: there is none
}

// CuesOf splits a text, as far as feelings are read in it.
func CuesOf(text string) Cues { return cuesOf(Cut(text, Long)) }

func cuesOf(text string) Cues {
	c := Cues{words: Split(text)}
	c.places, c.next = make(map[string]int, len(c.words)), make([]int, len(c.words))
	for i := len(c.words) - 1; i >= 0; i-- {
		w := c.words[i].Lower
		c.next[i], c.places[w] = c.places[w], i+1
	}
	return c
}

// Emotion is the emotion that most words of the text show, of several the strongest; the zero one where they show none. A negated
// word shows nothing.
func (c Cues) Emotion() (found Emotion) {
	most := 0
	for _, e := range emotions() {
		if n := c.count(e.cues); n > most {
			most, found = n, e.Emotion
		}
	}
	return found
}

// count is how many words are cues, without those that are negated.
func (c Cues) count(cues []string) (n int) {
	for i := range c.matching(cues) {
		if !negated(c.words, i) {
			n++
		}
	}
	return n
}

// matching are the places where a word, or it and the next one, is one of some cues.
func (c Cues) matching(cues []string) iter.Seq[int] {
	return func(yield func(int) bool) {
		for _, cue := range cues {
			first, second, pair := strings.Cut(cue, "-")
			for i := c.places[first] - 1; i >= 0; i = c.next[i] - 1 {
				if pair && (i+1 == len(c.words) || c.words[i+1].Lower != second) {
					continue
				}
				if !yield(i) {
					return
				}
			}
		}
	}
}

// states reports whether one of some cues is neither negated nor doubted.
func (c Cues) states(cues []string) bool {
	for i := range c.matching(cues) {
		if !negated(c.words, i) && !doubted(c.words, i) {
			return true
		}
	}
	return false
}

// negates reports whether one of some cues is negated. A doubt is no negation.
func (c Cues) negates(cues []string) bool {
	for i := range c.matching(cues) {
		if negated(c.words, i) && !doubted(c.words, i) {
			return true
		}
	}
	return false
}

// hedges reports whether all that states one of some cues calls it a possibility.
func (c Cues) hedges(cues []string) bool {
	for i := range c.matching(cues) {
		if !negated(c.words, i) && !doubted(c.words, i) && !hedged(c.words, i) {
			return false
		}
	}
	return true
}

// reach is how many words before another a negation may be.
const reach = 3

// negated reports whether a word of the same sentence, shortly before, negates the one at i.
func negated(list []Word, i int) bool {
	for j := i - 1; j >= 0 && j >= i-reach && !list[j+1].Start; j-- {
		if isNegation(list[j].Lower) && !isEmphasis(list[j+1].Lower) {
			return true
		}
	}
	return false
}

func isNegation(w string) bool {
	switch w {
	case "not", "no", "never", "hardly", "barely", "without", "cannot", "nothing", "neither", "nor":
		return true
	}
	return strings.HasSuffix(w, "n't") || strings.HasSuffix(w, "n’t")
}

// isEmphasis reports whether a negation before a word emphasises: no doubt, not only.
func isEmphasis(w string) bool { return w == "doubt" || w == "only" || w == "just" || w == "merely" }

// doubtReach is how many words before another a doubt or a hedge may be.
const doubtReach = 6

// doubted reports whether the sentence of the word at i has doubts about it: not sure that, I wonder whether, I don't think that.
func doubted(list []Word, i int) bool {
	return led(list, i, func(j int) bool {
		switch list[j].Lower {
		case "unsure", "uncertain", "unclear", "doubtful", "wonder", "wondering":
			return true
		case "doubt", "doubts":
			return !denied(list, j)
		case "sure", "certain", "convinced", "clear", "think", "believe", "know":
			return denied(list, j)
		}
		return false
	})
}

// denied reports whether one of the two words before the one at i is a negation.
func denied(list []Word, i int) bool {
	for j := i - 1; j >= 0 && j >= i-2 && !list[j+1].Start; j-- {
		if isNegation(list[j].Lower) {
			return true
		}
	}
	return false
}

// hedged reports whether the sentence of the word at i calls it a possibility.
func hedged(list []Word, i int) bool {
	return led(list, i, func(j int) bool {
		switch list[j].Lower {
		case "maybe", "perhaps", "possibly", "potentially", "probably", "might", "could", "somewhat", "slightly":
			return true
		}
		return false
	})
}

// led reports whether one of the words before the one at i, in its part of the sentence, is of a kind.
func led(list []Word, i int, is func(j int) bool) bool {
	for j := i - 1; j >= 0 && j >= i-doubtReach && !list[j+1].Start && list[j].Lower != "but"; j-- {
		if is(j) {
			return true
		}
	}
	return false
}

// Tier is how a memory stands out among others.
type Tier struct {
	Observation string  // critical, notable or background
	Importance  string  // structural, potential or contextual
	Confidence  float64 // 0 to 1
}

var (
	criticalCues = []string{"critical", "crucial", "must", "never", "always", "security", "vulnerability", "breach", "outage", "production", "blocker", "breaking", "incident", "data-loss", "architecture", "invariant", "mandatory", "required"}
	notableCues  = []string{"decided", "decision", "chose", "chosen", "discovered", "realized", "realised", "learned", "found", "important", "significant", "prefer", "prefers", "should", "fixed", "changed", "plan", "planned", "because", "noticed", "notable"}
)

// Tier is the tier that the words of the text show.
func (c Cues) Tier() Tier {
	switch {
	case c.states(criticalCues) || startsWith(c.words, "never", "always"):
		return Tier{"critical", "structural", .9}
	case c.states(notableCues):
		return Tier{"notable", "potential", .78}
	}
	return Tier{"background", "contextual", .7}
}

func startsWith(list []Word, first ...string) bool {
	for _, w := range first {
		if len(list) > 0 && list[0].Lower == w {
			return true
		}
	}
	return false
}

// matters are words for how much something matters, and what each group of them is worth.
func matters() []struct {
	worth float64
	cues  []string
} {
	return []struct {
		worth float64
		cues  []string
	}{
		{1, []string{"critical", "crucial", "vital", "essential", "urgent", "life-changing", "paramount", "indispensable"}},
		{.75, []string{"significant", "important", "major", "meaningful", "valuable", "serious", "considerable", "key", "high"}},
		{.5, []string{"interesting", "notable", "noteworthy", "curious", "relevant", "useful", "medium", "moderate"}},
		{.25, []string{"routine", "normal", "ordinary", "everyday", "usual", "common", "regular", "standard", "minor", "low"}},
		{0, []string{"trivial", "unimportant", "insignificant", "negligible", "irrelevant", "meaningless", "fleeting", "nothing"}},
	}
}

// unknownMatter is what a text is worth that says nothing of how much it matters.
const unknownMatter = .5

// Matters is how much something matters that a text describes in words, from 0 to 1: critical, significant, interesting, routine,
// trivial, and what means the same. What is said not to matter is 0, and any other text .5, also one that doubts how much it matters. What
// may matter is half way between both.
func Matters(text string) float64 {
	c := cuesOf(Cut(text, Short))
	for _, m := range matters() {
		if m.worth >= unknownMatter && c.negates(m.cues) {
			return 0
		}
	}
	for _, m := range matters() {
		switch {
		case !c.states(m.cues):
		case c.hedges(m.cues):
			return (m.worth + unknownMatter) / 2
		default:
			return m.worth
		}
	}
	return unknownMatter
}
