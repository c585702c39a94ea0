package suggest

import (
	"strings"

	"github.com/alcove-memory/alcove/guests/lib/words"
)

// maxMentions is how many names, dates and numbers a reading has at most, of each.
const maxMentions = 5

// names are runs of words with capital letters. One that only begins a sentence is none, unless more follow.
func names(text string, list []marked) []string {
	var found []string
	for i := 0; i < len(list); i++ {
		if !named(list[i]) || list[i].Acronym {
			continue
		}
		end := i + 1
		for end < len(list) && end-i < 3 && !list[end].Apart && list[end].Capital && !list[end].stop {
			end++
		}
		if list[i].Start && end == i+1 && !elsewhere(list, i) {
			continue
		}
		found = mention(found, text[list[i].From:list[end-1].From+len(words.Possessive(text[list[end-1].From:list[end-1].To]))])
		i = end - 1
	}
	return found
}

func named(w marked) bool {
	return w.Capital && !w.stop && len(w.Lower) > 2 && (!w.dull || !w.Start)
}

// elsewhere says whether the word has a capital letter also where no sentence begins.
func elsewhere(list []marked, i int) bool {
	for _, w := range list {
		if w.Capital && !w.Start && w.Lower == list[i].Lower {
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
func dates(text string, list []words.Word) []string {
	var found []string
	for i, w := range list {
		if w.Number && i+2 < len(list) && len(w.Lower) == 4 && isDay(text, list[i:i+3]) {
			found = mention(found, text[w.From:list[i+2].To])
		}
		if w.Number && written(w.Lower) {
			found = mention(found, w.Lower)
		}
		if isMonth(w.Lower) && w.Capital {
			found = month(found, text, list, i)
		}
	}
	return found
}

// isDay says whether three words are a year, a month and a day with hyphens between.
func isDay(text string, w []words.Word) bool {
	return w[1].Number && w[2].Number && len(w[1].Lower) == 2 && len(w[2].Lower) >= 2 &&
		text[w[0].To:w[1].From] == "-" && text[w[1].To:w[2].From] == "-"
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
func month(found []string, text string, list []words.Word, i int) []string {
	from, to := i, i
	if i > 0 && digits(strings.TrimRight(list[i-1].Lower, "stndrh"), 1, 2) && list[i-1].Number {
		from--
	}
	for to+1 < len(list) && to < i+2 && list[to+1].Number && len(list[to+1].Lower) <= 4 {
		to++
	}
	if from == to { // may, and march, are words of their own
		return found
	}
	return mention(found, text[list[from].From:list[to].To])
}

// numbers are amounts with a unit, a currency or a percent sign.
func numbers(text string, list []words.Word) []string {
	var found []string
	for i, w := range list {
		if !w.Number || len(w.Lower) > 12 {
			continue
		}
		switch {
		case w.From > 0 && (text[w.From-1] == '$'):
			found = mention(found, text[w.From-1:w.To])
		case strings.HasSuffix(text[:w.From], "€"), strings.HasSuffix(text[:w.From], "£"):
			found = mention(found, text[w.From-len("€")+sign(text, w.From):w.To])
		case w.To < len(text) && text[w.To] == '%':
			found = mention(found, text[w.From:w.To+1])
		case w.Mixed && strings.ContainsAny(w.Lower, "bgmkhsx"): // 512mb, 4k, 30s
			if unit(strings.TrimLeft(w.Lower, "0123456789.,")) {
				found = mention(found, text[w.From:w.To])
			}
		case i+1 < len(list) && !list[i+1].Apart && unit(list[i+1].Lower):
			found = mention(found, text[w.From:list[i+1].To])
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
