package memory

import (
	"context"
	"maps"
	"slices"

	"github.com/alcove-memory/alcove/host/internal/namespace"
	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/search"
	"github.com/alcove-memory/alcove/host/store"
)

// Saved is a savepoint of a stage.
type Saved struct {
	changed map[site]*record.Record
	order   []site
	events  int
	counts  int
	bytes   int
	growth  map[string]Use
}

// Save returns a savepoint for Restore.
func (t *Stage) Save() Saved {
	return Saved{maps.Clone(t.changed), slices.Clone(t.order), len(t.events), len(t.counts), t.bytes, maps.Clone(t.growth)}
}

// Restore drops what was staged since the savepoint.
func (t *Stage) Restore(s Saved) {
	t.changed, t.order, t.events, t.counts, t.bytes = s.changed, s.order, t.events[:s.events], t.counts[:s.counts], s.bytes
	t.growth = s.growth
}

// CountTerms counts the active memories, or the records of a searchable collection, in some namespaces (nil: all), and of these
// those with each of some terms. It counts at the stage's moment, without staged changes.
func (t *Stage) CountTerms(ctx context.Context, c Collection, namespaces, terms []string) (documents int, counts []int, err error) {
	s := t.space
	if namespaces, err = t.access.readable(namespaces); err != nil {
		return 0, nil, err
	}
	if err := s.Ready(ctx); err != nil {
		return 0, nil, err
	}
	lineage := t.counted(c)
	if lineage == nil {
		return 0, make([]int, len(terms)), nil
	}
	view := search.View{Lineage: lineage, Namespaces: namespaces, Collections: []string{c.Name}, Now: t.now}
	documents, counts, err = s.index.Frequencies(ctx, view, terms)
	return documents, counts, s.translate("count terms", err)
}

// counted returns the lineage that CountTerms counts in; nil: nothing is there yet.
func (t *Stage) counted(c Collection) store.Lineage {
	switch b := t.space.catalogue.System(); {
	case !t.at.IsNow():
		return t.lineageOf(c)
	case !c.PerSpace:
		return t.home().Lineage
	case b != nil:
		return b.Lineage
	}
	return nil
}

// mostScanned bounds the entries scanned for namespaces.
const mostScanned = 500_000

// Namespaces lists the namespaces with memories on the branch, sorted, expired memories included. While the index is behind,
// it scans all entries.
func (t *Stage) Namespaces(ctx context.Context) ([]string, error) {
	permitted, all := t.access.caller.Rights.Readable()
	if !all && !slices.ContainsFunc(permitted, namespace.IsPattern) {
		return t.inUse(ctx, permitted)
	}
	if t.space.upkeep.Covers(ctx, t.version) && t.space.stillLive(t.branch) {
		v := view{branch: t.branch, lineage: t.lineage(), now: t.now}
		found, err := t.space.index.Namespaces(ctx, v.search(permitted, memories))
		if err != nil {
			return nil, t.space.translate("list namespaces", err)
		}
		v.past = true
		return slices.Sorted(maps.Keys(found)), t.space.reachable(ctx, v)
	}
	return t.scanNamespaces(ctx)
}

// scanNamespaces finds namespaces by a scan of all entries.
func (t *Stage) scanNamespaces(ctx context.Context) (list []string, err error) {
	scanned := 0
	for page, err := range store.Pages(ctx, t.space.engine.ScanAt, t.lineage(), store.Range{}, fillPage) {
		if err != nil {
			return nil, t.space.translate("list namespaces", err)
		}
		for _, e := range page {
			if e.Collection != memories || len(list) > 0 && list[len(list)-1] == e.Namespace || !t.access.caller.Rights.MayRead(e.Namespace) {
				continue
			}
			r, err := record.Decode(e)
			if err != nil {
				return nil, err
			}
			if r.Purged == "" {
				list = append(list, e.Namespace)
			}
		}
		if scanned += len(page); scanned > mostScanned {
			return nil, &Error{Code: Exhausted, Message: "the branch has too many entries to look through for namespaces: name them"}
		}
	}
	return list, nil
}

// inUse returns those of some namespaces with memories on the branch.
func (t *Stage) inUse(ctx context.Context, namespaces []string) ([]string, error) {
	var list []string
	for _, namespace := range namespaces {
		found, _, err := t.space.engine.ScanAt(ctx, t.lineage(), store.Range{Namespace: namespace, Collection: memories}, "", 1)
		if err != nil {
			return nil, t.space.translate("list namespaces", err)
		}
		if len(found) > 0 {
			list = append(list, namespace)
		}
	}
	return list, nil
}
