package memory

import (
	"context"
	"fmt"
	"slices"

	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/store"
)

// settlement is what a merge's resolutions bring along: values and deletions that are on neither branch. Hooks and quotas treat them
// like a store or a deletion by the caller.
type settlement struct {
	access  *Access
	asked   []ownChange // that hooks were asked about
	decided *Stage      // with what hooks made of these; it commits nothing itself
	writes  []store.Write
}

// ownChange is one key's change by a resolution.
type ownChange struct {
	key    store.Key
	over   uint64 // the target's version that it replaces
	record string // encoded, before hooks; empty: a deletion
}

// of returns what hooks made of a change; ok is false if they were not asked about it.
func (s *settlement) of(c ownChange) (r *record.Record, ok bool) {
	if !slices.Contains(s.asked, c) {
		return nil, false
	}
	return s.decided.changed[site{Key: c.key}], true
}

// covers reports whether hooks were asked about exactly these changes.
func (s *settlement) covers(changes []ownChange) bool { return slices.Equal(s.asked, changes) }

// ask calls the hooks for a plan's changes, without locks held. A merge cannot wait for an approval: what hooks propose is refused.
func (s *settlement) ask(ctx context.Context, p *mergePlan, w Write) error {
	t := s.access.blind(p.target.branch)
	t.agent = w.Agent
	t.changed = map[site]*record.Record{}
	for _, c := range p.own {
		at := site{Key: c.key}
		t.order = append(t.order, at)
		if t.changed[at] = nil; c.record == "" {
			continue
		}
		r, err := record.Decode(store.Entry{Key: c.key, Point: store.Point{Version: 1}, Value: []byte(c.record)})
		if err != nil {
			return err
		}
		if err := s.access.space.limits.checkItem(itemOf(c.key.Name, r)); err != nil {
			return err
		}
		t.changed[at] = &r
	}
	groups, err := t.toAsk(ctx)
	if err != nil {
		return err
	}
	for _, g := range groups {
		if err := t.settle(ctx, g, w); err != nil {
			return err
		}
	}
	s.asked, s.decided = p.own, t
	return nil
}

// settle calls the hooks for a group of a merge's own changes, and stages what they made of it.
func (t *Stage) settle(ctx context.Context, g asked, w Write) error {
	items, err := t.items(ctx, g.sites)
	if err != nil {
		return err
	}
	what := t.about(g, items)
	what.Staged, what.Resolved = false, true // the caller brings it, as with a store
	d, err := t.space.askStoreHooks(ctx, what, w)
	if err != nil {
		return err
	}
	if d.Proposal != "" {
		return &Error{Code: Denied, Message: fmt.Sprintf("nothing was merged: the resolution of %q brings a change that must be approved first, and a merge cannot wait: take source or target, or make the change with memory_store or memory_forget",
			clip(g.sites[0].Name, 64))}
	}
	if g.change == ChangeDelete {
		return nil
	}
	return t.decided(ctx, g, items, d.Items)
}

// spend charges the changes to the caller's quotas. release is called after the commit.
func (s *settlement) spend(ctx context.Context, w Write) (release func(), err error) {
	if s.writes = nil; s.decided == nil {
		return func() {}, nil
	}
	c := Commit{Write: w}
	release, err = s.decided.spend(ctx, c)
	if err != nil || w.DryRun || len(s.decided.spent) == 0 {
		return release, err
	}
	system, err := s.access.space.systemBranch(ctx)
	if err != nil {
		release()
		return nil, err
	}
	for _, write := range s.decided.spent {
		write.Branch = system.ID
		s.writes = append(s.writes, write)
	}
	return release, nil
}
