// Package moment reads the moments that people and models write: RFC 3339; a date (its end, UTC); an epoch in s, ms or µs, told
// apart by size; "yesterday" (24 hours ago); and spans such as "2 days ago".
package moment

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Parse reads a moment; a span ends at now.
func Parse(text string, now time.Time) (time.Time, bool) {
	for _, form := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02 15:04"} {
		if t, err := time.Parse(form, text); err == nil {
			return inCalendar(t)
		}
	}
	if day, err := time.Parse(time.DateOnly, text); err == nil {
		return inCalendar(day.AddDate(0, 0, 1).Add(-time.Microsecond))
	}
	if epoch, err := strconv.ParseInt(text, 10, 64); err == nil {
		return fromEpoch(epoch)
	}
	if strings.EqualFold(text, "yesterday") {
		return now.UTC().Add(-24 * time.Hour), true
	}
	if span, found := strings.CutSuffix(strings.ToLower(text), "ago"); found {
		return shift(strings.TrimSpace(span), now, -1)
	}
	return time.Time{}, false
}

// inCalendar is a moment in UTC, unless its year could not be written. The zero time, which stands for no moment at all,
// becomes the one after it.
func inCalendar(t time.Time) (time.Time, bool) {
	if t = t.UTC(); t.IsZero() {
		t = t.Add(time.Microsecond)
	}
	return t, t.Year() >= 1 && t.Year() <= 9999
}

// fromEpoch tells units apart by size: seconds until the year 5138, then milliseconds until then, then
// microseconds.
func fromEpoch(epoch int64) (time.Time, bool) {
	switch {
	case epoch <= 0:
		return time.Time{}, false
	case epoch < 1e11:
		return time.Unix(epoch, 0).UTC(), true
	case epoch < 1e14:
		return time.UnixMilli(epoch).UTC(), true
	case epoch < 1e17:
		return time.UnixMicro(epoch).UTC(), true
	}
	return time.Time{}, false
}

var spanPart = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*(\d{1,9}|an?)\s*(milliseconds?|ms|months?|mo|minutes?|mins?|m|seconds?|secs?|s|hours?|hrs?|h|days?|d|weeks?|w|years?|yrs?|y)(?:\s+and\b|,|\b)?`)
})

// FromNow reads a span such as "90 minutes", "an hour" or "1h30m" as the moment so long after now.
func FromNow(span string, now time.Time) (time.Time, bool) { return shift(span, now, 1) }

// shift moves now by a span such as "90 minutes", "an hour" or "1h30m", forward or back by sign.
func shift(span string, now time.Time, sign int) (time.Time, bool) {
	if span == "" || len(span) > 64 {
		return time.Time{}, false
	}
	t := now.UTC()
	for span != "" {
		m := spanPart().FindStringSubmatch(span)
		if m == nil {
			return time.Time{}, false
		}
		n := 1
		if m[1][0] != 'a' {
			n, _ = strconv.Atoi(m[1]) // at most nine digits
		}
		t = step(t, sign*n, m[2])
		span = strings.TrimSpace(span[len(m[0]):])
	}
	return inCalendar(t)
}

func step(t time.Time, n int, unit string) time.Time {
	switch {
	case strings.HasPrefix(unit, "mo"):
		return t.AddDate(0, n, 0)
	case strings.HasPrefix(unit, "y"):
		return t.AddDate(n, 0, 0)
	case strings.HasPrefix(unit, "w"):
		return t.AddDate(0, 0, 7*n)
	case strings.HasPrefix(unit, "d"):
		return t.AddDate(0, 0, n)
	case strings.HasPrefix(unit, "h"):
		return t.Add(time.Duration(n) * time.Hour)
	case strings.HasPrefix(unit, "milli"), unit == "ms":
		return t.Add(time.Duration(n) * time.Millisecond)
	case strings.HasPrefix(unit, "m"):
		return t.Add(time.Duration(n) * time.Minute)
	}
	return t.Add(time.Duration(n) * time.Second)
}
