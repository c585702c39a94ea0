package memory

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/alcove-memory/alcove/host/memory/quota"
	"github.com/alcove-memory/alcove/host/store"
)

// Use is the size of a family's collections, and Quota bounds it.
type (
	Use   = quota.Use
	Quota = quota.Limits
)

// ownerOf returns the family of a collection; empty for the space's own.
func ownerOf(collection string) string {
	owner, _, owned := strings.Cut(collection, "/")
	if !owned {
		return ""
	}
	return owner
}

// UseOf returns a family's use.
func (s *Space) UseOf(ctx context.Context, family string) (Use, error) {
	return s.usage.UseOf(ctx, family, s.clock())
}

// queueCount queues a full count.
func (s *Space) queueCount() { s.chores.Add("count what families keep", s.countAll) }

// countAll counts everything at one version. If damage prevents that, families can still write: the partial count
// applies.
func (s *Space) countAll(ctx context.Context) error {
	for attempt := 1; ; attempt++ {
		var failed error
		err := s.usage.Recount(func(add func(string, store.BranchID, quota.Tally)) (uint64, error) {
			head, err := s.engine.Head(ctx)
			if err != nil {
				return 0, err
			}
			for _, b := range s.catalogue.Kept() {
				if err := s.countBranch(ctx, b.ID, head.Version, add); err != nil {
					failed = errors.Join(failed, fmt.Errorf("branch %s: %w", b.Name, err))
				}
			}
			if _, trimmed := asTrimmed(failed); trimmed && attempt < attempts { // trimmed meanwhile
				return 0, failed
			}
			return head.Version, ctx.Err()
		})
		if _, trimmed := asTrimmed(err); trimmed && ctx.Err() == nil {
			continue
		}
		if err == nil && failed != nil {
			s.logger.Warn("not all that families keep could be counted; their quotas hold for the rest", "error", failed)
		}
		return err
	}
}

// countBranch counts the entries of a branch, up to a version.
func (s *Space) countBranch(ctx context.Context, id store.BranchID, at uint64, add func(string, store.BranchID, quota.Tally)) error {
	ranges, err := s.ownedRanges(ctx, id)
	if err != nil {
		return err
	}
	own := store.Lineage{{Branch: id, At: at}}
	for _, r := range ranges {
		for e, err := range store.Entries(ctx, s.engine.ScanAt, own, r, fillPage) {
			if err != nil {
				return err
			}
			c, err := quota.OfEntry(e, id)
			if err != nil {
				return err
			}
			if owner := ownerOf(e.Collection); owner != "" {
				add(owner, id, c)
			}
		}
	}
	return nil
}

// ownedRanges returns the ranges with families' records on a branch.
func (s *Space) ownedRanges(ctx context.Context, id store.BranchID) ([]store.Range, error) {
	return s.rangesOf(ctx, id, func(collection string) bool { return ownerOf(collection) != "" })
}

// rangesOf returns where entries of some collections can be on a branch.
func (s *Space) rangesOf(ctx context.Context, id store.BranchID, wanted func(collection string) bool) ([]store.Range, error) {
	engine, ok := s.engine.(store.Collecting)
	if !ok {
		return []store.Range{{}}, nil
	}
	list, err := engine.Collections(ctx, id)
	if err != nil {
		return nil, err
	}
	var ranges []store.Range
	for _, key := range list {
		if wanted(key.Collection) {
			ranges = append(ranges, store.Range{Namespace: key.Namespace, Collection: key.Collection})
		}
	}
	return ranges, nil
}
