package search

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Turn is a document's position in a conversation. Turns are scored with what is said around them: a question often has
// the words of one turn and is answered by the next. The key of a turn is not searched.
type Turn struct {
	Session  string    // the conversation
	Position int64     // in the session; turns at adjacent positions are neighbours
	Speaker  string    // who said it; searched like text
	Caption  string    // of a picture that went with it; searched like text
	Said     time.Time // zero: unknown
	Role     Role      // who that is to a chat
}

// Role is a speaker's part in a chat with an assistant. Chats are no talk between people: an assistant's answer is long, repeats the words of
// what it was asked, and is followed by another request.
type Role byte

const (
	Person    Role = iota // who talks with other people
	User                  // who asks an assistant
	Assistant             // a model or a program
)

// Conversation configures the scores of turns. A turn's score is the sum of six features, each times its weight. Every
// term of the question counts by its idf, less if it says little: see Filler and Dated. Zero fields mean the default
// in the comment; a negative number disables the feature. Turns of a User or an Assistant are without Zone and Question.
type Conversation struct {
	// Window: for each term, the best BM25 score among the turn and those up to two positions away, which count half and
	// a quarter. .35
	Window float64
	// Cover: the weights of the terms that the turn has. .2
	Cover float64
	// Zone: the BM25 score of the turns up to ten positions away, taken as one document. .4
	Zone float64
	// Question: the BM25 score of the turn before, if it ends in a question mark. .25
	Question float64
	// Speaker: the weight of the whole question, for a turn whose speaker it names; less for one with fewer of the names'
	// words than another speaker of the view has. .125
	Speaker float64
	// Date: the weight of the whole question, for a turn that was said in the month that it names, and within 7 days of
	// the day if it names one; half of it further from the day, a quarter when it names a year alone. .5
	Date float64

	// Assistant is the factor of Window and Cover for what an assistant says, there and in the windows of others. .3
	Assistant float64
	// Filler is the factor of words that ask rather than tell, such as "mention". .3
	Filler float64
	// Dated is the factor of words of the date that Date recognises. .1
	Dated float64
}

func (c Conversation) withDefaults() Conversation {
	or := func(given, otherwise float64) float64 { return max(0, cmp.Or(given, otherwise)) }
	return Conversation{
		Window: or(c.Window, .35), Cover: or(c.Cover, .2), Zone: or(c.Zone, .4), Question: or(c.Question, .25),
		Speaker: or(c.Speaker, .125), Date: or(c.Date, .5),
		Assistant: or(c.Assistant, .3), Filler: or(c.Filler, .3), Dated: or(c.Dated, .1),
	}
}

// isOff reports whether turns are scored like other documents.
func (c Conversation) isOff() bool {
	return c.Window == 0 && c.Cover == 0 && c.Zone == 0 && c.Question == 0 && c.Speaker == 0 && c.Date == 0
}

const (
	windowReach = 2  // positions
	zoneReach   = 10 // positions
	zoneTurns   = 2*zoneReach + 1
)

// zoned is the number of best turns, by the other features, to which the score of their zone is added.
const zoned = 500

// inZone are the parameters of BM25 for a zone.
func inZone() Params { return Params{K1: 1.2, B: .75} }

// nearDay is the tolerance around a day named in a query, in days.
const nearDay = 7

// day is a date named in a query; zero fields were not given.
type day struct{ year, month, day int }

// share is how well an instant fits the date, from 0 to 1.
func (d day) share(micros int64) float64 {
	if (d == day{} || micros == 0) {
		return 0
	}
	said := time.UnixMicro(micros).UTC()
	switch {
	case d.year != 0 && said.Year() != d.year:
		return 0
	case d.month == 0:
		return .25
	case int(said.Month()) != d.month:
		return 0
	case d.day != 0 && (said.Day() < d.day-nearDay || said.Day() > d.day+nearDay):
		return .5
	}
	return 1
}

// dateIn parses the date named in a question: "7 May 2023", "in May", "2023-05-07", "during 2022". words are its words
// in the question; rest reports whether the question has others that are not stop words.
func dateIn(question string, by *Analyser) (d day, words []string, rest bool) {
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
			words = append(words, w)
			for _, near := range []string{before, after} {
				if n := ordinal(near); n >= 1 && n <= 31 && d.day == 0 {
					d.day = n
					words = append(words, near)
				}
			}
		case number >= 1900 && number < 2100:
			d.year = cmp.Or(d.year, number)
			words = append(words, w)
		case number == 0 && !by.stops[w]:
			rest = true
		}
	}
	return d, words, rest
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
