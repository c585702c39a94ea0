package memory

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/store"
)

// Deletion selects a branch to delete.
type Deletion struct {
	Branch string
	Force  bool // also if it has changes that are nowhere else
}

// Delete deletes a branch. Its name is free at once; branches forked from it keep what they inherited.
func (a *Access) Delete(ctx context.Context, d Deletion, w Write) error {
	s, w, name := a.space, a.sign(w), d.Branch
	if err := a.mayBranch(); err != nil {
		return err
	}
	if name == Default {
		return &Error{Code: Denied, Message: `the branch "default" cannot be deleted: forget what is in it instead`}
	}
	req := request(w, "delete", name)
	if _, done, err := s.replayed(ctx, req); done || err != nil {
		return err
	}
	if err := a.guardBranch(name, asSource); err != nil {
		return err
	}
	s.branching.Lock()
	defer s.branching.Unlock()
	b, err := s.branch(name)
	if err != nil {
		return err
	}
	quiet, err := a.mayDelete(ctx, b, d.Force)
	if err != nil || w.DryRun {
		return err
	}
	r := b.Record
	r.Deleted = true
	write, err := r.Write(b.ID)
	if err != nil {
		return err
	}
	batch, err := s.signed(store.Batch{
		Writes:  []store.Write{write},
		Expect:  []store.Expectation{b.Alive()},
		Quiet:   quiet,
		Request: req,
	}, b.ID, b.Name, w.by)
	if err != nil {
		return err
	}
	done, err := s.engine.Commit(ctx, batch)
	if err != nil {
		return s.translate("delete branch "+name, err)
	}
	s.catalogue.Publish(b.ID, r, done.Point, b.Created)
	s.counters.drop(b.ID)
	s.queueReclaim()
	return nil
}

// mayDelete returns an error unless the caller may write every namespace of a branch, because deleting it deletes its own data, and, without
// force, if the branch has changes that would be lost. The result is valid while the branch is quiet.
func (a *Access) mayDelete(ctx context.Context, b *lineage.Branch, force bool) ([]store.Quiet, error) {
	if force && a.caller.Rights.writesAll() {
		return nil, nil
	}
	head, err := a.space.engine.Head(ctx)
	if err != nil {
		return nil, a.space.translate("read the newest version", err)
	}
	if err := a.mayWriteAllOf(ctx, b); err != nil {
		return nil, err
	}
	if !force {
		err = a.mergedAlready(ctx, b)
	}
	return []store.Quiet{{Branch: b.ID, Since: head.Version}}, err
}

func (a *Access) mayWriteAllOf(ctx context.Context, b *lineage.Branch) error {
	if a.caller.Rights.writesAll() {
		return nil
	}
	for page, err := range store.Pages(ctx, a.space.engine.Versions, b.Lineage, store.Range{}, fillPage) {
		if err != nil {
			return a.space.translate("look through branch "+b.Name, err)
		}
		if slices.ContainsFunc(page, func(e store.Entry) bool { return !a.caller.Rights.MayWrite(e.Namespace) }) {
			return &Error{Code: Denied, Message: fmt.Sprintf("branch %q may be deleted only by a caller that may write every namespace in it", b.Name)}
		}
	}
	return nil
}

// mergedAlready returns an error if a branch has changes that would be lost with it.
func (a *Access) mergedAlready(ctx context.Context, b *lineage.Branch) error {
	s := a.space
	heirs := s.heirs(b)
	changes, hidden, err := a.unmerged(ctx, b, heirs)
	var e *Error
	if errors.As(err, &e) && e.Code == Exhausted {
		return unmergedError(b.Name, heirs[0], fmt.Sprintf("more than %d changes", s.limits.MergeKeys), s.limits.MergeKeys)
	}
	if err != nil {
		return err
	}
	logged, err := s.logged(ctx, b)
	if err != nil || changes+logged == 0 && !hidden {
		return err
	}
	return unmergedError(b.Name, heirs[0], lostWords(changes, logged, hidden), changes+logged)
}

func unmergedError(name, heir, lost string, n int) error {
	e := conflict("nothing was deleted: branch %q has %s that %q lacks and that would be lost: look at them with diff and merge them first, or delete it with force", name, lost, heir)
	e.Details = map[string]any{"branch": name, "unmerged": n}
	return e
}

// lostWords says what a deletion would lose. Merges leave the entries of a log, so they are named apart. Records that the caller may not
// see are not counted.
func lostWords(changes, logged int, hidden bool) string {
	var parts []string
	for _, part := range []struct {
		n         int
		one, many string
	}{{changes, "change", "changes"}, {logged, "log entry", "log entries"}} {
		switch part.n {
		case 0:
		case 1:
			parts = append(parts, "1 "+part.one)
		default:
			parts = append(parts, fmt.Sprintf("%d %s", part.n, part.many))
		}
	}
	if hidden {
		parts = append(parts, "records of other families")
	}
	return strings.Join(parts, " and ")
}

// heirs are the branches that may have what a branch has: the one that it was forked from, and those that merged it; or else the default.
func (s *Space) heirs(b *lineage.Branch) []string {
	var names []string
	add := func(other *lineage.Branch) {
		if other != nil && !other.Deleted && !slices.Contains(names, other.Name) {
			names = append(names, other.Name)
		}
	}
	add(s.catalogue.ByID(b.From))
	for _, other := range s.catalogue.Live() {
		if _, merged := s.catalogue.MergedInto(other.ID)[b.ID]; merged {
			add(other)
		}
	}
	if len(names) == 0 {
		names = []string{Default}
	}
	return names
}

// unmerged counts the keys that a branch changed, and that none of its heirs has as it has them or decided about in a merge. Records that
// the caller may not see are not counted: hidden says that there are some.
func (a *Access) unmerged(ctx context.Context, b *lineage.Branch, heirs []string) (changes int, hidden bool, err error) {
	lacking := map[store.Key]int{}
	for _, heir := range heirs {
		c, err := a.comparison(ctx, b.Name, heir, nil)
		if err != nil {
			return 0, false, err
		}
		if err := c.findChanges(ctx, c.source); err != nil {
			return 0, false, err
		}
		err = c.each(ctx, c.sorted(), func(t triple) error {
			if !t.states.Agree() && t.states.SourceChanged() {
				lacking[t.key]++
			}
			return nil
		})
		if err != nil {
			return 0, false, err
		}
	}
	for key, n := range lacking {
		switch {
		case n < len(heirs):
		case a.shows(key.Collection):
			changes++
		default:
			hidden = true
		}
	}
	return changes, hidden, nil
}

// logged counts the entries of a branch's own log, without those that merges into it wrote.
func (s *Space) logged(ctx context.Context, b *lineage.Branch) (n int, err error) {
	own := store.Lineage{{Branch: b.ID, At: store.Latest}}
	for e, err := range store.Entries(ctx, s.engine.Versions, own, store.Range{}, fillPage) {
		if err != nil {
			return 0, s.translate("look through branch "+b.Name, err)
		}
		if e.Collection != events || !e.Exists() {
			continue
		}
		event, err := record.DecodeEvent(e)
		if err != nil {
			return 0, err
		}
		if event.Event != mergeEvent {
			n++
		}
	}
	return n, nil
}
