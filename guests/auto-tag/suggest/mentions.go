package suggest

import "strings"

// maxMentions is how many names, dates and numbers a reading has at most, of each.
const maxMentions = 5

// names are runs of words with capital letters. One that only begins a sentence is none, unless more follow.
func names(text string, words []marked) []string {
	var found []string
	for i := 0; i < len(words); i++ {
		if !named(words[i]) || words[i].acronym {
			continue
		}
		end := i + 1
		for end < len(words) && end-i < 3 && !words[end].apart && words[end].capital && !words[end].stop {
			end++
		}
		if words[i].start && end == i+1 && !elsewhere(words, i) {
			continue
		}
		found = mention(found, text[words[i].from:words[end-1].from+len(possessive(text[words[end-1].from:words[end-1].to]))])
		i = end - 1
	}
	return found
}

func named(w marked) bool {
	return w.capital && !w.stop && len(w.lower) > 2 && (w.weight == 0 || !w.start)
}

// elsewhere says whether the word has a capital letter also where no sentence begins.
func elsewhere(words []marked, i int) bool {
	for _, w := range words {
		if w.capital && !w.start && w.lower == words[i].lower {
			return true
		}
	}
	return false
}

// mention adds a text that is not there yet, as long as there is room.
func mention(found []string, text string) []string {
	text = strings.Join(strings.Fields(text), " ")
	if len(found) == maxMentions || len(text) > 64 {
		return found
	}
	for _, f := range found {
		if strings.EqualFold(f, text) {
			return found
		}
	}
	return append(found, text)
}

// dates are days as 2026-03-14, 14.3.2026 or 3/14/2026, and months with a day or a year.
func dates(text string, words []word) []string {
	var found []string
	for i, w := range words {
		if w.number && i+2 < len(words) && len(w.lower) == 4 && isDay(text, words[i:i+3]) {
			found = mention(found, text[w.from:words[i+2].to])
		}
		if w.number && written(w.lower) {
			found = mention(found, w.lower)
		}
		if isMonth(w.lower) && w.capital {
			found = month(found, text, words, i)
		}
	}
	return found
}

// isDay says whether three words are a year, a month and a day with hyphens between.
func isDay(text string, w []word) bool {
	return w[1].number && w[2].number && len(w[1].lower) == 2 && len(w[2].lower) >= 2 &&
		text[w[0].to:w[1].from] == "-" && text[w[1].to:w[2].from] == "-"
}

// written says whether a word is a day as 14.3.2026 or 3/14/2026.
func written(w string) bool {
	for _, sign := range []string{".", "/"} {
		parts := strings.Split(w, sign)
		if len(parts) == 3 && digits(parts[0], 1, 2) && digits(parts[1], 1, 2) && (digits(parts[2], 2, 2) || digits(parts[2], 4, 4)) {
			return sign == "/" || digits(parts[2], 4, 4) // 1.26.8 is a version
		}
	}
	return false
}

func digits(w string, least, most int) bool {
	for i := range len(w) {
		if w[i] < '0' || w[i] > '9' {
			return false
		}
	}
	return len(w) >= least && len(w) <= most
}

func isMonth(w string) bool {
	switch w {
	case "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december":
		return true
	}
	return false
}

// month adds a month with what stands around it: 14 March, March 14, March 2026.
func month(found []string, text string, words []word, i int) []string {
	from, to := i, i
	if i > 0 && digits(strings.TrimRight(words[i-1].lower, "stndrh"), 1, 2) && words[i-1].number {
		from--
	}
	for to+1 < len(words) && to < i+2 && words[to+1].number && len(words[to+1].lower) <= 4 {
		to++
	}
	if from == to { // may, and march, are words of their own
		return found
	}
	return mention(found, text[words[from].from:words[to].to])
}

// numbers are amounts with a unit, a currency or a percent sign.
func numbers(text string, words []word) []string {
	var found []string
	for i, w := range words {
		if !w.number || len(w.lower) > 12 {
			continue
		}
		switch {
		case w.from > 0 && (text[w.from-1] == '$'):
			found = mention(found, text[w.from-1:w.to])
		case strings.HasSuffix(text[:w.from], "€"), strings.HasSuffix(text[:w.from], "£"):
			found = mention(found, text[w.from-len("€")+sign(text, w.from):w.to])
		case w.to < len(text) && text[w.to] == '%':
			found = mention(found, text[w.from:w.to+1])
		case w.mixed && strings.ContainsAny(w.lower, "bgmkhsx"): // 512mb, 4k, 30s
			if unit(strings.TrimLeft(w.lower, "0123456789.,")) {
				found = mention(found, text[w.from:w.to])
			}
		case i+1 < len(words) && !words[i+1].apart && unit(words[i+1].lower):
			found = mention(found, text[w.from:words[i+1].to])
		}
	}
	return found
}

// sign is how many bytes a currency sign has fewer than that of the euro.
func sign(text string, at int) int {
	if strings.HasSuffix(text[:at], "£") {
		return len("€") - len("£")
	}
	return 0
}

func unit(w string) bool {
	switch w {
	case "ms", "s", "sec", "seconds", "min", "minutes", "h", "hours", "days", "weeks", "months", "years", "kb", "mb", "gb", "tb", "kib", "mib", "gib",
		"km", "m", "cm", "mm", "miles", "kg", "g", "lbs", "percent", "usd", "eur", "dollars", "euros", "px", "rps", "qps", "tokens", "rows", "users", "requests",
		"k", "x", "mbps", "ghz", "mhz", "cores", "people", "items":
		return true
	}
	return false
}
