package search

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	"github.com/clipperhouse/uax29/v2/words"
)

// analysisVersion changes whenever analysers produce other terms, so that stored indexes are rebuilt.
const analysisVersion = "unicode-1"

// maxTerm is the length in bytes to which longer words are cut.
const maxTerm = 64

// word is a term and its byte range in the text.
type word struct {
	*wordAnalysis
	start, end int
	lone       bool // a single character of a script without spaces, not a bigram
}

// Analyser turns text into index terms: Unicode words, split further at anything that is not a letter, a digit or a mark,
// lower-cased and stemmed for the language. Scripts without spaces between words, such as Chinese, Japanese, Korean and
// Thai, are indexed as character bigrams. It is safe for concurrent use.
type Analyser struct {
	language string
	stemmer  func(*snowballstem.Env) bool // nil: none
	stops    map[string]bool
	fillers  map[string]bool // terms that ask rather than tell
	clitics  bool            // apostrophes are parts of words, and clitics such as 's are dropped

	words wordCache
}

// NewAnalyser returns an analyser for one of Languages; empty means English.
func NewAnalyser(name string) (*Analyser, error) {
	if name == "" {
		name = english
	}
	at := slices.IndexFunc(languages(), func(l language) bool { return l.name == name })
	if at < 0 {
		return nil, fmt.Errorf("there is no language %q: choose one of %s", name, strings.Join(Languages(), ", "))
	}
	l := languages()[at]
	a := &Analyser{language: name, stemmer: l.stem, stops: map[string]bool{}, fillers: map[string]bool{}, clitics: name == english, words: newWordCache()}
	for stop := range strings.FieldsSeq(l.stops) {
		a.stops[stop] = true
	}
	for filler := range strings.FieldsSeq(l.fillers) {
		a.fillers[a.stem(filler)] = true
	}
	return a, nil
}

// Terms returns the index terms of a text in order; stop words are included, unstemmed.
func (a *Analyser) Terms(text string) []string {
	var terms []string
	a.eachWord(text, func(w word) { terms = append(terms, w.term) })
	return terms
}

// Words returns the index terms of a text like Terms, and whether each is a stop word.
func (a *Analyser) Words(text string) iter.Seq2[string, bool] {
	return func(yield func(string, bool) bool) {
		more := true
		a.eachWord(text, func(w word) { more = more && yield(w.term, w.stop) })
	}
}

// ID identifies the analysis: analysers with equal IDs produce equal terms.
func (a *Analyser) ID() string { return analysisVersion + "-" + a.language }

// Finds reports whether two analysers find the same words.
func (a *Analyser) Finds(other *Analyser) bool {
	return a != nil && other != nil && a.language == other.language
}

// eachWord calls do for each word of a text. Invalid UTF-8 separates words.
func (a *Analyser) eachWord(text string, do func(word)) {
	if isASCII(text) {
		a.eachASCII(text, 0, do)
		return
	}
	for at := 0; at < len(text); {
		end := at + unspaced(text[at:])
		if end > at {
			a.eachPair(text[at:end], at, do)
			at = end
		}
		if end = at + spaced(text[at:]); end > at {
			a.eachSpaced(text[at:end], at, do)
			at = end
		}
	}
}

// eachSpaced is eachWord for scripts with spaces between words.
func (a *Analyser) eachSpaced(text string, offset int, do func(word)) {
	if isASCII(text) {
		a.eachASCII(text, offset, do)
		return
	}
	it := words.FromString(text)
	for it.Next() {
		a.eachPart(it.Value(), offset+it.Start(), do)
	}
}

func isASCII(text string) bool {
	const high = 0x8080808080808080
	for ; len(text) >= 8; text = text[8:] {
		if eight(text)&high != 0 {
			return false
		}
	}
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// eachASCII is eachSpaced for ASCII text.
func (a *Analyser) eachASCII(text string, offset int, do func(word)) {
	for at := 0; at < len(text); at++ {
		if !isWordByte(text[at]) {
			continue
		}
		start := at
		for at++; at < len(text) && (isWordByte(text[at]) || text[at] == '\'' && joins(text, at)); {
			at++
		}
		a.eachASCIIPart(text[start:at], offset+start, do)
	}
}

// isWordByte reports whether an ASCII character is a letter or a digit.
func isWordByte(c byte) bool { return c|0x20-'a' < 26 || c-'0' < 10 }

// eachASCIIPart is eachPart for ASCII text: such a word has no parts, unless its apostrophes separate them.
func (a *Analyser) eachASCIIPart(text string, offset int, do func(word)) {
	if a.clitics {
		a.analyse(text, offset, do)
		return
	}
	a.eachPart(text, offset, do)
}

// class is the class of an ASCII character.
type class byte

const (
	separator class = iota
	letter
	digit
)

func classOf(c byte) class {
	switch {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z':
		return letter
	case '0' <= c && c <= '9':
		return digit
	}
	return separator
}

// joins reports whether an apostrophe is between two letters or two digits, so that they are one word.
func joins(text string, at int) bool {
	return at > 0 && at+1 < len(text) && classOf(text[at-1]) != separator && classOf(text[at-1]) == classOf(text[at+1])
}

// eachPart splits a Unicode word such as "user_name" or "example.com" into words that a query would use.
func (a *Analyser) eachPart(text string, offset int, do func(word)) {
	start := -1
	for i, r := range text {
		inside := isWordRune(r) || a.clitics && isApostrophe(r) && start >= 0
		if inside && start < 0 {
			start = i
		}
		if !inside && start >= 0 {
			a.analyse(text[start:i], offset+start, do)
			start = -1
		}
	}
	if start >= 0 {
		a.analyse(text[start:], offset+start, do)
	}
}

func isWordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return classOf(byte(r)) != separator
	}
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r))
}

func isApostrophe(r rune) bool { return r == '\'' || r == '’' }

// analyse looks a word up in the cache, and adds it if it is new.
func (a *Analyser) analyse(text string, start int, do func(word)) {
	k := a.words.known(text, a.workOut)
	if k.term != "" {
		do(word{wordAnalysis: k, start: start, end: start + len(text)})
	}
}

func (a *Analyser) workOut(text string) (term string, stop bool) {
	lower := strings.ToLower(text)
	plain := lower
	if strings.IndexByte(lower, '\'') >= 0 || strings.Contains(lower, "’") {
		lower = strings.Trim(strings.ReplaceAll(lower, "’", "'"), "'")
		plain = withoutClitic(lower)
	}
	if a.stops[lower] || plain != lower && a.stops[plain] {
		return strings.ReplaceAll(lower, "'", ""), true
	}
	return a.stem(cut(strings.ReplaceAll(plain, "'", ""))), false
}

// withoutClitic drops clitics: anna's, we'll, don't.
func withoutClitic(lower string) string {
	for _, clitic := range []string{"n't", "'s", "'ll", "'re", "'ve", "'d", "'m"} {
		if stem, found := strings.CutSuffix(lower, clitic); found && stem != "" {
			return stem
		}
	}
	return lower
}

// cut shortens a word to at most maxTerm bytes, at a character boundary.
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

// stem returns the stem of a lower-case word.
func (a *Analyser) stem(text string) string {
	if len(text) < 3 || a.stemmer == nil || a.language == english && classOf(text[len(text)-1]) == digit {
		return text // English has no endings after a digit
	}
	env := snowballstem.NewEnv(text)
	a.stemmer(env)
	return env.Current()
}

// terms returns the distinct terms of a text, sorted; stop words only if there are no others.
func (a *Analyser) terms(text string) []string {
	var terms, stops []string
	a.eachWord(text, func(w word) {
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

// asks reports whether a text ends in a question mark, whatever the script.
func asks(text string) bool {
	text = strings.TrimRight(text, " \t\n\"')»”’」")
	last, _ := utf8.DecodeLastRuneInString(text)
	return strings.ContainsRune("?？؟⸮՞፧፨꘏⁇⁈‽", last)
}
