package memory

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/alcove-memory/alcove/host/internal/jsontext"
	"github.com/alcove-memory/alcove/host/internal/namespace"
	"github.com/alcove-memory/alcove/host/memory/counters"
	"github.com/alcove-memory/alcove/host/memory/effect"
	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/memory/quota"
	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/memory/recordindex"
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
	// Seen is Diff.Seen or MergeResult.Seen of what the caller was shown of a proposal: it merges that and no more. It is needed where several
	// calls proposed.
	Seen uint64 `json:",omitzero"`
	// Origins brings along where the source's versions come from, and what it knows of other spaces: the source received them for the target.
	Origins bool   `json:",omitzero"`
	Limit   int    `json:"-"` // clashes to list, and changes; 0: Limits.Page. All are counted
	After   string `json:"-"` // Next of a dry run's difference or page: list what follows it. All are counted
}

// MergeResult is the result of a merge, or of its dry run.
type MergeResult struct {
	Source, Target string
	Seen           uint64       // of a proposal that gathers changes: its version, which Merge.Seen takes; 0: another branch
	Namespaces     []string     // covered; nil: all
	DryRun         bool         // nothing was written
	Merged         bool         // it was written
	Unchanged      bool         // there is nothing to merge
	Changed        int          // keys changed on the target that the caller sees
	Applied        []Difference // the first of these
	Clashing       int          // keys changed on both sides that the caller sees
	Clashes        []Difference // the first of these
	Next           string       // continues both lists; empty: they are complete
	Unresolved     int          // clashes without a resolution: they stop the merge
	Unseen         error        // of a dry run: why the merge would be refused, though nothing clashes; nil: it would not
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

// mergeAttempts bounds the tries of a merge whose target is written meanwhile. The last one stops other writers, while it decides again
// about what they wrote, and while it is committed.
const mergeAttempts = 4

// mergeRequest identifies a merge.
func mergeRequest(w Write, m Merge) store.Request { return request(w, "merge", m) }

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

// try merges unless the target is written meanwhile. Quotas are locked first, then Space.writing, then the counters: two merges that
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

// checkSeen returns why the merge is refused, if its caller has not seen all of it; a dry run has it in its result.
func (p *mergePlan) checkSeen(w Write) error {
	unseen := p.merge.unseen(p.source.branch)
	if !w.DryRun {
		return unseen
	}
	p.result.Unseen = unseen
	return nil
}

// ask calls the hooks for what resolutions bring along, unless they were asked about exactly that.
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

// planMerge compares the branches, and decides about each key.
func (s *Space) planMerge(ctx context.Context, m Merge, w Write, own *resolutions) (*mergePlan, error) {
	c, err := own.access.comparison(ctx, m.Source, m.Target, m.Namespaces)
	if err != nil {
		return nil, err
	}
	c.origins = m.Origins
	if err := c.findChanges(ctx, c.source); err != nil {
		return nil, err
	}
	p := &mergePlan{comparison: c, merge: m, write: w, targetAt: c.at, resolutions: own, keys: c.sorted(), decisions: make(map[store.Key]*decision, len(c.keys)),
		indexes: s.indexes.Writer()}
	return p, p.decideAll(ctx, p.keys)
}

// refresh decides again about the keys that were written on the target since the plan was made; about all only if more than writes
// changed. The source stays at the version of the plan.
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

// isStale reports whether another merge, a deleted branch or a changed index makes the plan wrong as a whole.
func (p *mergePlan) isStale(target store.Lineage) bool {
	catalogue := p.space.catalogue
	if now := catalogue.ByID(p.source.branch.ID); now == nil || now.Version != p.source.branch.Version {
		return true // a proposal has more changes
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

// mergePlan is what a merge does with each key, and the sum of that.
type mergePlan struct {
	*comparison
	merge       Merge
	write       Write
	resolutions *resolutions
	targetAt    uint64      // the target's version that was decided about
	keys        []store.Key // sorted
	decisions   map[store.Key]*decision
	indexes     *recordindex.Writer

	mergeSum
}

// mergeSum is what the decisions of a plan amount to.
type mergeSum struct {
	writes  []store.Write
	brought map[string]int // memories written, by namespace; also none, with records
	silent  []store.Key    // keys that stay unchanged on the target
	kept    []quota.Change // in families' records on the target
	own     []ownChange    // changes that resolutions bring along
	result  MergeResult
	foreign bool // records clash of a family that the caller may not use
	hidden  bool // records clash that the strategy leaves, and that the caller does not see
}

// decision is what a merge does with a key.
type decision struct {
	foreign    bool // a clash in records that the caller may not decide about; nothing else is set
	shown      bool // to the caller
	clash      bool
	unresolved bool
	resolved   bool          // by a resolution
	silent     bool          // the target keeps its state
	writes     []store.Write // of the key, and of indexes; empty: the target stays
	kept       *quota.Change
	own        *ownChange  // that a resolution brings along
	difference *Difference // nil: not listed yet
}

// decideAll decides about keys, which are sorted, and sums up.
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

// agreed returns what to do with a key whose content is the same on both sides. Where it comes from may differ.
func (p *mergePlan) agreed(t triple) *decision {
	if !p.merge.Origins || t.source.Branch != p.source.branch.ID {
		return &decision{silent: true}
	}
	return &decision{writes: []store.Write{{Branch: p.target.branch.ID, Key: t.key, Value: t.source.Value, Delete: t.source.Deleted}}}
}

// sum sets the sum of the decisions. Its error says why nothing can be merged.
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

// list adds a page of clashes and changes that the caller sees to the result. Both end at the same key, so that one place continues both.
func (p *mergePlan) list(ctx context.Context) error {
	limit := p.space.page(p.merge.Limit)
	from, err := parseDifferencePlace(p.merge.After)
	if err != nil {
		return err
	}
	var last store.Key
	var clashes, applied, missing []store.Key
	for _, key := range p.keys {
		d := p.decisions[key]
		isClash, isChange := d.shown && d.clash, d.shown && len(d.writes) > 0
		if !isClash && !isChange || from != nil && compareKeys(key, *from) <= 0 {
			continue
		}
		if isClash && len(clashes) == limit || isChange && len(applied) == limit {
			p.result.Next = differencePlace(last)
			break
		}
		last = key
		if isClash {
			clashes = append(clashes, key)
		}
		if isChange {
			applied = append(applied, key)
		}
		if d.difference == nil {
			missing = append(missing, key)
		}
	}
	err = p.each(ctx, missing, func(t triple) error {
		difference, err := t.difference()
		p.decisions[t.key].difference = &difference
		return err
	})
	if err != nil {
		return err
	}
	for _, key := range clashes {
		p.result.Clashes = append(p.result.Clashes, *p.decisions[key].difference)
	}
	for _, key := range applied {
		d := p.decisions[key]
		difference := *d.difference
		if difference.Result, err = written(d.writes[0]); err != nil {
			return err
		}
		p.result.Applied = append(p.result.Applied, difference)
	}
	return nil
}

// written returns the memory that a write stores, without a version; nil: it deletes.
func written(w store.Write) (*Memory, error) {
	if w.Delete {
		return nil, nil
	}
	m, err := decodeMemory(store.Entry{Key: w.Key, Point: store.Point{Version: 1}, Value: w.Value})
	m.Version = 0
	return &m, err
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

// outcome is the result of merging a key: the target's state stays, the clash is unresolved, or the value is written, nil to delete.
type outcome struct {
	keep       bool
	unresolved bool
	value      []byte
	resolved   bool       // by a resolution
	own        *ownChange // that the resolution brings along
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

func fromSource(t triple) outcome {
	if !t.source.Exists() {
		return outcome{}
	}
	return outcome{value: t.source.Value}
}

func (p *mergePlan) outcome(t triple) (outcome, error) {
	clash := t.states.Clash() != threeway.NoClash
	if r, ok := p.resolution(t.key); ok && clash {
		o, err := p.resolve(t, r)
		o.resolved = true
		return o, err
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
	keep.Value, keep.Agent = value, p.write.Agent
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
	r, asked := p.resolutions.of(change)
	if !asked || r == nil {
		return outcome{value: value, own: &change}, nil
	}
	encoded, err := r.Encode()
	return outcome{value: encoded, own: &change}, err
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
	merged.Agent = p.write.Agent
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
	counted, finish, err := p.space.counters.Merge(ctx, p.counts())
	defer finish()
	if err != nil {
		return MergeResult{}, err
	}
	closed, err := p.closes()
	if err != nil {
		return MergeResult{}, err
	}
	expect := append(p.indexes.Expect(), p.source.branch.Alive())
	done, err := p.space.commitLocked(ctx, p.target.branch, store.Batch{
		Writes:   slices.Concat(p.writes, []store.Write{write}, p.resolutions.writes, closed),
		Appends:  appends,
		Counters: counted,
		Expect:   expect,
		Quiet:    []store.Quiet{{Branch: p.target.branch.ID, Since: p.targetAt}},
		Request:  req,
	}, nil, p.write.by)
	if err != nil {
		return MergeResult{}, err
	}
	p.space.usage.Count(done.Version, p.kept)
	if len(closed) > 0 {
		p.space.catalogue.Publish(p.source.branch.ID, p.closed(), done.Point, p.source.branch.Created)
	}
	p.space.catalogue.AddMerge(lineage.Merge{MergeRecord: merge, At: done.Version, Stored: write.Key})
	p.result.Merged, p.result.Version, p.result.Timestamp = true, done.Version, done.Time
	return p.result, nil
}

// closed is the record of a proposal that takes no further changes.
func (p *mergePlan) closed() lineage.Record {
	r := p.source.branch.Record
	r.Gathers = Gatherer{}
	return r
}

// closes returns the write that closes a proposal which gathers changes, so that the next call begins a new one.
func (p *mergePlan) closes() ([]store.Write, error) {
	if p.source.branch.Gathers == (Gatherer{}) {
		return nil, nil
	}
	w, err := p.closed().Write(p.source.branch.ID)
	return []store.Write{w}, err
}

// isEmpty reports whether the target knows all that the source has.
func (p *mergePlan) isEmpty(ctx context.Context) (bool, error) {
	if len(p.writes)+len(p.silent) > 0 {
		return false, nil
	}
	brings, err := p.space.counters.Brings(ctx, p.counts())
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
	if p.merge.Origins { // its versions tell where they come from, and the event would be news to the other space
		return nil, nil
	}
	var appends []store.Append
	for _, namespace := range slices.Sorted(maps.Keys(p.brought)) {
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
		appends = append(appends, record.Event{Event: mergeEvent, Data: data, Agent: p.write.Agent}.Append(p.target.branch.Lineage, namespace))
	}
	return appends, nil
}

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

// counts is the merge as its counters see it.
func (p *mergePlan) counts() counters.Merge {
	return counters.Merge{Source: p.source.branch, Target: p.target.branch, TargetAt: p.targetAt, Shared: p.sharedByAll,
		Covers: func(name string) bool { return namespace.Selects(p.namespaces, name) },
		Base: func(ctx context.Context, namespace string) (store.Lineage, error) {
			if err := p.learn(ctx, namespace); err != nil {
				return nil, err
			}
			if bases := p.ground(namespace).bases; len(bases) > 0 {
				return bases[0], nil
			}
			return nil, nil
		}}
}
