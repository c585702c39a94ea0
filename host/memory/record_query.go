package memory

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/store"
)

// FilterOp is how a filter compares a field with its value.
type FilterOp string

// The comparisons of filters.
const (
	OpEqual   FilterOp = "eq" // null finds the records without the field
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
	Order      string         `json:"order"` // an indexed field; empty: in the order of the filtered field, or of the keys
	Descending bool           `json:"desc"`
	After      string         `json:"-"` // Next of the page before
	Limit      int            `json:"-"`
	Count      bool           `json:"-"` // count all that match, whatever the page
}

// RecordPage is a page of records. One that has a Next may have fewer records than the limit, or none.
type RecordPage struct {
	Records []Record
	Next    string // empty: that was all
	Total   int    // of all that match, where it was asked for
}

const (
	mostFilters   = 16
	mostValues    = 100       // in one filter
	mostExamined  = 20_000    // records read, or entries passed over, for one page, and for a count that needs records
	mostQueried   = 1_000_000 // entries of an index for one count
	mostCursor    = 8 << 10   // bytes
	indexEntries  = "_index"  // the collection of shadows that has their entries
	cursorQuery   = 8         // bytes of a cursor that tell its query
	queryPage     = 500
	countPage     = 5000
	exhaustedHint = "declare an index that begins with the filtered fields, or ask for less"
)

// interval is a range of encoded values: from inclusive, to exclusive, empty for no end.
type interval struct {
	from, to string
	point    bool // one value alone
}

func (i interval) has(v string) bool { return v >= i.from && (i.to == "" || v < i.to) }

// condition is what all filters on one field admit: intervals in order.
type condition struct {
	field Field
	in    []interval
}

func (c condition) admits(v string) bool {
	return slices.ContainsFunc(c.in, func(i interval) bool { return i.has(v) })
}

// interval is what a filter admits; several for OpIn.
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
		v = v[:len(v)-2] // without its end
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

// intersection is what is in an interval of both lists.
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

// declared finds the field of a path; ok is false when no index has it.
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

// undeclared is the error for a field that no index has.
func (c Collection) undeclared(what, path string) error {
	return invalid("%s %s: no index of collection %s has this field; declare one in the manifest, as \"indexes\": [[%q]]", what, clip(path, 64), c.Name, clip(path, 64))
}

// conditions are what filters admit, by field.
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

// recordPlan is how a query is answered from an index.
type recordPlan struct {
	index      FieldIndex
	conditions []condition
	base       string     // with which all names begin
	spans      []interval // of names
	apart      bool       // some field has to be read from the record
	query      RecordQuery
	id         string // of the query, for cursors
}

// plan chooses the index that uses the most of the conditions and has the order.
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

// quoted is a field as a manifest has it.
func (f Field) quoted() string {
	if f.Type == StringField {
		return strconv.Quote(f.Path)
	}
	return strconv.Quote(f.Path + ":" + string(f.Type))
}

// quoted is a declared field as the manifest has it.
func (c Collection) quoted(path string) string {
	f, _ := c.declared(path)
	return f.quoted()
}

// points are the fields that are filtered for one value, quoted.
func points(conditions []condition) (list []string) {
	for _, c := range conditions {
		if len(c.in) == 1 && c.in[0].point {
			list = append(list, c.field.quoted())
		}
	}
	return list
}

// planBy plans by an index; used grows with how much of the conditions it uses.
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

// admitsName reports whether the values in a name of the index, as far as they are there, are as the conditions have them.
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

// admits reports whether a record is as the query has it, and where the index has it.
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

// cursor is where a page ended.
func (p *recordPlan) cursor(name string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(p.id + name))
}

// position is the name in a cursor; empty at the start.
func (p *recordPlan) position() (string, error) {
	if p.query.After == "" {
		return "", nil
	}
	if len(p.query.After) > mostCursor {
		return "", invalid("after has %d bytes: at most %d are allowed; give the next of the page before", len(p.query.After), mostCursor)
	}
	raw, err := base64.RawURLEncoding.DecodeString(p.query.After)
	if err != nil || len(raw) <= cursorQuery || p.cursor(string(raw[cursorQuery:])) != p.query.After { // of this query, in the one spelling
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

// found is a record that a query found.
type foundRecord struct {
	name  string
	key   string
	entry store.Entry // version 0: staged
	r     *record.Record
}

// QueryRecords reads a page of the records that a query selects.
func (t *Stage) QueryRecords(ctx context.Context, c Collection, namespace string, q RecordQuery) (RecordPage, error) {
	namespace, err := t.allowing(c).reading(namespace)
	if err != nil {
		return RecordPage{}, err
	}
	if err := t.present(c); err != nil {
		return RecordPage{}, err
	}
	if len(t.seen) > t.space.limits.StageReads {
		return RecordPage{}, t.exhausted("entries are read", t.space.limits.StageReads)
	}
	p, err := c.plan(namespace, q)
	if err != nil {
		return RecordPage{}, err
	}
	after, err := p.position()
	if err != nil {
		return RecordPage{}, err
	}
	run := &recordRun{stage: t, collection: c, namespace: namespace, plan: p, after: after}
	if err := run.choose(ctx); err != nil {
		return RecordPage{}, err
	}
	return run.page(ctx)
}

// recordRun is a query that is being answered.
type recordRun struct {
	stage      *Stage
	collection Collection
	namespace  string
	plan       *recordPlan
	after      string
	lineage    store.Lineage // of the index; nil: scanned has all names
	kept       *keptIndex
	scanned    []indexEntry
}

// indexEntry is an entry of an index.
type indexEntry struct{ name, expires string }

// choose finds the index, or reads all records where it does not have what the stage sees.
func (run *recordRun) choose(ctx context.Context) error {
	t, c := run.stage, run.collection
	lineage := t.lineage(c.PerSpace)
	if lineage == nil {
		return nil
	}
	t.space.queueDeclared(c.Name)
	run.kept = t.space.indexes.of(c.Name).kept(run.plan.index)
	if run.kept != nil {
		if run.lineage = t.space.indexes.covering(run.kept.ID, lineage); run.lineage != nil {
			return nil
		}
		if t.at.IsNow() {
			t.space.queueBuild(builds{c.Name, run.kept.ID, lineage[0].Branch})
		}
	}
	return run.scan(ctx, lineage)
}

// scan stands in for an index that is not built yet, or was not at the stage's moment.
func (run *recordRun) scan(ctx context.Context, lineage store.Lineage) error {
	t, read := run.stage, 0
	within := store.Range{Namespace: run.namespace, Collection: run.collection.Name}
	for e, err := range store.Entries(ctx, t.space.engine.ScanAt, lineage, within, queryPage) {
		if err != nil {
			return t.space.translate("list records", err)
		}
		if read++; read > mostExamined {
			return run.unbuilt()
		}
		r, err := record.Decode(e)
		if err != nil {
			return err
		}
		if r.Purged == "" {
			run.scanned = append(run.scanned, indexEntry{run.plan.index.name(e.Name, fieldsOf(&r)), expiryText(r.Expires)})
		}
	}
	slices.SortFunc(run.scanned, func(a, b indexEntry) int { return cmp.Compare(a.name, b.name) })
	return nil
}

func (run *recordRun) unbuilt() error {
	if run.stage.at.IsNow() {
		return &Error{Code: Unavailable, Retryable: true, Message: fmt.Sprintf("index %s of collection %s is being built on branch %s: try again in a few seconds",
			run.plan.index, run.collection.Name, run.stage.branch.Name)}
	}
	return &Error{Code: Exhausted, Details: map[string]any{"limit": mostExamined},
		Message: fmt.Sprintf("index %s of collection %s has nothing of this moment, and more than %d records would have to be read: ask for a newer moment, or list without filters and order",
			run.plan.index, run.collection.Name, mostExamined)}
}

// entries yields the entries of the index within the spans, in order, behind the cursor, until yield returns false.
func (run *recordRun) entries(ctx context.Context, pageSize int, behind string, yield func(indexEntry) (more bool)) error {
	spans, desc := slices.Clone(run.plan.spans), run.plan.query.Descending
	if desc {
		slices.Reverse(spans)
	}
	more := true
	for _, span := range spans {
		if !more {
			return nil
		}
		err := run.within(ctx, span, pageSize, behind, func(e indexEntry) bool {
			if behind != "" && (!desc && e.name <= behind || desc && e.name >= behind) {
				return true
			}
			more = yield(e)
			return more
		})
		if err != nil {
			return run.stage.space.translate("list records", err)
		}
	}
	return nil
}

// within yields the entries of one span, and perhaps some that the cursor is behind.
func (run *recordRun) within(ctx context.Context, span interval, pageSize int, behind string, yield func(indexEntry) bool) error {
	desc := run.plan.query.Descending
	if run.lineage == nil {
		list := slices.Clone(run.scanned)
		if desc {
			slices.Reverse(list)
		}
		for _, e := range list {
			if span.has(e.name) && !yield(e) {
				return nil
			}
		}
		return nil
	}
	r := store.Range{Namespace: run.namespace, Collection: indexEntries, Prefix: run.plan.base, From: max(span.from, behind), Reverse: desc}
	if desc {
		r.From = span.to
		if behind != "" && (r.From == "" || behind < r.From) {
			r.From = behind
		}
		if !strings.HasPrefix(r.From, r.Prefix) { // behind all that begin with it
			r.From = ""
		}
	}
	for e, err := range store.Entries(ctx, run.stage.space.engine.ScanAt, run.lineage, r, pageSize) {
		if err != nil {
			return err
		}
		if !span.has(e.Name) {
			if !desc && e.Name >= span.from || desc && e.Name < span.from {
				return nil
			}
			continue
		}
		if !yield(indexEntry{e.Name, string(e.Value)}) {
			return nil
		}
	}
	return nil
}

// candidate is the key of the record of an entry, unless the entry tells that the query does not select it, or the stage changed it.
func (run *recordRun) candidate(e indexEntry) (key string, ok bool) {
	if e.expires != "" {
		at, err := strconv.ParseInt(e.expires, 10, 64)
		if err != nil || at <= run.stage.now.UnixMicro() {
			return "", false
		}
	}
	if !run.plan.admitsName(e.name) {
		return "", false
	}
	if key, ok = run.plan.index.cutKey(e.name); !ok {
		return "", false
	}
	_, staged := run.stage.changed[run.at(key)]
	return key, !staged
}

func (run *recordRun) at(key string) site {
	return site{run.collection.PerSpace, store.Key{Namespace: run.namespace, Collection: run.collection.Name, Name: key}}
}

// page reads the page, and counts where that was asked for.
func (run *recordRun) page(ctx context.Context) (RecordPage, error) {
	limit, desc := run.stage.space.page(run.plan.query.Limit), run.plan.query.Descending
	list, upTo, err := run.read(ctx, limit)
	if err != nil {
		return RecordPage{}, err
	}
	before := func(a, b string) bool { return a < b != desc && a != b }
	for _, f := range run.staged() {
		if (run.after == "" || before(run.after, f.name)) && (upTo == "" || !before(upTo, f.name)) {
			list = append(list, f)
		}
	}
	slices.SortFunc(list, func(a, b foundRecord) int {
		if desc {
			a, b = b, a
		}
		return cmp.Compare(a.name, b.name)
	})
	if len(list) > limit {
		list, upTo = list[:limit], list[limit-1].name
	}
	page := RecordPage{}
	for _, f := range list {
		page.Records = append(page.Records, Record{run.namespace, f.key, f.r.Value, f.entry.Version, f.entry.Time, f.r.ExpiresAt(), false})
		if f.entry.Version != 0 {
			run.stage.note(run.at(f.key), f.entry)
		}
	}
	if upTo != "" {
		page.Next = run.plan.cursor(upTo)
	}
	if run.plan.query.Count {
		page.Total, err = run.count(ctx)
	}
	return page, err
}

// read reads at most limit records behind the cursor. upTo is the last name that was looked at; empty when that was all.
func (run *recordRun) read(ctx context.Context, limit int) (list []foundRecord, upTo string, err error) {
	var batch []foundRecord
	examined, last := 0, ""
	flush := func() error {
		found, err := run.fetch(ctx, batch)
		list, batch = append(list, found...), batch[:0]
		return err
	}
	walk := run.entries(ctx, min(limit+1, queryPage), run.after, func(e indexEntry) bool {
		if examined++; examined > mostExamined {
			upTo = last
			return false
		}
		last = e.name
		if key, ok := run.candidate(e); ok {
			batch = append(batch, foundRecord{name: e.name, key: key})
		}
		if len(list)+len(batch) < limit && len(batch) < queryPage {
			return true
		}
		if err = flush(); err != nil {
			return false
		}
		if len(list) >= limit {
			upTo = last
			return false
		}
		return true
	})
	if err == nil {
		err = walk
	}
	if err == nil {
		err = flush()
	}
	return list, upTo, err
}

// fetch reads the records of a batch, and drops those that are not as the query has them.
func (run *recordRun) fetch(ctx context.Context, batch []foundRecord) ([]foundRecord, error) {
	t := run.stage
	keys := make([]store.Key, len(batch))
	for i, f := range batch {
		keys[i] = run.at(f.key).Key
	}
	lineage := t.lineage(run.collection.PerSpace)
	if len(keys) == 0 || lineage == nil {
		return nil, nil
	}
	entries, err := t.space.engine.GetAt(ctx, lineage, keys)
	if err != nil {
		return nil, t.space.translate("read records", err)
	}
	var list []foundRecord
	for i, e := range entries {
		r, err := stored(e)
		if err != nil {
			return nil, err
		}
		if name, ok := run.plan.admits(e.Name, r, t.now); ok && name == batch[i].name {
			list = append(list, foundRecord{batch[i].name, batch[i].key, e, r})
		}
	}
	return list, nil
}

// staged are the records that the stage changed, of those that the query selects.
func (run *recordRun) staged() (list []foundRecord) {
	for _, at := range run.stage.order {
		if at != run.at(at.Name) {
			continue
		}
		r := run.stage.changed[at]
		if name, ok := run.plan.admits(at.Name, r, run.stage.now); ok && run.inSpans(name) {
			list = append(list, foundRecord{name: name, key: at.Name, r: r})
		}
	}
	return list
}

func (run *recordRun) inSpans(name string) bool {
	return slices.ContainsFunc(run.plan.spans, func(span interval) bool { return span.has(name) })
}

// count counts all that the query selects.
func (run *recordRun) count(ctx context.Context) (int, error) {
	total, examined, most := len(run.staged()), 0, mostQueried
	if run.plan.apart {
		most = mostExamined
	}
	var batch []foundRecord
	var err error
	flush := func() bool {
		var found []foundRecord
		found, err = run.fetch(ctx, batch)
		total, batch = total+len(found), batch[:0]
		return err == nil
	}
	walk := run.entries(ctx, countPage, "", func(e indexEntry) bool {
		if examined++; examined > most {
			err = &Error{Code: Exhausted, Details: map[string]any{"limit": most}, Message: fmt.Sprintf("more than %d records of collection %s would have to be counted: %s", most, run.collection.Name, exhaustedHint)}
			return false
		}
		key, ok := run.candidate(e)
		switch {
		case !ok:
		case !run.plan.apart:
			total++
		default:
			if batch = append(batch, foundRecord{name: e.name, key: key}); len(batch) == queryPage {
				return flush()
			}
		}
		return true
	})
	if err == nil {
		err = walk
	}
	if err == nil {
		flush()
	}
	return total, err
}
