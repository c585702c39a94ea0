package memory

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/store"
)

// Follow updates a space, whose engine follows the commits of another server, from one point to a later one. It excludes readers, who see
// each update as a whole. After an error, the space must be closed.
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

// HasShared reports whether a collection that all branches share has records.
func (s *Space) HasShared(ctx context.Context, namespace, collection string) (bool, error) {
	b := s.catalogue.System()
	if b == nil {
		return false, nil
	}
	list, _, err := s.engine.ScanAt(ctx, b.Lineage, store.Range{Namespace: namespace, Collection: collection}, "", 1)
	return len(list) > 0, s.translate("look for records", err)
}

// followOn indexes new writes on branches, and reloads cached state.
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

// arrived returns the new branches, and drops deleted ones from the index.
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
