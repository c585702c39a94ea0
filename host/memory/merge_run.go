package memory

import (
	"context"
	"errors"

	"github.com/alcove-memory/alcove/host/memory/effect"
	"github.com/alcove-memory/alcove/host/store"
)

// Merge applies the changes of one branch to another in one commit. With unresolved clashes it changes nothing.
// It includes records that the caller cannot see, unless they clash: see mergePlan.stopped.
// Later merges apply only newer changes.
func (a *Access) Merge(ctx context.Context, m Merge, w Write) (MergeResult, error) {
	s, w := a.space, a.sign(w)
	if err := a.checkMerge(&m, w); err != nil {
		return MergeResult{}, err
	}
	req := mergeRequest(w, m)
	done, again, end, err := s.once(ctx, req)
	defer end()
	if again || err != nil {
		return MergeResult{Source: m.Source, Target: m.Target, Namespaces: m.Namespaces, Merged: true, Version: done.Version, Timestamp: done.Time}, err
	}
	if err := s.unmoved(ctx, m.Source); err != nil {
		return MergeResult{}, err
	}
	effects := a.hookEffects(ctx, w)
	ctx = effect.With(ctx, effects)
	plan, err := s.planMerge(ctx, m, w, &resolutions{access: a})
	if err != nil {
		return MergeResult{}, effects.Failed(ctx, s.translate("merge", err))
	}
	for attempt := 1; ; attempt++ {
		last := attempt == mergeAttempts
		result, err := plan.try(ctx, w, req, last)
		if !errors.Is(err, store.ErrConflict) || last {
			return result, effects.Failed(ctx, s.translate("merge", err))
		}
	}
}

// mergeAttempts bounds the attempts of a merge whose target is written meanwhile. The last attempt blocks other writers.
const mergeAttempts = 4

// mergeRequest identifies a merge.
func mergeRequest(w Write, m Merge) store.Request { return request(w, "merge", m) }

// try makes one attempt. It returns store.ErrConflict if the target was written meanwhile. Quotas are locked first, then Space.writing, then the counters: two merges that
// lock them in different orders would deadlock.
func (p *mergePlan) try(ctx context.Context, w Write, req store.Request, last bool) (MergeResult, error) {
	s := p.space
	err := p.refresh(ctx)
	if err == nil {
		err = p.checkSeen(w)
	}
	if err == nil && p.result.Unresolved == 0 {
		err = p.ask(ctx, w)
	}
	if err != nil || p.result.Unresolved > 0 {
		return p.result, err
	}
	release, err := p.resolutions.spend(ctx, w)
	if err != nil {
		return MergeResult{}, err
	}
	defer release()
	if p.result.Unchanged, err = p.isEmpty(ctx); w.DryRun || p.result.Unchanged || err != nil {
		return p.result, err
	}
	if p.source.branch.Gathers != (Gatherer{}) { // the merge closes it
		s.branching.Lock()
		defer s.branching.Unlock()
	}
	if !last {
		s.writing.RLock()
		defer s.writing.RUnlock()
		if s.purges.Load() != p.purges { // what was read may be purged: the merge would bring it back
			return MergeResult{}, store.ErrConflict
		}
		return p.commit(ctx, req)
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	if err := p.refresh(ctx); err != nil || p.result.Unresolved > 0 {
		return p.result, err
	}
	if err := p.merge.unseen(p.source.branch); err != nil {
		return MergeResult{}, err
	}
	if !p.resolutions.covers(p.own) {
		return MergeResult{}, store.ErrConflict
	}
	return p.commit(ctx, req)
}

// checkSeen returns an error if the caller has not seen all changes of the source. A dry run reports it in the result.
func (p *mergePlan) checkSeen(w Write) error {
	unseen := p.merge.unseen(p.source.branch)
	if !w.DryRun {
		return unseen
	}
	p.result.Unseen = unseen
	return nil
}

// ask calls the hooks for the values of resolutions, unless they have decided about exactly these.
func (p *mergePlan) ask(ctx context.Context, w Write) error {
	if p.resolutions.covers(p.own) {
		return nil
	}
	if err := p.resolutions.ask(ctx, p, w); err != nil {
		return err
	}
	keys := make([]store.Key, len(p.own))
	for i, c := range p.own {
		keys[i] = c.key
	}
	return p.decideAll(ctx, keys)
}
