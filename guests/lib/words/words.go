// Package words reads texts: their words, which forms of a word are the same, and what the words show of feelings and thoughts.
// First-party families share it.
package words

import (
	"unicode"
	"unicode/utf8"

	"github.com/alcove-memory/alcove/sdk/go/scan"
)

// How much of a text is looked at, in bytes: what matters is said early, and a store does not wait for more.
const (
	Short = 2 << 10 // at a store
	Long  = 8 << 10
)

// Word is a word of a text.
type Word struct {
	Lower    string // in lower case, without a possessive
	Start    bool   // the first of a sentence
	Apart    bool   // more than a blank stands between it and the word before
	Capital  bool   // begins with a capital letter
	Acronym  bool   // of at least two capital letters, and nothing else but digits
	Number   bool   // begins with a digit
	Mixed    bool   // has digits and letters, or a sign inside: an identifier
	From, To int    // where it is in the text
}

// scanner splits a text into words.
type scanner struct {
	text  string
	at    int
	words []Word
	start bool // the next word begins a sentence
	apart bool // something stands before the next word
}

// Split gives the words of a text.
func Split(text string) []Word {
	s := scanner{text: text, start: true, apart: true, words: make([]Word, 0, len(text)/6+1)}
	for s.at < len(text) {
		r, size := decode(text[s.at:])
		switch {
		case isWord(r):
			s.word()
			continue
		case r == ' ' || r == '-' || r == '\'' || r == '"' || r == '\t' || r == '`' || r == '*':
		case r == '.' || r == '!' || r == '?' || r == '\n' || r == ':':
			s.start, s.apart = true, true
		default:
			s.apart = true
		}
		s.at += size
	}
	return s.words
}

func decode(text string) (rune, int) {
	if text[0] < utf8.RuneSelf {
		return rune(text[0]), 1
	}
	return utf8.DecodeRuneInString(text)
}

func isWord(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r)
}

// word takes one word.
func (s *scanner) word() {
	w := Word{From: s.at, Start: s.start, Apart: s.apart}
	letters, digits, capitals, signs := 0, 0, 0, 0
	for s.at < len(s.text) {
		r, size := decode(s.text[s.at:])
		if !isWord(r) {
			if !s.inside(r, size) {
				break
			}
			signs++
		}
		switch {
		case '0' <= r && r <= '9':
			digits++
		case 'A' <= r && r <= 'Z' || r >= utf8.RuneSelf && unicode.IsUpper(r):
			capitals++
			letters++
			w.Capital = w.Capital || s.at == w.From
		case isWord(r):
			letters++
		}
		s.at += size
	}
	w.To = s.at
	first := s.text[w.From]
	w.Number = '0' <= first && first <= '9'
	w.Acronym = letters > 1 && capitals == letters
	w.Mixed = letters > 0 && digits > 0 || signs > 0
	w.Lower = Possessive(lower(s.text[w.From:w.To]))
	s.words = append(s.words, w)
	s.start, s.apart = false, false
}

// inside says whether a sign belongs to the word that it is in: v1.26, don't, snake_case, 10,000.
func (s *scanner) inside(r rune, size int) bool {
	if r != '.' && r != '_' && r != '\'' && r != '’' && r != ',' && r != '/' && r != '@' && r != '#' && r != '+' {
		return false
	}
	next := s.at + size
	if r == '+' || r == '#' { // C++, C#
		return next >= len(s.text) || !isWord(rune(s.text[next]))
	}
	if next >= len(s.text) {
		return false
	}
	after, _ := decode(s.text[next:])
	if r == ',' {
		return '0' <= after && after <= '9' && '0' <= s.text[s.at-1] && s.text[s.at-1] <= '9'
	}
	if r == '.' && unicode.IsUpper(after) && !unicode.IsDigit(after) { // the end of a sentence without a blank
		return false
	}
	return isWord(after)
}

// Possessive is a word without the ending of a possessive.
func Possessive(w string) string {
	for _, end := range []string{"'s", "’s"} {
		if len(w) > len(end) && w[len(w)-len(end):] == end {
			return w[:len(w)-len(end)]
		}
	}
	return w
}

// lower is strings.ToLower, without a copy where there is nothing to change.
func lower(w string) string {
	for i := range len(w) {
		if c := w[i]; 'A' <= c && c <= 'Z' || c >= utf8.RuneSelf {
			return lowered(w)
		}
	}
	return w
}

func lowered(w string) string {
	out := make([]byte, 0, len(w))
	for _, r := range w {
		out = utf8.AppendRune(out, unicode.ToLower(r))
	}
	return string(out)
}

// Text is what can be read of a JSON value: its strings, without the names of fields, up to most bytes.
func Text(value []byte, most int) string {
	if len(value) > 1 && value[0] == '"' {
		return Cut(unquote(value), most)
	}
	var out []byte
	for i := 0; i < len(value) && len(out) < most; i++ {
		if value[i] != '"' {
			continue
		}
		end := closing(value, i)
		if !isName(value, end) {
			out = append(append(out, unquote(value[i:end])...), '\n')
		}
		i = end - 1
	}
	return Cut(string(out), most)
}

// closing is where the string that begins at i ends.
func closing(value []byte, i int) int {
	for i++; i < len(value) && value[i] != '"'; i++ {
		if value[i] == '\\' {
			i++
		}
	}
	return min(i+1, len(value))
}

// isName says whether the string that ends here is the name of a field.
func isName(value []byte, end int) bool {
	for end < len(value) && (value[end] == ' ' || value[end] == '\n' || value[end] == '\t' || value[end] == '\r') {
		end++
	}
	return end < len(value) && value[end] == ':'
}

func unquote(quoted []byte) string {
	plain := len(quoted) >= 2
	for _, c := range quoted {
		plain = plain && c != '\\'
	}
	if plain {
		return string(quoted[1 : len(quoted)-1])
	}
	s := scan.New(quoted)
	text := s.String()
	if s.End() != nil {
		return ""
	}
	return text
}

// Cut cuts a text that is too long, between two characters.
func Cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	end := most
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}
