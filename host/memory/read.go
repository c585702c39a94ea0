package memory

import (
	"context"
	"errors"
	"time"

	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/search"
	"github.com/alcove-memory/alcove/host/store"
)

// Recall returns the memory under a key, or nil. Reading the present counts as an access.
func (a *Access) Recall(ctx context.Context, p Location, key string, at AsOf) (*Memory, error) {
	s := a.space
	p, err := a.readingKey(p, key)
	if err != nil {
		return nil, err
	}
	v, err := s.view(ctx, p.Branch, at)
	if err != nil {
		return nil, err
	}
	found, err := s.engine.GetAt(ctx, v.lineage, []store.Key{memoryKey(p.Namespace, key)})
	if err != nil {
		return nil, s.translate("recall "+clip(key, 64), err)
	}
	m, err := v.present(found[0])
	if m != nil && !v.past {
		s.counters.Touch(v.branch, found[0].Key, 1, 0)
	}
	return m, err
}

// CountAccesses counts an access to each hit of a search of the present, as Recall does for its memory.
func (a *Access) CountAccesses(branch string, hits []Hit) error {
	b, err := a.branch(branch)
	if err != nil {
		return err
	}
	for _, h := range hits {
		if a.caller.Rights.MayRead(h.Namespace) {
			a.space.counters.Touch(b, memoryKey(h.Namespace, h.Key), 1, 0)
		}
	}
	return nil
}

// List returns at most limit memories of a namespace in the order of their keys, after the key after. next is the after of the next
// page; empty: the last page.
func (a *Access) List(ctx context.Context, p Location, prefix, after string, at AsOf, limit int) (list []Memory, next string, err error) {
	s := a.space
	p, err = a.reading(p)
	if err != nil {
		return nil, "", err
	}
	v, err := s.view(ctx, p.Branch, at)
	if err != nil {
		return nil, "", err
	}
	r := store.Range{Namespace: p.Namespace, Collection: memories, Prefix: prefix}
	if after != "" {
		r.From = after + "\x00"
	}
	limit = s.page(limit)
	list, err = scan(ctx, s, v, r, limit+1, v.present)
	if len(list) > limit {
		list, next = list[:limit], list[limit-1].Key
	}
	return list, next, s.translate("list memories", err)
}

// History lists at most limit versions of a key, newest first, none newer than at. more is the version of the next
// page, as AsOf; 0: the last page.
func (a *Access) History(ctx context.Context, p Location, key string, at AsOf, limit int) (versions []Memory, more uint64, err error) {
	s := a.space
	p, err = a.readingKey(p, key)
	if err != nil {
		return nil, 0, err
	}
	v, err := s.view(ctx, p.Branch, at)
	if err != nil {
		return nil, 0, err
	}
	limit = s.page(limit)
	r := store.Range{Namespace: p.Namespace, Collection: memories, Prefix: key, Exact: true}
	for e, err := range store.Entries(ctx, s.engine.Versions, v.lineage, r, limit+1) {
		if err != nil {
			return nil, 0, s.translate("read the history of "+clip(key, 64), err)
		}
		m, err := decodeMemory(e)
		if err != nil {
			return nil, 0, err
		}
		if len(versions) == limit {
			more = m.Version
			break
		}
		versions = append(versions, m)
	}
	return versions, more, s.translate("read the history of "+clip(key, 64), s.findOrigins(ctx, v.lineage, versions))
}

// Durability returns the counters of durable commits; counted is false if the engine has none.
func (s *Space) Durability(ctx context.Context) (d store.Durability, counted bool, err error) {
	e, counted := s.engine.(store.Durable)
	if counted {
		d, err = e.Durability(ctx)
	}
	return d, counted, s.translate("read the counters of durability", err)
}

// Extent returns the readable past of a branch.
func (a *Access) Extent(ctx context.Context, name string) (Extent, error) {
	s := a.space
	b, err := a.branch(name)
	if err != nil {
		return Extent{}, err
	}
	head, err := s.engine.Head(ctx)
	if err != nil {
		return Extent{}, s.translate("read the newest version", err)
	}
	oldest, err := s.oldest(ctx, b)
	if err != nil {
		return Extent{}, err
	}
	return Extent{Branch: b.Name, Oldest: oldest.Time, OldestVersion: oldest.Version, Latest: head.Time, LatestVersion: head.Version}, nil
}

// oldest returns the first commit of the branch's past: where retention begins, or the first write.
func (s *Space) oldest(ctx context.Context, b *lineage.Branch) (store.Point, error) {
	floor, err := s.floor(ctx, b)
	if err != nil || floor.Version != 0 {
		return floor, err
	}
	for i := len(b.Lineage) - 1; i >= 0; i-- {
		segment := b.Lineage[i]
		changes, _, err := s.engine.Changes(ctx, segment.Branch, 0, segment.At, 1)
		if err != nil {
			return store.Point{}, s.translate("read the first change", err)
		}
		if len(changes) > 0 {
			point, err := s.engine.PointOf(ctx, changes[0].Version)
			return point, s.translate("read the first change", err)
		}
	}
	return store.Point{}, nil
}

// floor returns the oldest point that retention left on the branch; zero if untrimmed.
func (s *Space) floor(ctx context.Context, b *lineage.Branch) (store.Point, error) {
	floor := store.Point{}
	for version := uint64(1); ; version = floor.Version {
		_, err := s.engine.GetAt(ctx, b.Lineage.At(version), []store.Key{b.Key()})
		trimmed, ok := asTrimmed(err)
		if !ok {
			return floor, s.translate("find the oldest version", err)
		}
		if trimmed.Floor.Version <= floor.Version {
			return floor, nil
		}
		floor = trimmed.Floor
	}
}

// VersionAt returns the newest version of a branch at a moment, and the instant of that moment.
func (a *Access) VersionAt(ctx context.Context, branch string, at AsOf) (uint64, time.Time, error) {
	s := a.space
	if _, err := a.branch(branch); err != nil {
		return 0, time.Time{}, err
	}
	v, err := s.view(ctx, branch, at)
	if err != nil {
		return 0, time.Time{}, err
	}
	if !v.past {
		head, err := s.engine.Head(ctx)
		return head.Version, v.now, s.translate("read the newest version", err)
	}
	if v.version == 0 {
		return 0, time.Time{}, notFound("nothing had been written by %s: give a later moment", FormatTime(v.now))
	}
	return v.version, v.now, s.reachable(ctx, v)
}

// Status summarizes a branch and namespace.
func (a *Access) Status(ctx context.Context, p Location) (Status, error) {
	s := a.space
	if p.Namespace == AllNamespaces {
		return a.statusOfAll(ctx, p.Branch)
	}
	p, err := a.reading(p)
	if err != nil {
		return Status{}, err
	}
	v, err := s.view(ctx, p.Branch, AsOf{})
	if err != nil {
		return Status{}, err
	}
	return a.status(ctx, v, p.Namespace, []string{p.Namespace})
}

// statusOfAll summarizes a branch and the namespaces that the caller may read.
func (a *Access) statusOfAll(ctx context.Context, branch string) (Status, error) {
	readable, err := a.readable(nil)
	if err != nil {
		return Status{}, err
	}
	v, err := a.space.view(ctx, branch, AsOf{})
	if err != nil {
		return Status{}, err
	}
	if err := a.space.Ready(ctx); err != nil {
		return Status{}, err
	}
	return a.status(ctx, v, AllNamespaces, readable)
}

func (a *Access) status(ctx context.Context, v view, named string, namespaces []string) (Status, error) {
	s := a.space
	head, err := s.engine.Head(ctx)
	if err != nil {
		return Status{}, s.translate("read the newest version", err)
	}
	st := Status{Branch: v.branch.Name, Namespace: named, Branches: len(s.catalogue.Live()), Version: head.Version, Searchable: s.upkeep.IsFilled()}
	if st.Keys, err = s.count(ctx, v, namespaces, memories); err != nil {
		return st, err
	}
	if s.vectors != nil {
		st.Embedders = a.embedders()
	}
	st.Events, err = s.count(ctx, v, namespaces, events)
	return st, err
}

// Documents reads versions as documents of the index; missing ones are returned as deleted.
func (s *Space) Documents(ctx context.Context, refs []search.Ref) ([]search.Doc, error) {
	list := make([]search.Doc, len(refs))
	for i, r := range refs {
		e, err := s.version(ctx, r)
		if err != nil {
			return nil, s.translate("read a version", err)
		}
		if !e.Exists() || e.Version != r.Version {
			list[i].Deleted = true
			continue
		}
		d, ok, err := record.Doc(e)
		if err != nil {
			return nil, err
		}
		d.Deleted = d.Deleted || !ok
		list[i] = d
	}
	return list, nil
}

// version reads one version of an entry; the zero Entry: it is gone.
func (s *Space) version(ctx context.Context, r search.Ref) (store.Entry, error) {
	key := store.Key{Namespace: r.Namespace, Collection: r.Collection, Name: r.Key}
	found, err := s.engine.GetAt(ctx, store.Lineage{{Branch: r.Branch, At: r.Version}}, []store.Key{key})
	if err == nil {
		return found[0], nil
	}
	if _, trimmed := asTrimmed(err); !trimmed && !errors.Is(err, store.ErrNotFound) {
		return store.Entry{}, err
	}
	only := store.Range{Namespace: key.Namespace, Collection: key.Collection, Prefix: key.Name, Exact: true}
	for e, err := range store.Entries(ctx, s.engine.Versions, store.Lineage{{Branch: r.Branch, At: store.Latest}}, only, fillPage) {
		if err != nil || e.Version == r.Version {
			return e, err
		}
	}
	return store.Entry{}, nil
}
