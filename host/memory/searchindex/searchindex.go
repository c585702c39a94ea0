// Package searchindex keeps a search index complete and saved: a start fills it with what was written since it was saved, and every commit is
// in it before it is acknowledged.
package searchindex

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/memory/recordindex"
	"github.com/alcove-memory/alcove/host/search"
	"github.com/alcove-memory/alcove/host/store"
)

// Index is what is kept. Every commit is indexed before it is acknowledged.
type Index interface {
	Apply(docs ...search.Doc)
	// Prepare analyses documents whose versions and times are not known yet.
	Prepare(docs []search.Doc)
	// Replace changes the text of versions of documents. The former text is in no file after the next Save.
	Replace(docs ...search.Doc)
	Drop(b store.BranchID)
	// Due signals work for Maintain, which takes a while and blocks nothing.
	Due() <-chan struct{}
	Maintain(ctx context.Context) error

	// Reset empties a broken index, which then takes writes alone until Refilled.
	Reset() error
	Refilled()
	// Damaged signals that a file is damaged, which Repair rebuilds.
	Damaged() <-chan error
	Repair(ctx context.Context, read search.Reread) error
	// Verify reads all files. The error is search.ErrDamaged.
	Verify(ctx context.Context) error

	// Load opens the saved index, and returns its coverage.
	Load(ctx context.Context, from search.Blobs, logger *slog.Logger) (search.Coverage, error)
	// Save saves the index, which is complete up to a version.
	Save(ctx context.Context, to search.Blobs, upTo uint64) error
	// SaveAll also saves the uncompressed part of the index, unless it is small.
	SaveAll(ctx context.Context, to search.Blobs, upTo uint64) error
	// Unsave ensures that nothing is loaded before the next Save.
	Unsave(ctx context.Context, from search.Blobs) error
	// Close gives up the index's files.
	Close() error
}

// Options are what an index is kept for.
type Options struct {
	Engine    store.Engine
	Index     Index
	Catalogue *lineage.Catalogue
	Logger    *slog.Logger
	ReadOnly  bool // the index is not saved
	// Check refuses a batch before its commit.
	Check func(store.Batch) error
	// Filled is called when the index is complete.
	Filled func()
	// Queue has work done in the background. What fails is tried again.
	Queue func(name string, do func(ctx context.Context) error)
	// Explain makes an engine's error one that a caller can act on. It keeps nil.
	Explain func(doing string, err error) error
}

// Upkeep keeps an index. It is safe for concurrent use.
type Upkeep struct {
	o       Options
	applied progress
	loaded  search.Coverage
	filled  atomic.Pointer[chan struct{}] // closed when the index is complete

	damaged chan struct{} // closed when damage is set
	damage  error         // of the store, which keeps the index from being filled

	filling    sync.Mutex // held while the index is filled
	saving     sync.Mutex // held while the index is saved, or must not be
	distrusted bool       // the index is wrong: it is no longer saved
}

// New returns the upkeep of an empty index. Fill fills it.
func New(o Options) *Upkeep {
	u := &Upkeep{o: o, damaged: make(chan struct{})}
	u.empty()
	return u
}

// empty notes that the index is not complete.
func (u *Upkeep) empty() {
	if u.filled.Load() == nil || u.IsFilled() { // others wait for the end of a fill that failed
		filled := make(chan struct{})
		u.filled.Store(&filled)
	}
}

// Begin sets the engine's newest version, before others commit.
func (u *Upkeep) Begin(newest uint64) { u.applied.end(0, newest) }

// Filled returns a channel that is closed when the index is complete.
func (u *Upkeep) Filled() <-chan struct{} { return *u.filled.Load() }

// IsFilled reports whether the index is complete.
func (u *Upkeep) IsFilled() bool {
	select {
	case <-u.Filled():
		return true
	default:
		return false
	}
}

// UpTo returns a version up to which the index has all commits.
func (u *Upkeep) UpTo() uint64 { return u.applied.upToHead(0) }

// Follow indexes what another server committed on branches after a version and up to another.
func (u *Upkeep) Follow(ctx context.Context, branches []store.BranchID, after, upTo uint64) error {
	for _, b := range branches {
		if err := u.CatchUp(ctx, b, after); err != nil {
			return err
		}
	}
	u.applied.end(0, upTo)
	return nil
}

// patience is how long a reader waits for the index before it does without.
const patience = 50 * time.Millisecond

// Covers reports whether the index is complete up to a version.
func (u *Upkeep) Covers(ctx context.Context, version uint64) bool {
	if !u.IsFilled() {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	_, err := u.Await(ctx, version)
	return err == nil
}

// Await waits until the index is complete up to version least, and returns how far it is.
func (u *Upkeep) Await(ctx context.Context, least uint64) (uint64, error) {
	for {
		ended := u.applied.nextEnd()
		head, err := u.o.Engine.Head(ctx)
		if err != nil {
			return 0, u.o.Explain("read the newest version", err)
		}
		if at := u.applied.upToHead(head.Version); at >= least {
			return at, nil
		}
		select {
		case <-ended:
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}

// Commit commits a batch and makes what it wrote searchable. records are those of the first writes, as far as they are known.
func (u *Upkeep) Commit(ctx context.Context, batch store.Batch, records []*record.Record) (store.Committed, error) {
	if err := u.o.Check(batch); err != nil {
		return store.Committed{}, err
	}
	sealed := recordSeals(batch.Appends)
	token := u.applied.begin()
	draft := u.draft(batch, records)
	defer func() { <-draft.ready }() // the caller may change the batch then
	done, err := u.o.Engine.Commit(ctx, batch)
	if errors.Is(err, store.ErrConflict) || errors.Is(err, store.ErrRequestReused) || err == nil && done.Replayed {
		u.applied.end(token, 0)
		return done, err
	}
	if err != nil {
		u.queueCatchUp(token, batch)
		return done, err
	}
	docs, err := draft.committed(batch, sealed, done)
	if err != nil {
		u.queueCatchUp(token, batch)
		return done, fmt.Errorf("index version %d: %w", done.Version, err)
	}
	u.o.Index.Apply(docs...)
	u.applied.end(token, done.Version)
	return done, nil
}

// queueCatchUp handles a failed commit that may have happened, for instance because its caller gave up.
func (u *Upkeep) queueCatchUp(token int, batch store.Batch) {
	since := u.applied.since(token)
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
	u.o.Queue("index after a failed commit", func(ctx context.Context) error {
		for _, id := range ids {
			if err := u.CatchUp(ctx, id, since); err != nil {
				return err
			}
		}
		u.applied.end(token, 0)
		return nil
	})
}

// Replace replaces erased versions in the index by their remains.
func (u *Upkeep) Replace(ctx context.Context, purged []store.Entry) error {
	var docs []search.Doc
	for _, e := range purged {
		left, err := u.o.Engine.GetAt(ctx, store.Lineage{{Branch: e.Branch, At: e.Version}}, []store.Key{e.Key})
		if err != nil && !isTrimmed(err) {
			return err
		}
		if err == nil && left[0].Version == e.Version {
			e = left[0]
		} else {
			e.Deleted = true // no view reads it
		}
		d, ok, err := record.Doc(e)
		if err != nil {
			return err
		}
		if !ok { // the remains have no text
			d.Deleted = true
		}
		if u.o.Catalogue.ByID(e.Branch) != nil {
			docs = append(docs, d)
		}
	}
	u.o.Index.Replace(docs...)
	return nil
}

func isTrimmed(err error) bool {
	var trimmed *store.TrimmedError
	return errors.As(err, &trimmed)
}
