package memory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/alcove-memory/alcove/host/memory/chores"
	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/memory/record"
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

// retainSystem trims the past of the system branch.
func (s *Space) retainSystem(ctx context.Context) error {
	b := s.catalogue.System()
	if b == nil {
		return nil
	}
	if err := s.dropAnswers(ctx, b); err != nil {
		return err
	}
	if err := s.dropNotes(ctx); err != nil {
		return err
	}
	if err := s.sweep(ctx, b); err != nil {
		return err
	}
	floor, err := s.engine.VersionAt(ctx, s.clock().Add(-systemKept))
	if err != nil || floor.Version <= b.Version {
		return err
	}
	return chores.WhenReleased(ctx, func() error { return s.trimSystem(ctx, b, floor.Version) })
}

func (s *Space) trimSystem(ctx context.Context, b *lineage.Branch, floor uint64) error {
	s.branching.Lock()
	defer s.branching.Unlock()
	if err := s.engine.Trim(ctx, b.ID, floor, nil); err != nil {
		return err
	}
	s.index.Trim(b.ID, floor, nil)
	return s.indexes.Trim(ctx, b.ID, floor, nil)
}

// dropAnswers deletes the recorded answers of expired requests.
func (s *Space) dropAnswers(ctx context.Context, b *lineage.Branch) error {
	now, r := s.clock().UnixMicro(), store.Range{Namespace: lineage.Namespace, Collection: answers}
	for page, err := range store.Pages(ctx, s.engine.ScanAt, b.Lineage, r, cataloguePage) {
		if err != nil {
			return err
		}
		batch := store.Batch{Expect: []store.Expectation{b.Alive()}}
		for _, e := range page {
			var a record.Answer
			if err := json.Unmarshal(e.Value, &a); err != nil {
				return fmt.Errorf("read an answer: %w", err)
			}
			if a.Expires <= now {
				batch.Writes = append(batch.Writes, store.Write{Branch: b.ID, Key: e.Key, Delete: true})
				batch.Expect = append(batch.Expect, store.Expectation{Lineage: b.Lineage, Key: e.Key, Version: e.Version}) // it may be used again
			}
		}
		if len(batch.Writes) > 0 {
			if _, err := s.engine.Commit(ctx, batch); err != nil && !errors.Is(err, store.ErrConflict) {
				return err
			}
		}
	}
	return nil
}
