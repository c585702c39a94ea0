package memory

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/memory/quota"
	"github.com/alcove-memory/alcove/host/store"
)

// Proposals is the prefix of the names of branches with proposed changes. The commit that proposes a change makes the branch. Later, only its
// gatherer adds changes, and each addition rewrites the branch's record, so that the version of the record identifies the content: see
// Merge.Seen.
const Proposals = "proposals/"

// Gatherer is a family and the caller for whom it proposes changes. Its proposed changes gather on one branch.
type Gatherer = lineage.Gatherer

// IsProposal reports whether a branch is a proposal.
func IsProposal(branch string) bool { return strings.HasPrefix(branch, Proposals) }

// BranchGuard is implemented by Hooks that decide about proposed changes.
type BranchGuard interface {
	// GuardBranch returns why a caller may not merge, fork or delete a branch with a proposed change.
	GuardBranch(branch string, by Caller) error
}

// unchanging is the error of a write to a proposal.
func unchanging(name string) error {
	return &Error{Code: Denied, Message: fmt.Sprintf("branch %s has a proposed change, which stays as it was proposed: nothing can be written to it; make the change on another branch", name)}
}

// unmoved returns an error if anything but its gatherer changed a proposal. The server never does; an edited file or another build may have.
func (s *Space) unmoved(ctx context.Context, name string) error {
	if !IsProposal(name) {
		return nil
	}
	b, err := s.branch(name)
	if err != nil {
		return err
	}
	newest, err := s.Newest(ctx)
	if err != nil {
		return err
	}
	later, _, err := s.engine.Changes(ctx, b.ID, b.Version, newest, 1)
	if err != nil {
		return s.translate("compare the proposal with what was proposed", err)
	}
	if len(later) > 0 {
		return &Error{Code: Conflict, Message: fmt.Sprintf("branch %s has changed since its change was proposed, at v%d: reject it, and have the change proposed again", name, b.Version)}
	}
	return nil
}

// unseen returns an error if a merge has changes that its caller may not have seen: a proposal of several calls needs Merge.Seen.
func (m Merge) unseen(source *lineage.Branch) error {
	switch {
	case m.Seen == 0 && source.Calls > 1:
		return &Error{Code: Conflict, Details: map[string]any{"branch": source.Name, "calls": source.Calls},
			Message: fmt.Sprintf("nothing was merged: branch %s has what %d calls propose: compare it with memory_branch action=diff, and merge it with the seen that the answer has", source.Name, source.Calls)}
	case m.Seen != 0 && m.Seen != source.Version:
		return &Error{Code: Conflict, Details: map[string]any{"branch": source.Name, "seen": m.Seen},
			Message: fmt.Sprintf("nothing was merged: branch %s is not as it was at v%d: compare it again, and merge it with the seen that the answer has", source.Name, m.Seen)}
	}
	return nil
}

// seen returns the version of a gathering proposal, for Merge.Seen; 0: the branch is no such proposal.
func seen(b *lineage.Branch) uint64 {
	if b.Calls == 0 {
		return 0
	}
	return b.Version
}

// Continue continues the open proposal of a gatherer for the branch of a new stage, if there is one. Reads by key and lists then include the
// proposed changes, searches do not, and a commit with Commit.Gathers adds to the proposal.
func (t *Stage) Continue(ctx context.Context, by Gatherer) error {
	if !t.at.IsNow() || t.base != nil {
		return nil
	}
	open := t.space.catalogue.Gathering(by, t.branch.ID)
	if open == nil {
		return nil
	}
	if err := t.pinVersion(ctx); err != nil { // at or after the fork of the proposal
		return err
	}
	clear, err := t.space.rebases(ctx, open, t.branch, t.version)
	if err != nil || !clear {
		return err
	}
	t.gathers, t.base, t.branch = by, t.branch, rebased(open, t.branch, t.version)
	return nil
}

// Continues returns the open proposal that the stage continues; empty: none.
func (t *Stage) Continues() string {
	if t.base == nil {
		return ""
	}
	return t.branch.Name
}

// rebased returns a proposal forked from a later version of its base.
func rebased(open, base *lineage.Branch, version uint64) *lineage.Branch {
	b := *open
	b.At, b.Lineage = version, base.Lineage.At(version).Fork(open.ID)
	return &b
}

// rebases reports whether a proposal can be forked from a later version of its base: the base has not changed its keys since, and no index
// was built for the proposal alone.
func (s *Space) rebases(ctx context.Context, open, base *lineage.Branch, version uint64) (bool, error) {
	if s.indexes.IsBuilt(open.ID) {
		return false, nil
	}
	changed, err := s.changedSince(ctx, base.ID, open.At, version, func(ctx context.Context, keys []store.Key) (bool, error) { return s.has(ctx, open.ID, keys) })
	return err == nil && !changed, err
}

// changedSince reports whether a branch changed one of some keys after one version and up to another. It returns true if that past is trimmed.
func (s *Space) changedSince(ctx context.Context, b store.BranchID, after, to uint64, any func(context.Context, []store.Key) (bool, error)) (bool, error) {
	for from := after; from < to; {
		changes, next, err := s.engine.Changes(ctx, b, from, to, changesPage)
		if _, trimmed := asTrimmed(err); trimmed {
			return true, nil
		}
		if err != nil {
			return false, s.translate("compare the proposal with its branch", err)
		}
		keys := make([]store.Key, len(changes))
		for i, c := range changes {
			keys[i] = c.Key
		}
		if found, err := any(ctx, keys); found || err != nil || next == 0 {
			return found, err
		}
		from = next
	}
	return false, nil
}

// has reports whether a branch itself wrote or deleted one of some keys.
func (s *Space) has(ctx context.Context, b store.BranchID, keys []store.Key) (bool, error) {
	if len(keys) == 0 {
		return false, nil
	}
	found, err := s.engine.GetAt(ctx, store.Lineage{{Branch: b, At: store.Latest}}, keys)
	if err != nil {
		return false, s.translate("look for what is proposed", err)
	}
	return slices.ContainsFunc(found, func(e store.Entry) bool { return e.Version > 0 }), nil
}

// forks reports whether a commit makes a new branch, or adds to a proposal that the stage has not read.
func (t *Stage) forks(c Commit) bool {
	return c.Proposal != "" && (t.base == nil || c.Proposal != t.branch.Name)
}

// continued returns the open proposal that a commit adds to, forked from the latest version that its changes are based on; nil: it needs a
// new one. It is a conflict if the proposal that the stage read is closed, or cannot be rebased. The caller holds branching.
func (t *Stage) continued(ctx context.Context, c Commit) (*lineage.Branch, error) {
	if c.Gathers == (Gatherer{}) {
		return nil, nil // a hook's proposal takes no more changes
	}
	open, reads := t.space.catalogue.Gathering(c.Gathers, t.home().ID), !t.forks(c)
	fits := open != nil && (!reads || open.ID == t.branch.ID) && (reads || !c.Named)
	if fits && !reads {
		touched, err := t.space.has(ctx, open.ID, t.keys())
		if err != nil {
			return nil, err
		}
		fits = !touched
	}
	version := t.version
	if fits {
		var err error
		version = max(t.version, open.At)
		if fits, err = t.isBasedOn(ctx, open, version); err != nil {
			return nil, err
		}
	}
	switch {
	case fits:
		to := rebased(open, t.home(), version)
		to.Calls++
		return to, nil
	case reads:
		return nil, conflict("nothing was proposed: branch %s was merged, deleted or overtaken in the meantime: try again", t.branch.Name)
	}
	return nil, nil
}

// isBasedOn reports whether a proposal and the changes of the stage can both be based on a version.
func (t *Stage) isBasedOn(ctx context.Context, open *lineage.Branch, version uint64) (bool, error) {
	clear, err := t.space.rebases(ctx, open, t.home(), version)
	if err != nil || !clear {
		return false, err
	}
	changed, err := t.space.changedSince(ctx, t.home().ID, t.version, version, func(_ context.Context, keys []store.Key) (bool, error) {
		return slices.ContainsFunc(keys, func(k store.Key) bool { _, changes := t.changed[site{Key: k}]; return changes }), nil
	})
	return err == nil && !changed, err
}

// directly commits changes that need no proposal to the base branch, unless they depend on the proposal.
func (t *Stage) directly(ctx context.Context, c Commit) (Commit, error) {
	if t.base == nil || c.Proposal != "" {
		return c, nil
	}
	if stands, err := t.space.has(ctx, t.branch.ID, t.keys()); err != nil || stands {
		c.Proposal, c.Gathers = t.branch.Name, t.gathers
		return c, err
	}
	t.branch, t.base = t.base, nil
	for at := range t.had {
		if at.system {
			continue
		}
		found, err := t.space.engine.GetAt(ctx, t.lineage(), []store.Key{at.Key})
		if err != nil {
			return c, t.space.translate("read what is changed", err)
		}
		if t.had[at], err = quota.OfEntry(found[0], t.branch.ID); err != nil {
			return c, err
		}
	}
	return c, nil
}

// keys returns what the stage read or changed on its branch.
func (t *Stage) keys() (keys []store.Key) {
	for at := range t.seen {
		if !at.system {
			keys = append(keys, at.Key)
		}
	}
	for _, at := range t.order {
		if !at.system {
			keys = append(keys, at.Key)
		}
	}
	return keys
}

// rewrite commits a batch with the record of a branch, and publishes the record. Version is that of the former record, 0 for a new branch.
// The caller holds branching and writing.
func (s *Space) rewrite(ctx context.Context, b *lineage.Branch, batch store.Batch, by Caller) (store.Committed, error) {
	write, err := b.Write(b.ID)
	if err != nil {
		return store.Committed{}, err
	}
	if batch, err = s.signed(batch, b.ID, b.Name, by); err != nil {
		return store.Committed{}, err
	}
	if b.Version > 0 {
		batch.Expect = append(batch.Expect, b.Alive())
	}
	batch.Writes = append(batch.Writes, write)
	done, err := s.upkeep.Commit(ctx, batch, nil)
	if err != nil || done.Replayed {
		return done, err
	}
	created := b.Created
	if b.Version == 0 {
		created = done.Time
	}
	s.catalogue.Publish(b.ID, b.Record, done.Point, created)
	return done, nil
}

// undoesProposed reports whether the stage undoes changes on a gathering proposal.
func (t *Stage) undoesProposed() bool {
	return t.origin == fromUndo && IsProposal(t.branch.Name) && t.branch.Gathers != (Gatherer{})
}

// takeBack commits an undo of changes on a gathering proposal. Its version changes, so that a Merge.Seen from before is refused.
func (s *Space) takeBack(ctx context.Context, b *lineage.Branch, batch store.Batch, by Caller) (store.Committed, error) {
	s.branching.Lock()
	defer s.branching.Unlock()
	s.writing.RLock()
	defer s.writing.RUnlock()
	if now := s.catalogue.ByID(b.ID); now == nil || now.Version != b.Version {
		return store.Committed{}, conflict("branch %s was changed, merged or deleted in the meantime: try again", b.Name)
	}
	return s.rewrite(ctx, b, batch, by)
}
