package search

import (
	"crypto/sha256"
	"math"
	"slices"
	"strings"
	"time"
)

// Digest identifies the value of a field. Equal values have equal digests; the zero Digest is of a value that equals none.
type Digest [12]byte

// DigestOf returns the digest of a value in its canonical form.
func DigestOf(canonical []byte) Digest {
	sum := sha256.Sum256(canonical)
	return Digest(sum[:len(Digest{})])
}

// Field is a field of a document that filters can test.
type Field struct {
	Name  string
	Value Digest
}

// Filter selects documents by their columns. The zero Filter selects all that have not expired.
type Filter struct {
	Text     string    // unexpired documents with at least one of its terms, as Search understands it; empty: any
	Question *Question // Text, as Query.Question
	Prefix   string    // the key begins with it
	States   []string
	Types    []string
	Agents   []string // wrote the version; this list and the two above: one of them, empty: any
	Tags     []string // has all of these
	AnyTags  []string // has one of these; empty: any
	NoTags   []string // has none of these

	MinImportance *float64 // documents without importance are below every minimum, and above every maximum
	MaxImportance *float64
	Created       Span
	Updated       Span // when the version was written
	Dated         Span // has one of the two above
	Expiry        Expiry
	Fields        []FieldTest
}

// Span is a span of time: from Since on, and before Until. A zero end is open.
type Span struct {
	Since, Until time.Time
}

// IsZero reports whether the span is open at both ends.
func (s Span) IsZero() bool { return s.Since.IsZero() && s.Until.IsZero() }

// Has reports whether an instant, in µs since the epoch, is in the span.
func (s Span) Has(micros int64) bool {
	return s.bounds().has(micros)
}

// First is the first instant of the span, in µs since the epoch.
func (s Span) First() int64 { return s.bounds().since }

// Last is the last instant of the span, in µs since the epoch.
func (s Span) Last() int64 { return s.bounds().until - 1 }

// Expiry selects documents by whether they have expired.
type Expiry int

// The selections by expiry.
const (
	Unexpired Expiry = iota
	AnyExpiry
	Expired
)

// FieldTest is a condition on a field.
type FieldTest struct {
	Name   string
	Test   Testing
	Equals Digest // of Equal
}

// Testing is what a FieldTest asks.
type Testing int

// The tests of a field.
const (
	Present Testing = iota // the field is there
	Absent                 // the field is not there
	Equal                  // the field is there and has a value
)

// Columns are the values of a document that filters test, and by which listings are ordered.
type Columns struct {
	Ref
	State, Type string
	Agent       string
	Tags        []string
	Importance  float64 // NaN: not given
	Created     int64   // µs since the epoch, as the next two
	Updated     int64
	Expires     int64 // 0: never
	Fields      []Field
	Score       float64 // how well it matches Filter.Text
	InOrder     bool    // it and all before it came in the Ordering that Select was given
}

// Test is a Filter at an instant, at which it judges expiry.
type Test struct {
	filter  Filter
	now     int64 // µs, as the bounds
	created bounds
	updated bounds
	dated   bounds
	tagged  bool // tags are tested
}

// bounds are a span in µs.
type bounds struct{ since, until int64 }

func (s Span) bounds() bounds {
	b := bounds{math.MinInt64, math.MaxInt64}
	if !s.Since.IsZero() {
		b.since = s.Since.UnixMicro()
	}
	if !s.Until.IsZero() {
		b.until = s.Until.UnixMicro()
	}
	return b
}

func (b bounds) has(micros int64) bool { return micros >= b.since && micros < b.until }

// At is the filter at an instant.
func (f Filter) At(now time.Time) *Test {
	created, updated, dated := f.Created.bounds(), f.Updated.bounds(), f.Dated.bounds()
	created.until, updated.since = min(created.until, dated.until), max(updated.since, dated.since) // no version is older than its document
	return &Test{filter: f, now: now.UnixMicro(), created: created, updated: updated, dated: dated, tagged: len(f.Tags)+len(f.AnyTags)+len(f.NoTags) > 0}
}

// Admits reports whether the filter selects a document. It ignores Text.
func (t *Test) Admits(c *Columns) bool {
	return t.kind(c.State, c.Type) && t.agent(c.Agent) && t.rest(c)
}

// kind tests the columns that many documents share, so that callers can remember the answer.
func (t *Test) kind(state, kind string) bool {
	return among(t.filter.States, state) && among(t.filter.Types, kind)
}

func (t *Test) agent(agent string) bool { return among(t.filter.Agents, agent) }

// rest tests all other columns.
func (t *Test) rest(c *Columns) bool {
	f := &t.filter
	return t.expiry(c.Expires) && t.importance(c.Importance) && t.created.has(c.Created) && t.updated.has(c.Updated) && (t.dated.has(c.Created) || t.dated.has(c.Updated)) &&
		strings.HasPrefix(c.Key, f.Prefix) && (!t.tagged || t.tags(c.Tags)) && t.fields(c)
}

func among(list []string, value string) bool { return len(list) == 0 || slices.Contains(list, value) }

func (t *Test) expiry(expires int64) bool {
	expired := expires != 0 && expires <= t.now
	switch t.filter.Expiry {
	case AnyExpiry:
		return true
	case Expired:
		return expired
	}
	return !expired
}

func (t *Test) importance(importance float64) bool {
	least, most := t.filter.MinImportance, t.filter.MaxImportance
	if least == nil && most == nil {
		return true
	}
	return !math.IsNaN(importance) && (least == nil || importance >= *least) && (most == nil || importance <= *most)
}

func (t *Test) tags(tags []string) bool {
	f, has := &t.filter, func(tag string) bool { return slices.Contains(tags, tag) }
	for _, tag := range f.Tags {
		if !has(tag) {
			return false
		}
	}
	return (len(f.AnyTags) == 0 || slices.ContainsFunc(f.AnyTags, has)) && !slices.ContainsFunc(f.NoTags, has)
}

// Fields that are columns of their own, or lists that are there or not.
const (
	fieldType       = "type"
	fieldImportance = "importance"
	fieldTags       = "tags"
	fieldAgent      = "agent"
	fieldExpires    = "expires_at"
	FieldLinks      = "links"
	FieldSupersedes = "supersedes"
)

// ColumnFields lists the fields that a FieldTest can only find present or absent.
func ColumnFields() []string {
	return []string{fieldType, fieldImportance, fieldTags, fieldAgent, fieldExpires, FieldLinks, FieldSupersedes}
}

// field returns the value of a field, if it is there.
func (c *Columns) field(name string) (Digest, bool) {
	switch name {
	case fieldType:
		return Digest{}, c.Type != ""
	case fieldImportance:
		return Digest{}, !math.IsNaN(c.Importance)
	case fieldTags:
		return Digest{}, len(c.Tags) > 0
	case fieldAgent:
		return Digest{}, c.Agent != ""
	case fieldExpires:
		return Digest{}, c.Expires != 0
	}
	at := slices.IndexFunc(c.Fields, func(f Field) bool { return f.Name == name })
	if at < 0 {
		return Digest{}, false
	}
	return c.Fields[at].Value, true
}

func (t *Test) fields(c *Columns) bool {
	for _, test := range t.filter.Fields {
		value, ok := c.field(test.Name)
		if ok == (test.Test == Absent) || test.Test == Equal && (value != test.Equals || value == Digest{}) {
			return false
		}
	}
	return true
}
