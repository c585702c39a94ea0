package recordindex

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/alcove-memory/alcove/host/memory/fault"
	"github.com/alcove-memory/alcove/host/memory/query"
	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/store"
)

// Query asks for the entries of the index that a plan chose.
type Query struct {
	View
	Collection string
	Namespace  string
	Plan       *query.Plan
}

// Entry is an entry of an index.
type Entry struct {
	Name    string
	expires string
}

// Reader reads the entries of an index, or of a scan that replaces it.
type Reader struct {
	q       Query
	x       *Indexes
	lineage store.Lineage // of the index; nil: scanned has all entries
	scanned []Entry
}

// Read begins to read an index. If it is incomplete for the view, all records are read. A view without a lineage has nothing.
func (x *Indexes) Read(ctx context.Context, q Query) (*Reader, error) {
	r := &Reader{q: q, x: x}
	if q.Lineage == nil {
		return r, nil
	}
	x.queueDeclared(q.Collection)
	if kept := x.of(q.Collection).kept(q.Plan.Index); kept != nil {
		if r.lineage = x.covering(kept.ID, q.Lineage); r.lineage != nil {
			return r, nil
		}
		if q.Present {
			x.queueBuild(builds{q.Collection, kept.ID, q.Lineage[0].Branch})
		}
	}
	return r, r.scan(ctx)
}

// scan replaces an index that is not built yet, or was not at the view's moment.
func (r *Reader) scan(ctx context.Context) error {
	read, within := 0, store.Range{Namespace: r.q.Namespace, Collection: r.q.Collection}
	for e, err := range store.Entries(ctx, r.x.o.Engine.ScanAt, r.q.Lineage, within, queryPage) {
		if err != nil {
			return r.x.o.Explain("list records", err)
		}
		if read++; read > MostScanned {
			return r.q.unbuilt()
		}
		kept, err := record.Decode(e)
		if err != nil {
			return err
		}
		if kept.Purged == "" {
			r.scanned = append(r.scanned, Entry{r.q.Plan.Index.Name(e.Name, query.ValuesOf(&kept)), expiryText(kept.Expires)})
		}
	}
	slices.SortFunc(r.scanned, func(a, b Entry) int { return cmp.Compare(a.Name, b.Name) })
	return nil
}

func (q Query) unbuilt() error {
	if q.Present {
		return &fault.Error{Code: fault.Unavailable, Retryable: true,
			Message: fmt.Sprintf("index %s of collection %s is being built on branch %s: try again in a few seconds", q.Plan.Index, q.Collection, q.Branch)}
	}
	return &fault.Error{Code: fault.Exhausted, Details: map[string]any{"limit": MostScanned},
		Message: fmt.Sprintf("index %s of collection %s does not reach back to this moment, and a scan of more than %d records would be needed: "+
			"use a later as_of, or list without filters and order",
			q.Plan.Index, q.Collection, MostScanned)}
}

// Entries yields the entries within the plan's spans, in its order, after the name behind, or from the start, until yield returns false.
func (r *Reader) Entries(ctx context.Context, pageSize int, behind string, yield func(Entry) (more bool)) error {
	spans, desc := slices.Clone(r.q.Plan.Spans), r.q.Plan.Query.Descending
	if desc {
		slices.Reverse(spans)
	}
	more := true
	for _, span := range spans {
		if !more {
			return nil
		}
		err := r.within(ctx, span, pageSize, behind, func(e Entry) bool {
			if behind != "" && (!desc && e.Name <= behind || desc && e.Name >= behind) {
				return true
			}
			more = yield(e)
			return more
		})
		if err != nil {
			return r.x.o.Explain("list records", err)
		}
	}
	return nil
}

// within yields the entries of one span, and perhaps some before the cursor.
func (r *Reader) within(ctx context.Context, span query.Span, pageSize int, behind string, yield func(Entry) bool) error {
	desc := r.q.Plan.Query.Descending
	if r.lineage == nil {
		list := slices.Clone(r.scanned)
		if desc {
			slices.Reverse(list)
		}
		for _, e := range list {
			if span.Has(e.Name) && !yield(e) {
				return nil
			}
		}
		return nil
	}
	in := store.Range{Namespace: r.q.Namespace, Collection: indexEntries, Prefix: r.q.Plan.Base, From: max(span.From, behind), Reverse: desc}
	if desc {
		in.From = span.To
		if behind != "" && (in.From == "" || behind < in.From) {
			in.From = behind
		}
		if !strings.HasPrefix(in.From, in.Prefix) { // after all names with the prefix
			in.From = ""
		}
	}
	for e, err := range store.Entries(ctx, r.x.o.Engine.ScanAt, r.lineage, in, pageSize) {
		if err != nil {
			return err
		}
		if !span.Has(e.Name) {
			if !desc && e.Name >= span.From || desc && e.Name < span.From {
				return nil
			}
			continue
		}
		if !yield(Entry{e.Name, string(e.Value)}) {
			return nil
		}
	}
	return nil
}

// Key returns the key of an entry's record; ok is false if the entry does not match the plan, or has expired.
func (r *Reader) Key(e Entry, now time.Time) (key string, ok bool) {
	if e.expires != "" {
		at, err := strconv.ParseInt(e.expires, 10, 64)
		if err != nil || at <= now.UnixMicro() {
			return "", false
		}
	}
	if !r.q.Plan.AdmitsName(e.Name) {
		return "", false
	}
	return r.q.Plan.Index.CutKey(e.Name)
}
