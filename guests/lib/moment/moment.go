// Package moment reads the moments that callers of tools write: an instant, a date, an epoch, v123, 2 days ago, in an hour.
package moment

import (
	"strconv"
	"strings"

	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// Edge is the end of a day that a date stands for.
type Edge bool

// The ends of a day.
const (
	Begin Edge = false // its first instant
	End   Edge = true  // its last one, as in as_of
)

// Of reads a moment. An empty text is no moment.
func Of(c *alcove.Call, text string, edge Edge) (alcove.Time, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return 0, nil
	}
	if t, ok := Parse(text, c.Time(), edge); ok {
		return t, nil
	}
	if len(text) > 1 && (text[0] == 'v' || text[0] == 'V') {
		at, err := c.VersionAt(alcove.VersionAtRequest{AsOf: text})
		if err != nil {
			return 0, err
		}
		return alcove.ParseTime(at.Timestamp)
	}
	return 0, alcove.Errorf(alcove.InvalidArgument, "%q is no moment: write 2026-06-01T12:00:00Z, 2026-06-01, v123, 2 days ago or in an hour", text)
}

// Parse reads a moment that is no version; a span begins at now.
func Parse(text string, now alcove.Time, edge Edge) (alcove.Time, bool) {
	if t, err := alcove.ParseTime(text); err == nil {
		return t, true
	}
	if t, ok := local(text, edge); ok {
		return t, true
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return epoch(n)
	}
	lower := strings.ToLower(text)
	switch {
	case lower == "now":
		return now, true
	case lower == "yesterday":
		return now.Add(-alcove.Day), true
	case strings.HasSuffix(lower, "ago"):
		return shift(strings.TrimSpace(strings.TrimSuffix(lower, "ago")), now, -1)
	case strings.HasPrefix(lower, "in "):
		return shift(lower[3:], now, 1)
	}
	return 0, false
}

// local reads a date, or a date and a time without a zone, in UTC.
func local(text string, edge Edge) (alcove.Time, bool) {
	if len(text) == len("2026-06-01") {
		t, err := alcove.ParseTime(text + "T00:00:00Z")
		if err == nil && edge == End {
			t = t.Add(alcove.Day) - 1
		}
		return t, err == nil
	}
	text = strings.Replace(text, " ", "T", 1)
	if len(text) == len("2026-06-01T12:00") {
		text += ":00"
	}
	t, err := alcove.ParseTime(text + "Z")
	return t, err == nil
}

// epoch tells seconds, milliseconds and microseconds apart by their size.
func epoch(n int64) (alcove.Time, bool) {
	switch {
	case n <= 0 || n >= 1e17:
		return 0, false
	case n < 1e11:
		return alcove.Time(n * 1e6), true
	case n < 1e14:
		return alcove.Time(n * 1e3), true
	}
	return alcove.Time(n), true
}

// The instants that can be written, and about the span between them.
const (
	first    = alcove.Time(-62135596800e6)
	last     = alcove.Time(253402300799e6)
	calendar = 3.2e17
)

// units are spans by the beginnings of their names; months and years are counted apart.
var units = []struct {
	name string
	span alcove.Duration
}{
	{"milli", alcove.Millisecond}, {"ms", alcove.Millisecond}, {"s", alcove.Second}, {"m", alcove.Minute},
	{"h", alcove.Hour}, {"d", alcove.Day}, {"w", 7 * alcove.Day},
}

// shift moves now by a span such as "90 minutes", "an hour" or "1h30m".
func shift(span string, now alcove.Time, sign int) (alcove.Time, bool) {
	if span == "" || len(span) > 64 {
		return 0, false
	}
	for span != "" {
		n, name, rest := part(span)
		if name == "" {
			return 0, false
		}
		switch {
		case strings.HasPrefix(name, "mo"):
			now = months(now, sign*n)
		case strings.HasPrefix(name, "y"):
			now = months(now, sign*12*n)
		default:
			found := false
			for _, u := range units {
				if found = strings.HasPrefix(name, u.name) && float64(n)*float64(u.span) < calendar; found {
					now = now.Add(alcove.Duration(sign*n) * u.span)
					break
				}
			}
			if !found {
				return 0, false
			}
		}
		span = rest
	}
	return now, now >= first && now <= last
}

// part cuts the first number and its unit off a span.
func part(span string) (n int, unit, rest string) {
	span = strings.TrimLeft(span, " ,")
	span = strings.TrimPrefix(span, "and ")
	digits := strings.TrimLeft(span, "0123456789")
	switch number := span[:len(span)-len(digits)]; {
	case strings.HasPrefix(span, "an "):
		n, digits = 1, span[3:]
	case strings.HasPrefix(span, "a "):
		n, digits = 1, span[2:]
	case number == "" || len(number) > 9:
		return 0, "", ""
	default:
		n, _ = strconv.Atoi(number)
	}
	digits = strings.TrimLeft(digits, " ")
	rest = strings.TrimLeft(digits, "abcdefghijklmnopqrstuvwxyz")
	return n, digits[:len(digits)-len(rest)], strings.TrimLeft(rest, " ,")
}

// months is the same day and time some months later; a day that the month does not have runs into the next.
func months(t alcove.Time, n int) alcove.Time {
	day := t.Truncate(alcove.Day)
	date := day.String()
	year, _ := strconv.Atoi(date[:4])
	month, _ := strconv.Atoi(date[5:7])
	of, _ := strconv.Atoi(date[8:10])
	total := year*12 + month - 1 + n
	if total < 12 || total >= 120_000 {
		return t
	}
	first, err := alcove.ParseTime(pad(total/12, 4) + "-" + pad(total%12+1, 2) + "-01T00:00:00Z")
	if err != nil {
		return t
	}
	return first.Add(alcove.Duration(of-1)*alcove.Day + t.Sub(day))
}

func pad(n, width int) string {
	text := strconv.Itoa(n)
	return strings.Repeat("0", max(width-len(text), 0)) + text
}
