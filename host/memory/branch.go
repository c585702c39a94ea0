package memory

import (
	"context"
	"errors"

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

// Fork makes a branch from another at a moment. It copies nothing, so its time does not depend on the size.
func (a *Access) Fork(ctx context.Context, from, name string, at AsOf, w Write) (Branch, error) {
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
	v, err := s.view(ctx, from, at)
	if err == nil {
		err = a.guardBranch(v.branch.Name, asSource)
	}
	if err != nil {
		return Branch{}, err
	}
	req := request(w, "fork", from, name, at)
	if done, err := s.replayedBranch(ctx, req, name); done != nil || err != nil {
		return done.orZero(), err
	}
	s.branching.Lock()
	defer s.branching.Unlock()
	start, err := s.forkPoint(ctx, v)
	if err != nil {
		return Branch{}, err
	}
	record := lineage.Record{Name: name, Parent: v.branch.Name, From: start.Branch, At: start.At}
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

func (b *Branch) orZero() Branch {
	if b == nil {
		return Branch{}
	}
	return *b
}

// forkPoint returns the front segment of a fork of the view, at a definite version.
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
	if done, err := s.replayedBranch(ctx, req, name); done != nil || err != nil {
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

// replayedBranch answers a repeated request to make a branch; nil: not a repetition.
func (s *Space) replayedBranch(ctx context.Context, req store.Request, name string) (*Branch, error) {
	_, done, err := s.replayed(ctx, req)
	if err != nil || !done {
		return nil, err
	}
	b, err := s.branch(name)
	if err != nil {
		return nil, err
	}
	described := describe(b)
	return &described, nil
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

// translate converts an engine's error to one that a caller can act on. It keeps nil and errors of type *Error.
func (s *Space) translate(doing string, err error) error {
	var ready *Error
	var conflicting *store.ConflictError
	var trimmed *store.TrimmedError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &ready):
		return err
	case errors.As(err, &conflicting):
		return s.conflictError(conflicting)
	case errors.As(err, &trimmed):
		return s.trimmedError(trimmed)
	case errors.Is(err, store.ErrRequestReused):
		return &Error{Code: Conflict, Cause: err, Message: "this request id was used before for a different request: use a fresh id for each request"}
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return &Error{Code: Timeout, Retryable: true, Cause: err, Message: "could not " + doing + " in time: a write may still take effect; retry with the same request id"}
	case errors.Is(err, store.ErrDamaged):
		return &Error{Code: Internal, Cause: err, Message: "could not " + doing + ": what is stored there is damaged, and is not answered. Have the server stopped, then run: alcove verify, and alcove repair"}
	case errors.Is(err, store.ErrFull):
		return &Error{Code: Exhausted, Retryable: true, Cause: err, Message: "could not " + doing + ": the disk of the server is full. Nothing was changed, and reading goes on: free some space there, then try again"}
	case errors.Is(err, store.ErrReadOnly):
		return &Error{Code: Unavailable, Retryable: true, Cause: err, Message: "could not " + doing + ": the server may not write to its data directory. Nothing was changed, and reading goes on: have its permissions and its disk checked, then try again"}
	case errors.Is(err, store.ErrReplaced):
		return &Error{Code: Unavailable, Cause: err, Message: "could not " + doing + ", because " + err.Error() +
			". Nothing is written any more, and reading goes on from what is open. Have the user put the files back, or stop this server: the next one serves what is in the data directory then. alcove doctor says how"}
	case errors.Is(err, store.ErrClosed):
		return &Error{Code: Unavailable, Retryable: true, Cause: err, Message: "the memory is shutting down: retry in a moment"}
	}
	return &Error{Code: Internal, Retryable: true, Cause: err, Message: "could not " + doing + ": " + err.Error()}
}

func (s *Space) conflictError(err *store.ConflictError) *Error {
	switch {
	case err.Key.Namespace == lineage.Namespace && err.Key.Collection == lineage.Branches:
		return &Error{Code: NotFound, Cause: err, Message: "the branch was deleted meanwhile: list branches and choose another"}
	case err.Key == (store.Key{}):
		return &Error{Code: Conflict, Retryable: true, Cause: err, Message: "the branch was written meanwhile: try again"}
	}
	// Not retryable: versions only grow, so the same request would fail again. The caller reads, and sends another.
	e := conflict("%q is at version %d, not %d: recall it, then store with if_version=%d", err.Key.Name, err.Have, err.Want, err.Have)
	if err.Have == 0 {
		e = conflict("%q does not exist, so it is not at version %d: store it with if_version=0 or without", err.Key.Name, err.Want)
	}
	e.Cause = err
	e.Details = map[string]any{"key": err.Key.Name, "namespace": err.Key.Namespace, "version": err.Have}
	return e
}

func (s *Space) trimmedError(err *store.TrimmedError) *Error {
	e := invalid("that moment is further back than is kept: the past of branch %q begins at %s (v%d)",
		s.catalogue.NameOf(err.Branch), FormatTime(err.Floor.Time), err.Floor.Version)
	e.Cause = err
	e.Details = map[string]any{"oldest": FormatTime(err.Floor.Time), "oldest_version": err.Floor.Version}
	return e
}

func asTrimmed(err error) (*store.TrimmedError, bool) {
	var trimmed *store.TrimmedError
	return trimmed, errors.As(err, &trimmed)
}
