package hook

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"unicode"
)

// found is a memory in an answer of memory_search.
type found struct {
	Key       string
	Namespace string
	Type      string
	Value     json.RawMessage
	Snippet   string
	Metadata  struct {
		Origin string
		Pinned bool
	}
	Why struct {
		Terms []struct {
			Term string
			IDF  float64
			Near float64 // above 0: the memory has a similar word instead
		}
		Documents int
	}
}

// turns are the types of turns of conversations, which are too many and too long to be told unasked.
func turns() []string { return []string{"message", "tool_call"} }

// isInjectable reports whether a memory may be told unasked.
func (s session) isInjectable(f found) bool {
	return !slices.Contains(turns(), f.Type) && (f.Metadata.Origin == "" || slices.Contains(s.Options.Origins, f.Metadata.Origin))
}

// id tells memories and their versions apart.
func (f found) id() string { return f.Namespace + "\x00" + f.Key + "\x00" + string(f.Value) }

// mostCharacters is how much of a memory a line has, in characters.
const mostCharacters = 320

// line is a memory in one line.
func (f found) line() string {
	return "- [" + f.Key + "] " + short(f.text()) + "\n"
}

func (f found) text() string {
	var text string
	if json.Unmarshal(f.Value, &text) == nil && text != "" {
		return text
	}
	if len(f.Value) > 0 && string(f.Value) != "null" {
		return string(f.Value)
	}
	return f.Snippet
}

// A prompt is about a memory that has at least leastTerms of its words, and by weight leastShare of them all. A word weighs as its inverse
// document frequency, and one that no memory has as the rarest.
const (
	leastTerms = 2
	leastShare = 0.4
)

// about reports whether a prompt of so many words is about a memory that was found for it.
func (f found) about(words int) bool {
	n, sum, terms := float64(f.Why.Documents), 0.0, 0
	for _, t := range f.Why.Terms {
		if t.Near == 0 {
			terms++
			sum += t.IDF
		}
	}
	if terms < leastTerms {
		return false
	}
	rarest := math.Log(1 + (n-1+0.5)/1.5) // by BM25, of a term that one document has
	return sum >= leastShare*float64(words)*rarest
}

// words counts the words of a prompt that tell what it is about. Of scripts without spaces, each pair of characters counts, as the index
// has them.
func words(prompt string) (count int) {
	seen, filler := map[string]bool{}, fillers()
	for _, word := range strings.FieldsFunc(strings.ToLower(prompt), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		switch {
		case seen[word] || filler[word] || len(word) < 2:
		case unicode.In([]rune(word)[0], unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai):
			count += max(len([]rune(word))-1, 1)
		default:
			count++
		}
		seen[word] = true
	}
	return count
}

func fillers() map[string]bool {
	all := map[string]bool{}
	for _, word := range strings.Fields(`a about after again all also am an and any are as at be been before being between but by can could did
do does during few for from get got had has have he her here his how i if in into is it its just let like make me might more most my no not
now of off on only or our out over own please s same she should so some such t than that the their them then there these they this those to
too under until up us very was we were what when where which while who whom why will with would you your`) {
		all[word] = true
	}
	return all
}
