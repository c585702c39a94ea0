package memory

import (
	"context"

	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/store"
)

// indexHas reports whether the indexes of an entry's collection may contain parts of it. Of a memory only the links are indexed.
func (s *Space) indexHas(e store.Entry) bool {
	if s.indexes.of(e.Collection) == nil {
		return false
	}
	if e.Collection != memories {
		return true
	}
	was, err := record.Decode(e)
	return err == nil && len(was.Links) > 0
}

// retire erases the indexes of collections that may contain erased values, since index names contain values. They are rebuilt.
// Where a backup holds them, chores erase them after it, and rewrite the file again.
func (s *Space) retire(ctx context.Context, collections map[string]bool) error {
	for collection := range collections {
		if err := s.retireIndexes(ctx, collection); err != nil {
			return err
		}
	}
	if len(collections) == 0 {
		return nil
	}
	defer s.queueRetired()
	for collection := range collections {
		for _, index := range s.indexes.retired(collection) {
			if err := s.reclaimIndex(ctx, index); err != nil {
				return err
			}
		}
	}
	return nil
}

// retired returns the indexes of a collection to be reclaimed.
func (x *indexes) retired(collection string) []uint32 {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if set := x.sets[collection]; set != nil {
		return set.Retired
	}
	return nil
}

// rebuildIndexes rebuilds what a purge retired.
func (s *Space) rebuildIndexes() {
	for collection, set := range s.indexes.all() {
		b := s.firstIndexed(set)
		for _, index := range set.Indexes {
			if b != nil {
				s.queueBuild(builds{collection, index.ID, b.ID})
			}
		}
	}
}
