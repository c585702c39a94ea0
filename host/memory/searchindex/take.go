package searchindex

import (
	"context"
	"fmt"

	"github.com/alcove-memory/alcove/host/store"
)

// Take has apply change the engine, and known tell the catalogue of it, and makes what changed searchable. Searches are of the time before
// until then. trim drops from the index what a branch no longer keeps.
func (u *Upkeep) Take(ctx context.Context, apply func() (store.Applied, error), known func() error, trim func(store.BranchState)) error {
	u.filling.Lock()
	defer u.filling.Unlock()
	token := u.applied.begin()
	done, err := apply()
	if err != nil {
		u.applied.end(token, 0)
		return err
	}
	defer u.applied.end(token, done.To.Version)
	if err := known(); err != nil {
		return err
	}
	if done.All {
		return u.refill(ctx)
	}
	ctx = context.WithoutCancel(ctx) // what is applied has to be in the index
	for _, b := range done.Dropped {
		u.o.Index.Drop(b)
	}
	for _, b := range u.o.Catalogue.Kept() {
		if err := u.CatchUp(ctx, b.ID, done.From.Version); err != nil {
			return fmt.Errorf("index what was applied to branch %s: %w", b.Name, err)
		}
	}
	if err := u.replaceKnown(ctx, done.Replaced); err != nil {
		return fmt.Errorf("index what was purged: %w", err)
	}
	for _, s := range done.Trimmed {
		trim(s)
	}
	return nil
}

// replaceKnown is Replace for versions of keys: a commit whose note was purged has none.
func (u *Upkeep) replaceKnown(ctx context.Context, purged []store.Entry) error {
	var list []store.Entry
	for _, e := range purged {
		if e.Name != "" {
			list = append(list, e)
		}
	}
	return u.Replace(ctx, list)
}
