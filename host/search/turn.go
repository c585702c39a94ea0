package search

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Turn is a document's position in a conversation. Adjacent turns raise each other's score: a question often has the
// words of one and is answered by the next.
type Turn struct {
	Session  string    // the conversation
	Position int64     // in the session; turns at adjacent positions are neighbours
	Speaker  string    // who said it; searched like text
	Caption  string    // of a picture that went with it; searched like text
	Said     time.Time // zero: unknown
}

// Conversation configures the scores of turns. Zero fields mean the default in the comment; a negative number disables
// the feature.
type Conversation struct {
	// Neighbour is the part of a turn's score added to the adjacent turns; half of it goes to those at distance 2. .5
	Neighbour float64
	// Speaker is the increase of a turn's score when the query names its speaker; .2 means 20 %. .2
	Speaker float64
	// Date is the increase of a turn's score when it was said in the month that the query names, and within 7 days of the
	// day if it names one; half of it further from the day, a quarter when the query names a year alone. 1
	Date float64
}

func (c Conversation) withDefaults() Conversation {
	return Conversation{
		Neighbour: max(0, cmp.Or(c.Neighbour, .5)), Speaker: max(0, cmp.Or(c.Speaker, .2)), Date: max(0, cmp.Or(c.Date, 1)),
	}
}

// neighbourhood is the number of best turns that raise their neighbours' scores.
const neighbourhood = 2000

// reach is the largest distance of a neighbour, in positions.
const reach = 2

// nearDay is the tolerance around a day named in a query, in days.
const nearDay = 7

// day is a date named in a query; zero fields were not given.
type day struct{ year, month, day int }

// factor is the score factor of a turn said at an instant.
func (d day) factor(said time.Time, boost float64) float64 {
	switch {
	case d == day{} || said.IsZero():
		return 1
	case d.year != 0 && said.Year() != d.year:
		return 1
	case d.month == 0:
		return 1 + boost/4
	case int(said.Month()) != d.month:
		return 1
	case d.day != 0 && (said.Day() < d.day-nearDay || said.Day() > d.day+nearDay):
		return 1 + boost/2
	}
	return 1 + boost
}

// dateIn parses the date named in a question: "7 May 2023", "in May", "2023-05-07", "during 2022". rest reports whether
// the question has words besides the date and stop words.
func dateIn(question string, by *Analyser) (d day, rest bool) {
	if at, ok := isoDate(question); ok {
		d = at
	}
	list := strings.FieldsFunc(strings.ToLower(question), func(r rune) bool { return !isWordRune(r) })
	for i, w := range list {
		before, after := "", ""
		if i > 0 {
			before = list[i-1]
		}
		if i+1 < len(list) {
			after = list[i+1]
		}
		number := ordinal(w)
		switch month := monthOf(w, before, after); {
		case month != 0 && d.month == 0:
			d.month = month
			for _, near := range []string{before, after} {
				if n := ordinal(near); n >= 1 && n <= 31 && d.day == 0 {
					d.day = n
				}
			}
		case number >= 1900 && number < 2100:
			d.year = cmp.Or(d.year, number)
		case number == 0 && !by.stops[w]:
			rest = true
		}
	}
	return d, rest
}

// isoDate finds a date such as 2023-05-07 or 2023-05.
func isoDate(text string) (day, bool) {
	for field := range strings.FieldsSeq(text) {
		field = strings.Trim(field, "?!.,;:()\"'")
		for _, layout := range []string{time.DateOnly, "2006-01"} {
			if t, err := time.Parse(layout, field); err == nil {
				d := day{t.Year(), int(t.Month()), 0}
				if layout == time.DateOnly {
					d.day = t.Day()
				}
				return d, true
			}
		}
	}
	return day{}, false
}

// monthOf returns the month of a name or its first three letters; 0 for any other word. "may" and "march" are months
// only beside a number or after a word such as "in".
func monthOf(w, before, after string) int {
	months := [...]string{"january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december"}
	at := slices.IndexFunc(months[:], func(m string) bool { return w == m || w == m[:3] || w == "sept" && m == "september" })
	if at < 0 {
		return 0
	}
	if w == "may" || w == "march" || w == "mar" {
		leads := slices.Contains([]string{"in", "of", "during", "since", "until", "last", "this", "late", "early", "mid", "by", "before", "after"}, before)
		if !leads && ordinal(before) == 0 && ordinal(after) == 0 && (before != "" || after != "") {
			return 0
		}
	}
	return at + 1
}

// ordinal parses 7, 7th or 2023; 0 for anything else.
func ordinal(w string) int {
	for _, suffix := range []string{"st", "nd", "rd", "th"} {
		w = strings.TrimSuffix(w, suffix)
	}
	if w == "" || len(w) > 4 {
		return 0
	}
	n := 0
	for _, r := range w {
		if r < '0' || r > '9' {
			return 0
		}
		n = 10*n + int(r-'0')
	}
	return n
}
