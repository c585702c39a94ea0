package search

import (
	"strings"
	"unicode/utf8"
)

// snippetScan bounds the text that Snippet reads, in bytes.
const snippetScan = 256 << 10

// Snippet returns the part of a text with the most distinct terms of the question, at most limit characters long, cut
// between words, with … where text was left out.
func (q *Question) Snippet(text []string, limit int) string {
	whole := flatten(text)
	if utf8.RuneCountInString(whole) <= limit {
		return whole
	}
	var matches []word
	q.by.eachWord(whole, func(w word) {
		for i := range q.asked.clauses {
			if q.asked.clauses[i].is(w.term) {
				matches = append(matches, w)
				return
			}
		}
	})
	start := bestStart(matches, limit*3/4)
	return window(whole, start, limit)
}

// flatten joins passages and collapses white space.
func flatten(text []string) string {
	var b strings.Builder
	for _, passage := range text {
		for _, field := range strings.Fields(strings.ToValidUTF8(passage, "�")) {
			if b.Len() > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(field)
			if b.Len() > snippetScan {
				return strings.ToValidUTF8(b.String()[:snippetScan], "")
			}
		}
	}
	return b.String()
}

// bestStart returns the start of the stretch, in bytes, with the most distinct terms.
func bestStart(matches []word, stretch int) int {
	best, most := 0, 0
	inside := map[string]int{}
	first := 0
	for _, w := range matches {
		inside[w.term]++
		for w.end-matches[first].start > stretch && matches[first].start < w.start {
			term := matches[first].term
			if inside[term]--; inside[term] == 0 {
				delete(inside, term)
			}
			first++
		}
		if len(inside) > most {
			best, most = matches[first].start, len(inside)
		}
	}
	return best
}

// window cuts limit characters from a little before start, between words, with ellipses.
func window(text string, start, limit int) string {
	const mark = "…"
	begin := back(text, start, limit/8)
	if begin > 0 {
		if space := strings.IndexByte(text[begin:start], ' '); space >= 0 {
			begin += space + 1
		} else {
			begin = start
		}
	}
	length := limit
	prefix, suffix := "", ""
	if begin > 0 {
		prefix = mark
		length--
	}
	end := forward(text, begin, length)
	if end < len(text) {
		suffix = mark
		end = forward(text, begin, length-1)
		if space := strings.LastIndexByte(text[begin:end], ' '); space > 0 {
			end = begin + space
		}
	}
	return prefix + text[begin:end] + suffix
}

// back returns the offset that is so many characters before from.
func back(text string, from, characters int) int {
	for ; characters > 0 && from > 0; characters-- {
		_, size := utf8.DecodeLastRuneInString(text[:from])
		from -= size
	}
	return from
}

// forward returns the offset that is so many characters after from.
func forward(text string, from, characters int) int {
	for ; characters > 0 && from < len(text); characters-- {
		_, size := utf8.DecodeRuneInString(text[from:])
		from += size
	}
	return from
}
