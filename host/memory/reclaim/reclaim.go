// Package reclaim erases deleted branches that nothing needs any more, and forgets what is recorded of them.
package reclaim

import (
	"context"
	"sync"

	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/store"
)

// Options configures a Reclaimer. All are required.
type Options struct {
	Engine interface {
		Commit(ctx context.Context, b store.Batch) (store.Committed, error)
	} // stores the catalogue
	Branches  *lineage.Catalogue
	Branching *sync.Mutex                                       // held while the set of branches changes
	Erase     func(ctx context.Context, b store.BranchID) error // erases what a branch has itself
}

// Reclaimer reclaims the branches of a catalogue.
type Reclaimer struct {
	o      Options
	looked store.BranchID // the last reclaimed branch examined for forgetting
}

// New returns a reclaimer.
func New(o Options) *Reclaimer { return &Reclaimer{o: o} }

// Run erases deleted branches that are no longer needed, and obsolete records of branches and merges. One may run at a time.
func (r *Reclaimer) Run(ctx context.Context) error {
	for {
		for more := true; more; {
			var err error
			if more, err = r.reclaimOne(ctx); err != nil {
				return err
			}
		}
		if forgot, err := r.forgetSome(ctx); err != nil || !forgot {
			return err
		}
	}
}

func (r *Reclaimer) reclaimOne(ctx context.Context) (bool, error) {
	r.o.Branching.Lock()
	defer r.o.Branching.Unlock()
	b, found := r.o.Branches.Unneeded()
	if !found {
		return false, nil
	}
	if err := r.o.Erase(ctx, b.ID); err != nil {
		return false, err
	}
	return true, r.record(ctx, b, r.o.Branches.ObsoleteBy(b.ID))
}

// forgetTries bounds the reclaimed branches examined at a time: each examination reads all branches.
const forgetTries = 64

// forgetSome forgets reclaimed branches, or merges of them, that could not be forgotten before. It continues where it stopped, and
// reports whether it forgot any.
func (r *Reclaimer) forgetSome(ctx context.Context) (forgot bool, err error) {
	for range forgetTries {
		b := r.o.Branches.ReclaimedAfter(r.looked)
		if b == nil {
			r.looked = 0
			break
		}
		r.looked = b.ID
		one, err := r.forgetOne(ctx, b)
		if err != nil {
			return forgot, err
		}
		forgot = forgot || one
	}
	return forgot, nil
}

func (r *Reclaimer) forgetOne(ctx context.Context, b *lineage.Branch) (bool, error) {
	r.o.Branching.Lock()
	defer r.o.Branching.Unlock()
	obsolete := r.o.Branches.ObsoleteBy(b.ID)
	if len(obsolete) == 0 && r.o.Branches.Mentioned(b.ID) {
		return false, nil
	}
	return true, r.record(ctx, b, obsolete)
}

// record deletes the records of obsolete merges, and that of a reclaimed branch unless other branches refer to it.
func (r *Reclaimer) record(ctx context.Context, b *lineage.Branch, obsolete []lineage.Merge) error {
	var writes []store.Write
	for _, m := range obsolete {
		writes = append(writes, store.Write{Branch: store.Catalogue, Key: m.Stored, Delete: true})
	}
	mentioned := r.o.Branches.Mentioned(b.ID, obsolete...)
	next := b.Record
	switch {
	case !mentioned:
		writes = append(writes, store.Write{Branch: store.Catalogue, Key: b.Key(), Delete: true})
		for _, key := range r.o.Branches.MergeKeys(b.ID) {
			writes = append(writes, store.Write{Branch: store.Catalogue, Key: key, Delete: true})
		}
	case !next.Reclaimed:
		next.Reclaimed = true
		write, err := next.Write(b.ID)
		if err != nil {
			return err
		}
		writes = append(writes, write)
	}
	done, err := r.o.Engine.Commit(ctx, store.Batch{Writes: writes})
	if err != nil {
		return err
	}
	r.o.Branches.DropMerges(obsolete)
	switch {
	case !mentioned:
		r.o.Branches.Forget(b.ID)
	case next != b.Record:
		r.o.Branches.Publish(b.ID, next, done.Point, b.Created)
	}
	return nil
}
