package searchindex

import (
	"context"
	"fmt"

	"github.com/alcove-memory/alcove/host/search"
)

// Tend keeps the index compact and saved, until ctx ends.
func (u *Upkeep) Tend(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-u.o.Index.Due():
			if err := u.o.Index.Tend(ctx); err != nil && ctx.Err() == nil {
				u.o.Logger.Warn("the search index was not made compact", "error", err)
			}
			u.save(ctx, u.o.Index.Save)
		}
	}
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

// Distrust makes the next start rebuild a wrong index.
func (u *Upkeep) Distrust(ctx context.Context) {
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

// SaveAll saves the index with its uncompressed part.
func (u *Upkeep) SaveAll(ctx context.Context) { u.save(ctx, u.o.Index.SaveAll) }

// Pause keeps the index from being saved until resume is called.
func (u *Upkeep) Pause() (resume func()) {
	u.saving.Lock()
	return u.saving.Unlock
}

// Rewrite rewrites the index's files without what Replace replaced. The caller has paused saves.
func (u *Upkeep) Rewrite(ctx context.Context) error {
	err := u.o.Index.Tend(ctx)
	if err == nil && !u.distrusted {
		err = u.o.Index.SaveAll(ctx, u.o.Engine, u.UpTo())
	}
	if err != nil {
		return fmt.Errorf("files of the search index may have it still; a restart of the server makes them anew: %w", err)
	}
	return nil
}
