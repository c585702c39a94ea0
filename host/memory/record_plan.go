package memory

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/alcove-memory/alcove/host/memory/record"
)

// FilterOp is the comparison of a filter.
type FilterOp string

// The comparisons of filters.
const (
	OpEqual   FilterOp = "eq" // null matches records without the field
	OpIn      FilterOp = "in" // any of the values in an array
	OpGreater FilterOp = "gt"
	OpAtLeast FilterOp = "gte"
	OpLess    FilterOp = "lt"
	OpAtMost  FilterOp = "lte"
	OpPrefix  FilterOp = "prefix" // of text
)

// RecordFilter selects records by an indexed field.
type RecordFilter struct {
	Field string          `json:"field"`
	Op    FilterOp        `json:"op"`
	Value json.RawMessage `json:"value"`
}

// RecordQuery selects and orders the records of a collection by its indexes.
type RecordQuery struct {
	Prefix     string         `json:"prefix"` // of keys
	Filters    []RecordFilter `json:"filters"`
	Order      string         `json:"order"` // an indexed field; empty: order of the filtered field, or of the keys
	Descending bool           `json:"desc"`
	After      string         `json:"-"` // Next of the previous page
	Limit      int            `json:"-"`
	Count      bool           `json:"-"` // count all matches, whatever the page
}

// RecordPage is a page of records. With a Next it may have fewer records than the limit, or none.
type RecordPage struct {
	Records []Record
	Next    string // empty: the last page
	Total   int    // matches in all, if requested
}

const (
	mostFilters   = 16
	mostValues    = 100       // in one filter
	mostExamined  = 20_000    // records read, or entries skipped, for one page, and for a count that reads records
	mostQueried   = 1_000_000 // entries of an index for one count
	mostCursor    = 8 << 10   // bytes
	indexEntries  = "_index"  // the collection of shadows that has their entries
	cursorQuery   = 8         // bytes of a cursor that identify its query
	queryPage     = 500
	countPage     = 5000
	exhaustedHint = "declare an index that begins with the filtered fields, or ask for less"
)

// interval is a range of encoded values: from inclusive, to exclusive, empty for no end.
type interval struct {
	from, to string
	point    bool // a single value
}

func (i interval) has(v string) bool { return v >= i.from && (i.to == "" || v < i.to) }

// condition is the set of values that all filters on one field admit: intervals in order.
type condition struct {
	field Field
	in    []interval
}

func (c condition) admits(v string) bool {
	return slices.ContainsFunc(c.in, func(i interval) bool { return i.has(v) })
}

// intervals returns the intervals that a filter admits; several for OpIn.
func (f Field) intervals(q RecordFilter) ([]interval, error) {
	if q.Op == OpIn {
		return f.oneOf(q)
	}
	encoded, ok := f.appendValue(nil, q.Value)
	v := string(encoded)
	if !ok || v[0] == classNull && q.Op != OpEqual {
		return nil, invalid("filter %s of field %s needs a %s", clip(string(q.Op), 16), f.Path, f.Type)
	}
	first, end := string([]byte{classValue}), string([]byte{classValue + 1})
	switch q.Op {
	case OpEqual:
		return []interval{{v, after(v), true}}, nil
	case OpGreater:
		return []interval{{after(v), end, false}}, nil
	case OpAtLeast:
		return []interval{{v, end, false}}, nil
	case OpLess:
		return []interval{{first, v, false}}, nil
	case OpAtMost:
		return []interval{{first, after(v), false}}, nil
	case OpPrefix:
		if f.Type != StringField {
			return nil, invalid("filter prefix needs a field of type string: %s has type %s", f.Path, f.Type)
		}
		v = v[:len(v)-2] // without its terminator
		return []interval{{v, after(v), false}}, nil
	}
	return nil, invalid("filter %q of field %s is not one of eq, in, gt, gte, lt, lte, prefix", clip(string(q.Op), 16), f.Path)
}

func (f Field) oneOf(q RecordFilter) ([]interval, error) {
	var values []json.RawMessage
	if err := json.Unmarshal(q.Value, &values); err != nil || len(values) > mostValues {
		return nil, invalid("filter in of field %s needs an array of at most %d values", f.Path, mostValues)
	}
	var list []interval
	for _, value := range values {
		one, err := f.intervals(RecordFilter{q.Field, OpEqual, value})
		if err != nil {
			return nil, err
		}
		list = append(list, one...)
	}
	slices.SortFunc(list, func(a, b interval) int { return cmp.Compare(a.from, b.from) })
	return slices.Compact(list), nil
}

// intersection intersects two lists of intervals.
func intersection(a, b []interval) (list []interval) {
	for _, x := range a {
		for _, y := range b {
			both := interval{max(x.from, y.from), x.to, x.point || y.point}
			if x.to == "" || y.to != "" && y.to < x.to {
				both.to = y.to
			}
			if both.to == "" || both.from < both.to {
				list = append(list, both)
			}
		}
	}
	return list
}

// declared returns the indexed field of a path; ok is false without an index.
func (c Collection) declared(path string) (f Field, ok bool) {
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
func (c Collection) undeclared(what, path string) error {
	return invalid("%s %s: no index of collection %s has this field; declare one in the manifest, as \"indexes\": [[%q]]", what, clip(path, 64), c.Name, clip(path, 64))
}

// conditions combines filters by field.
func (c Collection) conditions(filters []RecordFilter) ([]condition, error) {
	if len(filters) > mostFilters {
		return nil, invalid("%d filters: at most %d are allowed", len(filters), mostFilters)
	}
	var list []condition
	for _, filter := range filters {
		f, ok := c.declared(filter.Field)
		if !ok {
			return nil, c.undeclared("filter on", filter.Field)
		}
		in, err := f.intervals(filter)
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

// recordPlan is the plan of a query by an index.
type recordPlan struct {
	index      FieldIndex
	conditions []condition
	base       string     // prefix of all names
	spans      []interval // of names
	apart      bool       // some condition is on a field outside the index
	query      RecordQuery
	id         string // of the query, for cursors
}

// plan chooses the index that uses most of the conditions and has the order.
func (c Collection) plan(namespace string, q RecordQuery) (*recordPlan, error) {
	conditions, err := c.conditions(q.Filters)
	if err != nil {
		return nil, err
	}
	if _, ok := c.declared(q.Order); q.Order != "" && !ok {
		return nil, c.undeclared("order by", q.Order)
	}
	var best *recordPlan
	most := -1
	for _, index := range c.Indexes {
		p, used, ok := planBy(index, conditions, q.Order)
		if ok && used > most {
			best, most = p, used
		}
	}
	switch {
	case best == nil:
		return nil, invalid("no index of collection %s has the order %s behind the fields that are filtered for one value; declare one in the manifest, as \"indexes\": [[%s]]",
			c.Name, q.Order, strings.Join(append(points(conditions), c.quoted(q.Order)), ", "))
	case most == 0 && q.Order == "" && len(conditions) > 0:
		path := conditions[0].field.Path
		return nil, invalid("filter on %s: no index of collection %s begins with it; declare one in the manifest, as \"indexes\": [[%s]]", path, c.Name, c.quoted(path))
	}
	best.query = q
	identity, err := json.Marshal([]any{c.Name, namespace, q, best.index})
	if err != nil {
		return nil, invalid("a filter has a value that is not valid JSON")
	}
	sum := sha256.Sum256(identity)
	best.id = string(sum[:cursorQuery])
	return best, nil
}

// quoted formats a field as in a manifest.
func (f Field) quoted() string {
	if f.Type == StringField {
		return strconv.Quote(f.Path)
	}
	return strconv.Quote(f.Path + ":" + string(f.Type))
}

// quoted formats a declared field as in the manifest.
func (c Collection) quoted(path string) string {
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
func planBy(index FieldIndex, conditions []condition, order string) (p *recordPlan, used int, ok bool) {
	p = &recordPlan{index: index, conditions: conditions}
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
		p.base += c.in[0].from
		used += 2
		ordered = ordered || index[i].Path == order
	}
	p.spans = []interval{{from: p.base, to: after(p.base)}}
	if i < len(index) {
		ordered = ordered || index[i].Path == order
		if c := of(index[i].Path); c != nil {
			p.spans = p.spans[:0]
			for _, in := range c.in {
				p.spans = append(p.spans, interval{from: p.base + in.from, to: p.base + in.to})
			}
			used++
		}
	}
	for _, c := range conditions {
		p.apart = p.apart || !slices.ContainsFunc(index, func(f Field) bool { return f.Path == c.field.Path })
	}
	return p, used, ordered
}

// admitsName reports whether the values in a name of the index satisfy their conditions.
func (p *recordPlan) admitsName(name string) bool {
	rest := name
	for _, f := range p.index {
		value, behind, ok := f.cutValue(rest)
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
	return strings.HasPrefix(rest, p.query.Prefix)
}

// admits reports whether a record satisfies the query, and its name in the index.
func (p *recordPlan) admits(key string, r *record.Record, now time.Time) (name string, ok bool) {
	if r == nil || r.Purged != "" || r.Expired(now) || !strings.HasPrefix(key, p.query.Prefix) {
		return "", false
	}
	of := fieldsOf(r)
	for _, c := range p.conditions {
		if v, _ := c.field.appendValue(nil, of.at(c.field.Path)); !c.admits(string(v)) {
			return "", false
		}
	}
	return p.index.name(key, of), true
}

// cursor encodes where a page ended.
func (p *recordPlan) cursor(name string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(p.id + name))
}

// position decodes the name in a cursor; empty at the start.
func (p *recordPlan) position() (string, error) {
	if p.query.After == "" {
		return "", nil
	}
	if len(p.query.After) > mostCursor {
		return "", invalid("after has %d bytes: at most %d are allowed; give the next of the page before", len(p.query.After), mostCursor)
	}
	raw, err := base64.RawURLEncoding.DecodeString(p.query.After)
	if err != nil || len(raw) <= cursorQuery || p.cursor(string(raw[cursorQuery:])) != p.query.After { // of this query, in canonical form
		return "", invalid("after belongs to another query: give the next of the page before, with the same filters and order")
	}
	return string(raw[cursorQuery:]), nil
}

func expiryText(micros int64) string {
	if micros == 0 {
		return ""
	}
	return strconv.FormatInt(micros, 10)
}
