package memory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/alcove-memory/alcove/host/memory/counters"
	"github.com/alcove-memory/alcove/host/memory/feed"
	"github.com/alcove-memory/alcove/host/memory/integrity"
	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/memory/quota"
	"github.com/alcove-memory/alcove/host/memory/recordindex"
	"github.com/alcove-memory/alcove/host/memory/scope"
	"github.com/alcove-memory/alcove/host/memory/searchindex"
	"github.com/alcove-memory/alcove/host/search"
	"github.com/alcove-memory/alcove/host/store"
)

// Index finds documents.
type Index interface {
	integrity.Index
	searchindex.Index

	// Trim drops the versions on a branch that an engine's Trim, with the same arguments, drops.
	Trim(b store.BranchID, floor uint64, pins []uint64)

	Search(ctx context.Context, v search.View, q search.Query) (search.Result, error)
	Count(ctx context.Context, v search.View) (int, error)
	// Select calls do for the documents that match a filter, with the index locked; in order, if that is less work.
	Select(ctx context.Context, v search.View, f search.Filter, o search.Ordering, do func(*search.Columns) bool) error
	// SelectKeys is Select for the documents with given keys, in their order, of one namespace and collection.
	SelectKeys(ctx context.Context, v search.View, f search.Filter, keys iter.Seq[string], do func(*search.Columns) bool) error
	// Estimate returns how many documents Select tests at most, and how many there are.
	Estimate(ctx context.Context, v search.View, f search.Filter) (tested, all int, err error)
	// Tally counts what Select selects, if it can without a look at each document.
	Tally(ctx context.Context, v search.View, f search.Filter) (n int, ok bool, err error)
	// Namespaces counts the documents by namespace.
	Namespaces(ctx context.Context, v search.View) (map[string]int, error)
	// Frequencies counts the active documents, and those with each of some terms.
	Frequencies(ctx context.Context, v search.View, terms []string) (documents int, counts []int, err error)
	// Analyser returns the analyser of a collection's texts.
	Analyser(collection string) *search.Analyser
}

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
	// CounterDelay bounds how long counters wait in memory, and so the loss in a crash;
	// 0: 2 seconds.
	CounterDelay time.Duration
	// FeedAge is how far back the feed reaches; 0: 7 days.
	FeedAge time.Duration
	// Purging erases what files beside the store have of what is purged; holds reports whether a JSON text may have some. Nil: there are
	// no such files.
	Purging func(holds func(text []byte) bool) error
	// CheckKey returns why the API key with an id does not hold; each commit asks it. Nil: all hold.
	CheckKey func(id string) error
	// IsPrivate reports whether only the family of a collection, as Collection.Name, sees its records. Nil: only it sees any.
	IsPrivate func(collection string) bool
	// Hooks returns what takes part in stores and searches at a moment, or nil. Nil: nothing ever does.
	Hooks func() Hooks
	// FeedLimits is feed.Options.Limits.
	FeedLimits func(context.Context) (feed.Limits, error)
	// DeepChain is the number of ancestors from which a branch's history is consolidated; 0: 16.
	DeepChain int
}

// Space is one data directory's memory. Its methods may be called concurrently.
type Space struct {
	engine       store.Engine
	index        Index
	vectors      Vectors // nil: none
	questionTime time.Duration
	clock        func() time.Time
	logger       *slog.Logger
	limits       Limits
	hooks        func() Hooks                             // nil: none
	purging      func(holds func(text []byte) bool) error // nil: there are no files beside the store
	checkKey     func(id string) error                    // nil: all hold
	isPrivate    func(collection string) bool

	deepChain int
	readOnly  bool
	id        string

	catalogue *lineage.Catalogue
	counters  *counters.Counting
	chores    *chores
	usage     *quota.Usage
	scopes    scope.Table
	quotas    quotaLocks
	indexes   *recordindex.Indexes
	feeds     *feed.Reader

	branching sync.Mutex    // held while the set of branches changes
	writing   sync.RWMutex  // write-held by a merge that lost its race too often, and by purges
	purges    atomic.Uint64 // begun plus ended ones: odd while one is running

	notesDropped atomic.Uint64 // version up to which no commit has a note any more

	looked store.BranchID // the last reclaimed branch examined for forgetting; used by chores alone

	upkeep     *searchindex.Upkeep // of index
	stop       context.CancelFunc
	background sync.WaitGroup
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
		s.id = history.Root()
	}
	if err := s.loadCatalogue(ctx); err != nil {
		return nil, fmt.Errorf("open space: %w", err)
	}
	if err := s.ensureBranches(ctx); err != nil {
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
	s.upkeep.Begin(head.Version)
	running, stop := context.WithCancel(context.Background())
	s.stop = stop
	s.background.Go(func() { s.upkeep.Fill(running) })
	s.background.Go(func() { s.upkeep.Tend(running) })
	if s.readOnly {
		return s, nil
	}
	s.background.Go(func() { s.counters.Run(running) })
	s.background.Go(func() { s.chores.run(running) })
	s.background.Go(func() { s.keepRetaining(running) })
	s.queueCount()
	s.queueReclaim()
	s.indexes.QueueRetired()
	return s, nil
}

// ID is random. A space that was restored from a backup has that of the backup, and one that was imported its own. It is empty if the
// engine keeps none.
func (s *Space) ID() string { return s.id }

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
		purging:      o.Purging,
		checkKey:     o.CheckKey,
		isPrivate:    o.IsPrivate,
		hooks:        o.Hooks,
		catalogue:    lineage.New(),
		usage:        quota.New(),
	}
	if s.clock == nil {
		s.clock = time.Now
	}
	if s.logger == nil {
		s.logger = slog.New(slog.DiscardHandler)
	}
	s.counters = counters.New(counters.Options{Engine: s.engine, Catalogue: s.catalogue, Clock: s.clock, Logger: s.logger,
		Delay: cmp.Or(o.CounterDelay, 2*time.Second), ReadOnly: s.readOnly})
	s.feeds = feed.New(feed.Options{Engine: s.engine, Branches: s.catalogue, Clock: s.clock, Limits: o.FeedLimits, Age: o.FeedAge, Purges: s.purges.Load})
	s.chores = newChores(s.logger)
	s.indexes = recordindex.New(recordindex.Options{Engine: s.engine, Catalogue: s.catalogue, First: Default, ReadOnly: s.readOnly,
		Writing: &s.writing, Branching: &s.branching, Explain: s.translate,
		Queue: s.queue})
	s.upkeep = searchindex.New(searchindex.Options{Engine: s.engine, Index: s.index, Catalogue: s.catalogue, Logger: s.logger, ReadOnly: s.readOnly,
		Check: s.indexes.CheckCurrent, Filled: s.indexFilled, Queue: s.queue, Explain: s.translate})
	return s
}

func (s *Space) queue(name string, do func(context.Context) error) { s.chores.add(name, do) }

func (s *Space) indexFilled() {
	if s.vectors != nil {
		s.vectors.IndexFilled()
	}
}

// Close writes the counters still in memory and stops background work. The engine stays open.
func (s *Space) Close(ctx context.Context) error {
	s.stop()
	s.background.Wait()
	s.upkeep.SaveAll(ctx)
	return s.counters.Flush(ctx)
}

// Ready waits until the index is filled.
func (s *Space) Ready(ctx context.Context) error {
	select {
	case <-s.upkeep.Filled():
		return nil
	case <-ctx.Done():
		return &Error{Code: Unavailable, Retryable: true, Cause: ctx.Err(),
			Message: "the search index is still being rebuilt after a start: try again in a few seconds"}
	}
}

// WaitIdle waits for the background work due at the call.
func (s *Space) WaitIdle(ctx context.Context) error {
	if err := s.Ready(ctx); err != nil {
		return err
	}
	return s.chores.waitIdle(ctx)
}

// Limits returns the limits in force.
func (s *Space) Limits() Limits { return s.limits }
