package counters

import (
	"context"
	"maps"

	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/store"
)

// mostCounted bounds the branches whose stored counters are cached, for listings by counters.
const mostCounted = 4

// column holds all stored counters that a branch sees, by namespace and key.
type column struct {
	lineage store.Lineage
	counted map[string]map[string]Record
	sorted  map[sortedBy]*sortedCounters // those that listings asked for
	used    uint64
}

func (c *column) set(key store.Key, r Record) {
	keys := c.counted[key.Namespace]
	if keys == nil {
		keys = map[string]Record{}
		c.counted[key.Namespace] = keys
	}
	keys[key.Name] = r
	for of, list := range c.sorted {
		if of.namespace == key.Namespace {
			list.changed[key.Name] = true
		}
	}
}

// Present holds the present counters of a branch's memories.
type Present struct {
	column  *column // nil: none
	waiting map[store.Key]Record
}

// Any reports whether there are counters: the zero Present has none.
func (n Present) Any() bool { return n.column != nil }

// Of returns the counters of a memory.
func (n Present) Of(namespace, name string) Record {
	if n.column == nil {
		return Record{}
	}
	r := n.column.counted[namespace][name]
	if len(n.waiting) > 0 {
		r = r.Plus(n.waiting[store.Key{Namespace: namespace, Collection: record.Memories, Name: name}])
	}
	return r
}

// Now returns all counters of a branch. None is written until release is called.
func (c *Counting) Now(ctx context.Context, b *lineage.Branch) (now Present, release func(), err error) {
	c.writing.Lock()
	stored, err := c.column(ctx, b)
	if err != nil {
		c.writing.Unlock()
		return Present{}, nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return Present{stored, maps.Clone(c.pending[b])}, c.writing.Unlock, nil
}

// column returns the stored counters of a branch, read at the first use. The caller holds writing.
func (c *Counting) column(ctx context.Context, b *lineage.Branch) (*column, error) {
	c.looked++
	stored := c.columns[b.ID]
	if stored == nil {
		stored = &column{lineage: b.Lineage, counted: map[string]map[string]Record{}, sorted: map[sortedBy]*sortedCounters{}}
		for i := range b.Lineage {
			if err := c.load(ctx, stored, i); err != nil {
				return nil, err
			}
		}
		c.evict()
		c.columns[b.ID] = stored
	}
	stored.used = c.looked
	return stored, nil
}

// load reads the counters of keys on one branch of a column's lineage.
func (c *Counting) load(ctx context.Context, into *column, segment int) error {
	for cursor := store.Cursor(""); ; {
		page, next, err := c.o.Engine.CountersOn(ctx, into.lineage[segment].Branch, 0, cursor, pageSize)
		if err != nil {
			return err
		}
		keys := make([]store.Key, 0, len(page))
		for _, counted := range page {
			if _, known := into.counted[counted.Key.Namespace][counted.Key.Name]; !known && counted.Key.Collection == record.Memories {
				keys = append(keys, counted.Key)
			}
		}
		values, err := c.o.Engine.Counters(ctx, into.lineage, keys)
		if err != nil {
			return err
		}
		for i, value := range values {
			r, err := Decode(value)
			if err != nil {
				return err
			}
			into.set(keys[i], r)
		}
		if next == "" {
			return nil
		}
		cursor = next
	}
}

// evict drops the least recently used column, if there are too many.
func (c *Counting) evict() {
	if len(c.columns) < mostCounted {
		return
	}
	var oldest store.BranchID
	used := c.looked + 1
	for id, column := range c.columns {
		if column.used < used {
			oldest, used = id, column.used
		}
	}
	delete(c.columns, oldest)
}

// wrote updates columns after a write of counters; with an error they may have been written. The caller holds writing.
func (c *Counting) wrote(b store.BranchID, writes []store.CounterWrite, err error) {
	for id, column := range c.columns {
		if id != b && column.lineage.Has(b) { // a fork of the written branch
			delete(c.columns, id)
		}
	}
	column := c.columns[b]
	if column == nil {
		return
	}
	for _, w := range writes {
		r, failed := Decode(w.Value)
		if err != nil || failed != nil {
			delete(c.columns, b)
			return
		}
		column.set(w.Key, r)
	}
}
