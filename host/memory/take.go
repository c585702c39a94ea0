package memory

import (
	"context"
	"errors"
	"fmt"

	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/store"
)

// Take updates a copy (see Options.Follows) with the changes that apply makes in its engine, a store.Mirror. Reads see all of them or none,
// and searches follow.
func (s *Space) Take(ctx context.Context, apply func() (store.Applied, error)) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	s.branching.Lock()
	defer s.branching.Unlock()
	defer s.feeds.Clear()
	defer s.tallies.clear()
	known := func() error {
		return errors.Join(s.loadCatalogue(ctx), s.loadScopes(ctx), s.indexes.Load(ctx))
	}
	err := s.upkeep.Take(ctx, apply, known, func(b store.BranchState) { s.index.Trim(b.ID, b.Floor.Version, b.Pins) })
	if err != nil {
		return fmt.Errorf("take what the original has: %w", err)
	}
	return nil
}

// IsPurged reports whether an entry was purged.
func IsPurged(e store.Entry) bool {
	r, err := record.Decode(e)
	return err == nil && r.Purged != ""
}
