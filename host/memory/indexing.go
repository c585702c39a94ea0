package memory

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"sync"

	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/memory/recordindex"
	"github.com/alcove-memory/alcove/host/search"
	"github.com/alcove-memory/alcove/host/store"
)

// indexProgress tracks the version up to which the index is complete, which a saved index records.
type indexProgress struct {
	mu      sync.Mutex
	newest  uint64         // known version
	pending map[int]uint64 // by pending commit: the newest version when it began
	last    int
	ended   chan struct{} // closed when the next commit ends; nil without waiters
}

// begin registers a commit. Its version will be greater than the present newest.
func (a *indexProgress) begin() (token int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.pending == nil {
		a.pending = map[int]uint64{}
	}
	a.last++
	a.pending[a.last] = a.newest
	return a.last
}

// end unregisters a commit that is indexed, or was refused; version is 0 then.
func (a *indexProgress) end(token int, version uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.pending, token)
	a.newest = max(a.newest, version)
	if a.ended != nil {
		close(a.ended)
		a.ended = nil
	}
}

// nextEnd returns a channel that is closed when the next commit ends.
func (a *indexProgress) nextEnd() <-chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended == nil {
		a.ended = make(chan struct{})
	}
	return a.ended
}

// since returns the newest version when a commit began.
func (a *indexProgress) since(token int) uint64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.pending[token]
}

// upTo returns a version up to which the index is complete.
func (a *indexProgress) upTo() uint64 { return a.upToHead(0) }

// upToHead is upTo with the newest version given, which may be a commit without anything to index.
func (a *indexProgress) upToHead(head uint64) uint64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	all := max(a.newest, head)
	for _, before := range a.pending {
		all = min(all, before)
	}
	return all
}

// indexedUpTo waits until the index is complete up to version least, and returns how far it is.
func (s *Space) indexedUpTo(ctx context.Context, least uint64) (uint64, error) {
	for {
		ended := s.applied.nextEnd()
		head, err := s.engine.Head(ctx)
		if err != nil {
			return 0, s.translate("read the newest version", err)
		}
		if at := s.applied.upToHead(head.Version); at >= least {
			return at, nil
		}
		select {
		case <-ended:
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}

// commitIndexed commits a batch and makes what it wrote searchable. records are those of the first writes, as far as they are known.
func (s *Space) commitIndexed(ctx context.Context, batch store.Batch, records []*record.Record) (store.Committed, error) {
	if err := s.indexes.CheckCurrent(batch); err != nil {
		return store.Committed{}, err
	}
	sealed := recordSeals(batch.Appends)
	token := s.applied.begin()
	draft := s.draft(batch, records)
	defer func() { <-draft.ready }() // the caller may change the batch then
	done, err := s.engine.Commit(ctx, batch)
	if errors.Is(err, store.ErrConflict) || errors.Is(err, store.ErrRequestReused) || err == nil && done.Replayed {
		s.applied.end(token, 0)
		return done, err
	}
	if err != nil {
		s.queueCatchUp(token, batch)
		return done, err
	}
	docs, err := draft.committed(batch, sealed, done)
	if err != nil {
		s.queueCatchUp(token, batch)
		return done, fmt.Errorf("index version %d: %w", done.Version, err)
	}
	s.index.Apply(docs...)
	s.applied.end(token, done.Version)
	return done, nil
}

// queueCatchUp handles a failed commit that may have happened, for instance because its caller gave up.
func (s *Space) queueCatchUp(token int, batch store.Batch) {
	since := s.applied.since(token)
	var ids []store.BranchID
	for _, w := range batch.Writes {
		if _, index := recordindex.Of(w.Branch); !index {
			ids = append(ids, w.Branch)
		}
	}
	for _, a := range batch.Appends {
		ids = append(ids, a.Lineage[0].Branch)
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	s.chores.add("index after a failed commit", func(ctx context.Context) error {
		for _, id := range ids {
			if err := s.catchUp(ctx, id, since); err != nil {
				return err
			}
		}
		s.applied.end(token, 0)
		return nil
	})
}

// fillIndex loads the saved index, and adds every missing version. Concurrent writes reach the
// index by themselves.
func (s *Space) fillIndex(ctx context.Context) {
	before := allocated()
	if err := s.loadIndex(ctx); err != nil {
		if ctx.Err() == nil {
			s.logger.Error("the search index could not be rebuilt; searches will wait", "error", err)
		}
		return
	}
	close(s.searchable)
	if s.vectors != nil {
		s.vectors.IndexFilled()
	}
	s.saveIndex(ctx, s.index.Save)
	if allocated()-before > worthFreeing { // filling uses more memory than its result
		debug.FreeOSMemory()
	}
}

// worthFreeing is after how many allocated bytes memory goes back to the system at once. That collects all garbage, which takes
// milliseconds of a start.
const worthFreeing = 16 << 20

// allocated returns how many bytes this process has ever allocated.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

func (s *Space) loadIndex(ctx context.Context) error {
	covered, err := s.index.Load(ctx, s.engine, s.logger)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		s.logger.Warn("the files of the search index are not as they should be", "error", err)
	}
	kept := s.catalogue.Kept()
	for _, id := range covered.Branches() {
		if !slices.ContainsFunc(kept, func(b *lineage.Branch) bool { return b.ID == id }) {
			s.index.Drop(id)
		}
	}
	for _, b := range kept {
		if err := s.catchUp(ctx, b.ID, covered.Of(b.ID)); err != nil {
			return fmt.Errorf("branch %s: %w", b.Name, err)
		}
	}
	return nil
}

// catchUp indexes the writes on a branch after a version; the whole branch if the change log does not reach back to it.
func (s *Space) catchUp(ctx context.Context, id store.BranchID, since uint64) error {
	for since != 0 {
		changes, next, err := s.engine.Changes(ctx, id, since, store.Latest, fillPage)
		if _, trimmed := asTrimmed(err); trimmed {
			if !s.isReady() { // later the index follows trims, and searches must not miss the branch meanwhile
				s.index.Drop(id)
			}
			break
		}
		if err != nil {
			return err
		}
		if err := s.applyChanges(ctx, id, changes); err != nil || next == 0 {
			return err
		}
		since = next
	}
	return s.fillBranch(ctx, id)
}

// applyChanges indexes changes, version by version.
func (s *Space) applyChanges(ctx context.Context, id store.BranchID, changes []store.Change) error {
	for len(changes) > 0 {
		end := slices.IndexFunc(changes, func(c store.Change) bool { return c.Version != changes[0].Version })
		if end < 0 {
			end = len(changes)
		}
		var keys []store.Key
		for _, c := range changes[:end] {
			keys = append(keys, c.Key)
		}
		entries, err := s.engine.GetAt(ctx, store.Lineage{{Branch: id, At: changes[0].Version}}, keys)
		if _, trimmed := asTrimmed(err); trimmed {
			return nil // no longer reachable
		}
		if err != nil {
			return err
		}
		if err := s.apply(entries); err != nil {
			return err
		}
		changes = changes[end:]
	}
	return nil
}

func (s *Space) apply(entries []store.Entry) error {
	docs := make([]search.Doc, 0, len(entries))
	for _, e := range entries {
		d, ok, err := record.Doc(e)
		if err != nil {
			return err
		}
		if ok && e.Version != 0 {
			docs = append(docs, d)
		}
	}
	s.index.Apply(docs...)
	return nil
}

const fillPage = 2000

// fillBranch indexes every version on a branch.
func (s *Space) fillBranch(ctx context.Context, id store.BranchID) error {
	own := store.Lineage{{Branch: id, At: store.Latest}}
	for page, err := range store.Pages(ctx, s.engine.Versions, own, store.Range{}, fillPage) {
		if err != nil {
			return err
		}
		if err := s.apply(page); err != nil {
			return err
		}
	}
	return nil
}

// tendIndex keeps the index compact and saved, until ctx ends.
func (s *Space) tendIndex(ctx context.Context, index Index) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-index.Due():
			if err := index.Tend(ctx); err != nil && ctx.Err() == nil {
				s.logger.Warn("the search index was not made compact", "error", err)
			}
			s.saveIndex(ctx, s.index.Save)
		}
	}
}

// saveIndex saves the index with one of its methods, if it is complete. An unsaved part is rebuilt at the next start.
func (s *Space) saveIndex(ctx context.Context, save func(ctx context.Context, to search.Blobs, upTo uint64) error) {
	s.saving.Lock()
	defer s.saving.Unlock()
	if !s.isReady() || s.distrusted || s.readOnly {
		return
	}
	if err := save(ctx, s.engine, s.applied.upTo()); err != nil && ctx.Err() == nil {
		s.logger.Warn("the search index was not saved; the next start takes longer", "error", err)
	}
}

// distrustIndex makes the next start rebuild a wrong index.
func (s *Space) distrustIndex(ctx context.Context) {
	s.saving.Lock()
	defer s.saving.Unlock()
	s.distrusted = true
	if err := s.index.Unsave(ctx, s.engine); err != nil {
		s.logger.Error("the saved search index, which is wrong, could not be dropped", "error", err)
	}
}
