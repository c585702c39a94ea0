package vault

import (
	"slices"
	"strings"
	"unicode"
)

// Bounds of what is read of the text of one note.
const (
	mostInlineTags  = 24
	mostInlineLinks = 24
	longestInline   = 100 // bytes of a tag, or of a name
)

// inline are the #tags and the names of the [[links]] of a Markdown text, each once, in their order. Code, the fragments of addresses,
// headings, embedded files and numbers such as #42 are none.
func inline(text string) (tags, links []string) {
	code := fences{}
	for line := range strings.Lines(text) {
		if code.takes(line) {
			continue
		}
		for _, part := range outsideCode(line) {
			tags = addAll(tags, tagsIn(part), mostInlineTags)
			links = addAll(links, linksIn(part), mostInlineLinks)
		}
	}
	return tags, links
}

// addAll adds what a list lacks, up to most elements.
func addAll(list, more []string, most int) []string {
	for _, one := range more {
		if len(list) < most && !slices.Contains(list, one) {
			list = append(list, one)
		}
	}
	return list
}

// fences tells which lines are of code blocks.
type fences struct {
	mark  string // that ends the block; empty: there is none
	blank bool   // the line before was blank, or of an indented block
}

// takes reports whether a line is of a code block, or a fence.
func (f *fences) takes(line string) bool {
	rest := strings.TrimLeft(line, " ")
	deep := len(line)-len(rest) >= 4 || strings.HasPrefix(line, "\t")
	rest = strings.TrimSpace(rest)
	switch {
	case f.mark != "":
		if !deep && strings.HasPrefix(rest, f.mark) && strings.Trim(rest, f.mark[:1]) == "" {
			f.mark = ""
		}
		return true
	case rest == "":
		f.blank = true
		return false
	case deep && f.blank:
		return true
	}
	f.blank = false
	if mark := run(rest); len(mark) >= 3 && !deep && (mark[0] == '~' || !strings.Contains(rest[len(mark):], "`")) {
		f.mark = mark
		return true
	}
	return false
}

// run is the backquotes or tildes that a text begins with.
func run(text string) string {
	if text == "" || text[0] != '`' && text[0] != '~' {
		return ""
	}
	return text[:len(text)-len(strings.TrimLeft(text, text[:1]))]
}

// outsideCode are the parts of a line that are not between backquotes.
func outsideCode(line string) (parts []string) {
	for {
		begin := strings.IndexByte(line, '`')
		if begin < 0 {
			return append(parts, line)
		}
		mark := run(line[begin:])
		after := line[begin+len(mark):]
		end := closing(after, len(mark))
		if end < 0 { // backquotes that nothing closes
			parts, line = append(parts, line[:begin]), after
			continue
		}
		parts, line = append(parts, line[:begin]), after[end+len(mark):]
	}
}

// closing is where the next run of so many backquotes begins; -1: there is none.
func closing(text string, length int) int {
	for at := 0; ; {
		next := strings.IndexByte(text[at:], '`')
		if next < 0 {
			return -1
		}
		at += next
		n := len(run(text[at:]))
		if n == length {
			return at
		}
		at += n
	}
}

// tagsIn are the #tags of a text, behind a blank or at its beginning.
func tagsIn(text string) (tags []string) {
	for _, word := range strings.Fields(text) {
		name, is := strings.CutPrefix(word, "#")
		if end := strings.IndexFunc(name, endsTag); end >= 0 {
			name = name[:end]
		}
		name = strings.Trim(name, "/-")
		if is && len(name) <= longestInline && strings.ContainsFunc(name, unicode.IsLetter) {
			tags = append(tags, name)
		}
	}
	return tags
}

func endsTag(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '-' && r != '/'
}

// linksIn are the names of the [[links]] of a text: without folder, heading and shown text. An embedded file is no link.
func linksIn(text string) (names []string) {
	for {
		before, rest, is := strings.Cut(text, "[[")
		name, after, closed := strings.Cut(rest, "]]")
		if !is || !closed {
			return names
		}
		text = after
		if end := strings.IndexAny(name, "|#^"); end >= 0 {
			name = name[:end]
		}
		name = strings.TrimSpace(name[strings.LastIndexByte(name, '/')+1:])
		if name != "" && len(name) <= longestInline && !strings.HasSuffix(before, "!") && !strings.ContainsAny(name, "[\n") {
			names = append(names, strings.TrimSuffix(name, suffix))
		}
	}
}
