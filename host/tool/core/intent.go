package core

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/host/search"
	"github.com/alcove-memory/alcove/host/tool"
)

const (
	mostSuggested = 4   // families suggested for an intent: the best and three others
	comparable    = .08 // least ratio of a suggestion's score to the first
	leastMeaning  = .15 // least nearness of a family that has no word of the intent

	ofWording   = .6  // weight of the odds by wording
	ofMeaning   = .7  // of those by meaning
	ofNearest   = 8.  // of the nearness of the nearest examples
	ofElsewhere = 3.3 // how much likelier, as a logarithm, it is that no family does it
	certainty   = .5  // of the odds: wording and meaning are not independent, so their sum is too sure
)

// suggestion is a family that may serve an intent, with the reason.
type suggestion struct {
	family  *tool.Set
	score   float64  // how likely it is, from 0 to 1
	meaning float64  // how near its examples and descriptions are, at most 1
	matched []string // the intent's words in its description
	part    float64  // their fraction of the intent's words
}

// suggest returns those of some families of the snapshot that serve an intent, best first; none if it is likelier that no family does.
func (n *intents) suggest(families []*tool.Set, intent string) []suggestion {
	odds, near := n.odds(intent)
	asked := n.wordsOf(intent)
	elsewhere := odds[0] + ofElsewhere
	list, all, first := []suggestion{}, math.Exp(certainty*elsewhere), elsewhere
	for _, f := range families {
		class := n.classes[f]
		s := suggestion{family: f, meaning: near[class], score: math.Exp(certainty * odds[class])}
		for _, w := range asked {
			if n.terms[class][w.term] {
				s.matched = append(s.matched, w.text)
			}
		}
		if len(s.matched) == 0 && s.meaning < leastMeaning {
			continue
		}
		s.part = float64(len(s.matched)) / float64(max(1, len(asked)))
		all, first = all+s.score, max(first, odds[class])
		list = append(list, s)
	}
	if first == elsewhere {
		return nil
	}
	for i := range list {
		list[i].score /= all
	}
	slices.SortStableFunc(list, func(a, b suggestion) int { return cmp.Compare(b.score, a.score) })
	least := comparable * list[0].score
	list = slices.DeleteFunc(list, func(s suggestion) bool { return s.score < least })
	return list[:min(len(list), mostSuggested)]
}

// odds returns, for each class, the logarithm of how likely an intent is for it, beside a constant, and how near its texts are.
func (n *intents) odds(intent string) (odds, near []float64) {
	odds, near = make([]float64, len(n.terms)), make([]float64, len(n.terms))
	n.wording.odds(intent, ofWording, odds)
	if n.meanings != nil {
		if v := n.vectors.Vector(intent); len(v) == len(n.meanings.mean) {
			var means []float64
			means, near = n.meanings.compare(v)
			addTo(odds, means, ofMeaning)
			addTo(odds, near, ofNearest)
		}
	}
	// Of a constant that all share, exp would overflow.
	most := slices.Max(odds)
	for i := range odds {
		odds[i] -= most
	}
	return odds, near
}

// best returns the suggestion to follow without asking, or nil if there is none.
func best(list []suggestion) *suggestion {
	if len(list) == 0 || list[0].family.Fault != "" || len(list) > 1 && list[0].score == list[1].score {
		return nil
	}
	return &list[0]
}

// wordTerm is a word of an intent.
type wordTerm struct {
	text, term string
}

// wordsOf returns the significant words of an intent, each term once: not those by which people ask, unless there are no others.
func (n *intents) wordsOf(intent string) []wordTerm {
	terms := search.Keywords(intent)
	telling := slices.DeleteFunc(slices.Clone(terms), func(term string) bool { return isAmong(n.asking, term) })
	if len(telling) == 0 {
		telling = terms
	}
	return n.spelled(intent, telling)
}

// spelled returns terms as an intent spells them, in its order.
func (n *intents) spelled(intent string, telling []string) []wordTerm {
	var list []wordTerm
	for _, text := range strings.Fields(spaced(intent)) {
		for _, term := range search.Terms(text) {
			if i := slices.Index(telling, term); i >= 0 {
				telling = slices.Delete(telling, i, i+1)
				list = append(list, wordTerm{strings.ToLower(strings.Trim(text, `.,;:!?"'()`)), term})
			}
		}
	}
	return list
}

// isAmong reports whether a term is in a sorted list.
func isAmong(sorted []string, term string) bool {
	_, found := slices.BinarySearch(sorted, term)
	return found
}

// isNumber reports whether a term is written in digits.
func isNumber(term string) bool { return strings.Trim(term, "0123456789") == "" }
