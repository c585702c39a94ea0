package memory

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/alcove-memory/alcove/host/memory/effect"
	"github.com/alcove-memory/alcove/host/store"
)

// Strategy resolves the clashes of a merge.
type Strategy string

// The strategies of a merge.
const (
	Strict Strategy = "strict" // a clash stops the merge
	Source Strategy = "source" // the source's side
	Target Strategy = "target" // the target's side
	Newest Strategy = "newest" // the side written last
	Fields Strategy = "fields" // by field of a JSON object; a field changed on both sides stops the merge
)

// Resolution resolves one clash, before any strategy.
type Resolution struct {
	Namespace string // empty: Default
	Key       string
	Take      string          // "source", "target", "delete", or "value"
	Value     json.RawMessage // with "value": the memory's new value
}

func (r Resolution) key() store.Key { return memoryKey(cmp.Or(r.Namespace, Default), r.Key) }

// Merge configures a merge.
type Merge struct {
	Source      string
	Target      string
	Strategy    Strategy // empty: Strict
	Resolutions []Resolution
	Namespaces  []string // nil: all
	// Seen is the version of a proposal that the caller saw, from Diff.Seen or MergeResult.Seen. The merge takes no later changes. It is
	// required for proposals of several calls.
	Seen uint64 `json:",omitzero"`
	// Origins also merges the origins of the source's versions and its knowledge of other spaces: the source received them for the target.
	Origins bool   `json:",omitzero"`
	Limit   int    `json:"-"` // clashes to list, and changes; 0: Limits.Page. All are counted
	After   string `json:"-"` // Next of a dry run's difference or page: list what follows it. All are counted
}

// MergeResult is the result of a merge, or of its dry run.
type MergeResult struct {
	Source, Target string
	Seen           uint64       // the version of a gathering proposal, for Merge.Seen; 0: the source is no such proposal
	Namespaces     []string     // merged namespaces; nil: all
	DryRun         bool         // nothing was written
	Merged         bool         // it was written
	Unchanged      bool         // there is nothing to merge
	Changed        int          // keys changed on the target that the caller sees
	Applied        []Difference // the first of these
	Clashing       int          // keys changed on both sides that the caller sees
	Clashes        []Difference // the first of these
	Next           string       // continues both lists; empty: they are complete
	Unresolved     int          // clashes without a resolution: they stop the merge
	Unseen         error        // of a dry run: why the merge would be refused without a clash; nil: it would not
	Version        uint64       // of the merge; 0: nothing was written
	Timestamp      time.Time
}

// mergeEvent is the event that a merge adds to the target's log.
const mergeEvent = "merge"

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

// checkMerge sets the defaults of a merge, validates it, and limits it to namespaces that the caller may write.
func (a *Access) checkMerge(m *Merge, w Write) error {
	s := a.space
	m.Source, m.Target, m.Strategy = cmp.Or(m.Source, Default), cmp.Or(m.Target, Default), cmp.Or(m.Strategy, Strict)
	if !slices.Contains([]Strategy{Strict, Source, Target, Newest, Fields}, m.Strategy) {
		return invalid("strategy %q is not one of strict, source, target, newest, fields", m.Strategy)
	}
	if len(m.Resolutions) > s.limits.Batch {
		return invalid("%d resolutions: at most %d are allowed", len(m.Resolutions), s.limits.Batch)
	}
	for _, r := range m.Resolutions {
		if !slices.Contains([]string{"source", "target", "delete", "value"}, r.Take) {
			return invalid("the resolution of %q takes %q: it must be source, target, delete or value", clip(r.Key, 64), clip(r.Take, 64))
		}
		if r.Take != "value" {
			continue
		}
		if err := s.limits.checkJSON("the resolution's value", r.Value, s.limits.Value); err != nil {
			return err
		}
	}
	if err := a.confine(m, w); err != nil || w.DryRun {
		return err
	}
	if err := a.guardBranch(m.Source, asSource); err != nil {
		return err
	}
	if err := a.guardBranch(m.Target, asTarget); err != nil {
		return err
	}
	return a.hasRight(ToBranch, "merge branches")
}

// confine limits a merge to namespaces that the caller may write, and adds a note if the caller named none. A read-only
// caller may make a dry run, over the readable ones.
func (a *Access) confine(m *Merge, w Write) error {
	for _, r := range m.Resolutions {
		if namespace := r.key().Namespace; !a.caller.Rights.MayWrite(namespace) {
			return denied("write", namespace)
		}
	}
	if a.caller.Rights.WritesNothing() && w.DryRun {
		namespaces, err := a.readable(m.Namespaces)
		m.Namespaces = namespaces
		return err
	}
	namespaces, err := a.writable(m.Namespaces)
	ceiling, all := a.caller.Rights.Ceiling().Writable()
	if err == nil && m.Namespaces == nil && !all { // do not reveal scopes that the caller may not use
		w.note("The merge covers only the namespaces that this caller may write: %s.", strings.Join(ceiling, ", "))
	}
	m.Namespaces = namespaces
	return err
}

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
