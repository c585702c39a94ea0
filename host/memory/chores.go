package memory

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/store"
)

// chores runs background work one piece at a time. Failures are retried with a backoff.
type chores struct {
	logger *slog.Logger
	retry  time.Duration // from the first failure to the next attempt
	mu     sync.Mutex
	queue  []chore
	wake   chan struct{}
}

type chore struct {
	name  string
	do    func(ctx context.Context) error
	done  chan struct{} // closed after the first attempt
	again time.Duration // delay after a failure
}

const (
	firstRetry = time.Minute
	lastRetry  = time.Hour
)

func newChores(logger *slog.Logger) *chores {
	return &chores{logger: logger, retry: firstRetry, wake: make(chan struct{}, 1)}
}

func (c *chores) add(name string, do func(ctx context.Context) error) chan struct{} {
	done := make(chan struct{})
	c.push(chore{name, do, done, c.retry})
	return done
}

func (c *chores) push(job chore) {
	c.mu.Lock()
	c.queue = append(c.queue, job)
	c.mu.Unlock()
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

func (c *chores) next() (chore, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.queue) == 0 {
		return chore{}, false
	}
	first := c.queue[0]
	c.queue = c.queue[1:]
	return first, true
}

func (c *chores) run(ctx context.Context) {
	for {
		for job, ok := c.next(); ok && ctx.Err() == nil; job, ok = c.next() {
			err := job.do(ctx)
			if job.done != nil {
				close(job.done)
			}
			if c.waits(ctx, job, err) {
				continue
			}
			if err != nil && ctx.Err() == nil {
				c.logger.Warn("background work failed; it is tried again", "work", job.name, "after", job.again, "error", err)
				time.AfterFunc(job.again, func() {
					c.push(chore{name: job.name, do: job.do, again: min(2*job.again, lastRetry)})
				})
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-c.wake:
		}
	}
}

// waits puts off a job that must wait for a backup, and lets others run meanwhile.
func (c *chores) waits(ctx context.Context, job chore, err error) bool {
	var held *store.HeldError
	if !errors.As(err, &held) {
		return false
	}
	go func() {
		select {
		case <-held.Released:
			c.push(chore{name: job.name, do: job.do, again: job.again})
		case <-ctx.Done():
		}
	}()
	return true
}

// waitIdle waits for the jobs queued now.
func (c *chores) waitIdle(ctx context.Context) error {
	select {
	case <-c.add("wait", func(context.Context) error { return nil }):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// queueConsolidation queues the consolidation of a deep branch.
func (s *Space) queueConsolidation(b *lineage.Branch) {
	s.chores.add("consolidate "+b.Name, func(ctx context.Context) error {
		if err := s.indexes.Consolidate(ctx, b.Lineage); err != nil {
			return err
		}
		return s.engine.Consolidate(ctx, b.Lineage)
	})
}

// queueReclaim queues the erasure of deleted branches that are no longer needed, and of obsolete records of branches and merges.
func (s *Space) queueReclaim() {
	s.chores.add("reclaim", func(ctx context.Context) error {
		for {
			for more := true; more; {
				var err error
				if more, err = s.reclaimOne(ctx); err != nil {
					return err
				}
			}
			if forgot, err := s.forgetSome(ctx); err != nil || !forgot {
				return err
			}
		}
	})
}

func (s *Space) reclaimOne(ctx context.Context) (bool, error) {
	s.branching.Lock()
	defer s.branching.Unlock()
	b, found := s.catalogue.Unneeded()
	if !found {
		return false, nil
	}
	if err := errors.Join(s.indexes.Reclaim(ctx, b.ID), s.engine.Reclaim(ctx, b.ID)); err != nil {
		return false, err
	}
	s.index.Drop(b.ID)
	s.usage.Drop(b.ID)
	return true, s.recordReclaimed(ctx, b, s.catalogue.ObsoleteBy(b.ID))
}

// forgetTries bounds the reclaimed branches examined at a time: each examination reads all branches.
const forgetTries = 64

// forgetSome forgets reclaimed branches, or merges of them, that could not be forgotten before. It continues where it stopped, and
// reports whether it forgot any.
func (s *Space) forgetSome(ctx context.Context) (forgot bool, err error) {
	for range forgetTries {
		b := s.catalogue.ReclaimedAfter(s.looked)
		if b == nil {
			s.looked = 0
			break
		}
		s.looked = b.ID
		one, err := s.forgetOne(ctx, b)
		if err != nil {
			return forgot, err
		}
		forgot = forgot || one
	}
	return forgot, nil
}

func (s *Space) forgetOne(ctx context.Context, b *lineage.Branch) (bool, error) {
	s.branching.Lock()
	defer s.branching.Unlock()
	obsolete := s.catalogue.ObsoleteBy(b.ID)
	if len(obsolete) == 0 && s.catalogue.Mentioned(b.ID) {
		return false, nil
	}
	return true, s.recordReclaimed(ctx, b, obsolete)
}

// recordReclaimed deletes the records of obsolete merges, and that of a reclaimed branch unless other branches refer to it.
func (s *Space) recordReclaimed(ctx context.Context, b *lineage.Branch, obsolete []lineage.Merge) error {
	var writes []store.Write
	for _, m := range obsolete {
		writes = append(writes, store.Write{Branch: store.Catalogue, Key: m.Stored, Delete: true})
	}
	mentioned := s.catalogue.Mentioned(b.ID, obsolete...)
	r := b.Record
	switch {
	case !mentioned:
		writes = append(writes, store.Write{Branch: store.Catalogue, Key: b.Key(), Delete: true})
		for _, key := range s.catalogue.MergeKeys(b.ID) {
			writes = append(writes, store.Write{Branch: store.Catalogue, Key: key, Delete: true})
		}
	case !r.Reclaimed:
		r.Reclaimed = true
		write, err := r.Write(b.ID)
		if err != nil {
			return err
		}
		writes = append(writes, write)
	}
	done, err := s.engine.Commit(ctx, store.Batch{Writes: writes})
	if err != nil {
		return err
	}
	s.catalogue.DropMerges(obsolete)
	switch {
	case !mentioned:
		s.catalogue.Forget(b.ID)
	case r != b.Record:
		s.catalogue.Publish(b.ID, r, done.Point, b.Created)
	}
	return nil
}

// Trim trims the past of a branch before a moment, as soon as no backup needs it. Versions that forks and merges refer to stay. It returns
// the oldest moment that remains readable; zero if the moment is before the first version: then nothing is trimmed. Histories
// also retain what keep selects.
func (s *Space) Trim(ctx context.Context, name string, before AsOf, keep ...store.Keep) (store.Point, error) {
	v, err := s.view(ctx, name, before)
	if err != nil {
		return store.Point{}, err
	}
	floor, _, err := s.resolve(ctx, before)
	if before.IsNow() {
		floor, err = s.engine.Head(ctx)
	}
	if err == nil {
		err = whenReleased(ctx, func() error { return s.trim(ctx, v.branch, floor.Version, keep) })
	}
	return floor, s.translate("trim "+v.branch.Name, err)
}

// whenReleased calls do, which drops old versions, until no backup holds them. do must not return with a lock held.
func whenReleased(ctx context.Context, do func() error) error {
	for {
		err := do()
		var held *store.HeldError
		if !errors.As(err, &held) {
			return err
		}
		select {
		case <-held.Released:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// trim trims a branch unless it was deleted meanwhile.
func (s *Space) trim(ctx context.Context, b *lineage.Branch, floor uint64, keep []store.Keep) error {
	s.branching.Lock()
	defer s.branching.Unlock()
	if !s.stillLive(b) {
		return notFound("branch %q was deleted meanwhile", b.Name)
	}
	pins := s.catalogue.Pins(b.ID)
	defer s.feeds.Clear() // feeds begin later now
	if err := s.engine.Trim(ctx, b.ID, floor, pins, keep...); err != nil {
		return err
	}
	s.index.Trim(b.ID, floor, pins)
	return s.indexes.Trim(ctx, b.ID, floor, pins)
}

// ownFloor returns the oldest point that retention left on a branch, without its ancestors; zero if untrimmed.
func (s *Space) ownFloor(ctx context.Context, id store.BranchID) (store.Point, error) {
	_, _, err := s.engine.Changes(ctx, id, 0, 1, 1)
	if trimmed, ok := asTrimmed(err); ok {
		return trimmed.Floor, nil
	}
	return store.Point{}, err
}
