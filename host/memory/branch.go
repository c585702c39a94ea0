package memory

import (
	"cmp"
	"context"

	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/store"
)

// Branches lists the branches, oldest first.
func (a *Access) Branches(ctx context.Context) ([]Branch, error) {
	if _, err := a.readable(nil); err != nil {
		return nil, err
	}
	live := a.space.catalogue.Live()
	list := make([]Branch, len(live))
	for i, b := range live {
		list[i] = describe(b)
	}
	return list, ctx.Err()
}

// Merges lists at most limit merges between branches, newest first. A deleted source has its last name.
func (a *Access) Merges(ctx context.Context, limit int) ([]PastMerge, error) {
	s := a.space
	if _, err := a.readable(nil); err != nil {
		return nil, err
	}
	merges := s.catalogue.NewestMerges(s.page(limit))
	list := make([]PastMerge, len(merges))
	for i, m := range merges {
		at, err := s.engine.PointOf(ctx, m.At)
		if err != nil {
			return nil, s.translate("list merges", err)
		}
		list[i] = PastMerge{Source: cmp.Or(m.Name, s.catalogue.NameOf(m.Source)), Target: s.catalogue.NameOf(m.Target), SourceVersion: m.SourceAt, Version: at.Version, Timestamp: at.Time}
	}
	return list, nil
}

// Fork makes a branch from another at a moment. It copies nothing, so its time does not depend on the size.
func (a *Access) Fork(ctx context.Context, from, name string, at AsOf, w Write) (Branch, error) {
	return a.fork(ctx, from, at, w, lineage.Record{Name: name})
}

// Pin makes a branch from another at a moment, as Fork does, that takes no writes.
func (a *Access) Pin(ctx context.Context, from, name string, at AsOf, w Write) (Branch, error) {
	return a.fork(ctx, from, at, w, lineage.Record{Name: name, ReadOnly: true})
}

// fork makes a branch from another at a moment, with the name and the mode of the record.
func (a *Access) fork(ctx context.Context, from string, at AsOf, w Write, record lineage.Record) (Branch, error) {
	s, w, name := a.space, a.sign(w), record.Name
	if err := a.mayBranch(); err != nil {
		return Branch{}, err
	}
	if err := s.limits.checkName("branch", name); err != nil {
		return Branch{}, err
	}
	if err := a.guardBranch(name, asName); err != nil {
		return Branch{}, err
	}
	v, err := s.view(ctx, from, at)
	if err == nil {
		err = a.guardBranch(v.branch.Name, asSource)
	}
	if err != nil {
		return Branch{}, err
	}
	req := request(w, "fork", from, name, at, record.ReadOnly)
	done, end, err := s.onceBranch(ctx, req, name)
	defer end()
	if done != nil || err != nil {
		return done.orZero(), err
	}
	s.branching.Lock()
	defer s.branching.Unlock()
	start, err := s.forkPoint(ctx, v)
	if err != nil {
		return Branch{}, err
	}
	record.Parent, record.From, record.At = v.branch.Name, start.Branch, start.At
	if w.DryRun {
		return s.branchToBe(record, len(v.lineage))
	}
	counted, finish := s.counters.Collect(ctx, v.branch, start)
	b, err := s.newBranch(ctx, record, store.Batch{Counters: counted, Expect: []store.Expectation{v.branch.Alive()}, Request: req}, w.by)
	finish(err)
	if err != nil {
		return Branch{}, err
	}
	if len(b.Lineage) > s.deepChain {
		s.queueConsolidation(b)
	}
	return describe(b), nil
}

// queueConsolidation queues the consolidation of a deep branch.
func (s *Space) queueConsolidation(b *lineage.Branch) {
	s.chores.Add("consolidate "+b.Name, func(ctx context.Context) error {
		if err := s.indexes.Consolidate(ctx, b.Lineage); err != nil {
			return err
		}
		return s.engine.Consolidate(ctx, b.Lineage)
	})
}

func (b *Branch) orZero() Branch {
	if b == nil {
		return Branch{}
	}
	return *b
}

// forkPoint returns the newest segment of a fork of the view, at a fixed version.
func (s *Space) forkPoint(ctx context.Context, v view) (store.Segment, error) {
	head, err := s.engine.Head(ctx)
	if err != nil {
		return store.Segment{}, s.translate("read the newest version", err)
	}
	cut := v.lineage.At(head.Version)
	if len(cut) == 0 {
		return store.Segment{}, invalid("branch %q has no past at that moment: fork it from a later one", v.branch.Name)
	}
	if _, err := s.engine.GetAt(ctx, cut, []store.Key{v.branch.Key()}); err != nil {
		return store.Segment{}, s.translate("fork "+v.branch.Name, err) // that past may be trimmed
	}
	return cut[0], nil
}

// Create makes an empty branch, unrelated to the others.
func (a *Access) Create(ctx context.Context, name string, w Write) (Branch, error) {
	s, w := a.space, a.sign(w)
	if err := a.mayBranch(); err != nil {
		return Branch{}, err
	}
	if err := s.limits.checkName("branch", name); err != nil {
		return Branch{}, err
	}
	if err := a.guardBranch(name, asName); err != nil {
		return Branch{}, err
	}
	req := request(w, "create", name)
	done, end, err := s.onceBranch(ctx, req, name)
	defer end()
	if done != nil || err != nil {
		return done.orZero(), err
	}
	s.branching.Lock()
	defer s.branching.Unlock()
	record := lineage.Record{Name: name}
	if w.DryRun {
		return s.branchToBe(record, 0)
	}
	b, err := s.newBranch(ctx, record, store.Batch{Request: req}, w.by)
	if err != nil {
		return Branch{}, err
	}
	return describe(b), nil
}

// onceBranch is once for a request that makes a branch. It returns the branch of an earlier attempt, or nil.
func (s *Space) onceBranch(ctx context.Context, req store.Request, name string) (made *Branch, end func(), err error) {
	_, again, end, err := s.once(ctx, req)
	if err != nil || !again {
		return nil, end, err
	}
	b, err := s.branch(name)
	if err != nil {
		return nil, end, err
	}
	described := describe(b)
	return &described, end, nil
}

// newBranch commits a branch's record and publishes it. The caller holds branching.
func (s *Space) newBranch(ctx context.Context, r lineage.Record, batch store.Batch, by Caller) (*lineage.Branch, error) {
	if err := s.nameFree(r.Name); err != nil {
		return nil, err
	}
	return s.addBranch(ctx, r, batch, by)
}

// nameFree returns an error if no branch can have the name.
func (s *Space) nameFree(name string) error {
	if name == lineage.System { // it would shadow the branch for data shared by all
		return invalid("the branch name %q is the server's own: choose another", name)
	}
	if _, err := s.branch(name); err == nil {
		return conflict("branch %q exists already: choose another name, or delete it first", name)
	}
	return nil
}

// branchToBe returns the branch that a dry run would make.
func (s *Space) branchToBe(r lineage.Record, depth int) (Branch, error) {
	return Branch{Name: r.Name, Parent: r.Parent, ForkedAt: r.At, Depth: depth}, s.nameFree(r.Name)
}

// ensureBranches makes the default branch and the system branch, in one commit, in a space without either.
func (s *Space) ensureBranches(ctx context.Context) error {
	if _, err := s.branch(Default); err == nil {
		s.ensureSystem(ctx)
		return nil
	}
	s.branching.Lock()
	defer s.branching.Unlock()
	first, second := s.catalogue.NextID(), s.catalogue.NextID()
	system := lineage.Record{Name: lineage.System}
	write, err := system.Write(second)
	if err != nil {
		return err
	}
	both := store.Batch{Writes: []store.Write{write}}
	_, done, err := s.addBranchAs(ctx, first, lineage.Record{Name: Default}, both, Caller{})
	if err == nil {
		s.catalogue.Publish(second, system, done.Point, done.Time)
	}
	return err
}

// ensureSystem makes the system branch in a space that lost it, as to a repair. A read-only space opens without it.
func (s *Space) ensureSystem(ctx context.Context) {
	if s.readOnly {
		return
	}
	if _, err := s.systemBranch(ctx); err != nil {
		s.logger.Warn("whose commits are is not noted before the next start", "error", err)
	}
}
