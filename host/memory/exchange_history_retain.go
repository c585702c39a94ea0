package memory

import (
	"context"
	"errors"
	"time"

	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/memory/provenance"
	"github.com/alcove-memory/alcove/host/memory/retention"
	"github.com/alcove-memory/alcove/host/store"
)

// dropElsewhere deletes versions of other spaces that are older, by the clock of their space, than the readable past of a branch, unless
// histories retain them. The branch remembers that it had them, so that they are not received again.
func (s *Space) dropElsewhere(ctx context.Context, b *lineage.Branch, age time.Duration, policy retention.Policy) error {
	ranges, err := s.rangesOf(ctx, b.ID, func(collection string) bool { return collection == pasts })
	if err != nil {
		return err
	}
	own, now := store.Lineage{{Branch: b.ID, At: store.Latest}}, s.clock()
	for _, within := range ranges {
		var last string // memory
		nth := 0
		for page, err := range store.Pages(ctx, s.engine.ScanAt, own, within, cataloguePage) {
			if err != nil {
				return err
			}
			batch := store.Batch{Expect: []store.Expectation{b.Alive()}}
			for _, e := range page {
				if e.Collection != pasts {
					continue
				}
				key, from, err := namedPast(e.Name)
				if err != nil {
					return err
				}
				if nth++; key != last {
					last, nth = key, 1 // the present version is before it
				}
				if keepsElsewhere(policy, age, e.Namespace, now, from, nth) {
					continue
				}
				batch.Writes = append(batch.Writes, store.Write{Branch: b.ID, Key: e.Key, Delete: true})
			}
			if len(batch.Writes) == 0 {
				continue
			}
			if _, err := s.engine.Commit(ctx, batch); err != nil && !errors.Is(err, store.ErrConflict) {
				return err
			}
		}
	}
	return nil
}

// keepsElsewhere reports whether a policy keeps a version of a memory with nth newer ones.
func keepsElsewhere(policy retention.Policy, age time.Duration, namespace string, now time.Time, v provenance.Version, nth int) bool {
	rule, named := policy.Namespaces[namespace]
	if !named {
		rule = retention.Namespace{Versions: policy.Versions}
	}
	old := now.Sub(v.Time())
	return old <= age || rule.Forever || nth < rule.Versions || rule.Keep > 0 && old <= rule.Age()
}
