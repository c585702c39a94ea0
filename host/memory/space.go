package memory

import (
	"context"
	"iter"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/alcove-memory/alcove/host/internal/sealed"
	"github.com/alcove-memory/alcove/host/memory/chores"
	"github.com/alcove-memory/alcove/host/memory/counters"
	"github.com/alcove-memory/alcove/host/memory/feed"
	"github.com/alcove-memory/alcove/host/memory/integrity"
	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/memory/quota"
	"github.com/alcove-memory/alcove/host/memory/reclaim"
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
	// Pairs finds documents of one namespace and collection that share many terms.
	Pairs(ctx context.Context, v search.View, q search.PairQuery) (search.Paired, error)
	// Namespaces counts the documents by namespace.
	Namespaces(ctx context.Context, v search.View) (map[string]int, error)
	// Frequencies counts the active documents, and those with each of some terms.
	Frequencies(ctx context.Context, v search.View, terms []string) (documents int, counts []int, err error)
	// Supersedes reports whether a document may replace another.
	Supersedes() bool
	// MarkSuperseded says of hits which document replaces them.
	MarkSuperseded(v search.View, hits []search.Hit) error
	// Analyser returns the analyser of a collection's texts.
	Analyser(collection string) *search.Analyser
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
	keyQuotas    func(id string) []KeyQuota               // nil: keys have none
	isPrivate    func(collection string) bool
	synced       func() []SyncedCollection

	deepChain int
	readOnly  bool
	follows   string // what the space is a copy of; empty: it is none
	id        string
	history   store.History // nil: the engine keeps none
	replicas  []string      // names of the default branch in other spaces, by incarnation

	catalogue *lineage.Catalogue
	counters  *counters.Counting
	chores    *chores.Queue
	reclaimer *reclaim.Reclaimer
	usage     *quota.Usage
	seal      *sealed.Key // of places in exchanges
	scopes    scope.Table
	quotas    quota.Locks
	inFlight  inFlight
	indexes   *recordindex.Indexes
	feeds     *feed.Reader
	tallies   tallies

	branching sync.Mutex    // held while the set of branches changes
	writing   sync.RWMutex  // write-held by a merge that lost its race too often, and by purges
	purges    atomic.Uint64 // begun plus ended ones: odd while one is running

	notesDropped atomic.Uint64 // version up to which no commit has a note any more

	upkeep     *searchindex.Upkeep // of index
	stop       context.CancelFunc
	background sync.WaitGroup
}

// ID is random. A space that was restored from a backup has that of the backup, and one that was imported its own. It is empty if the
// engine keeps none.
func (s *Space) ID() string { return s.id }

// Ready waits until the index is filled. The error names damage that keeps it from being filled.
func (s *Space) Ready(ctx context.Context) error {
	if s.upkeep.IsFilled() {
		return nil
	}
	select {
	case <-s.upkeep.Filled():
		return nil
	case <-s.upkeep.Damaged():
		return s.translate("fill the search index", s.upkeep.Damage())
	case <-ctx.Done():
		return &Error{Code: Unavailable, Retryable: true, Cause: ctx.Err(),
			Message: "the search index is still being rebuilt after a start: try again in a few seconds"}
	}
}

// Limits returns the limits in force.
func (s *Space) Limits() Limits { return s.limits }

// page returns the size of a page of at most limit rows; 0 means as many as allowed.
func (s *Space) page(limit int) int {
	if limit <= 0 || limit > s.limits.Page {
		return s.limits.Page
	}
	return limit
}

// currentHooks returns the hooks; nil: there are none.
func (s *Space) currentHooks() Hooks {
	if s.hooks == nil {
		return nil
	}
	return s.hooks()
}

// Watch signals new commits: the channel carries the newest version, skips versions if the reader is slow, and
// is closed when ctx or the space ends.
func (s *Space) Watch(ctx context.Context) <-chan uint64 { return s.engine.Watch(ctx) }
