package search

import (
	"unicode"
	"unicode/utf8"
)

// isUnspaced reports whether a character belongs to a script whose words are not separated by spaces.
func isUnspaced(r rune) bool {
	if r < 0x0E00 {
		return false
	}
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) &&
		unicode.IsLetter(r) || r == 'ー'
}

// unspaced is the length in bytes of the text's prefix in such scripts.
func unspaced(text string) int {
	for i, r := range text {
		if !isUnspaced(r) && !(i > 0 && unicode.IsMark(r)) {
			return i
		}
	}
	return len(text)
}

// spaced is the length in bytes of the text's prefix in other scripts.
func spaced(text string) int {
	for i, r := range text {
		if isUnspaced(r) {
			return i
		}
	}
	return len(text)
}

// eachPair calls do for each bigram of characters with their marks, and for the last character alone, so that every
// character begins a term.
func (a *Analyser) eachPair(text string, offset int, do func(word)) {
	for at, first := 0, character(text); at < len(text); {
		second := at + first + character(text[at+first:])
		pair := a.words.known(text[at:second], func(pair string) (string, bool) { return cut(pair), false })
		do(word{wordAnalysis: pair, start: offset + at, end: offset + second, lone: second == at+first})
		at, first = at+first, second-at-first
	}
}

// character is the length in bytes of the first character with its combining marks.
func character(text string) int {
	_, size := utf8.DecodeRuneInString(text)
	for size < len(text) {
		r, more := utf8.DecodeRuneInString(text[size:])
		if !unicode.IsMark(r) {
			break
		}
		size += more
	}
	return size
}
