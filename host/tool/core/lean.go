package core

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/tool"
	"github.com/alcove-memory/alcove/host/tool/request"
)

const (
	// wholeValue is the longest value that a lean answer shows whole, in characters of JSON; of a longer one it shows a passage. The passage is
	// half as long, so that a cut saves enough to be worth another call.
	wholeValue = 800
	passage    = 400
)

// shown are the parameters by which a call says what its answer tells. Verbose is nil if the call does not say.
type shown struct {
	Fields  []string `json:"fields" doc:"Members to show that answers leave out by default: {words}."`
	Verbose *bool    `json:"verbose" doc:"Answer with every member, values whole: by default, answers leave out what the call says already."`
}

// Limits implements request.Limited.
func (shown) Limits() request.Limits {
	return request.Limits{"fields": {Words: []string{"namespace", "branch", "agent", "version", "timestamp"}}}
}

// verbosity is shown without fields, which lists leave out.
type verbosity struct {
	Verbose *bool `json:"verbose" alcove:"advanced" doc:"Answer with every member, values whole: by default, answers leave out what the call says already."`
}

// form is what an answer tells.
type form struct {
	verbose bool
	fields  []string        // shown in any case
	place   memory.Location // of the call
	agent   string          // that calls
}

// form returns what the answer tells. Programs get everything unless they ask for less.
func (c *call) form(place memory.Location, s shown) form {
	f := form{verbose: c.Detail == tool.Full, fields: s.Fields, place: place, agent: c.Caller.Agent}
	if s.Verbose != nil {
		f.verbose = *s.Verbose
	}
	return f
}

// includes reports whether a member is shown although the answer could do without it.
func (f form) includes(name string) bool { return f.verbose || slices.Contains(f.fields, name) }

// unless returns a member, or "" if it is equal to what the reader takes for granted.
func (f form) unless(name, value, granted string) string {
	if value == granted && !f.includes(name) {
		return ""
	}
	return value
}

// score rounds a score: to three digits, for readers, or to those that distinguish results.
func (f form) score(score float64) float64 {
	if f.verbose {
		return rounded(score)
	}
	short, _ := strconv.ParseFloat(strconv.FormatFloat(score, 'g', 3, 64), 64) // never fails
	return short
}

// dates are when a memory was written, as answers show it to the minute: finer instants take a model's tokens for nothing.
type dates struct {
	Updated string `json:"updated,omitempty"` // empty: timestamp says it
	Created string `json:"created,omitempty"` // empty: then
}

func (f form) dates(m memory.Memory) (d dates) {
	if !f.includes("timestamp") {
		d.Updated = minute(m.Timestamp)
	}
	if created := minute(m.Created); !m.Created.IsZero() && created != minute(m.Timestamp) {
		d.Created = created
	}
	return d
}

// minute formats an instant to the minute, in UTC.
func minute(t time.Time) string { return t.UTC().Format("2006-01-02 15:04") }

// long reports whether a value is shown only by a passage.
func (f form) long(value json.RawMessage) bool {
	return !f.verbose && len(value) > wholeValue && utf8.RuneCount(value) > wholeValue
}

// shown returns a value as the answer shows it: whole; for a long text, the passage; and for other long values, nothing, since a part
// of an object looks like another object.
func (f form) shown(value json.RawMessage, best func() string) (shown json.RawMessage, truncated bool) {
	if !f.long(value) {
		return value, false
	}
	if value[0] != '"' {
		return nil, true
	}
	text, err := tool.Encode(best())
	if err != nil {
		return nil, true
	}
	return text, true
}

// passage returns the length of the passages that a search is to cut; 0: the usual length.
func (f form) passage() int {
	if f.verbose {
		return 0
	}
	return passage
}

// beginning returns the beginning of a text, cut between words; "" of other values.
func beginning(value json.RawMessage, length int) string {
	var text string
	if json.Unmarshal(value, &text) != nil || utf8.RuneCountInString(text) <= length {
		return text
	}
	text = string([]rune(text)[:length-1])
	if space := strings.LastIndexAny(text, " \n\t"); space > len(text)/2 {
		text = text[:space]
	}
	return text + "…"
}
