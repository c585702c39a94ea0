package search

import (
	"unicode"
	"unicode/utf8"
)

// isUnspaced reports whether a character is of a script that puts no spaces between words, or has them between more than
// words.
func isUnspaced(r rune) bool {
	if r < 0x0E00 {
		return false
	}
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) &&
		unicode.IsLetter(r) || r == 'ー'
}

// unspaced is how many bytes at the beginning of a text are of such scripts.
func unspaced(text string) int {
	for i, r := range text {
		if !isUnspaced(r) && !(i > 0 && unicode.IsMark(r)) {
			return i
		}
	}
	return len(text)
}

// spaced is how many bytes at the beginning are not.
func spaced(text string) int {
	for i, r := range text {
		if isUnspaced(r) {
			return i
		}
	}
	return len(text)
}

// eachPair makes a term of each two neighbouring characters, with the marks on them, and of the last one alone, so that each
// character begins a term.
func (a *Analyser) eachPair(text string, offset int, do func(word)) {
	for at, first := 0, character(text); at < len(text); {
		second := at + first + character(text[at+first:])
		do(word{known: known{term: cut(text[at:second])}, start: offset + at, end: offset + second, lone: second == at+first})
		at, first = at+first, second-at-first
	}
}

// character is how many bytes a character takes, with the marks on it.
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
