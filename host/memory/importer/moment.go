package importer

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"time"
)

// moment is a time as other tools write it: a text, or seconds or milliseconds since the epoch.
type moment struct {
	time.Time
	text string // as metadata has it
}

// UnmarshalJSON never fails: what is no time is none, as its memory is worth more than its date.
func (m *moment) UnmarshalJSON(raw []byte) error {
	*m = moment{}
	if raw = bytes.TrimSpace(raw); len(raw) > 0 && raw[0] == '"' {
		if json.Unmarshal(raw, &m.text) == nil {
			m.Time, _ = instant(m.text)
		}
		return nil
	}
	var number float64
	if json.Unmarshal(raw, &number) == nil {
		m.Time = seconds(number)
	}
	if !m.IsZero() {
		m.text = m.Format(time.RFC3339Nano)
	}
	return nil
}

// at is the moment, or nil if it is none.
func (m moment) at() *time.Time {
	if m.IsZero() {
		return nil
	}
	return &m.Time
}

// instant reads a time with or without a zone, or a day; without a zone it is in UTC.
func instant(text string) (time.Time, bool) {
	text = strings.TrimSpace(text)
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999Z07:00", "2006-01-02 15:04:05.999999999", "2006-01-02T15:04", "2006-01-02 15:04", time.DateOnly} {
		if at, err := time.Parse(layout, text); err == nil && at.Year() >= 1970 {
			return at.UTC(), true
		}
	}
	return time.Time{}, false
}

// mostSeconds is after every date; a larger number is of milliseconds.
const mostSeconds = 1e11

func seconds(s float64) time.Time {
	if s > mostSeconds {
		s /= 1000
	}
	if s <= 0 || s > mostSeconds || math.IsNaN(s) {
		return time.Time{}
	}
	return time.UnixMicro(int64(math.Round(s * 1e6))).UTC()
}
