package workingmemory

import (
	"math"
	"strings"

	"github.com/alcove-memory/alcove/guests/lib/words"
)

// cues are what a text has in common with the talk before it, and what tells that it begins something else.
type cues struct {
	near nearTo // how near its meaning is to the texts before; as for most texts without an embedder

	refers    bool // it takes up what was said: it, they, such, then
	counts    bool // it begins with some of what was said: two, half, most
	hedges    bool // it weighs what was said: perhaps, should, usually
	announces bool // it says that something else follows
	turns     bool // it begins with a word that often precedes something else
	asks      bool // it is a question
	closed    bool // what was said before is done
	foreign   bool // it is in another language

	repeats    bool    // most of its words were said before
	pronoun    bool    // it has a word that stands for what was said
	stands     bool    // it begins with one
	continues  bool    // it begins with what goes on: and, but, because
	numbers    bool    // it begins with a number: of what was said
	indefinite bool    // it begins with a or an: what was said is one
	definite   bool    // it begins with the
	own        bool    // it begins with I, we, my or our
	says       bool    // it is a whole sentence: it has a verb that sentences often have
	names      bool    // it has a colon: it names what it is about
	pauses     bool    // it has a comma
	length     float64 // its words, in tens, up to 15
	after      bool    // the text before begins with the
	asked      bool    // the text before is a question: what comes is the answer
}

const (
	references = ` it its it's they them their theirs this that these those such one ones he she him his her both neither either same
		then so too also instead otherwise still else once exactly only even more less better worse faster slower nearer because
		everyone everything somebody half most none er sie es ihr ihm diese dieser dieses dann auch `
	pronouns = ` it its it's they them their theirs this that these those such one ones he she him his her both neither either same
		they're that's he's she's
		there's he'd she'd they'd it'll they'll that'll er sie es ihr ihm diese dieser dieses `
	going = ` and but so because then instead otherwise also too still only even maybe perhaps probably no yes not or until unless since
		though although
		especially mostly usually hence und aber oder denn also doch dann auch sonst deshalb weil nor except without likewise `
	counting = ` one two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty hundred half twice once both
		all none most several
		few many some every each another any nobody everyone nobody's everybody nothing zwei drei vier fünf sechs sieben acht neun zehn alle `
	definites = ` the der die das `
	owning    = ` my our mein unser i we ich wir i'll i've we've we'll `
	verbal    = ` is are was were has have had isn't aren't wasn't hasn't needs want wants comes came begins began starts runs got gets
		ist sind hat haben war will
		kommt must should can't doesn't don't didn't won't `
	parts = ` two three four five six seven eight nine ten twelve several few many half most some all none every another second third first
		only even nobody everybody everyone nothing no yes zwei drei vier alle keiner beide viele einige `
	hedging  = ` perhaps maybe probably likely usually would should could might ought apparently supposedly presumably vielleicht wohl `
	changing = ` next topic | new topic | new subject | different question | different topic | different subject | something different |
		something else | other things | another note | other topic | another topic | another subject | another matter | unrelated |
		switching gears | change of subject | change the subject | change of topic | change the topic | moving on to | move on to | moving along |
		let us look at | let's look at | turning to | back to | while we are at it | leaves the question | one more thing | anderes thema | themenwechsel | was anderes `
	turning = ` by the way | btw | anyway | next | moving on | meanwhile | say | before i forget | ok | okay | right | now | speaking of
		| incidentally | übrigens | apropos | so `
	closing = ` done fixed solved resolved gone works repaired merged finished agreed accepted settled closed shipped booked deployed
		rebuilt updated again now green decided took fine away erledigt fertig `
	english = ` the a of is to and in for with on at are was it that this not we our you i `
	german  = ` der die das und ist nicht mit ein eine wir haben sie zu den im bei auf sind es noch `
)

// The weights of cues for another topic: of a logistic model that was fitted to labelled transitions, and rounded. Nothing in common and nothing
// taken up are two cues, and enough.
const (
	ofNothing    = .3
	ofNearest    = -1.15
	ofNearLast   = -1.1
	ofNearWhole  = -1.05
	ofRepeats    = -2.5
	ofLength     = 1
	ofRefers     = -1
	ofCounts     = -.95
	ofHedges     = -.95
	ofAnnounces  = 2.3
	ofTurns      = .2
	ofAsks       = 1.3
	ofClosed     = 1.1
	ofForeign    = .5
	ofPronoun    = -.85
	ofStands     = -.75
	ofContinues  = -1
	ofNumbers    = -1.15
	ofIndefinite = -1.4
	ofDefinite   = -.35
	ofOwn        = 1
	ofSays       = .4
	ofNames      = 1.45
	ofPauses     = -1.15
	ofAfter      = -.6
	ofAsked      = -.75

	repeated  = .6 // the share of the words that are most: one word in common is often another thing
	usualNear = .1 // of a text whose meaning is unknown

	evens = .3 // the similarity for which the cues are even: the default of boundary_similarity
	scale = .1 // what a weight of 1 takes off it
)

// similarity is from 0, another topic, to 1.
func (c *cues) similarity() float64 {
	sum := ofNothing + ofNearest*c.near.nearest + ofNearLast*c.near.last + ofNearWhole*c.near.whole + ofLength*c.length
	for _, cue := range []struct {
		is     bool
		weight float64
	}{
		{c.refers, ofRefers}, {c.counts, ofCounts}, {c.hedges, ofHedges}, {c.announces, ofAnnounces}, {c.turns, ofTurns}, {c.asks, ofAsks},
		{c.closed, ofClosed},
		{c.foreign, ofForeign}, {c.repeats, ofRepeats}, {c.pronoun, ofPronoun},
		{c.stands, ofStands}, {c.continues, ofContinues}, {c.numbers, ofNumbers}, {c.indefinite, ofIndefinite},
		{c.definite, ofDefinite}, {c.own, ofOwn}, {c.says, ofSays},
		{c.names, ofNames}, {c.pauses, ofPauses}, {c.after, ofAfter}, {c.asked, ofAsked},
	} {
		if cue.is {
			sum += cue.weight
		}
	}
	return thousandths(max(0, min(1, evens-scale*sum)))
}

// thousandths is a number that is rounded to three digits: weights are no more exact.
func thousandths(x float64) float64 { return math.Round(1000*x) / 1000 }

// cuesOf compares a text with those before it, newest last.
func cuesOf(before []string, next string) cues {
	spoken := said(next)
	opening := strings.Join(firstOf(strings.Fields(spoken), 4), " ")
	first := strings.Join(firstOf(strings.Fields(spoken), 1), "")
	c := cues{
		near: nearTo{usualNear, usualNear, usualNear}, repeats: sharedWords(before, next) >= repeated, refers: among(references, spoken), counts: among(parts, first),
		hedges: among(hedging, spoken), announces: phrased(changing, spoken), turns: begins(turning, opening), asks: strings.Contains(next, "?"),
		pronoun: among(pronouns, spoken), stands: among(pronouns, first), continues: among(going, first), numbers: among(counting, first) || isNumber(first),
		indefinite: among(` a an ein eine `, first), definite: among(definites, first), own: among(owning, first), says: among(verbal, spoken),
		names: strings.Contains(next, ":"), pauses: strings.Contains(next, ","), length: float64(min(len(strings.Fields(spoken)), 15)) / 10,
	}
	if len(before) > 0 {
		last := said(before[len(before)-1])
		c.closed = among(closing, last)
		c.after = among(definites, strings.Join(firstOf(strings.Fields(last), 1), ""))
		c.asked = strings.Contains(before[len(before)-1], "?")
		c.foreign = isGerman(spoken) && among(english, last) || isGerman(last) && among(english, spoken)
	}
	return c
}

func isNumber(word string) bool { return word != "" && strings.Trim(word, "0123456789") == "" }

func isGerman(spoken string) bool { return among(german, spoken) && !among(english, spoken) }

// said is a text in lower case, its words between single spaces.
func said(text string) string {
	var out strings.Builder
	for _, w := range words.Split(words.Cut(text, words.Long)) {
		out.WriteByte(' ')
		out.WriteString(strings.ReplaceAll(w.Lower, "’", "'"))
	}
	out.WriteByte(' ')
	return out.String()
}

func firstOf(list []string, most int) []string { return list[:min(len(list), most)] }

// among reports whether a text has a word of a list.
func among(list, spoken string) bool {
	for _, w := range strings.Fields(spoken) {
		for _, l := range strings.Fields(list) {
			if w == l {
				return true
			}
		}
	}
	return false
}

// phrased reports whether a text has a phrase of a list.
func phrased(list, spoken string) bool {
	for _, phrase := range strings.Split(list, "|") {
		if strings.Contains(spoken, " "+strings.TrimSpace(phrase)+" ") {
			return true
		}
	}
	return false
}

// begins reports whether a text begins with a phrase of a list.
func begins(list, opening string) bool {
	for _, phrase := range strings.Split(list, "|") {
		if strings.HasPrefix(opening+" ", strings.TrimSpace(phrase)+" ") {
			return true
		}
	}
	return false
}

// sharedWords is the share of a text's words of more than three letters whose stems were said before.
func sharedWords(before []string, next string) float64 {
	known := map[string]bool{}
	for _, text := range before {
		for _, w := range words.Split(words.Cut(text, words.Long)) {
			known[words.Stem(w.Lower)] = true
		}
	}
	of, found := 0, 0
	for _, w := range words.Split(words.Cut(next, words.Long)) {
		if len(w.Lower) > 3 {
			of++
			if known[words.Stem(w.Lower)] {
				found++
			}
		}
	}
	if of == 0 {
		return 1
	}
	return float64(found) / float64(of)
}
