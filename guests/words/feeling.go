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
	cues string
} {
	return []struct {
		Emotion
		cues string
	}{
		{Emotion{"frustrated", .7}, "frustrated frustrating frustration annoyed annoying annoyance stuck irritated irritating exasperated fed-up infuriating"},
		{Emotion{"confident", .55}, "confident confidence certain sure definitely certainly convinced undoubtedly"},
		{Emotion{"proud", .5}, "proud pride proudly accomplished achievement accomplishment delighted thrilled"},
		{Emotion{"surprised", .45}, "surprised surprising surprise surprisingly unexpected unexpectedly astonished astonishing astonishingly shocked"},
	}
}

// EmotionOf is the emotion that most words of a text show, of several the strongest; the zero one where they show none. A negated
// word shows nothing.
func EmotionOf(text string) (found Emotion) {
	spoken, most := locate(Cut(text, Long)), 0
	for _, e := range emotions() {
		if n := spoken.count(e.cues); n > most {
			most, found = n, e.Emotion
		}
	}
	return found
}

// located is a text's words, and where each of them is. A text is compared with some hundred cues, which takes the time of its words and
// of the cues, and not of each with each.
type located struct {
	list []Word
	at   map[string][]int // places in the list by the words in lower case
}

func locate(text string) located {
	l := located{list: Split(text)}
	l.at = make(map[string][]int, len(l.list))
	for i, w := range l.list {
		l.at[w.Lower] = append(l.at[w.Lower], i)
	}
	return l
}

// count is how many words are cues, without those that are negated.
func (l located) count(cues string) (n int) {
	for i := range l.places(cues) {
		if !negated(l.list, i) {
			n++
		}
	}
	return n
}

// places are where a word, or it and the next one, is one of some cues.
func (l located) places(cues string) iter.Seq[int] {
	return func(yield func(int) bool) {
		for cue := range strings.FieldsSeq(cues) {
			first, second, pair := strings.Cut(cue, "-")
			for _, i := range l.at[first] {
				if pair && (i+1 == len(l.list) || l.list[i+1].Lower != second) {
					continue
				}
				if !yield(i) {
					return
				}
			}
		}
	}
}

// negates reports whether one of some cues is negated.
func (l located) negates(cues string) bool {
	for i := range l.places(cues) {
		if negated(l.list, i) {
			return true
		}
	}
	return false
}

// reach is how many words before another a negation may be.
const reach = 3

// negated reports whether a word of the same sentence, shortly before, negates the one at i.
func negated(list []Word, i int) bool {
	for j := i - 1; j >= 0 && j >= i-reach && !list[j+1].Start; j-- {
		if isNegation(list[j].Lower) {
			return true
		}
	}
	return false
}

func isNegation(w string) bool {
	switch w {
	case "not", "no", "never", "hardly", "barely", "without", "cannot":
		return true
	}
	return strings.HasSuffix(w, "n't") || strings.HasSuffix(w, "n’t")
}

// Tier is how a memory stands out among others.
type Tier struct {
	Observation string  // critical, notable or background
	Importance  string  // structural, potential or contextual
	Confidence  float64 // 0 to 1
}

const (
	criticalCues = "critical crucial must never always security vulnerability breach outage production blocker breaking incident data-loss architecture invariant mandatory required"
	notableCues  = "decided decision chose chosen discovered realized realised learned found important significant prefer prefers should fixed changed plan planned because noticed notable"
)

// TierOf is the tier that the words of a text show.
func TierOf(text string) Tier {
	spoken := locate(Cut(text, Long))
	switch {
	case spoken.count(criticalCues) > 0 || startsWith(spoken.list, "never", "always"):
		return Tier{"critical", "structural", .9}
	case spoken.count(notableCues) > 0:
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
	cues  string
} {
	return []struct {
		worth float64
		cues  string
	}{
		{1, "critical crucial vital essential urgent life-changing paramount indispensable"},
		{.75, "significant important major meaningful valuable serious considerable key high"},
		{.5, "interesting notable noteworthy curious relevant useful medium moderate"},
		{.25, "routine normal ordinary everyday usual common regular standard minor low"},
		{0, "trivial unimportant insignificant negligible irrelevant meaningless fleeting nothing"},
	}
}

// unknownMatter is what a text is worth that says nothing of how much it matters.
const unknownMatter = .5

// Matters is how much something matters that a text describes in words, from 0 to 1: critical, significant, interesting, routine,
// trivial, and what means the same. What is said not to matter is 0, and any other text .5.
func Matters(text string) float64 {
	spoken := locate(Cut(text, Short))
	for _, m := range matters() {
		if m.worth >= unknownMatter && spoken.negates(m.cues) {
			return 0
		}
	}
	for _, m := range matters() {
		if spoken.count(m.cues) > 0 {
			return m.worth
		}
	}
	return unknownMatter
}
