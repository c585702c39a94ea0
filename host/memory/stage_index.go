package memory

import (
	"context"

	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/memory/recordindex"
	"github.com/alcove-memory/alcove/host/store"
)

// indexed adds the index writes of a stage to its batch.
func (t *Stage) indexed(ctx context.Context, c Commit, batch store.Batch) (store.Batch, error) {
	index, declared := t.space.indexes.Writer(), map[string]bool{}
	var sites []site
	for _, at := range t.order {
		if !declared[at.Collection] {
			if err := t.space.indexes.KeepDeclared(ctx, at.Collection); err != nil {
				return batch, err
			}
			declared[at.Collection] = true
		}
		if index.Keeps(at.Collection) {
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
		change := recordindex.Change{Branch: t.branchOf(at), Key: at.Key, Old: was[i], New: t.changed[at], Sure: sure || t.forks(c) && !at.system}
		batch.Writes = append(batch.Writes, index.Writes(change)...)
	}
	batch.Expect = append(batch.Expect, index.Expect()...)
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
		case t.forks(c):
			l = t.ground()
		}
		if len(keys) == 0 {
			continue
		}
		entries, err := t.space.engine.GetAt(ctx, l, keys)
		if err != nil {
			return nil, err
		}
		for i, e := range entries {
			if list[at[i]], err = record.Of(e); err != nil {
				return nil, err
			}
		}
	}
	return list, nil
}
