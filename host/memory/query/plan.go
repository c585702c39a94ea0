package query

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/alcove-memory/alcove/host/memory/fault"
	"github.com/alcove-memory/alcove/host/memory/record"
)

// Op is the comparison of a filter.
type Op string

// The comparisons of filters.
const (
	Equal   Op = "eq" // null matches records without the field
	In      Op = "in" // any of the values in an array
	Greater Op = "gt"
	AtLeast Op = "gte"
	Less    Op = "lt"
	AtMost  Op = "lte"
	Prefix  Op = "prefix" // of text
)

// Filter selects records by an indexed field.
type Filter struct {
	Field string          `json:"field"`
	Op    Op              `json:"op"`
	Value json.RawMessage `json:"value"`
}

// Query selects and orders the records of a collection by its indexes.
type Query struct {
	Prefix     string   `json:"prefix"` // of keys
	Filters    []Filter `json:"filters"`
	Order      string   `json:"order"` // an indexed field; empty: order of the filtered field, or of the keys
	Descending bool     `json:"desc"`
	After      string   `json:"-"` // Next of the previous page
	Limit      int      `json:"-"`
	Count      bool     `json:"-"` // count all matches, whatever the page
}

const (
	mostFilters = 16
	mostValues  = 100     // in one filter
	mostCursor  = 8 << 10 // bytes
	cursorQuery = 8       // bytes of a cursor that identify its query
)

// Span is a range of encoded values: from inclusive, to exclusive, empty for no end.
type Span struct {
	From, To string
	point    bool // a single value
}

// Has reports whether a value is in the span.
func (i Span) Has(v string) bool { return v >= i.From && (i.To == "" || v < i.To) }

// condition is the set of values that all filters on one field admit: spans in order.
type condition struct {
	field Field
	in    []Span
}

func (c condition) admits(v string) bool {
	return slices.ContainsFunc(c.in, func(i Span) bool { return i.Has(v) })
}

// spans returns the spans that a filter admits; several for In.
func (f Field) spans(q Filter) ([]Span, error) {
	if q.Op == In {
		return f.oneOf(q)
	}
	encoded, ok := f.Append(nil, q.Value)
	v := string(encoded)
	if !ok || v[0] == classNull && q.Op != Equal {
		return nil, fault.Invalid("filter %s of field %s needs a %s", clip(string(q.Op), 16), f.Path, f.Type)
	}
	first, end := string([]byte{classValue}), string([]byte{classValue + 1})
	switch q.Op {
	case Equal:
		return []Span{{v, after(v), true}}, nil
	case Greater:
		return []Span{{after(v), end, false}}, nil
	case AtLeast:
		return []Span{{v, end, false}}, nil
	case Less:
		return []Span{{first, v, false}}, nil
	case AtMost:
		return []Span{{first, after(v), false}}, nil
	case Prefix:
		if f.Type != String {
			return nil, fault.Invalid("filter prefix needs a field of type string: %s has type %s", f.Path, f.Type)
		}
		v = v[:len(v)-2] // without its terminator
		return []Span{{v, after(v), false}}, nil
	}
	return nil, fault.Invalid("filter %q of field %s is not one of eq, in, gt, gte, lt, lte, prefix", clip(string(q.Op), 16), f.Path)
}

func (f Field) oneOf(q Filter) ([]Span, error) {
	var values []json.RawMessage
	if err := json.Unmarshal(q.Value, &values); err != nil || len(values) > mostValues {
		return nil, fault.Invalid("filter in of field %s needs an array of at most %d values", f.Path, mostValues)
	}
	var list []Span
	for _, value := range values {
		one, err := f.spans(Filter{q.Field, Equal, value})
		if err != nil {
			return nil, err
		}
		list = append(list, one...)
	}
	slices.SortFunc(list, func(a, b Span) int { return cmp.Compare(a.From, b.From) })
	return slices.Compact(list), nil
}

// intersection intersects two lists of spans.
func intersection(a, b []Span) (list []Span) {
	for _, x := range a {
		for _, y := range b {
			both := Span{max(x.From, y.From), x.To, x.point || y.point}
			if x.To == "" || y.To != "" && y.To < x.To {
				both.To = y.To
			}
			if both.To == "" || both.From < both.To {
				list = append(list, both)
			}
		}
	}
	return list
}

// Records is a collection that is queried.
type Records struct {
	Name    string
	Indexes []Index
}

// declared returns the indexed field of a path; ok is false without an index.
func (c Records) declared(path string) (f Field, ok bool) {
	for _, index := range c.Indexes {
		for _, f := range index {
			if f.Path == path {
				return f, true
			}
		}
	}
	return f, false
}

// undeclared returns the error for a field without an index.
func (c Records) undeclared(what, path string) error {
	return fault.Invalid("%s %s: no index of collection %s has this field; declare one in the manifest, as \"indexes\": [[%q]]", what, clip(path, 64), c.Name, clip(path, 64))
}

// conditions combines filters by field.
func (c Records) conditions(filters []Filter) ([]condition, error) {
	if len(filters) > mostFilters {
		return nil, fault.Invalid("%d filters: at most %d are allowed", len(filters), mostFilters)
	}
	var list []condition
	for _, filter := range filters {
		f, ok := c.declared(filter.Field)
		if !ok {
			return nil, c.undeclared("filter on", filter.Field)
		}
		in, err := f.spans(filter)
		if err != nil {
			return nil, err
		}
		at := slices.IndexFunc(list, func(c condition) bool { return c.field.Path == f.Path })
		if at < 0 {
			list = append(list, condition{f, in})
			continue
		}
		list[at].in = intersection(list[at].in, in)
	}
	return list, nil
}

// Plan is the plan of a query by an index.
type Plan struct {
	Index      Index
	Base       string // prefix of all names
	Spans      []Span // of names
	Apart      bool   // some condition is on a field outside the index
	Query      Query
	conditions []condition
	id         string // of the query, for cursors
}

// Plan chooses the index that uses most of the conditions and has the order.
func (c Records) Plan(namespace string, q Query) (*Plan, error) {
	conditions, err := c.conditions(q.Filters)
	if err != nil {
		return nil, err
	}
	if _, ok := c.declared(q.Order); q.Order != "" && !ok {
		return nil, c.undeclared("order by", q.Order)
	}
	var best *Plan
	most := -1
	for _, index := range c.Indexes {
		p, used, ok := planBy(index, conditions, q.Order)
		if ok && used > most {
			best, most = p, used
		}
	}
	switch {
	case best == nil:
		return nil, fault.Invalid("no index of collection %s has the order %s behind the fields that are filtered for one value; declare one in the manifest, as \"indexes\": [[%s]]",
			c.Name, q.Order, strings.Join(append(points(conditions), c.quoted(q.Order)), ", "))
	case most == 0 && q.Order == "" && len(conditions) > 0:
		path := conditions[0].field.Path
		return nil, fault.Invalid("filter on %s: no index of collection %s begins with it; declare one in the manifest, as \"indexes\": [[%s]]", path, c.Name, c.quoted(path))
	}
	best.Query = q
	identity, err := json.Marshal([]any{c.Name, namespace, q, best.Index})
	if err != nil {
		return nil, fault.Invalid("a filter has a value that is not valid JSON")
	}
	sum := sha256.Sum256(identity)
	best.id = string(sum[:cursorQuery])
	return best, nil
}

// quoted formats a field as in a manifest.
func (f Field) quoted() string {
	if f.Type == String {
		return strconv.Quote(f.Path)
	}
	return strconv.Quote(f.Path + ":" + string(f.Type))
}

// quoted formats a declared field as in the manifest.
func (c Records) quoted(path string) string {
	f, _ := c.declared(path)
	return f.quoted()
}

// points returns the fields filtered for a single value, quoted.
func points(conditions []condition) (list []string) {
	for _, c := range conditions {
		if len(c.in) == 1 && c.in[0].point {
			list = append(list, c.field.quoted())
		}
	}
	return list
}

// planBy plans by an index; used grows with the conditions it uses.
func planBy(index Index, conditions []condition, order string) (p *Plan, used int, ok bool) {
	p = &Plan{Index: index, conditions: conditions}
	of := func(path string) *condition {
		for i := range conditions {
			if conditions[i].field.Path == path {
				return &conditions[i]
			}
		}
		return nil
	}
	ordered, i := order == "", 0
	for ; i < len(index); i++ {
		c := of(index[i].Path)
		if c == nil || len(c.in) != 1 || !c.in[0].point {
			break
		}
		p.Base += c.in[0].From
		used += 2
		ordered = ordered || index[i].Path == order
	}
	p.Spans = []Span{{From: p.Base, To: after(p.Base)}}
	if i < len(index) {
		ordered = ordered || index[i].Path == order
		if c := of(index[i].Path); c != nil {
			p.Spans = p.Spans[:0]
			for _, in := range c.in {
				p.Spans = append(p.Spans, Span{From: p.Base + in.From, To: p.Base + in.To})
			}
			used++
		}
	}
	for _, c := range conditions {
		p.Apart = p.Apart || !slices.ContainsFunc(index, func(f Field) bool { return f.Path == c.field.Path })
	}
	return p, used, ordered
}

// AdmitsName reports whether the values in a name of the index satisfy their conditions.
func (p *Plan) AdmitsName(name string) bool {
	rest := name
	for _, f := range p.Index {
		value, behind, ok := f.Cut(rest)
		if !ok {
			return false
		}
		rest = behind
		for _, c := range p.conditions {
			if c.field.Path == f.Path && !c.admits(value) {
				return false
			}
		}
	}
	return strings.HasPrefix(rest, p.Query.Prefix)
}

// Admits reports whether a record satisfies the query, and its name in the index.
func (p *Plan) Admits(key string, r *record.Record, now time.Time) (name string, ok bool) {
	if r == nil || r.Purged != "" || r.Expired(now) || !strings.HasPrefix(key, p.Query.Prefix) {
		return "", false
	}
	of := ValuesOf(r)
	for _, c := range p.conditions {
		if v, _ := c.field.Append(nil, of.at(c.field.Path)); !c.admits(string(v)) {
			return "", false
		}
	}
	return p.Index.Name(key, of), true
}

// Cursor encodes where a page ended.
func (p *Plan) Cursor(name string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(p.id + name))
}

// Position decodes the name in a cursor; empty at the start.
func (p *Plan) Position() (string, error) {
	if p.Query.After == "" {
		return "", nil
	}
	if len(p.Query.After) > mostCursor {
		return "", fault.Invalid("after has %d bytes: at most %d are allowed; give the next of the page before", len(p.Query.After), mostCursor)
	}
	raw, err := base64.RawURLEncoding.DecodeString(p.Query.After)
	if err != nil || len(raw) <= cursorQuery || p.Cursor(string(raw[cursorQuery:])) != p.Query.After { // of this query, in canonical form
		return "", fault.Invalid("after belongs to another query: give the next of the page before, with the same filters and order")
	}
	return string(raw[cursorQuery:]), nil
}

// clip cuts a text to some characters.
func clip(text string, limit int) string {
	runes := []rune(text)
	if len(runes) <= limit {
		return text
	}
	return string(runes[:limit]) + "…"
}
