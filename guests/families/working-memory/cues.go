package workingmemory

import (
	"strings"

	"github.com/alcove-memory/alcove/guests/lib/words"
)

// cues are what a text has in common with the talk before it, and what tells that it begins something else.
type cues struct {
	near   float64 // how near its meaning is to the texts before; as for most texts without an embedder
	shared float64 // share of its words that were said before, from 0 to 1

	refers    bool // it takes up what was said: it, they, such, then
	counts    bool // it begins with some of what was said: two, half, most
	hedges    bool // it weighs what was said: perhaps, should, usually
	announces bool // it says that something else follows
	turns     bool // it begins with a word that often precedes something else
	asks      bool // it is a question
	closed    bool // what was said before is done
	foreign   bool // it is in another language
}

const (
	references = ` it its it's they them their theirs this that these those such one ones he she him his her both neither either same
		then so too also instead otherwise still else once exactly only even more less better worse faster slower nearer because
		everyone everything somebody half most none er sie es ihr ihm diese dieser dieses dann auch `
	parts = ` two three four five six seven eight nine ten twelve several few many half most some all none every another second third first
		only even nobody everybody everyone nothing no yes zwei drei vier alle keiner beide viele einige `
	hedging  = ` perhaps maybe probably likely usually would should could might ought apparently supposedly presumably vielleicht wohl `
	changing = ` next topic | new topic | new subject | different question | different topic | different subject | something different |
		something else | other things | another note | other topic | another topic | another subject | another matter | unrelated |
		switching gears | change of subject | change the subject | change of topic | change the topic | moving on to | move on to | moving along |
		let us look at | let's look at | turning to | back to | while we are at it | leaves the question | one more thing | anderes thema | themenwechsel | was anderes `
	turning = ` by the way | btw | anyway | next | moving on | meanwhile | say | before i forget | ok | okay | right | now | speaking of | incidentally | übrigens | apropos | so `
	closing = ` done fixed solved resolved gone works repaired merged finished agreed accepted settled closed shipped booked deployed rebuilt updated again now green decided took fine away erledigt fertig `
	english = ` the a of is to and in for with on at are was it that this not we our you i `
	german  = ` der die das und ist nicht mit ein eine wir haben sie zu den im bei auf sind es noch `
)

// The weights of cues for another topic: of a logistic model that was fitted to labelled transitions, and rounded. The words of a text that
// were said before weigh what they do beside its meaning. Nothing in common and nothing taken up are two cues, and enough.
const (
	ofNothing   = .8
	ofNear      = -4.6
	ofShared    = -2
	ofRefers    = -2.3
	ofCounts    = -.7
	ofHedges    = -1.1
	ofAnnounces = 2.5
	ofTurns     = .5
	ofAsks      = 1.6
	ofClosed    = 1.2
	ofForeign   = .6

	usualNear = .1 // of a text whose meaning is unknown

	evens = .3 // the similarity for which the cues are even: the default of boundary_similarity
	scale = .1 // what a weight of 1 takes off it
)

// similarity is from 0, another topic, to 1.
func (c *cues) similarity() float64 {
	sum := ofNothing + ofNear*c.near + ofShared*c.shared
	for _, cue := range []struct {
		is     bool
		weight float64
	}{
		{c.refers, ofRefers}, {c.counts, ofCounts}, {c.hedges, ofHedges}, {c.announces, ofAnnounces}, {c.turns, ofTurns}, {c.asks, ofAsks}, {c.closed, ofClosed},
		{c.foreign, ofForeign},
	} {
		if cue.is {
			sum += cue.weight
		}
	}
	return max(0, min(1, evens-scale*sum))
}

// cuesOf compares a text with those before it, newest last.
func cuesOf(before []string, next string) cues {
	spoken := said(next)
	opening := strings.Join(firstOf(strings.Fields(spoken), 4), " ")
	c := cues{
		near: usualNear, shared: sharedWords(before, next), refers: among(references, spoken), counts: among(parts, strings.Join(firstOf(strings.Fields(spoken), 1), "")), hedges: among(hedging, spoken),
		announces: phrased(changing, spoken), turns: begins(turning, opening), asks: strings.Contains(next, "?"),
	}
	if len(before) > 0 {
		last := said(before[len(before)-1])
		c.closed = among(closing, last)
		c.foreign = isGerman(spoken) && among(english, last) || isGerman(last) && among(english, spoken)
	}
	return c
}

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
