package searchindex

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"runtime/metrics"
	"slices"

	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/search"
	"github.com/alcove-memory/alcove/host/store"
)

// Load loads the saved index, before anyone writes.
func (u *Upkeep) Load(ctx context.Context) error {
	covered, err := u.o.Index.Load(ctx, u.o.Engine, u.o.Logger)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		u.o.Logger.Warn("the files of the search index are not as they should be", "error", err)
	}
	u.loaded = covered
	return nil
}

// Fill adds every version that the loaded index misses, and tries again in the background if it fails. Concurrent writes reach the
// index by themselves.
func (u *Upkeep) Fill(ctx context.Context) {
	u.filling.Lock()
	defer u.filling.Unlock()
	u.fill(ctx)
}

// fill is Fill. The caller holds filling.
func (u *Upkeep) fill(ctx context.Context) {
	if err := u.tryFill(ctx); err != nil && ctx.Err() == nil {
		u.o.Logger.Error("the search index could not be rebuilt; searches wait until it is", "error", err)
		if errors.Is(err, store.ErrDamaged) && u.damage == nil {
			u.damage = err
			close(u.damaged)
		}
		u.o.Queue("rebuild the search index", u.fillAgain)
	}
}

// Damaged returns a channel that is closed when the index cannot be filled, because the store is damaged: Damage tells how.
func (u *Upkeep) Damaged() <-chan struct{} { return u.damaged }

// Damage returns why the index cannot be filled; nil: it can, as far as is known.
func (u *Upkeep) Damage() error {
	select {
	case <-u.damaged:
		return u.damage
	default:
		return nil
	}
}

// fillAgain fills the index unless that was done since.
func (u *Upkeep) fillAgain(ctx context.Context) error {
	u.filling.Lock()
	defer u.filling.Unlock()
	if u.IsFilled() {
		return nil
	}
	return u.tryFill(ctx)
}

func (u *Upkeep) tryFill(ctx context.Context) error {
	before := allocated()
	if err := u.complete(ctx); err != nil {
		return err
	}
	if !u.o.ReadOnly {
		u.o.Queue("verify the search index", u.verifyAfterStart)
	}
	u.o.Index.Refilled()
	close(*u.filled.Load())
	u.save(ctx, u.o.Index.Save)
	u.o.Filled()
	if allocated()-before > worthFreeing { // filling uses more memory than its result
		debug.FreeOSMemory()
	}
	return nil
}

// verifyAfterStart reads what the start left to searches.
func (u *Upkeep) verifyAfterStart(ctx context.Context) error {
	if err := u.Verify(ctx); !errors.Is(err, search.ErrDamaged) { // which is logged, and rebuilt
		return err
	}
	return nil
}

// worthFreeing is after how many allocated bytes memory goes back to the system at once. That collects all garbage, which takes
// milliseconds of a start.
const worthFreeing = 16 << 20

// allocated returns how many bytes this process has ever allocated.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

func (u *Upkeep) complete(ctx context.Context) error {
	covered, kept := u.loaded, u.o.Catalogue.Kept()
	for _, id := range covered.Branches() {
		if !slices.ContainsFunc(kept, func(b *lineage.Branch) bool { return b.ID == id }) {
			u.o.Index.Drop(id)
		}
	}
	for _, b := range kept {
		if err := u.CatchUp(ctx, b.ID, covered.Of(b.ID)); err != nil {
			return fmt.Errorf("branch %s: %w", b.Name, err)
		}
	}
	return nil
}

// CatchUp indexes the writes on a branch after a version; the whole branch if the change log does not reach back to it.
func (u *Upkeep) CatchUp(ctx context.Context, id store.BranchID, since uint64) error {
	for since != 0 {
		changes, next, err := u.o.Engine.Changes(ctx, id, since, store.Latest, fillPage)
		if isTrimmed(err) {
			if !u.IsFilled() { // later the index follows trims, and searches must not miss the branch meanwhile
				u.o.Index.Drop(id)
			}
			break
		}
		if err != nil {
			return err
		}
		if err := u.applyChanges(ctx, id, changes); err != nil || next == 0 {
			return err
		}
		since = next
	}
	return u.fillBranch(ctx, id)
}

// applyChanges indexes changes, version by version.
func (u *Upkeep) applyChanges(ctx context.Context, id store.BranchID, changes []store.Change) error {
	for len(changes) > 0 {
		end := slices.IndexFunc(changes, func(c store.Change) bool { return c.Version != changes[0].Version })
		if end < 0 {
			end = len(changes)
		}
		var keys []store.Key
		for _, c := range changes[:end] {
			keys = append(keys, c.Key)
		}
		entries, err := u.o.Engine.GetAt(ctx, store.Lineage{{Branch: id, At: changes[0].Version}}, keys)
		if isTrimmed(err) {
			return nil // no longer reachable
		}
		if err != nil {
			return err
		}
		if err := u.apply(entries); err != nil {
			return err
		}
		changes = changes[end:]
	}
	return nil
}

func (u *Upkeep) apply(entries []store.Entry) error {
	if len(entries) > 0 && !u.searches(entries[0].Branch) {
		return nil
	}
	docs, err := documents(entries)
	if err != nil {
		return err
	}
	u.o.Index.Apply(docs...)
	return nil
}

// documents returns those of entries that the index has.
func documents(entries []store.Entry) ([]search.Doc, error) {
	docs := make([]search.Doc, 0, len(entries))
	for _, e := range entries {
		d, ok, err := record.Doc(e)
		if err != nil {
			return nil, err
		}
		if ok && e.Version != 0 {
			docs = append(docs, d)
		}
	}
	return docs, nil
}

const fillPage = 2000

// fillBranch indexes every version on a branch.
func (u *Upkeep) fillBranch(ctx context.Context, id store.BranchID) error {
	own := store.Lineage{{Branch: id, At: store.Latest}}
	for page, err := range store.Pages(ctx, u.o.Engine.Versions, own, store.Range{}, fillPage) {
		if err != nil {
			return err
		}
		if err := u.apply(page); err != nil {
			return err
		}
	}
	return nil
}
