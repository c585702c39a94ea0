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
	mostSuggested = 5      // families suggested for an intent
	clearlyBetter = 1.1    // least ratio of a family's score to the next for it to be loaded
	wellDescribed = 1. / 4 // and least part of the intent's words in its description
	fits          = .2     // least part of the intent's telling words that a family must be described with to be suggested at all
	fitsBeside    = 2      // words, at least, if the intent has one of what needs a tool of its own that no family is described with
)

// Weights of an intent's word by the part of a family's description.
const (
	inName        = 4.
	inKeywords    = 3.
	inDescription = 2.5
	inTools       = 1.5 // names and descriptions of the tools
	inDocs        = .3
)

// suggestion is a family that may serve an intent, with the reason.
type suggestion struct {
	family  *tool.Set
	score   float64
	matched []string // the intent's words in its description
	part    float64  // their fraction of the intent's words
	telling bool     // one of them is in the descriptions of at most half of the families
	about   float64  // how well the intent's telling words describe it, from 0 to 1
	strong  int      // number of these in its name, description and keywords
}

// intents knows what the families of a snapshot are described with, and the words that tell nothing of an intent. It does not change.
type intents struct {
	snapshot *tool.Snapshot
	terms    map[*tool.Set]map[string]float64 // weights of the terms that describe a family

	asking, common, elsewhere []string // sorted terms
}

func newIntents(s *tool.Snapshot) *intents {
	n := &intents{s, map[*tool.Set]map[string]float64{}, search.Keywords(asking), search.Keywords(common), search.Keywords(elsewhere)}
	for _, f := range s.Sets {
		n.terms[f] = termsOf(f)
	}
	return n
}

// intents returns what is known of the families of a snapshot. It is worked out once.
func (k *kit) intents(s *tool.Snapshot) *intents {
	known := k.described.Load()
	if known == nil || known.snapshot != s {
		known = newIntents(s)
		k.described.Store(known)
	}
	return known
}

// suggest returns those of some families of the snapshot that serve an intent, best first. A word counts more the fewer families it
// describes, and the less it does.
func (n *intents) suggest(families []*tool.Set, intent string) []suggestion {
	asked := n.wordsOf(intent)
	known, in := make([]float64, len(asked)), make([]int, len(asked)) // of each word: its weights in all families, and the number of these, their docs left out
	for i, w := range asked {
		for _, f := range families {
			weight := n.terms[f][w.term]
			known[i] += weight
			if weight >= inTools {
				in[i]++
			}
		}
	}
	var list []suggestion
	beside := false
	for i, w := range asked {
		beside = beside || in[i] == 0 && isAmong(n.elsewhere, w.term)
	}
	for _, f := range families {
		s, telling := suggestion{family: f}, 0
		for i, w := range asked {
			weight := n.terms[f][w.term]
			if !w.common {
				telling++
				s.about += min(weight, inDescription) / inDescription
				if weight >= inDescription {
					s.strong++
				}
			}
			if weight == 0 {
				continue
			}
			s.score += weight * math.Log(1+float64(len(families))*inName/known[i])
			s.matched = append(s.matched, w.text)
			s.telling = s.telling || 2*in[i] <= max(2, len(families))
		}
		s.part, s.about = float64(len(s.matched))/float64(max(1, len(asked))), s.about/float64(max(1, telling))
		if s.score > 0 {
			list = append(list, s)
		}
	}
	slices.SortStableFunc(list, func(a, b suggestion) int { return cmp.Compare(b.score, a.score) })
	if !slices.ContainsFunc(list, func(s suggestion) bool { return s.about >= fits && (!beside || s.strong >= fitsBeside) }) {
		return nil // they have words in common that tell nothing of what is wanted
	}
	return list[:min(len(list), mostSuggested)]
}

// best returns the suggestion to follow without asking, or nil if there is none.
func best(list []suggestion) *suggestion {
	if len(list) == 0 || list[0].family.Fault != "" || list[0].part < wellDescribed || !list[0].telling {
		return nil
	}
	if len(list) > 1 && list[0].score < clearlyBetter*list[1].score {
		return nil
	}
	return &list[0]
}

// termsOf returns the terms that describe a family, with their weights. What the tools of a deprecated family do, its successors do: it is
// found only by what is said of the family.
func termsOf(f *tool.Set) map[string]float64 {
	weights := map[string]float64{}
	count := func(text string, weight float64) {
		for _, term := range search.Keywords(text) {
			weights[term] = max(weights[term], weight)
		}
	}
	count(spaced(f.Name), inName)
	count(f.Description, inDescription)
	count(strings.Join(f.Keywords, " "), inKeywords)
	if f.Deprecated {
		return weights
	}
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
type wordTerm struct {
	text, term string
	common     bool // it tells nothing of what is wanted
}

const (
	// asking are words by which people ask for anything.
	asking = `want need like let give show see tell say make use used know help try please able way thing something anything everything one memory memories`

	// common are words that are in requests of any kind: verbs that need an object to mean something, numbers, and times. A family that has
	// only these in common with an intent does not serve it.
	common = `add ask begin book bring build buy call change check choose close come compute cook create cut delete do draw drive eat
		end fill find finish fix get give go handle have help hold keep know learn leave let list load look make move need new old open order pay
		perform play pick pull push put read ready remove request reset right run schedule search see sell send set show start stop take talk tell
		test think try turn update use wait want watch work write
		all any both each every few first last many more most much next other same several some single such whole
		one two three four five six seven eight nine ten dozen hundred thousand half
		now today tomorrow tonight yesterday second minute hour day week month year monthly weekly daily morning evening night time times date
		monday tuesday wednesday thursday friday saturday sunday`

	// elsewhere are words of what a memory does not do and other tools do. If no family is described with such a word of an intent, two of
	// its other words must describe one.
	elsewhere = `email letter sms phone telephone contacts calendar appointment meeting reminder alarm timer clock todo task
		weather forecast news stocks price currency dollars euros bank invoice
		restaurant table hotel flight bus taxi route station
		pizza recipe meal food grocery shopping cart milk calories
		music song jazz piano film movie video photo picture image camera screenshot audio voice speech podcast
		lamp light heating thermostat kitchen door wifi printer print pdf spreadsheet slides chart browser
		translate translation language poem story joke essay homework equation sum calculate
		compile compiler docker repository github`
)

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
				list = append(list, wordTerm{strings.ToLower(strings.Trim(text, `.,;:!?"'()`)), term, isAmong(n.common, term) || isNumber(term)})
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
