package recordindex

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/memory/query"
	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/store"
)

// queueBuild queues the build of an index on a branch, unless it is complete there.
func (x *Indexes) queueBuild(b builds) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if _, done := x.built[b.index][b.branch]; done || x.due[b] || x.o.ReadOnly {
		return
	}
	x.due[b] = true
	x.o.Queue("build an index of "+b.collection, func(ctx context.Context) error { return x.build(ctx, &indexBuild{builds: b}) })
}

// buildPages is the number of pages built before other background work runs.
const buildPages = 20

// indexBuild is a running build of an index on a branch. It can restart: existing entries are not written again.
type indexBuild struct {
	builds
	started bool
	rest    []store.Range // unread
	cursor  store.Cursor  // in the first of them
}

// step builds a few pages, and queues the next step unless the index is complete.
func (b *indexBuild) step(ctx context.Context, x *Indexes) (complete bool, err error) {
	for range buildPages {
		err := b.page(ctx, x)
		switch {
		case errors.Is(err, store.ErrConflict):
			continue // read the page again
		case err != nil:
			return false, err
		case b.started && len(b.rest) == 0:
			err = x.recordBuilt(ctx, b.builds)
			return err == nil, err
		}
	}
	x.o.Queue("build an index of "+b.collection, func(ctx context.Context) error { return x.build(ctx, b) })
	return false, nil
}

// build runs a step, and removes the index from due once it is built or given up.
func (x *Indexes) build(ctx context.Context, b *indexBuild) error {
	complete, err := b.step(ctx, x) // a purge may reclaim the index as soon as it is complete
	if complete || errors.Is(err, errRebuilt) {
		x.mu.Lock()
		delete(x.due, b.builds)
		x.mu.Unlock()
		return nil
	}
	if errors.Is(err, store.ErrConflict) { // the set of indexes changed
		x.o.Queue("build an index of "+b.collection, func(ctx context.Context) error { return x.build(ctx, b) })
		return nil
	}
	return err
}

// keptOn returns the inputs of a build; errRebuilt if the index or the branch is gone.
func (x *Indexes) keptOn(b builds) (*indexSet, keptIndex, *lineage.Branch, error) {
	branch, set := x.o.Catalogue.ByID(b.branch), x.of(b.collection)
	if branch == nil || branch.Deleted || set == nil {
		return nil, keptIndex{}, nil, errRebuilt
	}
	at := slices.IndexFunc(set.Indexes, func(k keptIndex) bool { return k.ID == b.index })
	if at < 0 {
		return nil, keptIndex{}, nil, errRebuilt
	}
	return set, set.Indexes[at], branch, nil
}

// rangesOf returns the ranges in which a lineage may have entries of a collection: its namespaces, in order.
func (x *Indexes) rangesOf(ctx context.Context, l store.Lineage, collection string) ([]store.Range, error) {
	engine, ok := x.o.Engine.(store.Collecting)
	if !ok {
		return []store.Range{{}}, nil
	}
	var ranges []store.Range
	for _, segment := range l {
		list, err := engine.Collections(ctx, segment.Branch)
		if err != nil {
			return nil, err
		}
		for _, key := range list {
			r := store.Range{Namespace: key.Namespace, Collection: key.Collection}
			if key.Collection == collection && !slices.Contains(ranges, r) {
				ranges = append(ranges, r)
			}
		}
	}
	slices.SortFunc(ranges, func(a, b store.Range) int { return cmp.Compare(a.Namespace, b.Namespace) })
	return ranges, nil
}

// page indexes a page of records, which are conditions of the commit.
func (b *indexBuild) page(ctx context.Context, x *Indexes) error {
	x.o.Writing.RLock() // a purge would leave in the index what it erases
	defer x.o.Writing.RUnlock()
	set, index, branch, err := x.keptOn(b.builds)
	if err != nil {
		return err
	}
	if !b.started {
		if b.rest, err = x.rangesOf(ctx, branch.Lineage, b.collection); err != nil {
			return err
		}
		b.started = true
	}
	if len(b.rest) == 0 {
		return nil
	}
	page, next, err := x.o.Engine.ScanAt(ctx, branch.Lineage, b.rest[0], b.cursor, buildPage)
	if err != nil {
		return err
	}
	batch, err := b.batch(page, index, branch)
	if err != nil {
		return err
	}
	if batch.Writes, err = x.lacking(ctx, b.builds, batch.Writes); err != nil {
		return err
	}
	if len(batch.Writes) > 0 {
		batch.Expect = append(batch.Expect, set.expectation(b.collection), branch.Alive())
		if _, err := x.o.Engine.Commit(ctx, batch); err != nil {
			return err
		}
	}
	if b.cursor = next; next == "" {
		b.rest = b.rest[1:]
	}
	return nil
}

func (b *indexBuild) batch(page []store.Entry, index keptIndex, branch *lineage.Branch) (batch store.Batch, err error) {
	for _, e := range page {
		if e.Collection != b.collection {
			continue
		}
		r, err := record.Decode(e)
		if err != nil {
			return batch, err
		}
		entries := index.entries(e.Key, &r, query.ValuesOf(&r))
		for key, expires := range entries {
			batch.Writes = append(batch.Writes, store.Write{Branch: shadow(b.index, b.branch), Key: key, Value: []byte(expires)})
		}
		if len(entries) > 0 {
			batch.Expect = append(batch.Expect, store.Expectation{Lineage: branch.Lineage, Key: e.Key, Version: e.Version})
		}
	}
	return batch, nil
}

// lacking returns those of some writes that are missing from the index.
func (x *Indexes) lacking(ctx context.Context, b builds, writes []store.Write) ([]store.Write, error) {
	keys := make([]store.Key, len(writes))
	for i, w := range writes {
		keys[i] = w.Key
	}
	found, err := x.o.Engine.GetAt(ctx, store.Lineage{{Branch: shadow(b.index, b.branch), At: store.Latest}}, keys)
	if err != nil {
		return nil, err
	}
	var lack []store.Write
	for i, w := range writes {
		if !found[i].Exists() || string(found[i].Value) != string(w.Value) {
			lack = append(lack, w)
		}
	}
	return lack, nil
}

func (x *Indexes) recordBuilt(ctx context.Context, b builds) error {
	set, _, branch, err := x.keptOn(b)
	if err != nil {
		return err
	}
	done, err := x.o.Engine.Commit(ctx, store.Batch{
		Writes: []store.Write{{Branch: store.Catalogue, Key: builtKey(b.index, b.branch), Value: []byte("{}")}},
		Expect: []store.Expectation{set.expectation(b.collection), branch.Alive()},
	})
	if err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.noteBuilt(b.index, b.branch, done.Version)
	return nil
}
