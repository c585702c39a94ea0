package memory

import "context"

// Staged is a caller's access within a Stage: its writes are part of the stage's commit, and its reads, except searches, include
// staged changes. It is limited to the stage's branch.
type Staged struct {
	stage  *Stage
	access *Access
}

// For returns a caller's access to the stage, within the stage's own rights.
func (t *Stage) For(c Caller) *Staged { return &Staged{stage: t, access: t.space.As(c)} }

// on refuses a branch other than the stage's.
func (s *Staged) on(branch string) error {
	if branch != "" && branch != s.stage.Branch() {
		return invalid("a tool that a family calls works on branch %q of the call that is running: leave out branch %q", s.stage.Branch(), clip(branch, 64))
	}
	return nil
}

func (s *Staged) reading(p Location) (Location, error) {
	if err := s.on(p.Branch); err != nil {
		return p, err
	}
	return s.access.reading(p)
}

func (s *Staged) writing(p Location) (Location, error) {
	if err := s.on(p.Branch); err != nil {
		return p, err
	}
	return s.access.writing(p)
}

// rehearse returns a function that drops what is staged in a dry run.
func (s *Staged) rehearse(w Write) func() {
	if !w.DryRun {
		return func() {}
	}
	before := s.stage.Save()
	return func() { s.stage.Restore(before) }
}

// Store stages memories. A receipt without a version gets it with the stage's commit.
func (s *Staged) Store(ctx context.Context, p Location, items []Item, w Write) ([]Stored, error) {
	p, err := s.writing(p)
	if err != nil {
		return nil, err
	}
	defer s.rehearse(w)()
	receipts, err := s.stage.store(ctx, p.Namespace, items)
	if !s.access.caller.Rights.MayRead(p.Namespace) {
		receipts = withoutFormer(receipts)
	}
	for i := range receipts {
		if receipts[i].Version == 0 {
			receipts[i].Timestamp = s.stage.Now()
		}
	}
	return receipts, err
}

// Forget stages the deletion of memories, and lists the keys of existing ones.
func (s *Staged) Forget(ctx context.Context, p Location, keys []string, w Write) ([]string, error) {
	p, err := s.writing(p)
	if err != nil {
		return nil, err
	}
	defer s.rehearse(w)()
	return s.stage.forget(ctx, p.Namespace, keys)
}

// SetState stages a state of memories, and lists the keys of existing ones.
func (s *Staged) SetState(ctx context.Context, p Location, keys []string, state State, w Write) ([]string, error) {
	p, err := s.writing(p)
	if err != nil {
		return nil, err
	}
	defer s.rehearse(w)()
	return s.stage.setState(ctx, p.Namespace, keys, state)
}

// Get reads memories; nil for a missing one.
func (s *Staged) Get(ctx context.Context, p Location, keys []string) ([]*Memory, error) {
	p, err := s.reading(p)
	if err != nil {
		return nil, err
	}
	return s.stage.Get(ctx, p.Namespace, keys)
}

// Recall returns the memory under a key, or nil. It counts no access.
func (s *Staged) Recall(ctx context.Context, p Location, key string, at AsOf) (*Memory, error) {
	p, err := s.reading(p)
	if err != nil {
		return nil, err
	}
	if !at.IsNow() {
		return s.access.Recall(ctx, p, key, at)
	}
	found, err := s.stage.Get(ctx, p.Namespace, []string{key})
	if err != nil {
		return nil, err
	}
	return found[0], nil
}

// Search searches at the stage's version, without staged changes.
func (s *Staged) Search(ctx context.Context, q Search) (Found, error) {
	if err := s.on(q.Branch); err != nil {
		return Found{}, err
	}
	namespaces, err := s.access.readable(q.Namespaces)
	if err != nil {
		return Found{}, err
	}
	q.Namespaces = namespaces
	return s.stage.Search(ctx, q)
}

// History lists at most limit versions of a key, newest first, none newer than at, like Access.History.
func (s *Staged) History(ctx context.Context, p Location, key string, at AsOf, limit int) ([]Memory, uint64, error) {
	p, err := s.reading(p)
	if err != nil {
		return nil, 0, err
	}
	if at.IsNow() {
		return s.stage.History(ctx, p.Namespace, key, s.stage.Version(), limit)
	}
	p.Branch = s.stage.Branch()
	return s.access.History(ctx, p, key, at, limit)
}
