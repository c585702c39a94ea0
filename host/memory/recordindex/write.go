package recordindex

import (
	"slices"
	"strconv"

	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/memory/query"
	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/store"
)

// names returns a record's names in an index.
func (k keptIndex) names(key store.Key, r *record.Record, of *query.Values) []string {
	if len(k.Fields) > 0 {
		return []string{k.Fields.Name(key.Name, of)}
	}
	var names []string
	for _, link := range r.Links {
		for _, to := range Targets(key.Namespace, link) {
			if name := linkName(to, key); !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// indexKey returns the key of an entry of an index. Links are sorted across namespaces.
func (k keptIndex) indexKey(namespace, name string) store.Key {
	if len(k.Fields) == 0 {
		namespace = lineage.Namespace
	}
	return store.Key{Namespace: namespace, Collection: indexEntries, Name: name}
}

// entries returns a record's entries in an index: the expiry by name.
func (k keptIndex) entries(key store.Key, r *record.Record, of *query.Values) map[store.Key]string {
	if r == nil || r.Purged != "" {
		return nil
	}
	list := map[store.Key]string{}
	for _, name := range k.names(key, r, of) {
		list[k.indexKey(key.Namespace, name)] = expiryText(r.Expires)
	}
	return list
}

func expiryText(micros int64) string {
	if micros == 0 {
		return ""
	}
	return strconv.FormatInt(micros, 10)
}

// Change is the replacement of a record on a branch; Old or New is nil for none.
type Change struct {
	Branch   store.BranchID
	Key      store.Key
	Old, New *record.Record
	Sure     bool // Old is a condition of the commit
}

// writes returns a change's writes to the indexes of a set. If Old may have been replaced meanwhile, all entries of the new record are
// written, whatever others deleted; readers skip stale entries.
func (set *indexSet) writes(c Change) []store.Write {
	var writes []store.Write
	was, is := query.ValuesOf(c.Old), query.ValuesOf(c.New)
	for _, index := range set.Indexes {
		before, now := index.entries(c.Key, c.Old, was), index.entries(c.Key, c.New, is)
		id := shadow(index.ID, c.Branch)
		for key, expires := range now {
			if old, same := before[key]; !c.Sure || !same || old != expires {
				writes = append(writes, store.Write{Branch: id, Key: key, Value: []byte(expires)})
			}
		}
		for key := range before {
			if _, stays := now[key]; !stays {
				writes = append(writes, store.Write{Branch: id, Key: key, Delete: true})
			}
		}
	}
	return writes
}

// Writer gives the index writes of one commit. It sees the same indexes for all of them, whatever changes meanwhile: then the commit is a
// conflict.
type Writer struct {
	indexes *Indexes
	sets    map[string]*indexSet // nil: the collection has none
}

// Writer begins a commit.
func (x *Indexes) Writer() *Writer { return &Writer{x, map[string]*indexSet{}} }

// Keeps reports whether a collection has indexes.
func (w *Writer) Keeps(collection string) bool { return w.of(collection) != nil }

func (w *Writer) of(collection string) *indexSet {
	set, known := w.sets[collection]
	if !known {
		set = w.indexes.of(collection)
		w.sets[collection] = set
	}
	return set
}

// Writes returns the writes to the indexes of a change.
func (w *Writer) Writes(c Change) []store.Write {
	if set := w.of(c.Key.Collection); set != nil {
		return set.writes(c)
	}
	return nil
}

// Expect returns the condition that the indexes of all collections that were asked about are unchanged.
func (w *Writer) Expect() (list []store.Expectation) {
	for collection, set := range w.sets {
		if set != nil {
			list = append(list, set.expectation(collection))
		}
	}
	return list
}

// IsStale reports whether the indexes of a collection that was asked about have changed.
func (w *Writer) IsStale() bool {
	for collection, set := range w.sets {
		if w.indexes.of(collection) != set {
			return true
		}
	}
	return false
}

// CheckCurrent returns a conflict if a batch writes to a collection without the writes of indexes kept since it was made.
func (x *Indexes) CheckCurrent(batch store.Batch) error {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if len(x.sets) == 0 {
		return nil
	}
	for _, w := range batch.Writes {
		set := x.sets[w.Key.Collection]
		if set == nil || len(set.Indexes) == 0 || w.Branch&shadowed != 0 {
			continue
		}
		expected := set.expectation(w.Key.Collection)
		if !slices.ContainsFunc(batch.Expect, func(e store.Expectation) bool { return e.Key == expected.Key && e.Version == expected.Version }) {
			return &store.ConflictError{Key: expected.Key, Have: set.version}
		}
	}
	return nil
}
