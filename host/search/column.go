package search

import (
	"cmp"
	"context"
	"encoding/binary"
	"maps"
	"math"
	"slices"
	"strings"
)

// columnKind is what the documents of a column are sorted by.
type columnKind uint8

const (
	byName       columnKind = iota // namespace, collection, key
	byCreation                     // this and the two below: then by name
	byUpdate                       //
	byImportance                   // documents without importance first
	byExpiry                       // those that expire
	byFacet                        //
	byAgent                        //
	byField                        // by the digests of those that have the field
	byTag                          // a list for each tag
)

// columnID identifies a column of a part.
type columnID struct {
	kind  columnKind
	field uint32 // of byField
}

// column is documents of a sealed part, sorted. It is read at the first listing that needs it, or built if the part's file has none. Documents
// that were removed since are still in it.
type column []uint32

// columns are the columns of a part. They are replaced, never changed.
type columns struct {
	sorted map[columnID]column
	tagged map[string]column // nil: not built
}

// mostColumns bounds the columns of a part.
const mostColumns = 32

func (c *columns) has(id columnID) bool {
	if c == nil {
		return false
	}
	if id.kind == byTag {
		return c.tagged != nil
	}
	_, ok := c.sorted[id]
	return ok
}

// with returns the columns and one more, without one on a field if there are too many.
func (c *columns) with(id columnID, sorted column, tagged map[string]column) *columns {
	more := &columns{sorted: map[columnID]column{}}
	if c != nil {
		maps.Copy(more.sorted, c.sorted)
		more.tagged = c.tagged
	}
	if id.kind == byTag {
		more.tagged = tagged
		return more
	}
	for other := range more.sorted {
		if len(more.sorted) >= mostColumns && other.kind == byField {
			delete(more.sorted, other)
		}
	}
	more.sorted[id] = sorted
	return more
}

// value is what a column sorts a row by, first of all. ok is false if the column has no such rows.
func (t *table) value(id columnID, r *row) (value int64, ok bool) {
	switch id.kind {
	case byCreation:
		return t.createdAt(r), true
	case byUpdate:
		return r.time, true
	case byImportance:
		return SortImportance(r.importance), true
	case byExpiry:
		at := t.expiresAt(r)
		return at, at != 0
	case byFacet:
		return int64(r.facet), true
	case byAgent:
		return int64(r.agent), true
	case byField:
		return t.fieldValue(r, id.field)
	}
	return 0, true
}

// SortImportance maps importance to numbers in the same order; -1 is none.
func SortImportance(importance float64) int64 {
	if math.IsNaN(importance) {
		return -1
	}
	return int64(math.Float64bits(importance + 0)) // the bits of positive numbers sort as the numbers; -0 + 0 is 0
}

func (t *table) createdAt(r *row) int64 {
	if r.extra == none {
		return r.time
	}
	return cmp.Or(t.extras.createdAt(r.extra), r.time)
}

func (t *table) fieldValue(r *row, field uint32) (value int64, ok bool) {
	if r.extra == none {
		return 0, false
	}
	t.extras.eachField(r.extra, func(f storedField) bool {
		if ok = f.name == field; ok {
			value = f.value.sortable()
		}
		return !ok
	})
	return value, ok
}

// sortable is a part of a digest as a number.
func (d Digest) sortable() int64 { return int64(binary.BigEndian.Uint64(d[:8])) }

// named reports whether equal values are sorted by name.
func (k columnKind) named() bool { return k <= byImportance }

// sortEntry is a document that a column sorts.
type sortEntry struct {
	value int64
	space uint32
	key   string
	local uint32
}

// rowsPerSnapshot is how many rows are copied before waiting writers go on.
const rowsPerSnapshot = 1 << 15

// tableNow returns the table that the index has until it is emptied.
func (x *Index) tableNow() *table {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.table
}

// eachRow calls do for the documents of a sealed part, with the index locked for reading, unless the index is emptied.
func (x *Index) eachRow(t *table, p *part, do func(local uint32, r *row)) {
	for from := 0; from < len(p.rows); from += rowsPerSnapshot {
		x.someRows(t, p, from, min(from+rowsPerSnapshot, len(p.rows)), do)
	}
}

// someRows is eachRow for some documents.
func (x *Index) someRows(of *table, p *part, from, to int, do func(local uint32, r *row)) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if x.table != of {
		return
	}
	for local := from; local < to; local++ {
		number := p.rows[local]
		if number == none {
			continue
		}
		if r := of.row(number); r.name != none { // of a part being made, a row may have been freed since
			do(uint32(local), r)
		}
	}
}

// sortColumn builds a column of a sealed part. It locks the index only to copy.
func (x *Index) sortColumn(p *part, id columnID) column {
	var list []sortEntry
	t := x.tableNow()
	x.eachRow(t, p, func(local uint32, r *row) {
		if e, ok := x.entryOf(id, r, local); ok {
			list = append(list, e)
		}
	})
	x.mu.RLock()
	spaces := slices.Clip(t.spaces) // grows elsewhere from now on, if at all
	x.mu.RUnlock()
	slices.SortFunc(list, func(a, b sortEntry) int { return id.kind.compare(&a, &b, spaces) })
	sorted := make(column, len(list))
	for i, k := range list {
		sorted[i] = k.local
	}
	return sorted
}

// tagLists builds the lists of tags of a sealed part.
func (x *Index) tagLists(p *part) map[string]column {
	lists, t := map[string]column{}, x.tableNow()
	x.eachRow(t, p, func(local uint32, r *row) {
		if r.extra == none {
			return
		}
		t.extras.eachTag(r.extra, func(number uint32) bool {
			tag := t.tags[number]
			if l := lists[tag]; len(l) == 0 || l[len(l)-1] != local { // a document may have a tag twice
				lists[tag] = append(l, local)
			}
			return true
		})
	})
	return lists
}

// addColumn reads or builds a column of a sealed part. The caller holds building.
func (x *Index) addColumn(p *part, id columnID) {
	had := p.columns.Load()
	if had.has(id) {
		return
	}
	if id.kind == byTag {
		lists, ok := storedTags(p)
		if !ok {
			lists = x.tagLists(p)
		}
		p.columns.Store(had.with(id, nil, lists))
		return
	}
	c, ok := x.storedColumn(p, id)
	if !ok {
		c = x.sortColumn(p, id)
	}
	p.columns.Store(had.with(id, c, nil))
}

// worthColumns reports whether a part is so large that columns pay.
func (x *Index) worthColumns(p *part) bool { return p.sealed != nil && x.manyEnough(p.docs()) }

// manyEnough reports whether columns of so many documents pay.
func (x *Index) manyEnough(docs int) bool { return docs >= x.maxTail/8 }

// build adds columns that a listing needs to the parts of a view. Listings that find a part without them test all its documents.
func (x *Index) buildColumns(ctx context.Context, view View, ids []columnID) error {
	missing := x.without(view, ids)
	if len(missing) == 0 {
		return nil
	}
	x.building.Lock()
	defer x.building.Unlock()
	for _, id := range ids {
		if len(x.wanted) < mostColumns {
			x.wanted[id] = true
		}
	}
	for _, p := range missing {
		for _, id := range ids {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			x.addColumn(p, id)
		}
	}
	return nil
}

// without returns the parts of a view that lack some of the columns.
func (x *Index) without(view View, ids []columnID) (missing []*part) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	for _, segment := range view.Lineage {
		b := x.branches[segment.Branch]
		if b == nil {
			continue
		}
		for _, p := range b.parts {
			lacks := func(id columnID) bool { return !p.columns.Load().has(id) }
			if x.worthColumns(p) && slices.ContainsFunc(ids, lacks) {
				missing = append(missing, p)
			}
		}
	}
	return missing
}

// addWanted gives a new part the columns that listings asked for.
func (x *Index) addWanted(p *part) {
	if !x.worthColumns(p) {
		return
	}
	x.building.Lock()
	defer x.building.Unlock()
	for id := range x.wanted {
		if !p.columns.Load().has(id) {
			x.addColumn(p, id)
		}
	}
}

// search returns the first position in a column whose document is not before something, by a binary search that steps over
// removed documents.
func (x *Index) search(c column, p *part, before func(*row) bool) int {
	low, high := 0, len(c)
	for low < high {
		middle := int(uint(low+high) >> 1)
		at := middle
		for at < high && p.rows[c[at]] == none {
			at++
		}
		if at < high && before(x.table.row(p.rows[c[at]])) {
			low = at + 1
		} else {
			high = middle
		}
	}
	return low
}

// between returns the documents of a column, sorted by id, whose values are from least to most.
func (x *Index) between(c column, p *part, id columnID, least, most int64) column {
	value := func(r *row) int64 {
		v, _ := x.table.value(id, r)
		return v
	}
	c = c[x.search(c, p, func(r *row) bool { return value(r) < least }):]
	return c[:x.search(c, p, func(r *row) bool { return value(r) <= most })]
}

// prefixed returns the documents of a column, sorted by name, in a space and with keys that begin with a prefix.
func (x *Index) prefixed(c column, p *part, s space, prefix string) column {
	compare := func(r *row) int {
		n := x.table.nameAt(r.name)
		if c := x.table.spaces[n.space].compare(s); c != 0 {
			return c
		}
		if strings.HasPrefix(n.key, prefix) {
			return 0
		}
		return strings.Compare(n.key, prefix)
	}
	c = c[x.search(c, p, func(r *row) bool { return compare(r) < 0 }):]
	return c[:x.search(c, p, func(r *row) bool { return compare(r) <= 0 })]
}

func (s space) compare(o space) int {
	return cmp.Or(strings.Compare(s.namespace, o.namespace), strings.Compare(s.collection, o.collection))
}
