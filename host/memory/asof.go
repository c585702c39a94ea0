package memory

import (
	"strconv"
	"strings"
	"time"

	"github.com/alcove-memory/alcove/host/memory/moment"
)

// AsOf is a moment in a branch's past: a version, or an instant. The zero AsOf is now.
type AsOf struct {
	Version uint64
	Time    time.Time
}

// IsNow reports whether at is the present.
func (at AsOf) IsNow() bool { return at.Version == 0 && at.Time.IsZero() }

const timeForms = `RFC 3339 ("2026-03-01T12:00:00Z"), a date ("2026-03-01"), "1h ago", "2 days ago", "yesterday", an epoch in s, ms or µs`

// ParseAsOf parses a moment as people and models write it: RFC 3339; a date (its end, UTC); "1h ago", "2 days
// ago"; "yesterday" (24 hours ago); an epoch in s, ms or µs, told apart by size; "v123" for a version.
// Empty and "now" mean the present.
func ParseAsOf(text string, now time.Time) (AsOf, error) {
	text = strings.TrimSpace(text)
	if text == "" || strings.EqualFold(text, "now") {
		return AsOf{}, nil
	}
	if digits, found := strings.CutPrefix(strings.ToLower(text), "v"); found {
		if version, err := strconv.ParseUint(digits, 10, 63); err == nil && version > 0 {
			return AsOf{Version: version}, nil
		}
	}
	t, ok := moment.Parse(text, now)
	if !ok {
		return AsOf{}, invalid(`%q is not a moment: use %s, or "v123" for a version`, clip(text, 64), timeForms)
	}
	return AsOf{Time: t}, nil
}

// ParseTime parses the moments of ParseAsOf other than versions.
func ParseTime(text string, now time.Time) (time.Time, error) {
	text = strings.TrimSpace(text)
	if strings.EqualFold(text, "now") {
		return now.UTC(), nil
	}
	t, ok := moment.Parse(text, now)
	if !ok {
		return time.Time{}, invalid("%q is not a moment: use %s", clip(text, 64), timeForms)
	}
	return t, nil
}

// ParseExpiry parses a moment of ParseTime, or a span from now such as "in 2h", "2h" or "30 days".
func ParseExpiry(text string, now time.Time) (time.Time, error) {
	text = strings.TrimSpace(text)
	span := strings.TrimSpace(strings.TrimPrefix(strings.ToLower(text), "in "))
	if t, ok := moment.FromNow(span, now); ok {
		return t, nil
	}
	t, ok := moment.Parse(text, now)
	if !ok {
		return time.Time{}, invalid(`%q is not a moment: use "in 2h", "30 days", RFC 3339 or a date`, clip(text, 64))
	}
	return t, nil
}

// FormatTime formats an instant as in answers: RFC 3339 in UTC, to the microsecond.
func FormatTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000Z") }
