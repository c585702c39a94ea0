// Package feed reads what happened on branches: notices of memories that were stored or forgotten, of events of the log, and of what
// families emit.
//
// A feed is no data of its own: it is read from the changes of a branch in the store, from a version on, and each notice is completed with
// what its entry has. The newest notices of the branches that are read stay in memory, complete, so that many readers cost the store one.
package feed

import (
	"context"
	"errors"
	"time"

	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/store"
)

// Engine is the store that feeds are read from.
type Engine interface {
	Head(ctx context.Context) (store.Point, error)
	VersionAt(ctx context.Context, at time.Time) (store.Point, error)
	PointOf(ctx context.Context, version uint64) (store.Point, error)
	Changes(ctx context.Context, b store.BranchID, from, to uint64, limit int) ([]store.Change, uint64, error)
	GetAt(ctx context.Context, l store.Lineage, keys []store.Key) ([]store.Entry, error)
	Notes(ctx context.Context, after, before uint64, limit int) ([]store.Noted, error)
}

// Options configures a Reader. All but Limits and Age are required.
type Options struct {
	Engine   Engine
	Branches *lineage.Catalogue
	Clock    func() time.Time
	// Limits is asked for the limits about once a second while feeds are read. While it fails, the last limits apply. Nil: they do not change.
	Limits func(context.Context) (Limits, error)
	Age    time.Duration // how far back feeds reach until Limits was asked; 0: 7 days
	// Purges is the number of purges begun plus ended: odd while one is running.
	Purges func() uint64
}

// Reader reads the feeds of branches. Its methods may be called concurrently, and return the engine's errors.
type Reader struct {
	engine   Engine
	branches *lineage.Catalogue
	clock    func() time.Time
	purges   func() uint64
	kept     kept
	tails    tails
}

// New returns a reader.
func New(o Options) *Reader {
	return &Reader{engine: o.Engine, branches: o.Branches, clock: o.Clock, purges: o.Purges,
		kept: kept{ask: o.Limits, limits: Limits{Age: o.Age}.withDefaults(), rows: map[store.BranchID]*rows{}}}
}

// Age returns how long notices are kept, as the limits were asked for last.
func (r *Reader) Age() time.Duration { return r.kept.known().Age }

// Clear forgets what is in memory of notices: feeds begin later now, or what they tell was erased.
func (r *Reader) Clear() { r.tails.clear() }

// Page is a part of a feed.
type Page struct {
	Notices   []Notice
	Watermark uint64 // After of the next page; unchanged without news
	Within    int    // Within of the next page
	More      bool   // more is available
	Expired   bool   // notices after the requested watermark are gone; this page begins where the feed does
	Oldest    uint64 // the feed is complete after this watermark
	Latest    uint64 // the newest version of the space: no feed has a later watermark
	Passed    int    // notices that were examined and not selected
}

// Read reads a page of the notices of a branch that an agent may see and that match a query, oldest first. A branch's feed begins at its
// fork, and goes back as far as the limits say. A page may have fewer notices than there are, or none, with More.
func (r *Reader) Read(ctx context.Context, b *lineage.Branch, viewer string, q Query) (Page, error) {
	oldest, latest, err := r.bounds(ctx, b)
	if err != nil {
		return Page{}, err
	}
	page := &draft{Page: Page{Watermark: q.After, Expired: q.After < oldest, Oldest: oldest, Latest: latest}, query: q, viewer: viewer, within: q.Within}
	if page.Expired {
		page.Watermark, page.within = oldest, 0
	}
	known, ok, err := r.tails.of(b).since(ctx, r, page.Watermark)
	switch {
	case err != nil:
	case ok:
		page.addKnown(known)
	default:
		err = r.fill(ctx, b, page)
	}
	if err != nil {
		return Page{}, err
	}
	return page.Page, nil
}

// fill fills a page from the engine.
func (r *Reader) fill(ctx context.Context, b *lineage.Branch, page *draft) error {
	complete := func(notices []Notice) error { return r.complete(ctx, b, notices) }
	from, passed := page.Watermark, 0
	for size := page.query.Limit; ; size = changesAtOnce {
		changes, next, scanned, err := r.changes(ctx, b, from, page.Latest, size)
		if err != nil {
			return err
		}
		page.More = next != 0
		for version, commit := range commits(changes) {
			if err := page.add(version, commit, complete); err != nil {
				return err
			}
			if page.full() {
				page.More = page.More || page.Within > 0 || version < changes[len(changes)-1].Version
				return nil
			}
		}
		if !page.More {
			return nil
		}
		if from, passed = next, passed+scanned; passed >= mostPassed {
			page.Watermark = next
			return nil
		}
	}
}

// bounds returns the version after which the feed of a branch is complete, and the newest of the space.
func (r *Reader) bounds(ctx context.Context, b *lineage.Branch) (oldest, latest uint64, err error) {
	head, err := r.engine.Head(ctx)
	if err != nil {
		return 0, 0, err
	}
	t, now := r.tails.of(b), r.clock()
	t.bounds.Lock()
	defer t.bounds.Unlock()
	if age := now.Sub(t.checked); !t.checked.IsZero() && age >= 0 && age < tailBounds {
		return t.oldest, head.Version, nil
	}
	old, err := r.engine.VersionAt(ctx, now.Add(-r.kept.newest(ctx).Age))
	if err != nil {
		return 0, 0, err
	}
	if t.oldest, err = r.readableAfter(ctx, b, old.Version); err != nil {
		return 0, 0, err
	}
	t.checked = now
	return t.oldest, head.Version, nil
}

// readableAfter returns the version after which the changes of a branch can be read: after, or a later one if retention dropped those.
func (r *Reader) readableAfter(ctx context.Context, b *lineage.Branch, after uint64) (uint64, error) {
	_, _, err := r.engine.Changes(ctx, b.ID, after, after, 1)
	if trimmed, ok := errors.AsType[*store.TrimmedError](err); ok {
		return trimmed.Floor.Version, nil
	}
	return after, err
}
