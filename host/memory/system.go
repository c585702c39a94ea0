package memory

import (
	"context"
	"time"

	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/store"
)

// systemKept is the retention of the system branch's past, which no caller can read.
const systemKept = 24 * time.Hour

// systemBranch returns the branch for data shared by all branches, creating it if needed.
func (s *Space) systemBranch(ctx context.Context) (*lineage.Branch, error) {
	if b := s.catalogue.System(); b != nil {
		return b, nil
	}
	s.branching.Lock()
	defer s.branching.Unlock()
	if b := s.catalogue.System(); b != nil {
		return b, nil
	}
	return s.addBranch(ctx, lineage.Record{Name: lineage.System}, store.Batch{}, Caller{})
}

// addBranch commits a branch's record with the rest of a batch, and publishes it. The caller holds branching, and
// knows that the name is free.
func (s *Space) addBranch(ctx context.Context, r lineage.Record, batch store.Batch, by Caller) (*lineage.Branch, error) {
	b, done, err := s.addBranchAs(ctx, s.catalogue.NextID(), r, batch, by)
	if done.Replayed { // and deleted since
		return s.branch(r.Name)
	}
	return b, err
}

// addBranchAs is addBranch with a given id, so that the batch can write to the new branch. The writes are searchable when it
// returns. The repetition of a request makes no branch, and returns none.
func (s *Space) addBranchAs(ctx context.Context, id store.BranchID, r lineage.Record, batch store.Batch, by Caller) (*lineage.Branch, store.Committed, error) {
	write, err := r.Write(id)
	if err != nil {
		return nil, store.Committed{}, err
	}
	if batch, err = s.signed(batch, id, r.Name, by); err != nil {
		return nil, store.Committed{}, err
	}
	batch.Writes = append(batch.Writes, write)
	done, err := s.upkeep.Commit(ctx, batch, nil)
	if err != nil || done.Replayed {
		return nil, done, s.translate("make branch "+r.Name, err)
	}
	return s.catalogue.Publish(id, r, done.Point, done.Time), done, nil
}
