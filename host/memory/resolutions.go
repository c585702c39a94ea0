package memory

import (
	"context"
	"slices"

	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/store"
)

// resolutions is the values and deletions of a merge's resolutions, which are on neither branch. Hooks and quotas treat them like a store or
// a deletion by the caller.
type resolutions struct {
	access  *Access
	asked   []ownChange // the changes that hooks were asked about
	decided *Stage      // the decisions of the hooks; it is never committed
	writes  []store.Write
}

// ownChange is the change of a key by a resolution.
type ownChange struct {
	key    store.Key
	over   uint64 // the target's version that it replaces
	record string // encoded, before hooks; empty: a deletion
}

// of returns a change as the hooks decided; ok is false if they were not asked about it.
func (r *resolutions) of(c ownChange) (decided *record.Record, ok bool) {
	if !slices.Contains(r.asked, c) {
		return nil, false
	}
	return r.decided.changed[site{Key: c.key}], true
}

// covers reports whether hooks were asked about exactly these changes.
func (r *resolutions) covers(changes []ownChange) bool { return slices.Equal(r.asked, changes) }

// ask calls the hooks for a plan's changes, without locks held. A merge cannot wait for an approval: what hooks propose is refused.
func (r *resolutions) ask(ctx context.Context, p *mergePlan, w Write) error {
	t := r.access.begin(p.target.branch, fromMerge)
	t.expiry = WithExpired // which a resolution deletes like others
	t.changed = map[site]*record.Record{}
	for _, c := range p.own {
		at := site{Key: c.key}
		t.order = append(t.order, at)
		if t.changed[at] = nil; c.record == "" {
			continue
		}
		own, err := record.Decode(store.Entry{Key: c.key, Point: store.Point{Version: 1}, Value: []byte(c.record)})
		if err != nil {
			return err
		}
		if err := r.access.space.limits.checkItem(itemOf(c.key.Name, own)); err != nil {
			return err
		}
		t.changed[at] = &own
	}
	if _, err := t.askHooks(ctx, w); err != nil {
		return err
	}
	r.asked, r.decided = p.own, t
	return nil
}

// spend charges the changes to the caller's quotas. release is called after the commit.
func (r *resolutions) spend(ctx context.Context, w Write) (release func(), err error) {
	if r.writes = nil; r.decided == nil {
		return func() {}, nil
	}
	c := Commit{Write: w}
	release, err = r.decided.spend(ctx, c)
	if err != nil || w.DryRun || len(r.decided.spent) == 0 {
		return release, err
	}
	system, err := r.access.space.systemBranch(ctx)
	if err != nil {
		release()
		return nil, err
	}
	for _, write := range r.decided.spent {
		write.Branch = system.ID
		r.writes = append(r.writes, write)
	}
	return release, nil
}
