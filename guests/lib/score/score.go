// Package score computes what memories are worth: their importance, relevance, outcome and health, and when they are forgotten.
// First-party families share it, so that each formula has one home.
package score

import (
	"math"
	"unicode/utf8"
)

// Types are the types of facts, and then other, which stands for any other type of memory. ByType has this order.
func Types() []string {
	return []string{"decision", "error", "insight", "correction", "steering_rule", "learning", "session_summary", "plan", "observation", "note", "other"}
}

const (
	typeCount = 11
	other     = typeCount - 1
)

// ByType has a number for each of Types.
type ByType [typeCount]float64

// Of is the number of a type; that of other for one without its own.
func (b ByType) Of(kind string) float64 {
	for i, name := range Types() {
		if name == kind {
			return b[i]
		}
	}
	return b[other]
}

// IsFact reports whether a type is one of facts.
func IsFact(kind string) bool {
	for _, name := range Types()[:other] {
		if name == kind {
			return true
		}
	}
	return false
}

func clamp(v, low, high float64) float64 {
	switch {
	case v > high:
		return high
	case v > low:
		return v
	}
	return low // also for NaN
}

// What a fact's text and emotion do to its importance.
const (
	briefText     = 20    // characters; shorter texts count less
	longText      = 2_000 // longer ones, too
	briefShare    = .9
	longShare     = .95
	emotionShare  = .2
	entityShare   = .05
	mostEntities  = .1
	accessShare   = .05
	mostAccesses  = .3
	outcomeShare  = .25
	leastRelevant = .01
)

// Fact is what the importance of a fact depends on.
type Fact struct {
	Weight     float64 // of its type
	Emotion    float64 // the weight of its emotion, 0 to 1
	Entities   int     // how many entities it is about
	Characters int     // of its text
}

// Importance is that of a fact when it is stored, from 0 to 1.
func (f Fact) Importance() float64 {
	share := 1.
	switch {
	case f.Characters < briefText:
		share = briefShare
	case f.Characters > longText:
		share = longShare
	}
	entities := min(mostEntities, entityShare*math.Log(1+float64(max(f.Entities, 0))))
	return clamp((f.Weight+emotionShare*clamp(f.Emotion, 0, 1)+entities)*share, 0, 1)
}

// Rounded is a number for answers: 0.7200000000000001 is 0.72 to all who read it.
func Rounded(v float64) float64 { return math.Round(v*1e6) / 1e6 }

// Characters counts those of a text.
func Characters(text string) int { return utf8.RuneCountInString(text) }

// Effective is an importance with what use and feedback add to it. It is computed at each read, and never stored.
func Effective(base float64, accesses int64, outcome float64) float64 {
	return clamp(base+min(accessShare*float64(max(accesses, 0)), mostAccesses)+outcomeShare*(outcome-.5), 0, 1)
}

// Outcome is a health, from -1 to 1, as the share of good feedback, from 0 to 1.
func Outcome(health float64) float64 { return (clamp(health, -1, 1) + 1) / 2 }

// Feedback is what feedback of value v, from 0 to 1, adds to a health, so that the outcome moves to v by the share alpha.
func Feedback(alpha, v, health float64) float64 { return alpha * (2*clamp(v, 0, 1) - 1 - health) }

// Rating is a rating from 1 to 10 as the value of feedback.
func Rating(x float64) float64 { return clamp((x-1)/9, 0, 1) }

// Sentiment is a sentiment from -1 to 1 as the value of feedback.
func Sentiment(x float64) float64 { return clamp((x+1)/2, 0, 1) }

// Ten is an importance on a scale from 1 to 10.
func Ten(v float64) int { return max(1, int(math.Round(10*clamp(v, 0, 1)))) }

// FromTen is an importance on a scale from 1 to 10 as one from 0 to 1.
func FromTen(v int) float64 { return clamp(float64(v)/10, 0, 1) }

// Relevance is what is left of a memory after some days without use, at a daily rate. Emotion slows the decay.
func Relevance(rate, days, emotion float64) float64 {
	return max(leastRelevant, math.Pow(rate, max(days, 0)/(1+.5*clamp(emotion, 0, 1))))
}

// Forgotten is what speaks for forgetting a memory.
type Forgotten struct {
	Superseded   bool
	Contradicted bool
	Accesses     int64
	Days         float64 // of age
	Importance   float64
	Relevance    float64
}

// Weights are how much each reason counts.
type Weights struct {
	Superseded   float64
	Unread       float64
	Unimportant  float64
	Contradicted float64
	Decayed      float64
}

// DefaultWeights are those where nobody says otherwise.
func DefaultWeights() Weights {
	return Weights{Superseded: .3, Unread: .2, Unimportant: .2, Contradicted: .1, Decayed: .2}
}

// What is unread, and unimportant.
const (
	fewAccesses     = 2
	unreadDays      = 30
	littleImportant = .3
)

// Score is how much speaks for forgetting it, from 0 to the sum of the weights.
func (f Forgotten) Score(w Weights) float64 {
	score := w.Decayed * (1 - clamp(f.Relevance, 0, 1))
	if f.Superseded {
		score += w.Superseded
	}
	if f.Unread() {
		score += w.Unread
	}
	if f.Unimportant() {
		score += w.Unimportant
	}
	if f.Contradicted {
		score += w.Contradicted
	}
	return score
}
