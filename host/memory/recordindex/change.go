package recordindex

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/memory/query"
	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/store"
)

// change changes a copy of a set; next returns a number for a new index.
type change func(set *indexSet, next func() uint32) (changed bool)

// Declare sets the indexes of a collection to its declared ones. If none are kept yet, indexing begins at the collection's first use.
func (x *Indexes) Declare(c Collection) {
	x.mu.Lock()
	x.declared[c.Name] = c
	kept := x.sets[c.Name] != nil
	x.mu.Unlock()
	if kept {
		x.queueDeclared(c.Name)
	}
}

// undeclared returns a collection whose declared indexes differ from the kept ones.
func (x *Indexes) undeclared(collection string) (c Collection, changed bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	c, declared := x.declared[collection]
	return c, declared && !x.sets[collection].matches(c)
}

// matches reports whether the indexes of a set are those that a collection declares.
func (set *indexSet) matches(c Collection) bool {
	if set == nil {
		return len(c.Indexes) == 0
	}
	return set.PerSpace == c.PerSpace && !slices.ContainsFunc(c.Indexes, func(fields query.Index) bool { return set.kept(fields) == nil }) &&
		!slices.ContainsFunc(set.Indexes, func(k keptIndex) bool { return !slices.ContainsFunc(c.Indexes, k.Fields.Equal) })
}

// queueDeclared queues the change to a collection's declared indexes.
func (x *Indexes) queueDeclared(collection string) {
	if _, changed := x.undeclared(collection); changed && !x.o.ReadOnly {
		x.o.Queue("keep the indexes of "+collection, func(ctx context.Context) error { return x.KeepDeclared(ctx, collection) })
	}
}

// KeepDeclared sets the indexes of a collection to its declared ones. New ones are built in the background.
func (x *Indexes) KeepDeclared(ctx context.Context, collection string) error {
	c, changed := x.undeclared(collection)
	if !changed || x.o.ReadOnly {
		return nil
	}
	return x.change(ctx, collection, func(set *indexSet, next func() uint32) (changed bool) {
		var list []keptIndex
		for _, fields := range c.Indexes {
			if slices.ContainsFunc(list, func(k keptIndex) bool { return k.Fields.Equal(fields) }) {
				continue
			}
			if was := set.kept(fields); was != nil && set.PerSpace == c.PerSpace {
				list = append(list, *was)
				continue
			}
			list, changed = append(list, keptIndex{next(), fields}), true
		}
		for _, was := range set.Indexes {
			if !slices.ContainsFunc(list, func(k keptIndex) bool { return k.ID == was.ID }) {
				set.Retired, changed = append(set.Retired, was.ID), true
			}
		}
		set.Indexes, set.PerSpace = list, c.PerSpace
		return changed
	})
}

// queueLinks starts the index of links at the first query for backlinks.
func (x *Indexes) queueLinks() {
	if !x.o.ReadOnly {
		x.links.Do(func() { x.o.Queue("keep an index of links", x.KeepLinks) })
	}
}

// KeepLinks starts the index of links, unless there is one.
func (x *Indexes) KeepLinks(ctx context.Context) error {
	return x.change(ctx, record.Memories, func(set *indexSet, next func() uint32) bool {
		if len(set.Indexes) > 0 {
			return false
		}
		set.Indexes = []keptIndex{{ID: next()}}
		return true
	})
}

// change commits a change of a collection's indexes, and queues the building of new ones and the reclaiming of retired ones.
func (x *Indexes) change(ctx context.Context, collection string, do change) error {
	if err := x.begin(ctx, collection, do); err != nil {
		return x.o.Explain("change the indexes of "+collection, err)
	}
	x.QueueRetired()
	if set := x.of(collection); set != nil {
		x.queueBuilds(collection, set)
	}
	return nil
}

// begin commits a change while nothing else is written, so that no commit misses its writes to an index.
func (x *Indexes) begin(ctx context.Context, collection string, do change) error {
	x.o.Writing.Lock()
	defer x.o.Writing.Unlock()
	return x.commit(ctx, collection, do)
}

// queueBuilds queues the builds of the indexes of a set on the first branch.
func (x *Indexes) queueBuilds(collection string, set *indexSet) {
	b := x.firstIndexed(set)
	if b == nil {
		return
	}
	for _, index := range set.Indexes {
		x.queueBuild(builds{collection, index.ID, b.ID})
	}
}

// firstIndexed returns the branch on which an index is built before it is needed; nil: none yet.
func (x *Indexes) firstIndexed(set *indexSet) *lineage.Branch {
	if set.PerSpace {
		return x.o.Catalogue.System()
	}
	return x.o.Catalogue.Named(x.o.First)
}

func (x *Indexes) commit(ctx context.Context, collection string, do change) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	set := &indexSet{}
	if was := x.sets[collection]; was != nil {
		copied := *was
		set = &copied
		set.Indexes, set.Retired = slices.Clone(was.Indexes), slices.Clone(was.Retired)
	}
	if !do(set, func() uint32 {
		for _, other := range x.sets {
			set.Last = max(set.Last, other.Last)
		}
		set.Last++
		return set.Last
	}) {
		return nil
	}
	value, err := json.Marshal(set)
	if err != nil {
		return err
	}
	key := setKey(collection)
	batch := store.Batch{
		Writes: []store.Write{{Branch: store.Catalogue, Key: key, Value: value}},
		Expect: []store.Expectation{{Lineage: lineage.Root(), Key: key, Version: set.version}},
	}
	fresh, err := x.unused(ctx, collection, set)
	if err != nil {
		return err
	}
	for _, b := range fresh {
		batch.Writes = append(batch.Writes, store.Write{Branch: store.Catalogue, Key: builtKey(b.index, b.branch), Value: []byte("{}")})
	}
	done, err := x.o.Engine.Commit(ctx, batch)
	if err != nil {
		return err
	}
	for _, b := range fresh {
		x.noteBuilt(b.index, b.branch, done.Version)
	}
	set.version = done.Version
	x.sets[collection] = set
	return nil
}

// unused returns the new indexes of a set that have nothing to build yet. The caller holds Writing and mu.
func (x *Indexes) unused(ctx context.Context, collection string, set *indexSet) (list []builds, err error) {
	b := x.firstIndexed(set)
	if b == nil {
		return nil, nil
	}
	for _, index := range set.Indexes {
		if _, done := x.built[index.ID][b.ID]; !done {
			list = append(list, builds{collection, index.ID, b.ID})
		}
	}
	if len(list) == 0 {
		return nil, nil
	}
	if ranges, err := x.rangesOf(ctx, b.Lineage, collection); err != nil || len(ranges) > 0 {
		return nil, err
	}
	return list, nil
}

// Holds reports whether the indexes of an entry's collection may contain parts of it. Of a memory only the links are indexed.
func (x *Indexes) Holds(e store.Entry) bool {
	if x.of(e.Collection) == nil {
		return false
	}
	if e.Collection != record.Memories {
		return true
	}
	was, err := record.Decode(e)
	return err == nil && len(was.Links) > 0
}

// Retire erases the indexes of collections that may contain erased values, since index names contain values. Rebuild has them rebuilt.
// Where a backup holds them, background work erases them after it, and rewrites the file again. The caller holds Writing, and then erases
// unused space in the file.
func (x *Indexes) Retire(ctx context.Context, collections map[string]bool) error {
	for collection := range collections {
		err := x.commit(ctx, collection, func(set *indexSet, next func() uint32) bool {
			set.renumber(next)
			set.Erase = set.Erase || len(set.Retired) > 0
			return len(set.Retired) > 0
		})
		if err != nil {
			return err
		}
	}
	if len(collections) == 0 {
		return nil
	}
	defer x.QueueRetired()
	for collection := range collections {
		for _, index := range x.retired(collection) {
			if err := x.reclaimIndex(ctx, index); err != nil {
				return err
			}
		}
	}
	return nil
}

// Rebuild has built what Retire retired.
func (x *Indexes) Rebuild() {
	for collection, set := range x.all() {
		x.queueBuilds(collection, set)
	}
}

// renumber retires all indexes of a set, and gives new numbers to those that take their place.
func (set *indexSet) renumber(next func() uint32) {
	for i, index := range set.Indexes {
		set.Retired = append(set.Retired, index.ID)
		set.Indexes[i].ID = next()
	}
}

// retired returns the indexes of a collection to be reclaimed.
func (x *Indexes) retired(collection string) []uint32 {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if set := x.sets[collection]; set != nil {
		return set.Retired
	}
	return nil
}

// QueueRetired queues the reclaiming of undeclared indexes.
func (x *Indexes) QueueRetired() {
	if !x.o.ReadOnly {
		x.o.Queue("reclaim indexes", x.reclaimRetired)
	}
}

// reclaimRetired reclaims the shadows of retired indexes, one after the other.
func (x *Indexes) reclaimRetired(ctx context.Context) error {
	for collection, set := range x.all() {
		if len(set.Retired) == 0 {
			continue
		}
		for _, index := range set.Retired {
			if err := x.reclaimIndex(ctx, index); err != nil {
				return err
			}
		}
		if compactor, ok := x.o.Engine.(store.Compactor); ok && set.Erase {
			if _, err := compactor.Compact(ctx); err != nil {
				return err
			}
		}
		gone := set.Retired
		err := x.commit(ctx, collection, func(set *indexSet, _ func() uint32) bool {
			set.Retired = slices.DeleteFunc(set.Retired, func(index uint32) bool { return slices.Contains(gone, index) })
			set.Erase = set.Erase && len(set.Retired) > 0
			return true
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// reclaimIndex erases an index on every branch.
func (x *Indexes) reclaimIndex(ctx context.Context, index uint32) error {
	for _, b := range x.o.Catalogue.Kept() {
		if err := x.o.Engine.Reclaim(ctx, shadow(index, b.ID)); err != nil {
			return err
		}
	}
	return x.forgetBuilt(ctx, index)
}

func (x *Indexes) forgetBuilt(ctx context.Context, index uint32) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	var batch store.Batch
	for b := range x.built[index] {
		batch.Writes = append(batch.Writes, store.Write{Branch: store.Catalogue, Key: builtKey(index, b), Delete: true})
	}
	if len(batch.Writes) > 0 {
		if _, err := x.o.Engine.Commit(ctx, batch); err != nil {
			return err
		}
	}
	delete(x.built, index)
	return nil
}

// errRebuilt means that an index was given up during its build.
var errRebuilt = errors.New("the index is not kept any more")
