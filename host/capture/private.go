package capture

import "strings"

// withoutPrivate removes what is between <private> and </private>, whatever the case of the tags; they nest, may span lines and have
// attributes. A tag that is not closed goes to the end of the text, and so does one that is truncated.
func withoutPrivate(text string) string {
	text, _ = publicFrom(text, 0)
	return text
}

// publicFrom is withoutPrivate for a text that begins inside so many tags; it returns in how many it ends.
func publicFrom(text string, depth int) (string, int) {
	var out strings.Builder
	from := 0
	for at := 0; at < len(text); {
		next := strings.IndexByte(text[at:], '<')
		if next < 0 {
			break
		}
		at += next
		kind, end := privateTag(text[at:])
		if kind == noTag {
			at++
			continue
		}
		if depth == 0 {
			out.WriteString(text[from:at])
		}
		switch {
		case kind == opening:
			depth++
		case kind == closing && depth > 0:
			depth--
		}
		at += end
		from = at
	}
	if depth == 0 {
		out.WriteString(text[from:])
	}
	return out.String(), depth
}

type tagKind int

const (
	noTag tagKind = iota
	opening
	closing
	empty // <private/>
)

// privateTag tells which tag a text that begins with "<" begins with, and its length.
func privateTag(text string) (tagKind, int) {
	const name = "private"
	rest := strings.TrimLeft(text[1:], " \t\r\n")
	kind := opening
	if after, ok := strings.CutPrefix(rest, "/"); ok {
		kind, rest = closing, strings.TrimLeft(after, " \t\r\n")
	}
	if len(rest) < len(name) || !strings.EqualFold(rest[:len(name)], name) {
		return noTag, 0
	}
	rest = rest[len(name):]
	if rest != "" && !strings.ContainsRune(" \t\r\n/>", rune(rest[0])) {
		return noTag, 0 // another name
	}
	end := strings.IndexByte(rest, '>')
	if end < 0 {
		return kind, len(text) // cut short: an opening one hides the rest, which is inside it
	}
	if kind == opening && strings.HasSuffix(rest[:end], "/") {
		kind = empty
	}
	return kind, len(text) - len(rest) + end + 1
}
