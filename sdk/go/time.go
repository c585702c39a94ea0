package alcove

import (
	"errors"
	"strconv"
	"unsafe"

	"github.com/alcove-memory/alcove/sdk/go/scan"
)

// Time is an instant, in microseconds since the beginning of 1970 in UTC. The zero Time stands for none.
type Time int64

// Duration is a time span in microseconds.
type Duration int64

// Durations.
const (
	Millisecond Duration = 1000
	Second               = 1000 * Millisecond
	Minute               = 60 * Second
	Hour                 = 60 * Minute
	Day                  = 24 * Hour
)

// Seconds is the span in seconds.
func (d Duration) Seconds() float64 { return float64(d) / float64(Second) }

// Days is the span in days.
func (d Duration) Days() float64 { return float64(d) / float64(Day) }

// Add is the instant some time later.
func (t Time) Add(d Duration) Time { return t + Time(d) }

// Truncate is the instant at the beginning of its second, minute or whatever d is, counted from 1970.
func (t Time) Truncate(d Duration) Time {
	if d <= 0 {
		return t
	}
	rest := t % Time(d)
	if rest < 0 {
		rest += Time(d)
	}
	return t - rest
}

// Sub is the time from u to t.
func (t Time) Sub(u Time) Duration { return Duration(t - u) }

// ParseTime reads an instant in the form of RFC 3339.
func ParseTime(text string) (Time, error) {
	if t, ok := parseTime(text); ok {
		return t, nil
	}
	return 0, errors.New(strconv.Quote(text) + " is no instant: write it as 2026-06-01T12:00:00Z")
}

// parseTime is ParseTime for those who need no reason: to write one costs a guest more than to read the instant.
func parseTime(text string) (t Time, ok bool) {
	if len(text) < 20 || text[4] != '-' || text[7] != '-' || text[10] != 'T' && text[10] != 't' && text[10] != ' ' || text[13] != ':' || text[16] != ':' {
		return 0, false
	}
	var parts [6]int
	for i, at := range [6][2]int{{0, 4}, {5, 7}, {8, 10}, {11, 13}, {14, 16}, {17, 19}} {
		n, ok := digits(text[at[0]:at[1]])
		if !ok {
			return 0, false
		}
		parts[i] = n
	}
	year, month, day := parts[0], parts[1], parts[2]
	if month < 1 || month > 12 || day < 1 || day > daysIn(year, month) || parts[3] > 23 || parts[4] > 59 || parts[5] > 59 {
		return 0, false
	}
	micros, rest := fraction(text[19:])
	offset, ok := zone(rest)
	if !ok {
		return 0, false
	}
	seconds := int64(daysSince(year, month, day))*86400 + int64(parts[3]*3600+parts[4]*60+parts[5]-offset)
	return Time(seconds*1e6 + micros), true
}

func digits(text string) (n int, ok bool) {
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return 0, false
		}
		n = 10*n + int(text[i]-'0')
	}
	return n, text != ""
}

// fraction reads a fraction of a second, to the microsecond.
func fraction(text string) (micros int64, rest string) {
	if text[0] != '.' {
		return 0, text
	}
	i, unit := 1, int64(100_000)
	for ; i < len(text) && text[i] >= '0' && text[i] <= '9'; i++ {
		micros += int64(text[i]-'0') * unit
		unit /= 10
	}
	return micros, text[i:]
}

// zone reads Z, or an offset such as +02:00, in seconds.
func zone(text string) (seconds int, ok bool) {
	if text == "Z" || text == "z" {
		return 0, true
	}
	if len(text) != 6 || text[0] != '+' && text[0] != '-' || text[3] != ':' {
		return 0, false
	}
	hours, ok1 := digits(text[1:3])
	minutes, ok2 := digits(text[4:])
	seconds = hours*3600 + minutes*60
	if text[0] == '-' {
		seconds = -seconds
	}
	return seconds, ok1 && ok2 && hours < 24 && minutes < 60
}

func daysIn(year, month int) int {
	switch month {
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	case 4, 6, 9, 11:
		return 30
	}
	return 31
}

// daysSince counts the days from 1 January 1970, with years that begin in March.
func daysSince(year, month, day int) int {
	if month <= 2 {
		year--
		month += 12
	}
	era := year / 400
	if year < 0 {
		era = (year - 399) / 400
	}
	ofEra := year - era*400
	ofYear := (153*(month-3)+2)/5 + day - 1
	return era*146097 + ofEra*365 + ofEra/4 - ofEra/100 + ofYear - 719468
}

// date is the day with a number that daysSince gives.
func date(days int) (year, month, day int) {
	days += 719468
	era := days / 146097
	if days < 0 {
		era = (days - 146096) / 146097
	}
	ofEra := days - era*146097
	years := (ofEra - ofEra/1460 + ofEra/36524 - ofEra/146096) / 365
	ofYear := ofEra - (365*years + years/4 - years/100)
	m := (5*ofYear + 2) / 153
	day, month, year = ofYear-(153*m+2)/5+1, m+3, years+era*400
	if month > 12 {
		month -= 12
		year++
	}
	return year, month, day
}

// String is the instant in the form of RFC 3339, in UTC, to the second or the microsecond.
func (t Time) String() string { return string(t.append(make([]byte, 0, longestTime))) }

// longestTime is the length of an instant with microseconds.
const longestTime = 27

func (t Time) append(out []byte) []byte {
	seconds, micros := int64(t)/1e6, int64(t)%1e6
	if micros < 0 {
		seconds, micros = seconds-1, micros+1e6
	}
	days, within := seconds/86400, seconds%86400
	if within < 0 {
		days, within = days-1, within+86400
	}
	year, month, day := date(int(days))
	out = pad(out, year, 4)
	out = pad(append(out, '-'), month, 2)
	out = pad(append(out, '-'), day, 2)
	out = pad(append(out, 'T'), int(within/3600), 2)
	out = pad(append(out, ':'), int(within/60%60), 2)
	out = pad(append(out, ':'), int(within%60), 2)
	if micros != 0 {
		out = pad(append(out, '.'), int(micros), 6)
	}
	return append(out, 'Z')
}

func pad(out []byte, n, width int) []byte {
	unit := 1
	for range width - 1 {
		unit *= 10
	}
	if n < 0 || n >= 10*unit {
		return strconv.AppendInt(out, int64(n), 10)
	}
	for ; unit > 0; unit /= 10 {
		out = append(out, '0'+byte(n/unit%10))
	}
	return out
}

// EncodeJSON writes the instant as text; none is empty.
func (t Time) EncodeJSON(w *scan.Writer) {
	if t == 0 {
		w.Text("")
		return
	}
	text := t.append(make([]byte, 0, longestTime))
	w.Text(unsafe.String(unsafe.SliceData(text), len(text))) // which it copies
}

// DecodeJSON reads an instant; what is none is zero.
func (t *Time) DecodeJSON(s *scan.Scanner) { *t, _ = parseTime(s.String()) }

// CodeJSON reads or writes the text of the instant.
func (t *Time) CodeJSON(c *scan.Coder) { scan.CodeSelf(t, c) }

// MarshalText lets encoding/json write the instant, in tests.
func (t Time) MarshalText() ([]byte, error) {
	if t == 0 {
		return nil, nil
	}
	return []byte(t.String()), nil
}

// UnmarshalText lets encoding/json read the instant, in tests; what is none is zero.
func (t *Time) UnmarshalText(text []byte) error {
	*t, _ = parseTime(string(text))
	return nil
}
