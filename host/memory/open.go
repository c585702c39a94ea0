package memory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/alcove-memory/alcove/host/internal/sealed"
	"github.com/alcove-memory/alcove/host/memory/chores"
	"github.com/alcove-memory/alcove/host/memory/counters"
	"github.com/alcove-memory/alcove/host/memory/feed"
	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/memory/quota"
	"github.com/alcove-memory/alcove/host/memory/reclaim"
	"github.com/alcove-memory/alcove/host/memory/recordindex"
	"github.com/alcove-memory/alcove/host/memory/searchindex"
	"github.com/alcove-memory/alcove/host/store"
)

// Options configures a space.
type Options struct {
	Engine store.Engine // required; the caller closes it after the space
	Index  Index        // required, empty
	// Vectors ranks beside words; nil: none.
	Vectors Vectors
	// QuestionTime is how long a search waits for its question's vector before it ranks by words alone; 0: 3 seconds.
	QuestionTime time.Duration
	Clock        func() time.Time
	Logger       *slog.Logger // nil: discards
	Limits       Limits
	// ReadOnly means that the engine refuses writes: nothing is counted, saved or trimmed.
	ReadOnly bool
	// Follows names the original of a copy, which takes the writes; empty: the space is no copy. A copy is ReadOnly.
	Follows string
	// CounterDelay bounds how long counters wait in memory, and so the loss in a crash;
	// 0: 2 seconds.
	CounterDelay time.Duration
	// FeedAge is how far back the feed reaches; 0: 7 days.
	FeedAge time.Duration
	// Purging erases purged data from files outside the store; holds reports whether a JSON text may have some. Nil: there are no
	// such files.
	Purging func(holds func(text []byte) bool) error
	// CheckKey returns an error if an API key is not valid any more; each commit calls it. Nil: all are valid.
	CheckKey func(id string) error
	// KeyQuotas returns the quotas of an API key, and of the keys that it was delegated from. Nil: keys have none.
	KeyQuotas func(id string) []KeyQuota
	// IsPrivate reports whether only the family of a collection, as Collection.Name, sees its records. Nil: only it sees any.
	IsPrivate func(collection string) bool
	// Synced returns the collections of installed and granted families that other spaces may exchange. Nil: none.
	Synced func() []SyncedCollection
	// Hooks returns the present hooks of stores and searches, or nil. Nil: there are never any.
	Hooks func() Hooks
	// FeedLimits is feed.Options.Limits.
	FeedLimits func(context.Context) (feed.Limits, error)
	// DeepChain is the number of ancestors from which a branch's history is consolidated; 0: 16.
	DeepChain int
}

// Open reads the branches, makes the first one in an empty space, and starts filling the index
// in the background: reads and writes work at once, searches wait for it.
func Open(ctx context.Context, o Options) (*Space, error) {
	if o.Engine == nil || o.Index == nil {
		return nil, errors.New("open space: an engine and an index are needed")
	}
	s := newSpace(o)
	if e, ok := o.Engine.(store.Portable); ok {
		history, err := e.History(ctx)
		if err != nil {
			return nil, fmt.Errorf("open space: %w", err)
		}
		s.id, s.history = history.Root(), history
	}
	if err := s.loadCatalogue(ctx); err != nil {
		return nil, fmt.Errorf("open space: %w", err)
	}
	if err := s.ensureBranches(ctx); err != nil {
		return nil, fmt.Errorf("open space: %w", err)
	}
	if err := s.nameReplicas(); err != nil {
		return nil, fmt.Errorf("open space: %w", err)
	}
	if err := s.loadScopes(ctx); err != nil {
		return nil, fmt.Errorf("open space: %w", err)
	}
	if err := s.indexes.Load(ctx); err != nil {
		return nil, fmt.Errorf("open space: %w", err)
	}
	head, err := s.engine.Head(ctx)
	if err != nil {
		return nil, fmt.Errorf("open space: %w", err)
	}
	if err := s.upkeep.Load(ctx); err != nil {
		return nil, fmt.Errorf("open space: %w", err)
	}
	s.upkeep.Begin(head.Version)
	running, stop := context.WithCancel(context.Background())
	s.stop = stop
	s.background.Go(func() { s.upkeep.Fill(running) })
	s.background.Go(func() { s.upkeep.Run(running) })
	if s.readOnly {
		return s, nil
	}
	s.background.Go(func() { s.counters.Run(running) })
	s.background.Go(func() { s.chores.Run(running) })
	s.background.Go(func() { s.keepRetaining(running) })
	s.queueCount()
	s.chores.Add("reclaim", s.reclaimer.Run)
	s.indexes.QueueRetired()
	return s, nil
}

func newSpace(o Options) *Space {
	s := &Space{
		engine:       o.Engine,
		index:        o.Index,
		vectors:      o.Vectors,
		questionTime: cmp.Or(o.QuestionTime, 3*time.Second),
		clock:        o.Clock,
		logger:       o.Logger,
		limits:       o.Limits.withDefaults(),
		deepChain:    cmp.Or(o.DeepChain, 16),
		readOnly:     o.ReadOnly,
		follows:      o.Follows,
		purging:      o.Purging,
		checkKey:     o.CheckKey,
		keyQuotas:    o.KeyQuotas,
		isPrivate:    o.IsPrivate,
		synced:       o.Synced,
		hooks:        o.Hooks,
		catalogue:    lineage.New(),
		usage:        quota.New(),
		seal:         sealed.New(),
	}
	if s.clock == nil {
		s.clock = time.Now
	}
	if s.logger == nil {
		s.logger = slog.New(slog.DiscardHandler)
	}
	s.counters = counters.New(counters.Options{Engine: s.engine, Catalogue: s.catalogue, Clock: s.clock, Logger: s.logger,
		Delay: cmp.Or(o.CounterDelay, 2*time.Second), ReadOnly: s.readOnly, First: Default, Replicas: func() []string { return s.replicas }})
	s.feeds = feed.New(feed.Options{Engine: s.engine, Branches: s.catalogue, Clock: s.clock, Limits: o.FeedLimits, Age: o.FeedAge, Purges: s.purges.Load})
	s.chores = chores.New(s.logger)
	s.reclaimer = reclaim.New(reclaim.Options{Engine: s.engine, Branches: s.catalogue, Branching: &s.branching, Erase: s.eraseBranch})
	s.indexes = recordindex.New(recordindex.Options{Engine: s.engine, Catalogue: s.catalogue, First: Default, ReadOnly: s.readOnly,
		Writing: &s.writing, Branching: &s.branching, Explain: s.translate,
		Queue: s.queue})
	s.upkeep = searchindex.New(searchindex.Options{Engine: s.engine, Index: s.index, Catalogue: s.catalogue, Logger: s.logger, ReadOnly: s.readOnly,
		Check: s.indexes.CheckCurrent, Filled: s.indexFilled, Queue: s.queue, Explain: s.translate})
	return s
}

func (s *Space) queue(name string, do func(context.Context) error) { s.chores.Add(name, do) }

func (s *Space) indexFilled() {
	if s.vectors != nil {
		s.vectors.IndexFilled()
	}
}

// eraseBranch erases a branch's own data.
func (s *Space) eraseBranch(ctx context.Context, b store.BranchID) error {
	if err := errors.Join(s.indexes.Reclaim(ctx, b), s.engine.Reclaim(ctx, b)); err != nil {
		return err
	}
	s.index.Drop(b)
	s.usage.Drop(b)
	return nil
}

// Close writes the counters still in memory and stops background work. The engine stays open.
func (s *Space) Close(ctx context.Context) error {
	s.stop()
	s.background.Wait()
	s.upkeep.SaveAll(ctx)
	return errors.Join(s.counters.Flush(ctx), s.index.Close())
}

// WaitIdle waits for the background work due at the call.
func (s *Space) WaitIdle(ctx context.Context) error {
	if err := s.Ready(ctx); err != nil {
		return err
	}
	return s.chores.WaitIdle(ctx)
}
