package memory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/alcove-memory/alcove/host/memory/chores"
	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/memory/quota"
	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/memory/recordindex"
	"github.com/alcove-memory/alcove/host/store"
)

// sweptAfter is how long expired records of all branches stay. Those on a branch stay for good, as memories
// do: deleting them would clash with other branches' changes of them.
const sweptAfter = 24 * time.Hour

// sweep deletes long-expired records of the system branch.
func (s *Space) sweep(ctx context.Context, b *lineage.Branch) error {
	ranges, err := s.ownedRanges(ctx, b.ID)
	if err != nil {
		return err
	}
	before := s.clock().Add(-sweptAfter)
	for _, r := range ranges {
		for page, err := range store.Pages(ctx, s.engine.ScanAt, b.Lineage, r, cataloguePage) {
			if err == nil {
				err = s.sweepPage(ctx, b, page, before)
			}
			if err != nil && !errors.Is(err, store.ErrConflict) { // rewritten: the next sweep looks at the page
				return err
			}
		}
	}
	return nil
}

func (s *Space) sweepPage(ctx context.Context, b *lineage.Branch, page []store.Entry, before time.Time) error {
	var batch store.Batch
	var changes []quota.Change
	index := s.indexes.Writer()
	for _, e := range page {
		r, err := record.Decode(e)
		if err != nil {
			return err
		}
		if !r.Expired(before) || ownerOf(e.Collection) == "" {
			continue
		}
		batch.Writes = append(batch.Writes, store.Write{Branch: b.ID, Key: e.Key, Delete: true})
		batch.Expect = append(batch.Expect, store.Expectation{Lineage: b.Lineage, Key: e.Key, Version: e.Version})
		changes = append(changes, quota.Change{Owner: ownerOf(e.Collection), Branch: b.ID, Old: quota.Of(e.Name, &r)})
		batch.Writes = append(batch.Writes, index.Writes(recordindex.Change{Branch: b.ID, Key: e.Key, Old: &r, Sure: true})...)
	}
	if len(batch.Writes) == 0 {
		return nil
	}
	batch.Expect = append(batch.Expect, index.Expect()...)
	done, err := s.commit(ctx, b, batch, nil, Caller{})
	if err == nil {
		s.usage.Count(done.Version, changes)
	}
	return err
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
