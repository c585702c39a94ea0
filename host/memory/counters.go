package memory

import (
	"context"
	"time"

	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/store"
)

// Flush writes the counters still in memory. Everything else is durable once acknowledged.
func (s *Space) Flush(ctx context.Context) error {
	return s.translate("write what was counted", s.counters.Flush(ctx))
}

// Counters returns the counters of a memory on a branch, and on its ancestors.
func (a *Access) Counters(ctx context.Context, p Location, key string) (Counters, error) {
	s := a.space
	p, err := a.readingKey(p, key)
	if err != nil {
		return Counters{}, err
	}
	b, err := s.branch(p.Branch)
	if err != nil {
		return Counters{}, err
	}
	counted, err := s.countersOf(ctx, b, []store.Key{memoryKey(p.Namespace, key)})
	if err != nil {
		return Counters{}, err
	}
	return counted[0], nil
}

// countersOf returns the counters of some memories.
func (s *Space) countersOf(ctx context.Context, b *lineage.Branch, keys []store.Key) ([]Counters, error) {
	records, err := s.counters.Read(ctx, b, keys)
	if err != nil {
		return nil, s.translate("read counters", err)
	}
	counted := make([]Counters, len(keys))
	for i, r := range records {
		counted[i] = Counters{Accesses: r.Accesses, Health: r.Health}
		if r.Last != 0 {
			counted[i].LastAccess = time.UnixMicro(r.Last).UTC()
		}
	}
	return counted, nil
}
