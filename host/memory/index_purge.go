package memory

import (
	"context"

	"github.com/alcove-memory/alcove/host/store"
)

// noteIndexed notes that the indexes of an entry's collection may have something of it. Of a memory only the links are indexed.
func (r *purging) noteIndexed(e store.Entry) {
	if r.space.indexes.of(e.Collection) == nil {
		return
	}
	if was, err := decodeRecord(e); e.Collection == memories && (err != nil || len(was.Links) == 0) {
		return
	}
	if r.in == nil {
		r.in = map[string]bool{}
	}
	r.in[e.Collection] = true
}

// retire erases the indexes that may have something of what was erased: their names have values. They are built anew. Where a backup
// keeps them, the server's chores erase them after it, and rewrite the file again.
func (r *purging) retire(ctx context.Context) error {
	for collection := range r.in {
		if err := r.space.retireIndexes(ctx, collection); err != nil {
			return err
		}
	}
	if len(r.in) == 0 {
		return nil
	}
	defer r.space.queueRetired()
	for collection := range r.in {
		for _, index := range r.space.indexes.retired(collection) {
			if err := r.space.reclaimIndex(ctx, index); err != nil {
				return err
			}
		}
	}
	return nil
}

// retired are the indexes of a collection that are to be reclaimed.
func (x *indexes) retired(collection string) []uint32 {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if set := x.sets[collection]; set != nil {
		return set.Retired
	}
	return nil
}

// rebuildIndexes builds what a purge retired.
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
