package sites

// plain is a text of a site as people and models may see it: on one line, without control characters and what hides or turns text, cut to
// a number of characters.
func plain(text string, most int) string {
	out := make([]rune, 0, min(len(text), most))
	for _, r := range text {
		switch {
		case hidden(r):
			continue
		case r <= ' ' || r == 0x85 || r == 0xA0 || r == 0x2028 || r == 0x2029:
			if len(out) == 0 || out[len(out)-1] == ' ' {
				continue
			}
			r = ' '
		}
		if len(out) == most {
			out[most-1] = '…'
			break
		}
		out = append(out, r)
	}
	if n := len(out); n > 0 && out[n-1] == ' ' {
		out = out[:n-1]
	}
	return string(out)
}

// hidden reports whether a character is not shown, or changes how others are: controls, directions, joiners, tags and variations.
func hidden(r rune) bool {
	switch {
	case r == '\n' || r == '\t' || r == '\r' || r == 0x85 || r == 0x2028 || r == 0x2029: // become blanks
		return false
	case r < ' ' || r >= 0x7F && r < 0xA0, r == 0xAD, r == 0x34F, r == 0x61C, r == 0xFFFD:
		return true
	case r >= 0x115F && r <= 0x1160, r >= 0x17B4 && r <= 0x17B5, r >= 0x180B && r <= 0x180F, r >= 0x200B && r <= 0x200F:
		return true
	case r >= 0x202A && r <= 0x202E, r >= 0x2060 && r <= 0x206F, r == 0x3164, r >= 0xFE00 && r <= 0xFE0F, r == 0xFEFF, r == 0xFFA0:
		return true
	case r >= 0xFFF0 && r <= 0xFFFB, r >= 0xE000 && r <= 0xF8FF, r >= 0xE0000:
		return true
	}
	return false
}

// isClean reports whether a text may be shown as it is.
func isClean(text string) bool {
	for _, r := range text {
		if hidden(r) || r < ' ' || r == 0x85 || r == 0x2028 || r == 0x2029 {
			return false
		}
	}
	return true
}

// isName reports whether a text is of letters, digits and some signs, and begins with a letter or an underscore.
func isName(text, signs string, most int) bool {
	for i := range len(text) {
		b := text[i]
		letter := 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || b == '_'
		if !letter && (i == 0 || !('0' <= b && b <= '9') && index(signs, string(b)) < 0) {
			return false
		}
	}
	return text != "" && len(text) <= most
}

// lower is a text with its letters A to Z as small ones, as SQLite's LIKE compares.
func lower(text string) string {
	out := []byte(text)
	for i, b := range out {
		if 'A' <= b && b <= 'Z' {
			out[i] = b + 'a' - 'A'
		}
	}
	return string(out)
}

// index is where a text has another; -1: nowhere.
func index(text, part string) int {
	for i := 0; i+len(part) <= len(text); i++ {
		if text[i:i+len(part)] == part {
			return i
		}
	}
	return -1
}

// after is what follows a prefix.
func after(text, prefix string) (rest string, ok bool) {
	if len(text) < len(prefix) || text[:len(prefix)] != prefix {
		return text, false
	}
	return text[len(prefix):], true
}

// cut splits a text at a sign.
func cut(text string, sign byte) (before, behind string, ok bool) {
	for i := range len(text) {
		if text[i] == sign {
			return text[:i], text[i+1:], true
		}
	}
	return text, "", false
}

func contains(list []string, text string) bool {
	for _, one := range list {
		if one == text {
			return true
		}
	}
	return false
}

// sortTexts sorts some texts, of which there are few.
func sortTexts(list []string) {
	sortBy(list, func(a, b string) bool { return a < b })
}

// sortBy sorts by merging, and keeps the order of equal elements.
func sortBy[T any](list []T, less func(a, b T) bool) {
	if len(list) < 2 {
		return
	}
	half := len(list) / 2
	left, right := append([]T(nil), list[:half]...), append([]T(nil), list[half:]...)
	sortBy(left, less)
	sortBy(right, less)
	for i := range list {
		if len(left) > 0 && (len(right) == 0 || !less(right[0], left[0])) {
			list[i], left = left[0], left[1:]
		} else {
			list[i], right = right[0], right[1:]
		}
	}
}
