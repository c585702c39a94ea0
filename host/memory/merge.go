package memory

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/alcove-memory/alcove/host/jsontext"
	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/memory/threeway"
	"github.com/alcove-memory/alcove/host/store"
)

// Strategy is how a merge resolves clashes.
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

// Merge selects a merge.
type Merge struct {
	Source      string
	Target      string
	Strategy    Strategy // empty: Strict
	Resolutions []Resolution
	Namespaces  []string // nil: all
}

// MergeResult is the result of a merge, or of its dry run.
type MergeResult struct {
	Source, Target string
	Namespaces     []string     // covered; nil: all
	DryRun         bool         // nothing was written
	Merged         bool         // it was written
	Unchanged      bool         // there is nothing to merge
	Applied        []Difference // changes of the target that the caller sees
	Clashes        []Difference // changed on both sides, and seen by the caller
	Unresolved     int          // clashes without a resolution: they stop the merge
	Version        uint64       // of the merge; 0: nothing was written
	Timestamp      time.Time
}

// mergeEvent is the event that a merge adds to the target's log.
const mergeEvent = "merge"

// Merge applies one branch's changes to another, in one commit or, with unresolved clashes, not at all.
// It brings records that the caller does not see, too, unless they clash: see mergePlan.stopped.
// Afterwards the source's state counts as known to the target: later merges apply only newer changes.
func (a *Access) Merge(ctx context.Context, m Merge, w Write) (MergeResult, error) {
	s, w := a.space, a.sign(w)
	if err := a.checkMerge(&m, w); err != nil {
		return MergeResult{}, err
	}
	req := mergeRequest(w, m)
	if done, again, err := s.replayed(ctx, req); again || err != nil {
		return MergeResult{Source: m.Source, Target: m.Target, Namespaces: m.Namespaces, Merged: true, Version: done.Version, Timestamp: done.Time}, err
	}
	effects := a.hookEffects(ctx, w)
	ctx = WithEffects(ctx, effects)
	own := &resolutions{access: a}
	for attempt := 1; ; attempt++ {
		last := attempt == mergeAttempts
		result, err := s.tryMerge(ctx, m, w, req, own, last)
		if !errors.Is(err, store.ErrConflict) || last {
			return result, effects.Failed(ctx, s.translate("merge", err))
		}
	}
}

// mergeAttempts bounds the tries of a merge whose target is written meanwhile. The last one stops other writers.
const mergeAttempts = 4

// mergeRequest identifies a merge. Its digest includes a field that Merge had before, so that a merge repeated after an upgrade is
// recognised.
func mergeRequest(w Write, m Merge) store.Request {
	return request(w, "merge", struct {
		Merge
		Preview bool
	}{Merge: m})
}

// checkMerge completes a merge, and limits it to namespaces that the caller may write.
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
	if err == nil && m.Namespaces == nil && !all { // which scopes are closed to the caller is not said
		w.note("The merge covers only the namespaces that this caller may write: %s.", strings.Join(ceiling, ", "))
	}
	m.Namespaces = namespaces
	return err
}

// tryMerge merges unless the target is written meanwhile. Quotas are locked first, then Space.writing, then the counters: two merges
// that lock them in different orders would deadlock.
func (s *Space) tryMerge(ctx context.Context, m Merge, w Write, req store.Request, own *resolutions, last bool) (MergeResult, error) {
	plan, err := s.planMerge(ctx, m, w, own)
	if err != nil || plan.result.Unresolved > 0 {
		return plan.result, err
	}
	if !own.covers(plan.own) {
		if err := own.ask(ctx, plan, w); err != nil {
			return MergeResult{}, err
		}
		if plan, err = s.replanMerge(ctx, m, w, own); err != nil || plan.result.Unresolved > 0 {
			return plan.result, err
		}
	}
	release, err := own.spend(ctx, w)
	if err != nil {
		return MergeResult{}, err
	}
	defer release()
	if plan.result.Unchanged, err = plan.isEmpty(ctx); w.DryRun || plan.result.Unchanged || err != nil {
		return plan.result, err
	}
	if !last {
		s.writing.RLock()
		defer s.writing.RUnlock()
		return plan.commit(ctx, req)
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	if plan, err = s.replanMerge(ctx, m, w, own); err != nil || plan.result.Unresolved > 0 {
		return plan.result, err
	}
	return plan.commit(ctx, req)
}

// replanMerge is planMerge after the hooks, with a conflict if what they were asked about is no longer what the merge brings.
func (s *Space) replanMerge(ctx context.Context, m Merge, w Write, own *resolutions) (*mergePlan, error) {
	plan, err := s.planMerge(ctx, m, w, own)
	if err == nil && plan.result.Unresolved == 0 && !own.covers(plan.own) {
		err = store.ErrConflict
	}
	return plan, err
}

// planMerge compares the branches, and decides about each key. It never returns nil.
func (s *Space) planMerge(ctx context.Context, m Merge, w Write, own *resolutions) (*mergePlan, error) {
	c, err := own.access.comparison(ctx, m.Source, m.Target, m.Namespaces)
	if err != nil {
		return &mergePlan{}, err
	}
	if err := c.findChanges(ctx, c.source); err != nil {
		return &mergePlan{}, err
	}
	plan := &mergePlan{comparison: c, merge: m, agent: w.Agent, by: w.by, brought: map[string]int{}, resolutions: own, resolved: map[store.Key]bool{}}
	plan.result = MergeResult{Source: c.source.branch.Name, Target: c.target.branch.Name, Namespaces: m.Namespaces, DryRun: w.DryRun}
	if err := c.each(ctx, plan.decide); err != nil {
		return &mergePlan{}, err
	}
	for _, r := range m.Resolutions {
		if key := r.key(); !plan.resolved[key] {
			return &mergePlan{}, invalid("nothing was merged: the resolution of %q in namespace %q resolves no clash: leave it out, and change that memory with memory_store or memory_forget", clip(r.Key, 64), clip(key.Namespace, 64))
		}
	}
	return plan, plan.stopped()
}

// stopped returns why clashes that the caller does not see stop the merge. They are not counted.
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

// mergePlan collects a merge's writes.
type mergePlan struct {
	*comparison
	merge   Merge
	agent   string
	by      Caller
	writes  []store.Write
	brought map[string]int       // memories written, by namespace; also none, with records
	silent  []store.Key          // keys that stay unchanged on the target
	kept    []useChange          // in families' records on the target
	sets    map[string]*indexSet // of written indexes, by collection
	result  MergeResult
	foreign bool // records clash of a family that the caller may not use
	hidden  bool // records clash that the strategy leaves, and that the caller does not see

	resolutions *resolutions
	own         []ownChange        // changes that resolutions bring along
	resolved    map[store.Key]bool // clashes with a resolution
}

// decide adds the outcome of a key to the plan.
func (p *mergePlan) decide(t triple) error {
	if t.states.Agree() {
		p.silent = append(p.silent, t.key)
		return nil
	}
	clash, shown := t.states.Clash(), p.access.shows(t.key.Collection)
	if clash != threeway.NoClash && !p.access.uses(ownerOf(t.key.Collection)) {
		p.foreign = true
		return nil
	}
	outcome, err := p.outcome(t)
	if err != nil {
		return err
	}
	if outcome.keep || !outcome.unresolved && outcome.state(t) == t.states.Target {
		p.silent = append(p.silent, t.key)
	}
	if clash == threeway.NoClash && outcome.keep {
		return nil
	}
	changes := !outcome.unresolved && !outcome.keep && outcome.state(t) != t.states.Target
	if shown {
		if err := p.list(t, outcome, changes); err != nil {
			return err
		}
	} else if outcome.unresolved {
		p.hidden = true
	}
	if !changes {
		return nil
	}
	return p.bring(t, outcome)
}

// list adds a key to the result.
func (p *mergePlan) list(t triple, o outcome, changes bool) error {
	difference, err := t.difference()
	if err != nil {
		return err
	}
	if difference.Clash != threeway.NoClash {
		p.result.Clashes = append(p.result.Clashes, difference)
	}
	if o.unresolved {
		p.result.Unresolved++
	}
	if !changes {
		return nil
	}
	if difference.Result, err = o.memory(t.key); err != nil {
		return err
	}
	p.result.Applied = append(p.result.Applied, difference)
	return nil
}

// bring adds the write of an outcome.
func (p *mergePlan) bring(t triple, outcome outcome) error {
	owner := ownerOf(t.key.Collection)
	if brought := p.brought[t.key.Namespace]; owner == "" {
		p.brought[t.key.Namespace] = brought + 1
	} else {
		p.brought[t.key.Namespace] = brought // the event says that something was merged
	}
	if owner != "" {
		change, err := useChangeOf(owner, p.target.branch.ID, t.target, store.Entry{Key: t.key, Point: store.Point{Version: 1}, Branch: p.target.branch.ID, Value: outcome.value, Deleted: outcome.value == nil})
		if err != nil {
			return err
		}
		p.kept = append(p.kept, change)
	}
	p.writes = append(p.writes, store.Write{Branch: p.target.branch.ID, Key: t.key, Value: outcome.value, Delete: outcome.value == nil})
	return p.index(t, outcome)
}

// outcome is the result of merging a key: the target's state stays, the clash is unresolved, or the value is written, nil to delete.
type outcome struct {
	keep       bool
	unresolved bool
	value      []byte
}

func (o outcome) state(t triple) string {
	if o.value == nil {
		return ""
	}
	state, err := stateOf(store.Entry{Key: t.key, Point: store.Point{Version: 1}, Value: o.value})
	if err != nil {
		return "?" // differs from every state, so the value is written
	}
	return state
}

// memory returns what is written, without a version; nil for a deletion.
func (o outcome) memory(key store.Key) (*Memory, error) {
	if o.value == nil {
		return nil, nil
	}
	m, err := decodeMemory(store.Entry{Key: key, Point: store.Point{Version: 1}, Value: o.value})
	m.Version = 0
	return &m, err
}

func fromSource(t triple) outcome {
	if !t.source.Exists() {
		return outcome{}
	}
	return outcome{value: t.source.Value}
}

func (p *mergePlan) outcome(t triple) (outcome, error) {
	clash := t.states.Clash() != threeway.NoClash
	if r, ok := p.resolution(t.key); ok && clash {
		p.resolved[t.key] = true
		return p.resolve(t, r)
	}
	switch {
	case clash:
		return p.decideClash(t)
	case t.states.SourceChanged():
		return fromSource(t), nil
	}
	return outcome{keep: true}, nil
}

func (p *mergePlan) resolution(key store.Key) (Resolution, bool) {
	for _, r := range p.merge.Resolutions {
		if r.key() == key {
			return r, true
		}
	}
	return Resolution{}, false
}

func (p *mergePlan) resolve(t triple, r Resolution) (outcome, error) {
	switch r.Take {
	case "source":
		return fromSource(t), nil
	case "target":
		return outcome{keep: true}, nil
	case "delete":
		return p.resolveTo(t, nil)
	}
	var keep record.Record // all but the value comes from the source, or else the target
	for _, e := range []store.Entry{t.target, t.source} {
		if e.Exists() {
			var err error
			if keep, err = record.Decode(e); err != nil {
				return outcome{}, err
			}
		}
	}
	value, err := jsontext.Compact(r.Value)
	if err != nil {
		return outcome{}, err
	}
	if !bytes.Equal(keep.Value, value) {
		keep.Vector, keep.VectorOf = nil, "" // it embeds the former value
	}
	keep.Value, keep.Agent = value, p.agent
	encoded, err := keep.Encode()
	if err != nil {
		return outcome{}, err
	}
	return p.resolveTo(t, encoded)
}

// resolveTo is the outcome of a resolution that brings its own value, or a deletion: once hooks were asked, what they made of it.
func (p *mergePlan) resolveTo(t triple, value []byte) (outcome, error) {
	if value == nil && !t.target.Exists() {
		return outcome{}, nil
	}
	change := ownChange{key: t.key, over: t.target.Version, record: string(value)}
	p.own = append(p.own, change)
	r, asked := p.resolutions.of(change)
	if !asked || r == nil {
		return outcome{value: value}, nil
	}
	encoded, err := r.Encode()
	return outcome{value: encoded}, err
}

func (p *mergePlan) decideClash(t triple) (outcome, error) {
	switch p.merge.Strategy {
	case Source:
		return fromSource(t), nil
	case Target:
		return outcome{keep: true}, nil
	case Newest:
		if t.source.Version > t.target.Version {
			return fromSource(t), nil
		}
		return outcome{keep: true}, nil
	case Fields:
		return p.mergeFields(t)
	}
	return outcome{unresolved: true}, nil
}

func (p *mergePlan) mergeFields(t triple) (outcome, error) {
	if t.key.Collection != memories || !t.source.Exists() || !t.target.Exists() {
		return outcome{unresolved: true}, nil
	}
	var base record.Record
	var err error
	if t.base().Exists() {
		if base, err = record.Decode(t.base()); err != nil {
			return outcome{}, err
		}
	}
	source, err := record.Decode(t.source)
	if err != nil {
		return outcome{}, err
	}
	target, err := record.Decode(t.target)
	if err != nil {
		return outcome{}, err
	}
	merged, ok := record.Merge(base, source, target)
	if !ok {
		return outcome{unresolved: true}, nil
	}
	merged.Agent = p.agent
	merged.Succeed(&target, t.target)
	value, err := merged.Encode()
	return outcome{value: value}, err
}

// commit writes the plan: the keys, a record of the merge for later merges, an event in the log of each
// changed namespace, and the source's counters. The caller holds Space.writing.
func (p *mergePlan) commit(ctx context.Context, req store.Request) (MergeResult, error) {
	merge := lineage.MergeRecord{Source: p.source.branch.ID, SourceAt: p.at, Target: p.target.branch.ID, Namespaces: p.namespaces, Silent: p.silent, Name: p.source.branch.Name}
	write, err := merge.Write()
	if err != nil {
		return MergeResult{}, err
	}
	appends, err := p.events(ctx)
	if err != nil {
		return MergeResult{}, err
	}
	counted, finish, err := p.space.counters.merge(ctx, p)
	defer finish()
	if err != nil {
		return MergeResult{}, err
	}
	expect := []store.Expectation{p.source.branch.Alive()}
	for collection, set := range p.sets {
		if set != nil {
			expect = append(expect, set.expectation(collection))
		}
	}
	done, err := p.space.commitLocked(ctx, p.target.branch, store.Batch{
		Writes:   slices.Concat(p.writes, []store.Write{write}, p.resolutions.writes),
		Appends:  appends,
		Counters: counted,
		Expect:   expect,
		Quiet:    []store.Quiet{{Branch: p.target.branch.ID, Since: p.at}},
		Request:  req,
	}, nil, p.by)
	if err != nil {
		return MergeResult{}, err
	}
	p.space.usage.count(done.Version, p.kept)
	p.space.catalogue.AddMerge(lineage.Merge{MergeRecord: merge, At: done.Version, Stored: write.Key})
	p.result.Merged, p.result.Version, p.result.Timestamp = true, done.Version, done.Time
	return p.result, nil
}

// isEmpty reports whether the target knows all that the source has.
func (p *mergePlan) isEmpty(ctx context.Context) (bool, error) {
	if len(p.writes)+len(p.silent) > 0 {
		return false, nil
	}
	brings, err := p.space.counters.brings(ctx, p)
	return !brings, p.space.translate("compare counters", err)
}

// brief is the data of a merge's event.
type brief struct {
	Source        string `json:"source"`
	SourceVersion uint64 `json:"source_version"`
	Keys          int    `json:"keys"`                          // of memories: others than the caller read the log
	LogSequence   uint64 `json:"source_log_sequence,omitempty"` // the source's last event,
	LogHash       string `json:"source_log_hash,omitempty"`     // and the hash of its chain
}

func (p *mergePlan) events(ctx context.Context) ([]store.Append, error) {
	namespaces := make([]string, 0, len(p.brought))
	for namespace := range p.brought {
		namespaces = append(namespaces, namespace)
	}
	slices.Sort(namespaces)
	var appends []store.Append
	for _, namespace := range namespaces {
		b := brief{Source: p.source.branch.Name, SourceVersion: p.at, Keys: p.brought[namespace]}
		last, err := p.space.lastEvent(ctx, p.source.lineage, namespace)
		if err != nil {
			return nil, err
		}
		if last.Hash != "" {
			b.LogSequence, b.LogHash = last.Sequence, last.Hash
		}
		data, err := json.Marshal(b)
		if err != nil {
			return nil, err
		}
		appends = append(appends, record.Event{Event: mergeEvent, Data: data, Agent: p.agent}.Append(p.target.branch.Lineage, namespace))
	}
	return appends, nil
}
