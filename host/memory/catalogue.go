package memory

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/store"
)

// loadCatalogue reads all branches and merges: before their first use, and again after another server changed them.
func (s *Space) loadCatalogue(ctx context.Context) error {
	branches, err := s.catalogueEntries(ctx, lineage.Branches)
	if err != nil {
		return err
	}
	merges, err := s.catalogueEntries(ctx, lineage.Merges)
	if err != nil {
		return err
	}
	return s.catalogue.Load(branches, merges)
}

// catalogueEntries lists every version, deleted ones too.
func (s *Space) catalogueEntries(ctx context.Context, collection string) ([]store.Entry, error) {
	var all []store.Entry
	within := store.Range{Namespace: lineage.Namespace, Collection: collection}
	for page, err := range store.Pages(ctx, s.engine.Versions, lineage.Root(), within, cataloguePage) {
		if err != nil {
			return nil, fmt.Errorf("read the catalogue of branches: %w", err)
		}
		all = append(all, page...)
	}
	return all, nil
}

// branch returns the branch of a name; empty: Default.
func (s *Space) branch(name string) (*lineage.Branch, error) {
	if b := s.catalogue.Named(cmp.Or(name, Default)); b != nil {
		return b, nil
	}
	return nil, notFound("there is no branch %q: %s", clip(name, 64), s.someBranches())
}

// someBranches lists the names of branches for an error.
func (s *Space) someBranches() string {
	var names []string
	for _, b := range s.catalogue.Live() {
		names = append(names, b.Name)
	}
	slices.Sort(names)
	if len(names) > 10 {
		return fmt.Sprintf("there are %d, among them %s; list them with memory_branch action=list", len(names), strings.Join(names[:10], ", "))
	}
	return "there are " + strings.Join(names, ", ")
}

func describe(b *lineage.Branch) Branch {
	d := Branch{Name: b.Name, Parent: b.Parent, ForkedAt: b.At, Created: b.Created, Depth: len(b.Lineage) - 1}
	if b.Restorable() {
		d.Deleted = time.UnixMilli(b.DeletedAt).UTC()
	}
	return d
}

// stillLive reports whether the branch has not been deleted.
func (s *Space) stillLive(b *lineage.Branch) bool {
	return s.catalogue.IsLive(b)
}
