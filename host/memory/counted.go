package memory

import (
	"context"
	"maps"

	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/store"
)

// mostCounted bounds the branches whose stored counters are cached, for listings by counters.
const mostCounted = 4

// countedColumn holds all stored counters that a branch sees, by namespace and key.
type countedColumn struct {
	lineage store.Lineage
	counted map[string]map[string]countRecord
	sorted  map[sortedBy]*sortedCounters // those that listings asked for
	used    uint64
}

func (c *countedColumn) set(key store.Key, r countRecord) {
	keys := c.counted[key.Namespace]
	if keys == nil {
		keys = map[string]countRecord{}
		c.counted[key.Namespace] = keys
	}
	keys[key.Name] = r
	for by, list := range c.sorted {
		if by.namespace == key.Namespace {
			list.changed[key.Name] = true
		}
	}
}

// countedNow holds the present counters of a branch's memories.
type countedNow struct {
	column  *countedColumn // nil: none
	waiting map[store.Key]countRecord
}

func (n countedNow) of(namespace, name string) countRecord {
	if n.column == nil {
		return countRecord{}
	}
	r := n.column.counted[namespace][name]
	if len(n.waiting) > 0 {
		r = r.plus(n.waiting[memoryKey(namespace, name)])
	}
	return r
}

// now passes all counters of a branch to use, while none is written.
func (c *counting) now(ctx context.Context, b *lineage.Branch, use func(countedNow) error) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	column, err := c.column(ctx, b)
	if err != nil {
		return c.space.translate("read counters", err)
	}
	c.mu.Lock()
	waiting := maps.Clone(c.pending[b])
	c.mu.Unlock()
	return use(countedNow{column, waiting})
}

// column returns the stored counters of a branch, read at the first use. The caller holds writing.
func (c *counting) column(ctx context.Context, b *lineage.Branch) (*countedColumn, error) {
	c.looked++
	column := c.columns[b.ID]
	if column == nil {
		column = &countedColumn{lineage: b.Lineage, counted: map[string]map[string]countRecord{}, sorted: map[sortedBy]*sortedCounters{}}
		for i := range b.Lineage {
			if err := c.load(ctx, column, i); err != nil {
				return nil, err
			}
		}
		c.evict()
		c.columns[b.ID] = column
	}
	column.used = c.looked
	return column, nil
}

// load reads the counters of keys on one branch of a column's lineage.
func (c *counting) load(ctx context.Context, column *countedColumn, segment int) error {
	for cursor := store.Cursor(""); ; {
		page, next, err := c.space.engine.CountersOn(ctx, column.lineage[segment].Branch, 0, cursor, fillPage)
		if err != nil {
			return err
		}
		keys := make([]store.Key, 0, len(page))
		for _, record := range page {
			if _, known := column.counted[record.Key.Namespace][record.Key.Name]; !known && record.Key.Collection == memories {
				keys = append(keys, record.Key)
			}
		}
		values, err := c.space.engine.Counters(ctx, column.lineage, keys)
		if err != nil {
			return err
		}
		for i, value := range values {
			r, err := decodeCount(value)
			if err != nil {
				return err
			}
			column.set(keys[i], r)
		}
		if next == "" {
			return nil
		}
		cursor = next
	}
}

// evict drops the least recently used column, if there are too many.
func (c *counting) evict() {
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
func (c *counting) wrote(b store.BranchID, writes []store.CounterWrite, err error) {
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
		r, failed := decodeCount(w.Value)
		if err != nil || failed != nil {
			delete(c.columns, b)
			return
		}
		column.set(w.Key, r)
	}
}
