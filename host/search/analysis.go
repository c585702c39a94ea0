package search

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	"github.com/clipperhouse/uax29/v2/words"
)

// analysisVersion names what analysers do, so that an index made by other ones can be told apart.
const analysisVersion = "unicode-2"

// maxTerm is how many bytes of a word count; longer ones are cut.
const maxTerm = 64

// word is a term and where it stands in its text, in bytes.
type word struct {
	known
	start, end int
	lone       bool // a single character of a script without spaces; otherwise it would be half of a pair
}

// known is the analysis of a word.
type known struct {
	term string
	id   uint64 // of the term: words with the same id have the same term; 0: it has none
	stop bool
}

// Analyser turns texts into the terms they are found by: their Unicode words, split further at anything that is not a
// letter, a digit or a mark, in lower case, stemmed as the language has it. Of scripts that put no spaces between words,
// such as Chinese, Japanese, Korean and Thai, each two neighbouring characters are a term. It may be used from many
// goroutines.
type Analyser struct {
	language string
	stemmer  func(*snowballstem.Env) bool // nil: none
	stops    map[string]bool
	clitics  bool // apostrophes are parts of words, and what is spoken together with them is dropped

	mu    sync.RWMutex
	words map[string]known  // that were met lately, as they were written
	ids   map[string]uint64 // of their terms
	last  uint64            // id

	forgot atomic.Uint64 // how often they were forgotten
}

// maxWords is how many words are remembered.
const maxWords = 1 << 16

// NewAnalyser makes an analyser for one of Languages; empty means English.
func NewAnalyser(language string) (*Analyser, error) {
	if language == "" {
		language = english
	}
	at := slices.IndexFunc(languages(), func(l tongue) bool { return l.name == language })
	if at < 0 {
		return nil, fmt.Errorf("there is no language %q: choose one of %s", language, strings.Join(Languages(), ", "))
	}
	l := languages()[at]
	a := &Analyser{language: language, stemmer: l.stem, stops: map[string]bool{}, clitics: language == english, words: map[string]known{}, ids: map[string]uint64{}}
	for stop := range strings.FieldsSeq(l.stops) {
		a.stops[stop] = true
	}
	return a, nil
}

// Terms are the index terms of a text, stop words included, unstemmed.
func (a *Analyser) Terms(text string) []string {
	var terms []string
	a.eachWord(text, func(w word) { terms = append(terms, w.term) })
	return terms
}

// ID tells analysers apart whose terms differ.
func (a *Analyser) ID() string { return analysisVersion + "-" + a.language }

// eachWord analyses a text word by word. Invalid UTF-8 separates words.
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

// eachSpaced is for scripts that put spaces between words.
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
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// eachASCII does what eachSpaced does, for a text of ASCII characters alone.
func (a *Analyser) eachASCII(text string, offset int, do func(word)) {
	start := -1
	for i := range len(text) {
		inside := classOf(text[i]) != 0 || start >= 0 && text[i] == '\'' && joins(text, i)
		if inside && start < 0 {
			start = i
		}
		if !inside && start >= 0 {
			a.eachPart(text[start:i], offset+start, do)
			start = -1
		}
	}
	if start >= 0 {
		a.eachPart(text[start:], offset+start, do)
	}
}

// classOf is 1 for a letter, 2 for a digit, and 0 for anything else.
func classOf(c byte) int {
	switch {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z':
		return 1
	case '0' <= c && c <= '9':
		return 2
	}
	return 0
}

// joins reports whether an apostrophe is between two letters or two digits, so that they are one word.
func joins(text string, at int) bool {
	return at > 0 && at+1 < len(text) && classOf(text[at-1]) != 0 && classOf(text[at-1]) == classOf(text[at+1])
}

// eachPart splits a Unicode word such as "user_name" or "example.com" into the words people would ask for.
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
		return classOf(byte(r)) != 0
	}
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r))
}

func isApostrophe(r rune) bool { return r == '\'' || r == '’' }

// analyse returns the analysis of a word, cached: few words of a text are new.
func (a *Analyser) analyse(text string, start int, do func(word)) {
	a.mu.RLock()
	k, ok := a.words[text]
	a.mu.RUnlock()
	if !ok {
		k = a.meet(text)
	}
	if k.term != "" {
		do(word{known: k, start: start, end: start + len(text)})
	}
}

// meet analyses a word and caches the result.
func (a *Analyser) meet(text string) known {
	k := a.workOut(text)
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.words) >= maxWords {
		clear(a.words)
		clear(a.ids)
		a.forgot.Add(1)
	}
	k.term = strings.Clone(k.term) // which may be a part of a long text
	if k.id = a.ids[k.term]; k.id == 0 {
		a.last++
		k.id = a.last
		a.ids[k.term] = k.id
	}
	a.words[strings.Clone(text)] = k
	return k
}

func (a *Analyser) workOut(text string) known {
	lower := strings.ToLower(text)
	plain := lower
	if strings.ContainsAny(lower, "'’") {
		lower = strings.Trim(strings.ReplaceAll(lower, "’", "'"), "'")
		plain = withoutClitic(lower)
	}
	if a.stops[lower] || a.stops[plain] {
		return known{term: strings.ReplaceAll(lower, "'", ""), stop: true}
	}
	return known{term: a.stem(cut(strings.ReplaceAll(plain, "'", "")))}
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

// stem is the stem of a word in lower case.
func (a *Analyser) stem(text string) string {
	if len(text) < 3 || a.stemmer == nil {
		return text
	}
	env := snowballstem.NewEnv(text)
	a.stemmer(env)
	return env.Current()
}

// terms are the distinct terms of a text, sorted; its stop words only when there is nothing else.
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
