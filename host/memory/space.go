// Package memory is what a space remembers: memories and logs on branches that can be forked, merged and
// read as of any moment.
//
// It stores everything through a store.Engine and makes everything findable through an Index; it holds no
// state that they could not restore, but for counters of the last seconds.
package memory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/alcove-memory/alcove/host/memory/integrity"
	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/search"
	"github.com/alcove-memory/alcove/host/store"
)

// Index finds documents. It is kept up to date with every commit before the commit is acknowledged.
type Index interface {
	integrity.Index

	Apply(docs ...search.Doc)
	// Replace changes what versions of documents say. What they said before is in no file after the next Save.
	Replace(docs ...search.Doc)
	Drop(b store.BranchID)
	// Trim forgets the versions on a branch that an engine's Trim, with the same arguments, drops.
	Trim(b store.BranchID, floor uint64, pins []uint64)
	// Due tells when Tend has work, which takes a while and blocks nothing.
	Due() <-chan struct{}
	Tend(ctx context.Context) error

	Search(ctx context.Context, v search.View, q search.Query) (search.Result, error)
	Count(ctx context.Context, v search.View) (int, error)
	// Select calls do for the documents that a filter selects, with the index locked.
	Select(ctx context.Context, v search.View, f search.Filter, do func(*search.Columns) bool) error
	// Namespaces lists those with documents, in order.
	Namespaces(ctx context.Context, v search.View) ([]string, error)
	// Frequencies counts the active documents, and those that have each of some terms.
	Frequencies(ctx context.Context, v search.View, terms []string) (documents int, counts []int, err error)
	// Analyser is how the texts of a collection are read.
	Analyser(collection string) *search.Analyser

	// Load reads what was saved, and says what that covers.
	Load(ctx context.Context, from search.Blobs, logger *slog.Logger) (search.Coverage, error)
	// Save saves the index; everything up to a version was applied.
	Save(ctx context.Context, to search.Blobs, upTo uint64) error
	// SaveAll saves the uncompressed part of the index too, unless it is small.
	SaveAll(ctx context.Context, to search.Blobs, upTo uint64) error
	// Unsave makes sure that nothing is loaded before the next Save.
	Unsave(ctx context.Context, from search.Blobs) error
}

// Options are what a space is made of.
type Options struct {
	Engine store.Engine // required; the caller closes it after the space
	Index  Index        // required, empty
	// Vectors are what the index ranks by beside words; nil: nothing.
	Vectors Vectors
	// QuestionTime is how long a search waits for the vector of its question, before words alone decide; 0: 3 seconds.
	QuestionTime time.Duration
	Clock        func() time.Time
	Logger       *slog.Logger // nil: discards
	Limits       Limits
	// ReadOnly says that the engine refuses every write: nothing is counted, saved or trimmed.
	ReadOnly bool
	// CounterDelay is how long counters may wait in memory, and so how much of them a crash may cost;
	// 0: 2 seconds.
	CounterDelay time.Duration
	// FeedAge is how far back the feed can be read; 0: 7 days.
	FeedAge time.Duration
	// DeepChain is from how many ancestors on a branch's history is consolidated; 0: 16.
	DeepChain int
}

// Space is one data directory's memory. Its methods may be called from many goroutines at once.
type Space struct {
	engine       store.Engine
	index        Index
	vectors      Vectors // nil: none
	questionTime time.Duration
	clock        func() time.Time
	logger       *slog.Logger
	limits       Limits
	hooks        Hooks // nil: none

	feedAge   time.Duration
	deepChain int
	readOnly  bool

	catalogue *lineage.Catalogue
	counters  *counting
	chores    *chores
	usage     *usage
	indexes   indexes

	branching sync.Mutex    // held while the set of branches changes
	writing   sync.RWMutex  // write-held by a merge that lost its race too often, and by purges
	purges    atomic.Uint64 // begun and ended ones: odd while one is under way

	notesDropped atomic.Uint64 // the version up to which no commit has a note any more

	looked store.BranchID // the reclaimed branch that was last tried to be forgotten; the chores' alone

	applied    applied
	saving     sync.Mutex // held while the index is saved, or must not be
	distrusted bool       // the index is wrong: it is not saved any more

	searchable chan struct{} // closed when the index holds everything
	stop       context.CancelFunc
	background sync.WaitGroup
}

// Open reads what branches there are, makes the first one in an empty space, and starts filling the index
// in the background: reads and writes work at once, searches wait for it.
func Open(ctx context.Context, o Options) (*Space, error) {
	if o.Engine == nil || o.Index == nil {
		return nil, errors.New("open space: an engine and an index are needed")
	}
	s := newSpace(o)
	if err := s.loadCatalogue(ctx); err != nil {
		return nil, fmt.Errorf("open space: %w", err)
	}
	if err := s.ensureBranches(ctx); err != nil {
		return nil, fmt.Errorf("open space: %w", err)
	}
	if err := s.indexes.load(ctx, s); err != nil {
		return nil, fmt.Errorf("open space: %w", err)
	}
	head, err := s.engine.Head(ctx)
	if err != nil {
		return nil, fmt.Errorf("open space: %w", err)
	}
	s.applied.end(0, head.Version)
	running, stop := context.WithCancel(context.Background())
	s.stop = stop
	s.background.Go(func() { s.fillIndex(running) })
	s.background.Go(func() { s.tendIndex(running, o.Index) })
	if s.readOnly {
		return s, nil
	}
	s.background.Go(func() { s.counters.run(running) })
	s.background.Go(func() { s.chores.run(running) })
	s.background.Go(func() { s.keepRetaining(running) })
	s.queueCount()
	s.queueReclaim()
	s.queueRetired()
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
		feedAge:      cmp.Or(o.FeedAge, 7*24*time.Hour),
		deepChain:    cmp.Or(o.DeepChain, 16),
		readOnly:     o.ReadOnly,
		catalogue:    lineage.New(),
		usage:        newUsage(),
		searchable:   make(chan struct{}),
	}
	if s.clock == nil {
		s.clock = time.Now
	}
	if s.logger == nil {
		s.logger = slog.New(slog.DiscardHandler)
	}
	s.counters = newCounting(s, cmp.Or(o.CounterDelay, 2*time.Second))
	s.chores = newChores(s.logger)
	return s
}

// Close writes what is still counted in memory and stops background work. The engine stays open.
func (s *Space) Close(ctx context.Context) error {
	s.stop()
	s.background.Wait()
	s.saveIndex(ctx, s.index.SaveAll)
	return s.counters.flush(ctx)
}

// Ready waits until searches no longer have to wait for the index.
func (s *Space) Ready(ctx context.Context) error {
	select {
	case <-s.searchable:
		return nil
	case <-ctx.Done():
		return &Error{Code: Unavailable, Retryable: true, cause: ctx.Err(),
			Message: "the search index is still being rebuilt after a start: try again in a few seconds"}
	}
}

// isReady is Ready without waiting.
func (s *Space) isReady() bool {
	select {
	case <-s.searchable:
		return true
	default:
		return false
	}
}

// WaitIdle waits until background work that was due when it was called is done.
func (s *Space) WaitIdle(ctx context.Context) error {
	if err := s.Ready(ctx); err != nil {
		return err
	}
	return s.chores.waitIdle(ctx)
}

// Limits are the limits in force.
func (s *Space) Limits() Limits { return s.limits }
