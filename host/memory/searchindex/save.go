package searchindex

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/alcove-memory/alcove/host/search"
	"github.com/alcove-memory/alcove/host/store"
)

// Run keeps the index compact, saved and whole, until ctx ends.
func (u *Upkeep) Run(ctx context.Context) {
	var repairs sync.WaitGroup
	defer repairs.Wait()
	for {
		select {
		case <-ctx.Done():
			return
		case <-u.o.Index.Due():
			if err := u.o.Index.Maintain(ctx); err != nil && ctx.Err() == nil {
				u.o.Logger.Warn("the search index was not made compact", "error", err)
			}
			u.save(ctx, u.o.Index.Save)
		case err := <-u.o.Index.Damaged():
			repairs.Go(func() { // which may have to fill the index: it is made compact meanwhile
				u.filling.Lock()
				defer u.filling.Unlock()
				if err := u.repair(ctx, err); err != nil && ctx.Err() == nil {
					u.o.Logger.Error("a part of the search index could not be rebuilt; a restart tries again", "error", err)
				}
			})
		}
	}
}

// Verify reads all files of the index. Those that are damaged are rebuilt; the error is search.ErrDamaged nevertheless.
func (u *Upkeep) Verify(ctx context.Context) error {
	u.filling.Lock() // what is being repaired is saved then
	defer u.filling.Unlock()
	err := u.o.Index.Verify(ctx)
	if !errors.Is(err, search.ErrDamaged) {
		return err
	}
	select {
	case <-u.o.Index.Damaged(): // it is repaired here
	default:
	}
	return errors.Join(err, u.repair(ctx, err))
}

// repair rebuilds damaged parts of the index. The caller holds filling.
func (u *Upkeep) repair(ctx context.Context, why error) error {
	u.o.Logger.Error("a part of the search index is rebuilt", "why", why)
	err := u.o.Index.Repair(ctx, u.reread)
	if errors.Is(err, search.ErrBroken) {
		return u.refill(ctx)
	}
	if err != nil {
		return err
	}
	u.save(ctx, u.o.Index.Save)
	return nil
}

// refill rebuilds the whole index from the store. Searches wait meanwhile. The caller holds filling.
func (u *Upkeep) refill(ctx context.Context) error {
	u.empty()
	u.loaded = search.Coverage{}
	if err := u.o.Index.Reset(); err != nil {
		return err
	}
	u.fill(ctx)
	return ctx.Err()
}

// reread reads versions of documents from the store, without those that are gone.
func (u *Upkeep) reread(ctx context.Context, refs []search.Ref) (docs []search.Doc, err error) {
	for len(refs) > 0 {
		first, n := refs[0], 0
		var keys []store.Key
		for ; n < len(refs) && refs[n].Version == first.Version; n++ {
			keys = append(keys, store.Key{Namespace: refs[n].Namespace, Collection: refs[n].Collection, Name: refs[n].Key})
		}
		refs = refs[n:]
		entries, err := u.o.Engine.GetAt(ctx, store.Lineage{{Branch: first.Branch, At: first.Version}}, keys)
		if isTrimmed(err) { // it may still be there, for views that were pinned
			entries, err = u.versions(ctx, first.Branch, first.Version, keys)
		}
		if err != nil {
			return nil, err
		}
		found, err := documents(entries)
		if err != nil {
			return nil, err
		}
		docs = append(docs, found...)
	}
	return docs, nil
}

// save saves the index with one of its methods, if it is complete. An unsaved part is rebuilt at the next start.
func (u *Upkeep) save(ctx context.Context, save func(ctx context.Context, to search.Blobs, upTo uint64) error) {
	u.saving.Lock()
	defer u.saving.Unlock()
	if !u.IsFilled() || u.distrusted || u.o.ReadOnly {
		return
	}
	if err := save(ctx, u.o.Engine, u.UpTo()); err != nil && ctx.Err() == nil {
		u.o.Logger.Warn("the search index was not saved; the next start takes longer", "error", err)
	}
}

// RequireRebuild makes the next start rebuild a wrong index.
func (u *Upkeep) RequireRebuild(ctx context.Context) {
	u.saving.Lock()
	defer u.saving.Unlock()
	u.distrusted = true
	if err := u.o.Index.Unsave(ctx, u.o.Engine); err != nil {
		u.o.Logger.Error("the saved search index, which is wrong, could not be dropped", "error", err)
	}
}

// IsTrusted reports whether the index is saved, because nothing wrong was found in it.
func (u *Upkeep) IsTrusted() bool {
	u.saving.Lock()
	defer u.saving.Unlock()
	return !u.distrusted
}

// versions reads one version of each key of a branch, as far as they are there, from its history.
func (u *Upkeep) versions(ctx context.Context, b store.BranchID, version uint64, keys []store.Key) (entries []store.Entry, err error) {
	own := store.Lineage{{Branch: b, At: store.Latest}}
	for _, key := range keys {
		only := store.Range{Namespace: key.Namespace, Collection: key.Collection, Prefix: key.Name, Exact: true}
		for e, err := range store.Entries(ctx, u.o.Engine.Versions, own, only, fillPage) {
			if err != nil {
				return nil, err
			}
			if e.Version == version {
				entries = append(entries, e)
			}
		}
	}
	return entries, nil
}

// SaveAll saves the index with its uncompressed part.
func (u *Upkeep) SaveAll(ctx context.Context) { u.save(ctx, u.o.Index.SaveAll) }

// Pause keeps the index from being saved until resume is called.
func (u *Upkeep) Pause() (resume func()) {
	u.saving.Lock()
	return u.saving.Unlock
}

// Rewrite rewrites the index's files without what Replace replaced. The caller has paused saves.
func (u *Upkeep) Rewrite(ctx context.Context) error {
	err := u.o.Index.Maintain(ctx)
	if err == nil && !u.distrusted {
		err = u.o.Index.SaveAll(ctx, u.o.Engine, u.UpTo())
	}
	if err != nil {
		return fmt.Errorf("files of the search index may still have it; a restart of the server rebuilds them: %w", err)
	}
	return nil
}
