package core

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/host/search"
	"github.com/alcove-memory/alcove/host/tool"
	"github.com/alcove-memory/alcove/sdk/go/order"
)

const (
	mostSuggested = 5      // families suggested for an intent
	clearlyBetter = 1.25   // least ratio of a family's score to the next for it to be loaded
	wellDescribed = 1. / 3 // and least part of the intent's words in its description
)

// Weights of an intent's word by the part of a family's description.
const (
	inName        = 4.
	inDescription = 2.
	inTools       = 2. // names and descriptions of the tools
	inDocs        = 1.
)

// suggestion is a family that may serve an intent, with the reason.
type suggestion struct {
	family  *tool.Set
	score   float64
	matched []string // the intent's words in its description
	part    float64  // their fraction of the intent's words
}

// suggest returns the families that serve an intent, best first. A word counts more the fewer families it describes.
func suggest(there *tool.Snapshot, intent string) []suggestion {
	asked := wordsOf(intent)
	described := make([]map[string]float64, len(there.Sets))
	known := map[string]int{} // number of families by term
	for i, f := range there.Sets {
		described[i] = termsOf(f)
		for term := range described[i] {
			known[term]++
		}
	}
	var list []suggestion
	for i, f := range there.Sets {
		s := suggestion{family: f}
		for _, w := range asked {
			weight := described[i][w.term]
			if weight == 0 {
				continue
			}
			s.score += weight * math.Log(1+float64(len(there.Sets))/float64(known[w.term]))
			s.matched = append(s.matched, w.text)
		}
		s.part = float64(len(s.matched)) / float64(max(1, len(asked)))
		if s.score > 0 {
			list = append(list, s)
		}
	}
	order.StableBy(list, func(a, b suggestion) int { return cmp.Compare(b.score, a.score) })
	return list[:min(len(list), mostSuggested)]
}

// best returns the suggestion to follow without asking, or nil if there is none.
func best(list []suggestion) *suggestion {
	if len(list) == 0 || list[0].family.Fault != "" || list[0].part < wellDescribed {
		return nil
	}
	if len(list) > 1 && list[0].score < clearlyBetter*list[1].score {
		return nil
	}
	return &list[0]
}

// termsOf returns the terms that describe a family, with their weights.
func termsOf(f *tool.Set) map[string]float64 {
	weights := map[string]float64{}
	count := func(text string, weight float64) {
		for _, term := range search.Keywords(text) {
			weights[term] = max(weights[term], weight)
		}
	}
	count(spaced(f.Name), inName)
	count(f.Description, inDescription)
	count(f.Docs, inDocs)
	for _, t := range f.Tools {
		count(spaced(t.Name)+" "+t.Description, inTools)
		count(t.Docs, inDocs)
	}
	return weights
}

// spaced returns a name as words.
func spaced(name string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("._-", r) {
			return ' '
		}
		return r
	}, name)
}

// wordTerm is a word of an intent.
type wordTerm struct{ text, term string }

// wordsOf returns the significant words of an intent, each term once.
func wordsOf(intent string) []wordTerm {
	telling := search.Keywords(intent)
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
