package planted

import "strings"

// filler puts words in front that say nothing.
func (m *maker) filler(text string) string {
	fillers := []string{"Note: ", "FYI, ", "Reminder: ", "Just so you know, ", "As discussed, ", "For the record: ", "I think ", "Important: ", "Apparently "}
	filler := fillers[m.random.IntN(len(fillers))]
	first, _, _ := strings.Cut(text, " ")
	if strings.HasSuffix(filler, ": ") || first != strings.ToUpper(first[:1])+first[1:] || first != "The" {
		return filler + text
	}
	return filler + strings.ToLower(text[:1]) + text[1:]
}

// trailer adds what says hardly more.
func (m *maker) trailer(text string) string {
	trailers := []string{" at the moment", " right now", " as of today", ", by the way", ", as far as I know", " these days"}
	return strings.TrimRight(text, ".") + trailers[m.random.IntN(len(trailers))] + "."
}

// swap puts words in the place of others with the same meaning.
func (m *maker) swap(text string) string {
	groups := []string{
		"likes|enjoys", "bug|defect", "issue|problem", "movie|film", "use|utilize", "uses|employs", "prefers|favors", "picked|chose", "is located in|sits in",
		"customer|client", "database|DB", "repository|repo", "because|since", "needs|requires", "production|prod", "configuration|config", "every|each", "team|group",
		"quickly|fast", "begins|starts", "finished|completed", "fixed|resolved", "bought|purchased", "big|large", "application|app", "help|assistance", "doctor|physician",
	}
	for range 12 {
		a, b, _ := strings.Cut(groups[m.random.IntN(len(groups))], "|")
		if strings.Contains(text, " "+a+" ") {
			return strings.Replace(text, " "+a+" ", " "+b+" ", 1)
		}
		if strings.Contains(text, " "+b+" ") {
			return strings.Replace(text, " "+b+" ", " "+a+" ", 1)
		}
	}
	return text
}

// slip makes a slip of a key in a long word.
func (m *maker) slip(text string) string {
	fields := strings.Fields(text)
	for range 8 {
		i := m.random.IntN(len(fields))
		w := fields[i]
		if len(w) < 7 || strings.ToLower(w) != w || strings.ContainsAny(w, "0123456789-.,") {
			continue
		}
		at := 2 + m.random.IntN(len(w)-4)
		switch m.random.IntN(3) {
		case 0:
			w = w[:at] + w[at+1:]
		case 1:
			w = w[:at] + w[at:at+1] + w[at:]
		default:
			w = w[:at] + w[at+1:at+2] + w[at:at+1] + w[at+2:]
		}
		fields[i] = w
		return strings.Join(fields, " ")
	}
	return text
}

func (m *maker) lower(text string) string {
	return strings.ToLower(strings.TrimRight(text, "."))
}

// plural makes some word a plural.
func (m *maker) plural(text string) string {
	fields := strings.Fields(text)
	i := m.random.IntN(len(fields))
	if w := fields[i]; len(w) > 4 && strings.ToLower(w) == w && !strings.ContainsAny(w, "0123456789-.,sxyh") {
		fields[i] = w + "s"
	}
	return strings.Join(fields, " ")
}

// turn puts the end of a sentence first.
func (m *maker) turn(text string) string {
	for _, joint := range []string{" because ", " in ", " for ", " before "} {
		if a, b, ok := strings.Cut(strings.TrimRight(text, "."), joint); ok && len(strings.Fields(b)) < 6 {
			return strings.ToUpper(joint[1:2]) + joint[2:] + b + ", " + a + "."
		}
	}
	return text
}
