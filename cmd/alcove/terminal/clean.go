// Package terminal prints untrusted text without letting it control the reader's terminal.
//
// Everything that is printed goes through an Output. The format of Output.Printf is the program's own layout; every argument
// is cleaned, unless it is a Text, which only this package makes. What is replaced stays visible as an escape of Go's, such as
// \x1b or \u202e.
package terminal

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Text is text that has been cleaned, and may be styled.
type Text struct{ s string }

// String is the text as it is printed.
func (t Text) String() string { return t.s }

// Line is text on one line: line breaks and tabs are shown as escapes.
func Line(s string) Text { return Text{clean(s, oneLine)} }

// Lines is text that may have line breaks and tabs.
func Lines(s string) Text { return Text{clean(s, manyLines)} }

// Indented is text whose second line and those that follow are indented: none of them passes for a line of the program.
func Indented(s string) Text { return Text{strings.ReplaceAll(clean(s, manyLines), "\n", "\n  ")} }

// JSON is valid JSON in which strings escape what Lines would replace; it decodes to the same values.
func JSON(raw string) Text { return Text{rewrite(raw, jsonEscape, manyLines)} }

// layout says which control characters are kept.
type layout int

const (
	oneLine   layout = iota
	manyLines        // line feeds, tabs, and carriage returns in front of line feeds
)

func clean(s string, l layout) string { return rewrite(s, goEscape, l) }

// rewrite replaces unprintable characters. A clean text is returned unchanged.
func rewrite(s string, escape func(r rune, raw string) string, l layout) string {
	var out strings.Builder
	before, kept := rune(0), 0 // the rune before, as it is printed; bytes that were copied
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if printed(r, size, before, s[i+size:], l) {
			before, i = r, i+size
			continue
		}
		out.WriteString(s[kept:i])
		out.WriteString(escape(r, s[i:i+size]))
		i += size
		before, kept = 'x', i // escapes are ASCII
	}
	if kept == 0 {
		return s
	}
	out.WriteString(s[kept:])
	return out.String()
}

// printed reports whether a rune is printed as it is, between the one before it and what follows.
func printed(r rune, size int, before rune, after string, l layout) bool {
	switch {
	case r < utf8.RuneSelf:
		return r >= ' ' && r != 0x7f || l == manyLines && (r == '\n' || r == '\t' || r == '\r' && strings.HasPrefix(after, "\n"))
	case r == utf8.RuneError && size == 1:
		return false
	case r == zeroWidthNonJoiner || r == zeroWidthJoiner:
		return joins(before) && joinsNext(after)
	case unicode.Is(unicode.Variation_Selector, r):
		return r <= 0xffff || unicode.Is(unicode.Han, before) // of the later ones, only forms of ideographs are text
	}
	return visible(r)
}

// Emoji and several scripts need joiners between two characters of theirs. Anywhere else they only hide.
const zeroWidthNonJoiner, zeroWidthJoiner = '\u200c', '\u200d'

func joins(r rune) bool {
	return r >= utf8.RuneSelf && r != zeroWidthJoiner && r != zeroWidthNonJoiner && (visible(r) || unicode.Is(unicode.Variation_Selector, r))
}

func joinsNext(after string) bool {
	r, size := utf8.DecodeRuneInString(after)
	return size > 1 && joins(r)
}

// visible reports whether a rune beyond ASCII leaves a mark, or is a space, and does nothing else. Characters that a later
// version of Unicode assigns count as such, unless they are set apart for what is ignored.
func visible(r rune) bool {
	switch {
	case unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point, unicode.Noncharacter_Code_Point):
		return false
	case unicode.Is(unicode.Cf, r):
		return unicode.Is(unicode.Prepended_Concatenation_Mark, r) // such as the Arabic number sign
	}
	return true
}

// goEscape is a rune as a string in Go has it.
func goEscape(r rune, raw string) string {
	switch {
	case r == '\n':
		return `\n`
	case r == '\r':
		return `\r`
	case r == '\t':
		return `\t`
	case len(raw) == 1:
		return fmt.Sprintf(`\x%02x`, raw[0])
	case r > 0xffff:
		return fmt.Sprintf(`\U%08x`, r)
	}
	return fmt.Sprintf(`\u%04x`, r)
}

// jsonEscape is a rune in a string of JSON. A byte that is no UTF-8 becomes what decoders make of it.
func jsonEscape(r rune, _ string) string {
	if high, low := utf16.EncodeRune(r); r > 0xffff {
		return fmt.Sprintf(`\u%04x\u%04x`, high, low)
	}
	return fmt.Sprintf(`\u%04x`, r)
}
