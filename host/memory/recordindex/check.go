package recordindex

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/alcove-memory/alcove/host/memory/integrity"
	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/memory/query"
	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/store"
)

// checkAttempts limits how often the check of an index begins again because retention drops what it reads.
const checkAttempts = 20

// Check compares the indexes of records and links with a scan of what is stored, and has wrong ones rebuilt. Entries that are
// left over are no fault: readers skip them.
func (x *Indexes) Check(ctx context.Context) (wrong []integrity.Finding, err error) {
	sets := x.all()
	for _, collection := range slices.Sorted(maps.Keys(sets)) {
		lacking, where, err := x.checkSet(ctx, collection, sets[collection])
		if err != nil {
			return wrong, x.o.Explain("verify the indexes of "+collection, err)
		}
		if lacking == 0 || !x.isCurrent(collection, sets[collection]) { // a purge replaced them meanwhile
			continue
		}
		do := "run alcove verify again, on a server that can write: it rebuilds the index"
		if !x.o.ReadOnly {
			if err := x.remake(ctx, collection); err != nil {
				return wrong, x.o.Explain("rebuild the indexes of "+collection, err)
			}
			do = "nothing: the index is being rebuilt; run alcove verify again to see that it is whole"
		}
		wrong = append(wrong, integrity.Finding{What: fmt.Sprintf("branch %s: the indexes of %s lack %d entries", where, collection, lacking), Do: do})
	}
	return wrong, nil
}

// isCurrent reports whether the indexes of a collection are still those of a set.
func (x *Indexes) isCurrent(collection string, set *indexSet) bool {
	return x.all()[collection] == set
}

// checkSet counts the entries that the complete indexes of a collection lack on the first branch where one does.
func (x *Indexes) checkSet(ctx context.Context, collection string, set *indexSet) (lacking int, where string, err error) {
	branches, forks := x.o.Catalogue.Kept(), map[store.BranchID][]uint64{}
	if set.PerSpace {
		branches = []*lineage.Branch{x.o.Catalogue.System()}
	} else {
		forks = x.o.Catalogue.Forks()
	}
	for _, b := range branches {
		if b == nil || b.Reclaimed {
			continue
		}
		for _, index := range set.Indexes {
			lacking, err = x.lackingOn(ctx, collection, index, b, forks[b.ID])
			if (err != nil || lacking > 0) && x.isReclaimed(b) {
				break
			}
			if err != nil || lacking > 0 {
				return lacking, b.Name, err
			}
		}
	}
	return 0, "", nil
}

// isReclaimed reports whether a branch was reclaimed. It waits for a reclaim that is under way.
func (x *Indexes) isReclaimed(b *lineage.Branch) bool {
	x.o.Branching.Lock()
	defer x.o.Branching.Unlock()
	now := x.o.Catalogue.ByID(b.ID)
	return now == nil || now.Reclaimed
}

// lackingOn counts the entries that an index lacks for what was written on a branch: at the newest version, and for what others inherited
// of it when they were forked; 0 if the index is not complete there yet.
func (x *Indexes) lackingOn(ctx context.Context, collection string, index keptIndex, b *lineage.Branch, forks []uint64) (lacking int, err error) {
	for range checkAttempts {
		head, err := x.o.Engine.Head(ctx)
		if err != nil {
			return 0, err
		}
		lacking, err = x.lackingAt(ctx, collection, index, b.Lineage.At(head.Version))
		if err == nil && lacking == 0 && len(forks) > 0 {
			lacking, err = x.lackingInherited(ctx, collection, index, b, forks)
		}
		if !isTrimmed(err) {
			return lacking, err
		}
	}
	return 0, errors.New("versions were dropped all the time")
}

// lackingAt counts the entries that an index lacks for what was written on the first branch of a lineage. Where the index was built on
// that branch, it has what the branch inherited, too.
func (x *Indexes) lackingAt(ctx context.Context, collection string, index keptIndex, l store.Lineage) (lacking int, err error) {
	covering := x.covering(index.ID, l)
	if covering == nil {
		return 0, nil
	}
	if len(covering) > 1 {
		l = l[:1]
	}
	ranges, err := x.rangesOf(ctx, l, collection)
	if err != nil {
		return 0, err
	}
	for _, r := range ranges {
		for page, err := range store.Pages(ctx, x.o.Engine.ScanAt, l, r, buildPage) {
			if err != nil {
				return lacking, err
			}
			n, err := x.lackingOf(ctx, collection, index, covering, page)
			if lacking += n; err != nil {
				return lacking, err
			}
		}
	}
	return lacking, nil
}

// lackingInherited is lackingAt for the versions that were replaced since, and that forks of the branch still read. Each is looked up for
// the first of these.
func (x *Indexes) lackingInherited(ctx context.Context, collection string, index keptIndex, b *lineage.Branch, forks []uint64) (lacking int, err error) {
	own := b.Lineage[:1]
	ranges, err := x.rangesOf(ctx, own, collection)
	if err != nil {
		return 0, err
	}
	inherited := map[uint64][]store.Entry{} // by fork
	look := func(fork uint64) error {
		defer delete(inherited, fork)
		covering := x.covering(index.ID, b.Lineage.At(fork))
		if covering == nil {
			return nil
		}
		n, err := x.lackingOf(ctx, collection, index, covering, inherited[fork])
		lacking += n
		return err
	}
	for _, r := range ranges {
		var newer store.Entry
		for e, err := range store.Entries(ctx, x.o.Engine.Versions, own, r, buildPage) {
			if err != nil {
				return lacking, err
			}
			replaced := e.Key == newer.Key
			until := newer.Version
			newer = e
			at, _ := slices.BinarySearch(forks, e.Version)
			if !replaced || at == len(forks) || forks[at] >= until {
				continue
			}
			fork := forks[at]
			if inherited[fork] = append(inherited[fork], e); len(inherited[fork]) < buildPage {
				continue
			}
			if err := look(fork); err != nil {
				return lacking, err
			}
		}
	}
	for fork := range inherited {
		if err := look(fork); err != nil {
			return lacking, err
		}
	}
	return lacking, nil
}

// lackingOf counts the entries of a page of records that an index lacks.
func (x *Indexes) lackingOf(ctx context.Context, collection string, index keptIndex, covering store.Lineage, page []store.Entry) (lacking int, err error) {
	var keys []store.Key
	var values []string
	for _, e := range page {
		if e.Collection != collection || !e.Exists() {
			continue
		}
		r, err := record.Decode(e)
		if err != nil {
			return 0, err
		}
		for key, expires := range index.entries(e.Key, &r, query.ValuesOf(&r)) {
			keys, values = append(keys, key), append(values, expires)
		}
	}
	found, err := x.o.Engine.GetAt(ctx, covering, keys)
	if err != nil {
		return 0, err
	}
	for i, e := range found {
		if !e.Exists() || string(e.Value) != values[i] {
			lacking++
		}
	}
	return lacking, nil
}

// remake replaces the indexes of a collection by new ones, which are built in the background.
func (x *Indexes) remake(ctx context.Context, collection string) error {
	return x.change(ctx, collection, func(set *indexSet, next func() uint32) bool {
		set.renumber(next)
		return len(set.Indexes) > 0
	})
}
