package memory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/memory/retention"
	"github.com/alcove-memory/alcove/host/store"
)

// Deletion selects a branch to delete.
type Deletion struct {
	Branch string
	Force  bool // even if changes would be lost
	Final  bool // it cannot be restored
}

// Delete deletes a branch. Its name is free at once; branches forked from it keep what they inherited. It can be restored, unless the
// deletion is final. The deletion of a proposal always is: restored under another name, it could be merged without approval.
func (a *Access) Delete(ctx context.Context, d Deletion, w Write) error {
	s, w, name := a.space, a.sign(w), d.Branch
	if err := a.mayBranch(); err != nil {
		return err
	}
	if name == Default {
		return &Error{Code: Denied, Message: `the branch "default" cannot be deleted: forget what is in it instead`}
	}
	req := request(w, "delete", name)
	_, again, end, err := s.once(ctx, req)
	defer end()
	if again || err != nil {
		return err
	}
	if err := a.guardBranch(name, asSource); err != nil {
		return err
	}
	b, err := s.branch(name)
	if err != nil {
		return err
	}
	quiet, err := a.mayDelete(ctx, b, d.Force) // no lock is held during this comparison, which can take long
	if err != nil || w.DryRun {
		return err
	}
	s.branching.Lock()
	defer s.branching.Unlock()
	compared := b.ID
	if b, err = s.branch(name); err != nil {
		return err
	}
	if b.ID != compared {
		return conflict("nothing was deleted: another branch has the name %q now: review it first", name)
	}
	r := b.Record
	r.Deleted = true
	changed := []changedBranch{{b, r}}
	if !d.Final && !IsProposal(name) {
		changed[0].to.DeletedAt = s.clock().UnixMilli()
		changed = append(changed, s.beyondRestoring()...)
	}
	if err := s.changeBranches(ctx, changed, store.Batch{Quiet: quiet, Request: req}, w.by); err != nil {
		return s.translate("delete branch "+name, err)
	}
	s.counters.Drop(b.ID)
	s.chores.Add("reclaim", s.reclaimer.Run)
	return nil
}

// changedBranch is a branch with its next record.
type changedBranch struct {
	*lineage.Branch
	to lineage.Record
}

// changeBranches commits and publishes the records of branches, as writes to the first. The caller holds branching.
func (s *Space) changeBranches(ctx context.Context, changed []changedBranch, batch store.Batch, by Caller) error {
	for _, c := range changed {
		write, err := c.to.Write(c.ID)
		if err != nil {
			return err
		}
		batch.Writes = append(batch.Writes, write)
		batch.Expect = append(batch.Expect, c.Alive())
	}
	batch, err := s.signed(batch, changed[0].ID, changed[0].to.Name, by)
	if err != nil {
		return err
	}
	done, err := s.engine.Commit(ctx, batch)
	if err != nil {
		return err
	}
	for _, c := range changed {
		s.catalogue.Publish(c.ID, c.to, done.Point, c.Created)
	}
	return nil
}

// beyondRestoring makes the earliest deletions final, so that the list has room for one more.
func (s *Space) beyondRestoring() (ended []changedBranch) {
	kept := s.catalogue.Restorable()
	for len(kept) >= s.limits.Deleted {
		ended, kept = append(ended, final(kept[0])), kept[1:]
	}
	return ended
}

// final is a deleted branch that can no longer be restored.
func final(b *lineage.Branch) changedBranch {
	r := b.Record
	r.DeletedAt = 0
	return changedBranch{b, r}
}

// Deleted lists the deleted branches that can be restored, the oldest deletion first.
func (a *Access) Deleted(ctx context.Context) ([]Branch, error) {
	if _, err := a.readable(nil); err != nil {
		return nil, err
	}
	list := []Branch{}
	for _, b := range a.space.catalogue.Restorable() {
		list = append(list, describe(b))
	}
	return list, ctx.Err()
}

// Restore restores the last deleted branch of a name, under that name or another. Restoring requires the right to delete.
func (a *Access) Restore(ctx context.Context, name, as string, w Write) (Branch, error) {
	s, w, as := a.space, a.sign(w), cmp.Or(as, name)
	if err := a.mayBranch(); err != nil {
		return Branch{}, err
	}
	if err := s.limits.checkName("branch", as); err != nil {
		return Branch{}, err
	}
	if err := a.guardBranch(as, asName); err != nil {
		return Branch{}, err
	}
	req := request(w, "restore", name, as)
	done, end, err := s.onceBranch(ctx, req, as)
	defer end()
	if done != nil || err != nil {
		return done.orZero(), err
	}
	s.branching.Lock()
	defer s.branching.Unlock()
	b, err := s.deleted(name)
	if err == nil {
		err = a.mayWriteAllOf(ctx, b)
	}
	if err == nil {
		err = s.restorableAs(as)
	}
	if err != nil {
		return Branch{}, err
	}
	r := b.Record
	r.Name, r.Deleted, r.DeletedAt = as, false, 0
	if w.DryRun {
		return s.branchToBe(r, len(b.Lineage)-1)
	}
	if err := s.changeBranches(ctx, []changedBranch{{b, r}}, store.Batch{Request: req}, w.by); err != nil {
		return Branch{}, s.translate("restore branch "+name, err)
	}
	return describe(s.catalogue.ByID(b.ID)), nil
}

// deleted returns the last deleted branch of a name that can be restored.
func (s *Space) deleted(name string) (*lineage.Branch, error) {
	var names []string
	for _, b := range slices.Backward(s.catalogue.Restorable()) {
		if b.Name == name {
			return b, nil
		}
		if !slices.Contains(names, b.Name) {
			names = append(names, b.Name)
		}
	}
	if len(names) == 0 {
		return nil, notFound("no deleted branch %q can be restored: there are none", clip(name, 64))
	}
	return nil, notFound("no deleted branch %q can be restored: those that can are %s", clip(name, 64), strings.Join(names[:min(len(names), 10)], ", "))
}

// restorableAs returns an error if a deleted branch cannot have a name.
func (s *Space) restorableAs(name string) error {
	if name == lineage.System {
		return s.nameFree(name)
	}
	if _, err := s.branch(name); err == nil {
		return conflict("there is another branch %q now: restore the deleted one under another name", name)
	}
	return nil
}

// retainDeleted makes deletions final that are older than the age of their branches.
func (s *Space) retainDeleted(ctx context.Context, policy retention.Policy) error {
	s.branching.Lock()
	defer s.branching.Unlock()
	var ended []changedBranch
	for _, b := range s.outlived(policy) {
		ended = append(ended, final(b))
	}
	if len(ended) == 0 {
		return nil
	}
	defer s.chores.Add("reclaim", s.reclaimer.Run)
	return s.changeBranches(ctx, ended, store.Batch{}, Caller{})
}

// outlived returns the deleted branches whose deletion is older than their age.
func (s *Space) outlived(policy retention.Policy) (list []*lineage.Branch) {
	for _, b := range s.catalogue.Restorable() {
		if age := policy.Age(b.Name); age > 0 && s.clock().Sub(time.UnixMilli(b.DeletedAt)) > age {
			list = append(list, b)
		}
	}
	return list
}

// mayDelete returns an error unless the caller may write every namespace of a branch, since the deletion removes its data. Without force, it
// also returns an error if changes would be lost. The result holds while nothing writes to the branch.
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

// mergedAlready returns an error if a branch has unmerged changes.
func (a *Access) mergedAlready(ctx context.Context, b *lineage.Branch) error {
	s := a.space
	heirs := s.successors(b)
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
	e := conflict("nothing was deleted: branch %q has %s that %q lacks and that would be lost: review them with diff and merge them first, or delete it with force", name, lost, heir)
	e.Details = map[string]any{"branch": name, "unmerged": n}
	return e
}

// lostWords describes what a deletion would lose. It names log entries separately, because merges leave them. Records that the caller may
// not see are not counted.
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

// successors returns the branches that may have the changes of a branch: its parent and those that merged it, or else the default branch.
func (s *Space) successors(b *lineage.Branch) []string {
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

// unmerged counts the keys that a branch changed, and whose state no heir has or has decided about in a merge. Records that the caller may
// not see are not counted; hidden reports that there are some.
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

// logged counts the entries of a branch's own log, without those of merges into it and of undos on a proposal.
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
		if event.Event != mergeEvent && (event.Event != undoEvent || !IsProposal(b.Name)) {
			n++
		}
	}
	return n, nil
}
