package memory

import (
	"context"
	"maps"

	"github.com/alcove-memory/alcove/host/memory/quota"
	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/memory/recordindex"
	"github.com/alcove-memory/alcove/host/memory/threeway"
	"github.com/alcove-memory/alcove/host/store"
)

// index returns the index writes of a merge.
func (p *mergePlan) index(t triple, outcome outcome) ([]store.Write, error) {
	if !p.indexes.Keeps(t.key.Collection) {
		return nil, nil
	}
	old, err := record.Of(t.target)
	if err != nil {
		return nil, err
	}
	var is *record.Record
	if outcome.value != nil {
		if is, err = record.Of(store.Entry{Key: t.key, Point: store.Point{Version: 1}, Value: outcome.value}); err != nil {
			return nil, err
		}
	}
	return p.indexes.Writes(recordindex.Change{Branch: p.target.branch.ID, Key: t.key, Old: old, New: is, Sure: true}), nil
}

// decideAll decides about sorted keys and updates the sum.
func (p *mergePlan) decideAll(ctx context.Context, keys []store.Key) error {
	err := p.each(ctx, keys, func(t triple) error {
		d, err := p.decide(t)
		p.decisions[t.key] = d
		return err
	})
	if err != nil {
		return err
	}
	if err := p.sum(); err != nil {
		return err
	}
	return p.list(ctx)
}

// decide returns what to do with a key.
func (p *mergePlan) decide(t triple) (*decision, error) {
	if t.states.Agree() {
		return p.agreed(t), nil
	}
	clash := t.states.Clash() != threeway.NoClash
	if clash && !p.access.uses(ownerOf(t.key.Collection)) {
		return &decision{foreign: true}, nil
	}
	o, err := p.outcome(t)
	if err != nil {
		return nil, err
	}
	d := &decision{shown: p.access.shows(t.key.Collection), clash: clash, unresolved: o.unresolved, resolved: o.resolved, own: o.own}
	if o.unresolved {
		return d, nil
	}
	if d.silent = o.keep || !p.merge.Origins && o.state(t) == t.states.Target; d.silent {
		return d, nil
	}
	if owner := ownerOf(t.key.Collection); owner != "" {
		change, err := quota.ChangeOf(owner, p.target.branch.ID, t.target, store.Entry{Key: t.key, Point: store.Point{Version: 1}, Branch: p.target.branch.ID, Value: o.value, Deleted: o.value == nil})
		if err != nil {
			return nil, err
		}
		d.kept = &change
	}
	indexed, err := p.index(t, o)
	if err != nil {
		return nil, err
	}
	d.writes = append([]store.Write{{Branch: p.target.branch.ID, Key: t.key, Value: o.value, Delete: o.value == nil}}, indexed...)
	return d, nil
}

// agreed returns the decision about a key with the same content on both sides. Origins may differ.
func (p *mergePlan) agreed(t triple) *decision {
	if !p.merge.Origins || t.source.Branch != p.source.branch.ID {
		return &decision{silent: true}
	}
	return &decision{writes: []store.Write{{Branch: p.target.branch.ID, Key: t.key, Value: t.source.Value, Delete: t.source.Deleted}}}
}

// sum recomputes the sum of the decisions. Its error is why nothing can be merged.
func (p *mergePlan) sum() error {
	p.mergeSum = mergeSum{brought: map[string]int{}}
	p.result = MergeResult{Source: p.source.branch.Name, Seen: seen(p.source.branch), Target: p.target.branch.Name, Namespaces: p.merge.Namespaces, DryRun: p.write.DryRun}
	resolved := map[store.Key]bool{}
	for _, key := range p.keys {
		d := p.decisions[key]
		if d.resolved {
			resolved[key] = true
		}
		p.add(key, d)
	}
	for _, r := range p.merge.Resolutions {
		if key := r.key(); !resolved[key] {
			return invalid("nothing was merged: the resolution of %q in namespace %q resolves no clash: leave it out, and change that memory with memory_store or memory_forget", clip(r.Key, 64), clip(key.Namespace, 64))
		}
	}
	return p.stopped()
}

func (p *mergePlan) add(key store.Key, d *decision) {
	p.foreign = p.foreign || d.foreign
	p.hidden = p.hidden || d.unresolved && !d.shown
	if d.silent {
		p.silent = append(p.silent, key)
	}
	if d.own != nil {
		p.own = append(p.own, *d.own)
	}
	if d.kept != nil {
		p.kept = append(p.kept, *d.kept)
	}
	p.writes = append(p.writes, d.writes...)
	if len(d.writes) > 0 && !isExchange(key.Collection) {
		memories := 0 // the event says that something was merged, and counts no records
		if ownerOf(key.Collection) == "" {
			memories = 1
		}
		p.brought[key.Namespace] += memories
	}
	switch {
	case !d.shown:
		return
	case d.unresolved:
		p.result.Unresolved++
	case len(d.writes) > 0:
		p.result.Changed++
	}
	if d.clash {
		p.result.Clashing++
	}
}

// planMerge compares the branches, and decides about each key.
func (s *Space) planMerge(ctx context.Context, m Merge, w Write, own *resolutions) (*mergePlan, error) {
	purges := s.purges.Load() // before anything is read
	c, err := own.access.comparison(ctx, m.Source, m.Target, m.Namespaces)
	if err != nil {
		return nil, err
	}
	c.origins = m.Origins
	if err := c.findChanges(ctx, c.source); err != nil {
		return nil, err
	}
	p := &mergePlan{comparison: c, merge: m, write: w, targetAt: c.at, resolutions: own, keys: c.sorted(), decisions: make(map[store.Key]*decision, len(c.keys)),
		indexes: s.indexes.Writer(), purges: purges}
	return p, p.decideAll(ctx, p.keys)
}

// refresh updates the decisions about keys that were written on the target since the plan was made. If branches, merges or indexes changed,
// or something was purged, it makes a new plan. The source stays at the version of the plan.
func (p *mergePlan) refresh(ctx context.Context) error {
	head, err := p.space.engine.Head(ctx)
	if err != nil {
		return p.space.translate("read the newest version", err)
	}
	lineage := p.target.branch.Lineage.At(head.Version)
	written, known, err := p.writtenSince(ctx, head.Version)
	if err != nil {
		return err
	}
	if !known || p.isStale(lineage) {
		again, err := p.space.planMerge(ctx, p.merge, p.write, p.resolutions)
		if again != nil {
			*p = *again
		}
		return err
	}
	p.target.lineage, p.targetAt = lineage, head.Version
	if len(written) == 0 {
		return nil
	}
	return p.decideAll(ctx, written)
}

// writtenSince returns the keys of the plan that were written on the target since; known is false if its change log was trimmed.
func (p *mergePlan) writtenSince(ctx context.Context, at uint64) (written []store.Key, known bool, err error) {
	seen := map[store.Key]bool{}
	for from := p.targetAt; from < at; {
		changes, next, err := p.space.engine.Changes(ctx, p.target.branch.ID, from, at, changesPage)
		if _, trimmed := asTrimmed(err); trimmed {
			return nil, false, nil
		}
		if err != nil {
			return nil, false, p.space.translate("compare branches", err)
		}
		for _, change := range changes {
			if key := change.Key; p.comparison.keys[key] && !seen[key] {
				seen[key] = true
				written = append(written, key)
			}
		}
		if next == 0 {
			break
		}
		from = next
	}
	sortKeys(written)
	return written, true, nil
}

// isStale reports whether another merge, a purge, a deleted branch or a changed index invalidates the whole plan.
func (p *mergePlan) isStale(target store.Lineage) bool {
	if p.space.purges.Load() != p.purges {
		return true
	}
	catalogue := p.space.catalogue
	if now := catalogue.ByID(p.source.branch.ID); now == nil || now.Version != p.source.branch.Version {
		return true // the proposal has new changes
	}
	if !catalogue.IsLive(p.source.branch) || !catalogue.IsLive(p.target.branch) || p.indexes.IsStale() {
		return true
	}
	for namespace, g := range p.shared {
		into := catalogue.Knows(target, namespace)
		delete(into, p.target.branch.ID)
		if !maps.Equal(into, g.into) || !maps.Equal(catalogue.Knows(p.source.lineage, namespace), g.from) {
			return true
		}
	}
	return false
}

// stopped returns the error of clashes that the caller cannot see. They are not counted.
func (p *mergePlan) stopped() error {
	switch {
	case p.result.Unresolved > 0:
		return nil // these stop it, and are listed
	case p.foreign:
		return &Error{Code: Denied, Message: "nothing was merged: both branches changed records of a family that this caller may not use: ask someone with the right to use it to merge, or merge only namespaces without such records"}
	case p.hidden:
		return &Error{Code: Conflict, Message: "nothing was merged: both branches changed records that only their family sees: merge with strategy source, target or newest to decide about them"}
	}
	return nil
}
