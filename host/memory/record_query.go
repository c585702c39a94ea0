package memory

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/alcove-memory/alcove/host/memory/query"
	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/memory/recordindex"
	"github.com/alcove-memory/alcove/host/store"
)

// RecordPage is a page of records. With a Next it may have fewer records than the limit, or none.
type RecordPage struct {
	Records []Record
	Next    string // empty: the last page
	Total   int    // matches in all, if requested
}

const (
	mostExamined  = recordindex.MostScanned // records read, or entries skipped, for one page, and for a count that reads records
	mostQueried   = 1_000_000               // entries of an index for one count
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
	in := recordindex.View{Branch: t.branch.Name, Lineage: t.lineageOf(c), Present: t.at.IsNow()}
	index, err := t.space.indexes.Read(ctx, recordindex.Query{View: in, Collection: c.Name, Namespace: namespace, Plan: p})
	if err != nil {
		return RecordPage{}, err
	}
	run := &recordRun{stage: t, collection: c, namespace: namespace, plan: p, after: after, index: index}
	return run.page(ctx)
}

// recordRun is the execution of a query.
type recordRun struct {
	stage      *Stage
	collection Collection
	namespace  string
	plan       *query.Plan
	after      string
	index      *recordindex.Reader
}

// candidate returns the key of an entry's record; ok is false if the entry does not match the query, or the stage changed it.
func (run *recordRun) candidate(e recordindex.Entry) (key string, ok bool) {
	if key, ok = run.index.Key(e, run.stage.now); !ok {
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
	walk := run.index.Entries(ctx, min(limit+1, queryPage), run.after, func(e recordindex.Entry) bool {
		if examined++; examined > mostExamined {
			upTo = last
			return false
		}
		last = e.Name
		if key, ok := run.candidate(e); ok {
			batch = append(batch, foundRecord{name: e.Name, key: key})
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
		r, err := record.Of(e)
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
	walk := run.index.Entries(ctx, countPage, "", func(e recordindex.Entry) bool {
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
			if batch = append(batch, foundRecord{name: e.Name, key: key}); len(batch) == queryPage {
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
