package search

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"
	"github.com/clipperhouse/uax29/v2/words"
)

// Analyser names what Terms does, so that an index made by another one can be told apart.
const Analyser = "unicode-english-1"

// maxTerm is how many bytes of a word count; longer ones are cut.
const maxTerm = 64

// word is a term and where it stands in its text, in bytes.
type word struct {
	term       string
	start, end int
	stop       bool
}

// Terms are what a text is found by: its Unicode words, split further at anything that is not a letter, a digit
// or a mark, in lower case, without clitics, stemmed by Porter2. Stop words are among them, unstemmed.
func Terms(text string) []string {
	var terms []string
	eachWord(text, func(w word) { terms = append(terms, w.term) })
	return terms
}

// eachWord analyses a text word by word. Invalid UTF-8 separates words.
func eachWord(text string, do func(word)) {
	it := words.FromString(text)
	for it.Next() {
		eachPart(it.Value(), it.Start(), do)
	}
}

// eachPart splits a Unicode word such as "user_name" or "example.com" into the words people would ask for.
func eachPart(text string, offset int, do func(word)) {
	start := -1
	for i, r := range text {
		inside := isWordRune(r) || (isApostrophe(r) && start >= 0)
		if inside && start < 0 {
			start = i
		}
		if !inside && start >= 0 {
			analyse(text[start:i], offset+start, do)
			start = -1
		}
	}
	if start >= 0 {
		analyse(text[start:], offset+start, do)
	}
}

func isWordRune(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r))
}

func isApostrophe(r rune) bool { return r == '\'' || r == '’' }

func analyse(text string, start int, do func(word)) {
	w := word{start: start, end: start + len(text)}
	lower := strings.ReplaceAll(strings.ToLower(text), "’", "'")
	lower = strings.Trim(lower, "'")
	if lower == "" {
		return
	}
	plain := withoutClitic(lower)
	if isStopWord(lower) || isStopWord(plain) {
		w.term, w.stop = strings.ReplaceAll(lower, "'", ""), true
		do(w)
		return
	}
	w.term = stem(cut(strings.ReplaceAll(plain, "'", "")))
	do(w)
}

// withoutClitic drops what is spoken together with a word: anna's, we'll, don't.
func withoutClitic(lower string) string {
	for _, clitic := range []string{"n't", "'s", "'ll", "'re", "'ve", "'d", "'m"} {
		if stem, found := strings.CutSuffix(lower, clitic); found && stem != "" {
			return stem
		}
	}
	return lower
}

// cut shortens a word to maxTerm bytes, at the start of a character.
func cut(text string) string {
	if len(text) <= maxTerm {
		return text
	}
	end := maxTerm
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}

func stem(text string) string {
	if len(text) < 3 {
		return text
	}
	env := snowballstem.NewEnv(text)
	english.Stem(env)
	return env.Current()
}

// isStopWord tells words that nearly every text has, and that questions are full of.
func isStopWord(w string) bool {
	switch w {
	case "a", "about", "above", "after", "again", "against", "all", "also", "am", "an", "and", "any", "are", "as", "at",
		"be", "because", "been", "before", "being", "below", "between", "both", "but", "by",
		"can", "cannot", "could", "couldn", "did", "didn", "do", "does", "doesn", "doing", "don", "down", "during",
		"each", "else", "ever", "every", "few", "for", "from", "further",
		"had", "hadn", "has", "hasn", "have", "haven", "having", "he", "her", "here", "hers", "herself", "him", "himself", "his", "how",
		"i", "if", "in", "into", "is", "isn", "it", "its", "itself", "just", "let",
		"may", "me", "might", "more", "most", "must", "my", "myself", "no", "nor", "not", "now",
		"of", "off", "on", "once", "only", "or", "other", "our", "ours", "ourselves", "out", "over", "own",
		"same", "shall", "she", "should", "shouldn", "so", "some", "such",
		"than", "that", "the", "their", "theirs", "them", "themselves", "then", "there", "these", "they", "this", "those", "through", "to", "too",
		"under", "until", "up", "upon", "us", "very", "was", "wasn", "we", "were", "weren", "what", "when", "where", "which", "while", "who", "whom", "whose", "why", "will", "with", "won", "would", "wouldn",
		"yet", "you", "your", "yours", "yourself", "yourselves":
		return true
	}
	return false
}

// queryTerms are the distinct terms of a text, sorted; its stop words only when there is nothing else.
func queryTerms(text string) []string {
	var terms, stops []string
	eachWord(text, func(w word) {
		if w.stop {
			stops = append(stops, w.term)
			return
		}
		terms = append(terms, w.term)
	})
	if len(terms) == 0 {
		terms = stops
	}
	slices.Sort(terms)
	return slices.Compact(terms)
}
