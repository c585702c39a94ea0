package words

import "strings"

// Tag is a text as a tag is written: lower case, words joined by hyphens. Empty when nothing is left of it.
func Tag(text string) string {
	words := Split(text)
	parts := make([]string, len(words))
	for i, w := range words {
		parts[i] = w.Lower
	}
	return strings.Join(parts, "-")
}

// Fold is the key under which tags that mean the same meet: words without their endings, in their order.
func Fold(tag string) string {
	if isSimple(tag) {
		return Stem(tag)
	}
	words := Split(tag)
	parts := make([]string, 0, len(words))
	for _, w := range words {
		for _, part := range strings.FieldsFunc(w.Lower, func(r rune) bool { return r == '_' || r == '/' }) {
			parts = append(parts, Stem(part))
		}
	}
	return strings.Join(parts, "-")
}

func isSimple(tag string) bool {
	for i := range len(tag) {
		if tag[i] < 'a' || tag[i] > 'z' {
			return false
		}
	}
	return true
}

// Singular is a word of the language without the ending of a plural.
func Singular(w string) string {
	n := len(w)
	if n < 4 || w[n-1] != 's' {
		return w
	}
	switch {
	case strings.HasSuffix(w, "ss"), strings.HasSuffix(w, "us"), strings.HasSuffix(w, "is"), strings.HasSuffix(w, "news"), strings.HasSuffix(w, "ops"):
		return w
	case strings.HasSuffix(w, "ies") && n > 5:
		return w[:n-3] + "y"
	case strings.HasSuffix(w, "sses"), strings.HasSuffix(w, "shes"), strings.HasSuffix(w, "ches"), strings.HasSuffix(w, "xes"), strings.HasSuffix(w, "zzes"):
		return w[:n-2]
	}
	return w[:n-1]
}

// Stem is a word without the endings that seldom change what it is about: plural, -ing, -ed, and a last e.
func Stem(w string) string {
	w = Singular(w)
	for _, ending := range []string{"ing", "ed"} {
		rest, ok := strings.CutSuffix(w, ending)
		if ok && len(rest) >= 4 && hasVowel(rest) {
			w = undouble(rest)
			break
		}
	}
	if len(w) > 4 && w[len(w)-1] == 'e' {
		w = w[:len(w)-1]
	}
	return w
}

func hasVowel(w string) bool { return strings.ContainsAny(w, "aeiouy") }

// undouble makes tagg out of tagging tag.
func undouble(w string) string {
	n := len(w)
	if n > 2 && w[n-1] == w[n-2] && !strings.ContainsRune("lsz", rune(w[n-1])) {
		return w[:n-1]
	}
	return w
}

// Near says whether two folded tags differ by one slip of a key: a letter too many, too few, another, or two in the
// wrong order. Short ones never do.
func Near(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(a) < 6 || len(b)-len(a) > 1 || a == b {
		return false
	}
	if hasDigit(a) || hasDigit(b) { // v1 and v2 are near, and not the same
		return false
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	if len(a) < len(b) {
		return a[i:] == b[i+1:]
	}
	swapped := i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
	return swapped || i > 0 && a[i+1:] == b[i+1:]
}

func hasDigit(w string) bool { return strings.ContainsAny(w, "0123456789") }
