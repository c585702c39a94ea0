package recordindex

import (
	"context"

	"github.com/alcove-memory/alcove/host/store"
)

const (
	shadowed    = store.BranchID(1) << 63
	indexNumber = 32 // bits below the number of the index
)

// shadow returns the branch with the entries of an index for a branch.
func shadow(index uint32, b store.BranchID) store.BranchID {
	return shadowed | store.BranchID(index)<<indexNumber | b
}

// Of returns the branch of a shadow; ok is false for what is none.
func Of(id store.BranchID) (b store.BranchID, ok bool) {
	return id & (1<<indexNumber - 1), id&shadowed != 0
}

// Beside returns the shadow of another branch for the index of a shadow.
func Beside(id, b store.BranchID) store.BranchID { return shadow(uint32(id&^shadowed>>indexNumber), b) }

// shadowLineage returns the lineage of an index for that of a branch.
func shadowLineage(index uint32, l store.Lineage) store.Lineage {
	out := make(store.Lineage, len(l))
	for i, s := range l {
		out[i] = store.Segment{Branch: shadow(index, s.Branch), At: s.At}
	}
	return out
}

// numbers returns the numbers of all indexes, retired ones included.
func (x *Indexes) numbers() (list []uint32) {
	for _, set := range x.all() {
		for _, index := range set.Indexes {
			list = append(list, index.ID)
		}
		list = append(list, set.Retired...)
	}
	return list
}

// Shadows returns the branches with the entries of all indexes for a branch, of retired ones too.
func (x *Indexes) Shadows(b store.BranchID) (list []store.BranchID) {
	for _, index := range x.numbers() {
		list = append(list, shadow(index, b))
	}
	return list
}

// Consolidate consolidates the indexes of a lineage, as the engine does the lineage.
func (x *Indexes) Consolidate(ctx context.Context, l store.Lineage) error {
	for _, index := range x.numbers() {
		if err := x.o.Engine.Consolidate(ctx, shadowLineage(index, l)); err != nil {
			return err
		}
	}
	return nil
}

// Reclaim erases the indexes of a branch that is no longer needed.
func (x *Indexes) Reclaim(ctx context.Context, b store.BranchID) error {
	for _, id := range x.Shadows(b) {
		if err := x.o.Engine.Reclaim(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// Trim trims the past of a branch's indexes, as the engine does the branch.
func (x *Indexes) Trim(ctx context.Context, b store.BranchID, floor uint64, pins []uint64) error {
	for _, id := range x.Shadows(b) {
		some, _, err := x.o.Engine.Versions(ctx, store.Lineage{{Branch: id, At: store.Latest}}, store.Range{}, "", 1)
		if err != nil && !isTrimmed(err) {
			return err
		}
		if err == nil && len(some) == 0 {
			continue
		}
		if err := x.o.Engine.Trim(ctx, id, floor, pins); err != nil {
			return err
		}
	}
	return nil
}
