package compare

import (
	"strconv"
	"strings"

	"github.com/alcove-memory/alcove/guests/lib/words"
)

// normal reads what numbers, units, dates and times of a text mean, so that five minutes, 5 min and 300 s are one word, as are
// 6 am, 06:00 and 6:00 UTC, and 14 March and March 14th.
type normal struct {
	*measures
	text string
	list []words.Word
	out  []words.Word
	at   int
}

// normalized are the words of a text with what is written in several ways in one.
func (m *measures) normalized(text string) []words.Word {
	n := normal{measures: m, text: text, list: words.Split(text)}
	n.out = make([]words.Word, 0, len(n.list))
	for n.at < len(n.list) {
		if n.identifier() {
			continue
		}
		if !n.begins() || !n.date() && !n.clock() && !n.amount() {
			n.keep()
		}
	}
	return n.out
}

// identifier takes words that hyphens join to a number, such as eu-west-1, as one.
func (n *normal) identifier() bool {
	w, last := n.list[n.at], n.at
	for n.follows(last, "-") {
		last++
	}
	if last == n.at || w.Number || !digits(n.lower(last)) {
		return false
	}
	w.To = n.list[last].To
	w.Lower, w.Mixed, w.Capital = strings.ToLower(n.text[w.From:w.To]), true, false
	n.out = append(n.out, w)
	n.at = last + 1
	return true
}

// begins says whether the next word may be the first of a number, a date or a time.
func (n *normal) begins() bool {
	w := n.lower(n.at)
	return '0' <= w[0] && w[0] <= '9' || n.first[w]
}

// keep takes a word as it is, but for its spelling.
func (n *normal) keep() {
	w := n.list[n.at]
	w.Lower = n.spelling(w.Lower)
	if n.at+1 < len(n.list) && abbreviated(w.Lower) {
		n.list[n.at+1].Start = false
	}
	n.out = append(n.out, w)
	n.at++
}

// take takes the next words as one number.
func (n *normal) take(count int, is string) {
	w, last := n.list[n.at], n.list[n.at+count-1]
	w.Lower, w.To, w.Number, w.Capital, w.Acronym = is, last.To, true, false, false
	n.out = append(n.out, w)
	n.at += count
}

func (n *normal) lower(i int) string {
	if i < 0 || i >= len(n.list) {
		return ""
	}
	return n.list[i].Lower
}

// follows says whether nothing but a sign stands behind a word.
func (n *normal) follows(i int, sign string) bool {
	return i >= 0 && i+1 < len(n.list) && n.text[n.list[i].To:n.list[i+1].From] == sign
}

// date takes a day of a month, with or without a year, or a month.
func (n *normal) date() bool {
	i := n.at
	if y, m, d, ok := n.iso(i); ok {
		n.take(3, "d"+m+"-"+d)
		end := n.out[len(n.out)-1].To
		n.out = append(n.out, words.Word{Lower: y, Number: true, From: end, To: end})
		return true
	}
	if first, second, found := strings.Cut(n.lower(i), "/"); found {
		a, _ := strconv.Atoi(first)
		b, _ := strconv.Atoi(second)
		if a > 12 && a < 32 && b > 0 && b < 13 {
			a, b = b, a
		} else if a < 1 || a > 12 || b < 13 || b > 31 {
			return false
		}
		n.take(1, "d"+twoDigits(a)+"-"+twoDigits(b))
		return true
	}
	if m := n.month(i); m != "" {
		if d, ok := day(n.lower(i + 1)); ok {
			n.take(2, "d"+m+"-"+d)
			return true
		}
		n.take(1, "m"+m)
		return true
	}
	d, ok := day(n.lower(i))
	if !ok {
		return false
	}
	next := i + 1
	if n.lower(next) == "of" {
		next++
	}
	if m := n.month(next); m != "" {
		n.take(next-i+1, "d"+m+"-"+d)
		return true
	}
	return false
}

// iso reads 2026-03-14.
func (n *normal) iso(i int) (y, m, d string, ok bool) {
	if !n.follows(i, "-") || !n.follows(i+1, "-") {
		return "", "", "", false
	}
	y, m, d = n.lower(i), n.lower(i+1), n.lower(i+2)
	return y, m, d, len(y) == 4 && len(m) == 2 && len(d) == 2 && digits(y+m+d)
}

// month is the number of a month that is named. May, March and what is short are months where a day or a preposition says so.
func (n *normal) month(i int) string {
	if i >= len(n.list) {
		return ""
	}
	w := n.lower(i)
	number, ok := n.months[w]
	if ok && (len(w) < 4 || w == "march") {
		_, before := day(n.lower(i - 1))
		_, after := day(n.lower(i + 1))
		if !before && !after && !(n.list[i].Capital && n.monthly[n.lower(i-1)]) {
			return ""
		}
	}
	if !ok {
		return ""
	}
	return number
}

// day reads a day of a month.
func day(w string) (string, bool) {
	for _, end := range []string{"st", "nd", "rd", "th"} {
		w = strings.TrimSuffix(w, end)
	}
	v, err := strconv.Atoi(w)
	if err != nil || v < 1 || v > 31 || len(w) > 2 {
		return "", false
	}
	return twoDigits(v), true
}

func digits(w string) bool {
	for i := range len(w) {
		if w[i] < '0' || w[i] > '9' {
			return false
		}
	}
	return w != ""
}

// clock takes a time of the day: 6:00, 18:30 UTC, 6 pm, half past six, noon.
func (n *normal) clock() bool {
	hour, minute, count := n.hour(n.at)
	if count == 0 {
		return n.attachedHalf()
	}
	i := n.at + count
	switch half := n.half(i); {
	case half != 0:
		hour, i = hour%12+12*(half-1), i+1
	case n.lower(i) == "o'clock":
		i++
	}
	if n.lower(i) == "in" && n.lower(i+1) == "the" && hour < 12 {
		switch n.lower(i + 2) {
		case "evening", "afternoon":
			hour, i = hour+12, i+3
		case "morning":
			i += 3
		}
	}
	if zone := n.lower(i); zone == "utc" || zone == "gmt" {
		i++
	}
	n.take(i-n.at, "t"+twoDigits(hour%24)+":"+twoDigits(minute))
	return true
}

// hour reads the hour and the minute of a time, and says how many words they have; 0: there is none.
func (n *normal) hour(i int) (hour, minute, count int) {
	hour, err := strconv.Atoi(n.lower(i))
	switch next := n.lower(i + 1); {
	case n.lower(i) == "noon":
		return 12, 0, 1
	case n.lower(i) == "midnight":
		return 0, 0, 1
	case n.lower(i) == "half" && next == "past":
		v, _, ok := n.number(i + 2)
		if !ok || v < 0 || v > 24 {
			return 0, 0, 0
		}
		return int(v), 30, 3
	case err == nil && hour < 25 && n.follows(i, ":") && !n.follows(i+1, ":") && len(next) == 2 && digits(next):
		minute, _ = strconv.Atoi(next)
		return hour, minute, 2
	case err == nil && hour < 13 && (n.half(i+1) != 0 || next == "o'clock"):
		return hour, 0, 1
	}
	return 0, 0, 0
}

// half is 1 where am stands, 2 where pm does.
func (n *normal) half(i int) int {
	switch n.lower(i) {
	case "am", "a.m":
		return 1
	case "pm", "p.m":
		return 2
	}
	return 0
}

// attachedHalf takes 6pm.
func (n *normal) attachedHalf() bool {
	w := n.lower(n.at)
	for end, half := range map[string]int{"am": 0, "pm": 12} {
		rest, found := strings.CutSuffix(w, end)
		hour, err := strconv.Atoi(rest)
		if found && err == nil && hour > 0 && hour < 13 {
			n.take(1, "t"+twoDigits(hour%12+half)+":00")
			return true
		}
	}
	return false
}

// amount takes a number with its unit, or without one.
func (n *normal) amount() bool {
	v, count, ok := n.number(n.at)
	if !ok {
		return n.attachedUnit()
	}
	i := n.at + count
	if scale, is := n.scales[n.lower(i)]; is {
		v, count, i = v*scale, count+1, i+1
	}
	if fraction, is := n.fractions[n.lower(i)]; is && n.list[n.at].Lower != "1" && n.follows(i-1, "-") {
		n.take(count+1, strconv.FormatFloat(v, 'f', -1, 64)+"/"+fraction)
		return true
	}
	if u, is := n.units[n.lower(i)]; is && i < len(n.list) && !n.list[i].Start {
		n.take(count+1, u.is(v))
		return true
	}
	end := n.list[i-1].To
	switch {
	case strings.HasPrefix(n.text[end:], "%") || strings.HasPrefix(n.text[end:], " %"):
		n.take(count, unit{"%", 1}.is(v))
	case strings.HasPrefix(n.text[end:], " €") || strings.HasPrefix(n.text[end:], "€"):
		n.take(count, unit{"eur", 1}.is(v))
	case strings.HasPrefix(strings.TrimPrefix(n.text[end:], " "), "°"):
		if n.lower(i) == "c" {
			count++
		}
		n.take(count, unit{"°C", 1}.is(v))
	case n.currency() != "":
		n.take(count, unit{n.currency(), 1}.is(v))
	case n.lower(i) == "times":
		n.take(count+1, unit{"x", 1}.is(v))
	default:
		n.take(count, unit{"", 1}.is(v))
	}
	return true
}

// currency is what the sign in front of a number says.
func (n *normal) currency() string {
	before := n.text[:n.list[n.at].From]
	for sign, name := range n.currencies {
		if strings.HasSuffix(before, sign) {
			return name
		}
	}
	return ""
}

// number reads a number in digits or words, and says how many words it has.
func (n *normal) number(i int) (v float64, count int, ok bool) {
	w := n.lower(i)
	if plain := strings.ReplaceAll(w, ",", ""); w != "" && '0' <= w[0] && w[0] <= '9' && strings.Count(plain, ".") < 2 && len(w) < 16 {
		if v, err := strconv.ParseFloat(plain, 64); err == nil {
			return v, 1, true
		}
	}
	v, ok = n.numbers[w]
	if !ok || w == "one" && !n.counts(i) || w == "dozen" {
		return n.dozen(i)
	}
	count = 1
	if v >= 20 && v < 100 {
		if ones, is := n.numbers[n.lower(i+1)]; is && ones > 0 && ones < 10 {
			v, count = v+ones, 2
		}
	}
	return v, count, true
}

// dozen reads a dozen, a hundred, half an hour.
func (n *normal) dozen(i int) (v float64, count int, ok bool) {
	w, next := n.lower(i), n.lower(i+1)
	switch {
	case w == "a" && next == "dozen":
		return 12, 2, true
	case w == "a" && n.scales[next] > 1 && len(next) > 1:
		return 1, 1, true
	case w == "a" && next == "quarter" && n.lower(i+2) == "of" && n.lower(i+3) == "an" && n.lower(i+4) == "hour":
		return .25, 4, true
	case w == "half" && (next == "a" || next == "an") && n.units[n.lower(i+2)].scale > 0:
		return .5, 2, true
	case (w == "a" || w == "an") && (next == "hour" || next == "decade" || next == "fortnight") && !n.rate(i-1):
		return 1, 1, true
	}
	return 0, 0, false
}

// rate says whether what follows is that of a rate, as in 50 an hour, twice a day.
func (n *normal) rate(i int) bool {
	w := n.lower(i)
	if w == "" {
		return false
	}
	_, word := n.numbers[w]
	_, unit := n.units[w]
	return word || unit || w == "once" || w == "twice" || w == "times" || strings.ContainsAny(w, "0123456789")
}

// counts says whether one is a number.
func (n *normal) counts(i int) bool {
	switch n.lower(i - 1) {
	case "no", "the", "this", "that", "any", "every", "which", "each", "another", "some", "not", "is", "right", "new":
		return false
	}
	switch n.lower(i + 1) {
	case "", "of", "another", "is", "day", "more", "can", "should", "must", "has", "that", "who", "by":
		return false
	}
	return !n.list[i+1].Start
}

// attachedUnit takes 25MB, 12k, 1st, tenth, twice.
func (n *normal) attachedUnit() bool {
	w := n.lower(n.at)
	if v, ok := n.ordinals[w]; ok && !(w == "second" && n.rate(n.at-1)) && n.lower(n.at-1) != "per" && n.lower(n.at-1) != "a" {
		n.take(1, strconv.Itoa(v)+".")
		return true
	}
	if w == "twice" {
		n.take(1, "2x")
		return true
	}
	end := strings.IndexFunc(w, func(r rune) bool { return (r < '0' || r > '9') && r != '.' && r != ',' })
	if end < 1 {
		return false
	}
	v, err := strconv.ParseFloat(strings.ReplaceAll(w[:end], ",", ""), 64)
	if err != nil {
		return false
	}
	rest := w[end:]
	switch rest {
	case "st", "nd", "rd", "th":
		n.take(1, w[:end]+".")
		return true
	case "x":
		n.take(1, unit{"x", 1}.is(v))
		return true
	}
	if scale, ok := n.attached[rest]; ok {
		u := unit{n.currency(), scale}
		n.take(1, u.is(v))
		return true
	}
	if u, ok := n.units[rest]; ok {
		n.take(1, u.is(v))
		return true
	}
	return false
}

// spelling is how a word is spelled in one of the ways that there are.
func (m *measures) spelling(w string) string {
	if is, ok := m.spellings[w]; ok {
		return is
	}
	if len(w) > 6 {
		for _, end := range []string{"ise", "ised", "ises", "ising", "isation", "yse", "ysed"} {
			if rest, ok := strings.CutSuffix(w, end); ok {
				return rest + strings.Replace(end, "s", "z", 1)
			}
		}
	}
	return w
}

// abbreviated says whether the period behind a word ends no sentence.
func abbreviated(w string) bool {
	switch w {
	case "maximum", "minimum", "approximately", "dr", "mr", "mrs", "ms", "prof", "no", "eg", "ie", "vs", "st", "req":
		return true
	}
	return false
}
