package memory

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

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
