package memory

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/store"
)

// Follow brings a space whose engine follows another server's commits from one point to a later one, as its engine saw it. Nobody reads the
// space meanwhile: what they see is whole. On an error the space is of no use any more.
func (s *Space) Follow(ctx context.Context, to store.Point) error {
	e, ok := s.engine.(store.Following)
	if !ok || !s.readOnly {
		return errors.New("follow a space: its engine does not follow another one")
	}
	from, err := e.Head(ctx)
	if err != nil || from == to {
		return err
	}
	if to.Version <= from.Version {
		return fmt.Errorf("follow a space: version %d at %s comes after version %d at %s: its history is another one", to.Version, to.Time, from.Version, from.Time)
	}
	known := []store.BranchID{store.Catalogue}
	for _, b := range s.catalogue.Kept() {
		known = append(known, b.ID)
	}
	written, err := e.Written(ctx, known, from.Version, to.Version)
	if err != nil {
		return fmt.Errorf("follow a space: %w", err)
	}
	err = s.followOn(ctx, e, written, from.Version, to)
	if err != nil {
		return fmt.Errorf("follow a space: %w", err)
	}
	return nil
}

// HasShared reports whether there are records of a collection that is the same on every branch.
func (s *Space) HasShared(ctx context.Context, namespace, collection string) (bool, error) {
	b := s.catalogue.System()
	if b == nil {
		return false, nil
	}
	list, _, err := s.engine.ScanAt(ctx, b.Lineage, store.Range{Namespace: namespace, Collection: collection}, "", 1)
	return len(list) > 0, s.translate("look for records", err)
}

// followOn indexes what was written on branches, and reads again what is kept in memory of it.
func (s *Space) followOn(ctx context.Context, e store.Following, written []store.BranchID, after uint64, to store.Point) error {
	before := s.catalogue.Kept()
	e.Follow(to)
	if slices.Contains(written, store.Catalogue) {
		if err := s.loadCatalogue(ctx); err != nil {
			return err
		}
		if err := s.indexes.Load(ctx); err != nil {
			return err
		}
		written = slices.DeleteFunc(written, func(b store.BranchID) bool { return b == store.Catalogue })
		written = append(written, s.arrived(before)...)
	}
	if system := s.catalogue.System(); system != nil && slices.Contains(written, system.ID) {
		if err := s.loadScopes(ctx); err != nil {
			return err
		}
	}
	return s.upkeep.Follow(ctx, written, after, to.Version)
}

// arrived returns the branches that are not among those before, and forgets what the index has of those that are gone.
func (s *Space) arrived(before []*lineage.Branch) (list []store.BranchID) {
	now := s.catalogue.Kept()
	has := func(list []*lineage.Branch, id store.BranchID) bool {
		return slices.ContainsFunc(list, func(b *lineage.Branch) bool { return b.ID == id })
	}
	for _, b := range before {
		if !has(now, b.ID) {
			s.index.Drop(b.ID)
		}
	}
	for _, b := range now {
		if !has(before, b.ID) {
			list = append(list, b.ID)
		}
	}
	return list
}
