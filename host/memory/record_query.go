package memory

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/alcove-memory/alcove/host/memory/query"
	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/store"
)

// RecordPage is a page of records. With a Next it may have fewer records than the limit, or none.
type RecordPage struct {
	Records []Record
	Next    string // empty: the last page
	Total   int    // matches in all, if requested
}

const (
	mostExamined  = 20_000    // records read, or entries skipped, for one page, and for a count that reads records
	mostQueried   = 1_000_000 // entries of an index for one count
	indexEntries  = "_index"  // the collection of shadows that has their entries
	queryPage     = 500
	countPage     = 5000
	exhaustedHint = "declare an index that begins with the filtered fields, or ask for less"
)

// foundRecord is a match of a query.
type foundRecord struct {
	name  string
	key   string
	entry store.Entry // version 0: staged
	r     *record.Record
}

// QueryRecords reads a page of the records that match a query.
func (t *Stage) QueryRecords(ctx context.Context, c Collection, namespace string, q query.Query) (RecordPage, error) {
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
	p, err := c.queried().Plan(namespace, q)
	if err != nil {
		return RecordPage{}, err
	}
	after, err := p.Position()
	if err != nil {
		return RecordPage{}, err
	}
	run := &recordRun{stage: t, collection: c, namespace: namespace, plan: p, after: after}
	if err := run.choose(ctx); err != nil {
		return RecordPage{}, err
	}
	return run.page(ctx)
}

// recordRun is the execution of a query.
type recordRun struct {
	stage      *Stage
	collection Collection
	namespace  string
	plan       *query.Plan
	after      string
	lineage    store.Lineage // of the index; nil: scanned has all names
	kept       *keptIndex
	scanned    []indexEntry
}

// indexEntry is an entry of an index.
type indexEntry struct{ name, expires string }

// choose selects the index, or reads all records if it is incomplete for the stage.
func (run *recordRun) choose(ctx context.Context) error {
	t, c := run.stage, run.collection
	lineage := t.lineageOf(c)
	if lineage == nil {
		return nil
	}
	t.space.queueDeclared(c.Name)
	run.kept = t.space.indexes.of(c.Name).kept(run.plan.Index)
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

// scan replaces an index that is not built yet, or was not at the stage's moment.
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
			run.scanned = append(run.scanned, indexEntry{run.plan.Index.Name(e.Name, query.ValuesOf(&r)), expiryText(r.Expires)})
		}
	}
	slices.SortFunc(run.scanned, func(a, b indexEntry) int { return cmp.Compare(a.name, b.name) })
	return nil
}

func (run *recordRun) unbuilt() error {
	if run.stage.at.IsNow() {
		return &Error{Code: Unavailable, Retryable: true, Message: fmt.Sprintf("index %s of collection %s is being built on branch %s: try again in a few seconds",
			run.plan.Index, run.collection.Name, run.stage.branch.Name)}
	}
	return &Error{Code: Exhausted, Details: map[string]any{"limit": mostExamined},
		Message: fmt.Sprintf("index %s of collection %s does not reach back to this moment, and a scan of more than %d records would be needed: use a later as_of, or list without filters and order",
			run.plan.Index, run.collection.Name, mostExamined)}
}

// entries yields the entries of the index within the spans, in order, after the cursor, until yield returns false.
func (run *recordRun) entries(ctx context.Context, pageSize int, behind string, yield func(indexEntry) (more bool)) error {
	spans, desc := slices.Clone(run.plan.Spans), run.plan.Query.Descending
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

// within yields the entries of one span, and perhaps some before the cursor.
func (run *recordRun) within(ctx context.Context, span query.Span, pageSize int, behind string, yield func(indexEntry) bool) error {
	desc := run.plan.Query.Descending
	if run.lineage == nil {
		list := slices.Clone(run.scanned)
		if desc {
			slices.Reverse(list)
		}
		for _, e := range list {
			if span.Has(e.name) && !yield(e) {
				return nil
			}
		}
		return nil
	}
	r := store.Range{Namespace: run.namespace, Collection: indexEntries, Prefix: run.plan.Base, From: max(span.From, behind), Reverse: desc}
	if desc {
		r.From = span.To
		if behind != "" && (r.From == "" || behind < r.From) {
			r.From = behind
		}
		if !strings.HasPrefix(r.From, r.Prefix) { // after all names with the prefix
			r.From = ""
		}
	}
	for e, err := range store.Entries(ctx, run.stage.space.engine.ScanAt, run.lineage, r, pageSize) {
		if err != nil {
			return err
		}
		if !span.Has(e.Name) {
			if !desc && e.Name >= span.From || desc && e.Name < span.From {
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

// candidate returns the key of an entry's record; ok is false if the entry does not match the query, or the stage changed it.
func (run *recordRun) candidate(e indexEntry) (key string, ok bool) {
	if e.expires != "" {
		at, err := strconv.ParseInt(e.expires, 10, 64)
		if err != nil || at <= run.stage.now.UnixMicro() {
			return "", false
		}
	}
	if !run.plan.AdmitsName(e.name) {
		return "", false
	}
	if key, ok = run.plan.Index.CutKey(e.name); !ok {
		return "", false
	}
	_, staged := run.stage.changed[run.at(key)]
	return key, !staged
}

func (run *recordRun) at(key string) site {
	return site{run.collection.PerSpace, store.Key{Namespace: run.namespace, Collection: run.collection.Name, Name: key}}
}

// page reads the page, and counts if requested.
func (run *recordRun) page(ctx context.Context) (RecordPage, error) {
	limit, desc := run.stage.space.page(run.plan.Query.Limit), run.plan.Query.Descending
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
		page.Next = run.plan.Cursor(upTo)
	}
	if run.plan.Query.Count {
		page.Total, err = run.count(ctx)
	}
	return page, err
}

// read reads at most limit records after the cursor. upTo is the last name examined; empty at the end.
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

// fetch reads the records of a batch, and drops those that do not match the query.
func (run *recordRun) fetch(ctx context.Context, batch []foundRecord) ([]foundRecord, error) {
	t := run.stage
	keys := make([]store.Key, len(batch))
	for i, f := range batch {
		keys[i] = run.at(f.key).Key
	}
	lineage := t.lineageOf(run.collection)
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
		if name, ok := run.plan.Admits(e.Name, r, t.now); ok && name == batch[i].name {
			list = append(list, foundRecord{batch[i].name, batch[i].key, e, r})
		}
	}
	return list, nil
}

// staged returns the stage's changed records that match the query.
func (run *recordRun) staged() (list []foundRecord) {
	for _, at := range run.stage.order {
		if at != run.at(at.Name) {
			continue
		}
		r := run.stage.changed[at]
		if name, ok := run.plan.Admits(at.Name, r, run.stage.now); ok && run.inSpans(name) {
			list = append(list, foundRecord{name: name, key: at.Name, r: r})
		}
	}
	return list
}

func (run *recordRun) inSpans(name string) bool {
	return slices.ContainsFunc(run.plan.Spans, func(span query.Span) bool { return span.Has(name) })
}

// count counts all matches of the query.
func (run *recordRun) count(ctx context.Context) (int, error) {
	total, examined, most := len(run.staged()), 0, mostQueried
	if run.plan.Apart {
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
		case !run.plan.Apart:
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

func expiryText(micros int64) string {
	if micros == 0 {
		return ""
	}
	return strconv.FormatInt(micros, 10)
}
