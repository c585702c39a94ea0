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
	mostSuggested = 4      // families suggested for an intent: the best and three others
	clearlyBetter = 1.01   // least ratio of a family's score to the next for it to be loaded
	wellDescribed = 1. / 4 // and least part of the intent's words in its description, one of them telling; or
	nearEnough    = .5     // least nearness of its meaning
	comparable    = .5     // least ratio of a suggestion's score to the first
	leastScore    = .15    // of a family that fits
	farther       = .03    // how much farther, at least, what no family does has to be

	ofWords  = .6 // weight of words beside that of meaning
	ofCommon = .3 // weight of a word that is in requests of any kind
)

// suggestion is a family that may serve an intent, with the reason.
type suggestion struct {
	family  *tool.Set // nil: none does
	score   float64   // from 0 to 1
	meaning float64   // how near its examples and descriptions are, at most 1
	matched []string  // the intent's words in its description
	part    float64   // their fraction of the intent's words
	telling bool      // one of them is not in requests of any kind
}

// suggest returns those of some families of the snapshot that serve an intent, best first; none if what no family does is nearer. A word
// counts more the fewer families it describes.
func (n *intents) suggest(families []*tool.Set, intent string) []suggestion {
	asked := n.wordsOf(intent)
	near := n.meaningOf(intent)
	rarity, all := n.rarities(families, asked)
	of := func(family *tool.Set, d *described) suggestion {
		s := suggestion{family: family}
		for i, w := range asked {
			weight := d.terms[w.term]
			if weight == 0 {
				continue
			}
			s.score += rarity[i] * weight / all
			s.matched, s.telling = append(s.matched, w.text), s.telling || !w.common
		}
		s.part = float64(len(s.matched)) / float64(max(1, len(asked)))
		if near != nil {
			s.meaning = near(d)
			s.score = ofWords*s.score + (1-ofWords)*s.meaning
		}
		return s
	}
	var list []suggestion
	for _, f := range families {
		if s := of(f, n.families[f]); s.score > 0 {
			list = append(list, s)
		}
	}
	slices.SortStableFunc(list, func(a, b suggestion) int { return cmp.Compare(b.score, a.score) })
	if len(list) == 0 || list[0].score < max(leastScore, of(nil, n.elsewhere).score+farther) {
		return nil
	}
	least := comparable * list[0].score
	list = slices.DeleteFunc(list, func(s suggestion) bool { return s.score < least })
	return list[:min(len(list), mostSuggested)]
}

// rarities returns what each word of an intent counts, and the score of a family with all of them in its name.
func (n *intents) rarities(families []*tool.Set, asked []wordTerm) (each []float64, all float64) {
	for _, w := range asked {
		known := n.elsewhere.terms[w.term]
		for _, f := range families {
			known += n.families[f].terms[w.term]
		}
		r := math.Log(1 + float64(1+len(families))*inName/max(known, inName))
		if w.common {
			r *= ofCommon
		}
		each, all = append(each, r), all+inName*r
	}
	return each, max(all, math.SmallestNonzeroFloat64)
}

// best returns the suggestion to follow without asking, or nil if there is none.
func best(list []suggestion) *suggestion {
	if len(list) == 0 || list[0].family.Fault != "" || len(list) > 1 && list[0].score < clearlyBetter*list[1].score {
		return nil
	}
	if first := &list[0]; first.telling && first.part >= wellDescribed || first.meaning >= nearEnough {
		return first
	}
	return nil
}

// wordTerm is a word of an intent.
type wordTerm struct {
	text, term string
	common     bool // it tells nothing of what is wanted
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
				list = append(list, wordTerm{strings.ToLower(strings.Trim(text, `.,;:!?"'()`)), term, isAmong(n.common, term) || isAmong(n.asking, term) || isNumber(term)})
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
