package feed

import (
	"context"
	"errors"
	"iter"

	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/store"
)

// change is a change in the feed of a branch.
type change struct {
	store.Change
	perSpace bool // on every branch
}

// changes lists the changes of a branch, and the notices on every branch, with from < version <= to, oldest first, whole versions, as
// Engine.Changes does. scanned is how many changes were read for it.
func (r *Reader) changes(ctx context.Context, b *lineage.Branch, from, to uint64, limit int) (list []change, next uint64, scanned int, err error) {
	own, next, err := r.engine.Changes(ctx, b.ID, from, to, limit)
	if err != nil {
		return nil, 0, 0, err
	}
	shared, more, err := r.sharedChanges(ctx, from, to, limit)
	if err != nil {
		return nil, 0, 0, err
	}
	if more != 0 && (next == 0 || more < next) {
		next = more
	}
	list = make([]change, 0, len(own))
	for len(own) > 0 || len(shared) > 0 {
		take, perSpace := &own, false
		if len(own) == 0 || len(shared) > 0 && shared[0].Version < own[0].Version {
			take, perSpace = &shared, true
		}
		c := (*take)[0]
		*take = (*take)[1:]
		scanned++
		if next != 0 && c.Version > next {
			continue
		}
		if !perSpace || IsEmitted(c.Key.Collection) {
			list = append(list, change{c, perSpace})
		}
	}
	return list, next, scanned, nil
}

// sharedChanges lists changes of the system branch, as far back as they are kept.
func (r *Reader) sharedChanges(ctx context.Context, from, to uint64, limit int) ([]store.Change, uint64, error) {
	b := r.branches.System()
	if b == nil {
		return nil, 0, nil
	}
	changes, next, err := r.engine.Changes(ctx, b.ID, from, to, limit)
	if trimmed, ok := errors.AsType[*store.TrimmedError](err); ok {
		changes, next, err = r.engine.Changes(ctx, b.ID, trimmed.Floor.Version, to, limit)
	}
	return changes, next, err
}

// commits groups changes by version, each with its notices, which are incomplete.
func commits(changes []change) iter.Seq2[uint64, []Notice] {
	return func(yield func(uint64, []Notice) bool) {
		for len(changes) > 0 {
			version, n := changes[0].Version, 0
			var notices []Notice
			for ; n < len(changes) && changes[n].Version == version; n++ {
				if notice, ok := noticeOf(changes[n]); ok {
					notices = append(notices, notice)
				}
			}
			if !yield(version, notices) {
				return
			}
			changes = changes[n:]
		}
	}
}
