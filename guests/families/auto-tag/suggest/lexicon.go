package suggest

import (
	"strings"

	"github.com/alcove-memory/alcove/guests/lib/words"
)

// The types that a text can show by its words, in the order in which they win a tie.
const (
	Error         = "error"
	Correction    = "correction"
	Decision      = "decision"
	SteeringRule  = "steering_rule"
	Plan          = "plan"
	Insight       = "insight"
	Learning      = "learning"
	Summary       = "session_summary"
	Observation   = "observation"
	typesThatShow = 8
)

// order are the types that words show.
func order() [typesThatShow]string {
	return [typesThatShow]string{Error, Correction, Decision, SteeringRule, Plan, Insight, Learning, Summary}
}

// weights are how important memories of a type are when nothing else is known.
func weights() map[string]float64 {
	return map[string]float64{
		Decision: .8, Error: .7, Insight: .75, Correction: .7, SteeringRule: .85, Learning: .65, Summary: .6, Plan: .6, Observation: .5,
	}
}

// meaning is what a word says about the text that it is in.
type meaning struct {
	stop   bool // says nothing about what the text is about
	shows  int8 // the type it is a sign of, from 1 on; 0: none
	weight float32
	// lift is what it adds to the importance.
	lift float32
	// joins says that the word and the next one may be a sign together.
	joins bool
}

// lexicon is what is known of words of the language. It is not changed once it is made.
type lexicon struct {
	words map[string]meaning
	pairs map[string]meaning // two words with a blank between
}

// newLexicon reads the lists below.
func newLexicon() *lexicon {
	l := &lexicon{words: map[string]meaning{}, pairs: map[string]meaning{}}
	for _, w := range words.Stops() {
		l.words[w] = meaning{stop: true}
	}
	for i, cues := range []string{errorCues, correctionCues, decisionCues, ruleCues, planCues, insightCues, learningCues, summaryCues} {
		l.read(cues, func(m *meaning, weight float32) { m.shows, m.weight = int8(i+1), weight })
	}
	l.read(lifts, func(m *meaning, weight float32) { m.lift = weight })
	return l
}

// read reads cues: words or pairs of words with a sign and a digit, tenths.
func (l *lexicon) read(list string, set func(m *meaning, weight float32)) {
	for cue := range strings.SplitSeq(list, ",") {
		cue = strings.TrimSpace(cue)
		at := strings.LastIndexByte(cue, ' ')
		text, weight := cue[:at], float32(cue[len(cue)-1]-'0')/10
		if cue[at+1] == '-' {
			weight = -weight
		}
		first, _, pair := strings.Cut(text, " ")
		in := l.words
		if pair {
			m := l.words[first]
			m.joins = true
			l.words[first] = m
			in = l.pairs
		}
		m := in[text]
		set(&m, weight)
		in[text] = m
	}
}

const errorCues = `error +6, errors +6, exception +8, crash +8, crashed +8, crashes +8, panic +7, segfault +9, failed +6, fails +6,
failure +6, failing +6, bug +6, broken +5, traceback +9, stacktrace +9, stack trace +9, timed out +7, timeout +4, outage +8,
regression +6, deadlock +7, out of +0, refused connection +6, connection refused +8, returns 500 +7, exit code +6, cannot connect +7,
does not +2, doesn't work +7, not working +7, corrupted +7, corrupt +6, leak +4, leaks +5`

const correctionCues = `correction +9, corrected +8, actually +5, was wrong +9, were wrong +9, is wrong +7, mistaken +8, mistake +5,
should have +4, not true +7, no longer +6, turns out +3, outdated +5, rather than +3, misremembered +9, i meant +8, to correct +9,
instead of +3`

const decisionCues = `decided +9, decision +9, decide +4, we chose +9, chose +7, chosen +6, going with +8, go with +6, went with +7,
we'll use +8, will use +6, agreed to +7, agreed on +7, agreed +6, opted for +9, opted +7, settled on +9, picked +5, selected +5,
switch to +5, switched to +6, migrate to +5, adopt +6, adopted +6, approved +6, standardize on +7, rejected +6`

const ruleCues = `always +7, never +7, must +6, must not +8, do not +6, don't +5, rule +6, rules +4, policy +5, should always +9,
should never +9, prefer +6, prefers +6, make sure +6, ensure +5, avoid +6, remember to +5, forbidden +7, required to +5,
guideline +7, convention +5, whenever +3`

const planCues = `plan +7, plans +6, planned +6, planning +6, todo +9, to do +4, next step +8, next steps +8, will +3, going to +5, intend to +7,
roadmap +8, milestone +7, deadline +6, schedule +5, scheduled +5, upcoming +5, next week +5, next month +5, tomorrow +4,
needs to +3, by friday +6, want to +3, wants to +3, hope to +4, sprint +4, backlog +6`

const insightCues = `insight +9, realized +8, realised +8, root cause +9, key takeaway +9, takeaway +8, turns out +6, the reason +6,
because +3, pattern +5, explains why +8, suggests that +6, means that +5, implies +6, correlates +7, interestingly +6, noticed that +5,
underlying +5, bottleneck +5`

const learningCues = `learned +9, learnt +9, lesson +8, lessons +8, til +8, found out +7, discovered +7, i now +4, taught +6,
figured out +7, now understand +8, tutorial +4, how to +3`

const summaryCues = `summary +9, summarize +7, recap +9, in this session +0, this session +8, session +5, we discussed +8, discussed +6,
we covered +8, so far +4, to summarize +9, in short +6, overview +6, meeting notes +8, we talked +7, highlights +5, minutes +2`

const lifts = `critical +9, important +7, urgent +8, must +4, always +3, never +4, security +5, vulnerability +7, production +4,
password +5, credentials +5, secret +4, deadline +4, outage +6, breaking +4, blocker +6, emergency +8, allergic +8, allergy +8, medical +5,
legal +4, compliance +5, required +3, crucial +8, essential +6, vital +6, warning +4, maybe -5, perhaps -5, might -3, possibly -4,
probably -2, guess -4, somewhat -3, trivial -6, minor -5, cosmetic -6, not sure -6, fyi -3, weather -2, lunch -3`

// Types are the types that memories are given.
func Types() []string {
	shown := order()
	return append(shown[:], Observation)
}
