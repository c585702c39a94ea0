package memory

import (
	"context"
	"slices"

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
		for _, to := range linkTargets(key.Namespace, link) {
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

// indexChange is the replacement of a record on a branch; old or new is nil for none.
type indexChange struct {
	branch   store.BranchID
	key      store.Key
	old, new *record.Record
	sure     bool // old is a condition of the commit
}

// writes returns a change's writes to the indexes of a set. If old may have been replaced meanwhile, all entries of the new record are
// written, whatever others deleted; readers skip stale entries.
func (set *indexSet) writes(c indexChange) []store.Write {
	var writes []store.Write
	was, is := query.ValuesOf(c.old), query.ValuesOf(c.new)
	for _, index := range set.Indexes {
		before, now := index.entries(c.key, c.old, was), index.entries(c.key, c.new, is)
		id := shadow(index.ID, c.branch)
		for key, expires := range now {
			if old, same := before[key]; !c.sure || !same || old != expires {
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

// expectation makes a commit conditional on an unchanged set.
func (set *indexSet) expectation(collection string) store.Expectation {
	return store.Expectation{Lineage: lineage.Root(), Key: setKey(collection), Version: set.version}
}

// stored decodes an entry for indexing; nil: nothing is there.
func stored(e store.Entry) (*record.Record, error) {
	if !e.Exists() {
		return nil, nil
	}
	r, err := record.Decode(e)
	return &r, err
}

// indexed adds the index writes of a stage to its batch.
func (t *Stage) indexed(ctx context.Context, c Commit, batch store.Batch) (store.Batch, error) {
	sets := map[string]*indexSet{}
	var sites []site
	for _, at := range t.order {
		set, known := sets[at.Collection]
		if !known {
			if err := t.space.keepDeclared(ctx, at.Collection); err != nil {
				return batch, err
			}
			set = t.space.indexes.of(at.Collection)
			sets[at.Collection] = set
		}
		if set != nil {
			sites = append(sites, at)
		}
	}
	if len(sites) == 0 {
		return batch, nil
	}
	was, err := t.replaced(ctx, c, sites)
	if err != nil {
		return batch, t.space.translate("index what is written", err)
	}
	for i, at := range sites {
		_, sure := t.seen[at]
		change := indexChange{branch: t.branchOf(at), key: at.Key, old: was[i], new: t.changed[at], sure: sure || c.Proposal != "" && !at.system}
		batch.Writes = append(batch.Writes, sets[at.Collection].writes(change)...)
	}
	for collection, set := range sets {
		if set != nil {
			batch.Expect = append(batch.Expect, set.expectation(collection))
		}
	}
	return batch, nil
}

// replaced returns the records that the stage's changes replace: the newest, or for a proposal those at its fork.
func (t *Stage) replaced(ctx context.Context, c Commit, sites []site) ([]*record.Record, error) {
	list := make([]*record.Record, len(sites))
	for _, system := range []bool{false, true} {
		var keys []store.Key
		var at []int
		for i, s := range sites {
			if s.system == system {
				keys, at = append(keys, s.Key), append(at, i)
			}
		}
		l := t.branch.Lineage
		switch b := t.space.catalogue.System(); {
		case system && b != nil:
			l = b.Lineage
		case system:
			continue
		case c.Proposal != "":
			l = t.lineage()
		}
		if len(keys) == 0 {
			continue
		}
		entries, err := t.space.engine.GetAt(ctx, l, keys)
		if err != nil {
			return nil, err
		}
		for i, e := range entries {
			if list[at[i]], err = stored(e); err != nil {
				return nil, err
			}
		}
	}
	return list, nil
}

// index returns the index writes of a merge.
func (p *mergePlan) index(t triple, outcome outcome) ([]store.Write, error) {
	set := p.setOf(t.key.Collection)
	if set == nil {
		return nil, nil
	}
	old, err := stored(t.target)
	if err != nil {
		return nil, err
	}
	var is *record.Record
	if outcome.value != nil {
		if is, err = stored(store.Entry{Key: t.key, Point: store.Point{Version: 1}, Value: outcome.value}); err != nil {
			return nil, err
		}
	}
	return set.writes(indexChange{branch: p.target.branch.ID, key: t.key, old: old, new: is, sure: true}), nil
}

// setOf returns the indexes of a collection, the same for all keys of the plan: if they change meanwhile, the commit is a conflict.
func (p *mergePlan) setOf(collection string) *indexSet {
	set, known := p.sets[collection]
	if !known {
		if p.sets == nil {
			p.sets = map[string]*indexSet{}
		}
		set = p.space.indexes.of(collection)
		p.sets[collection] = set
	}
	return set
}
