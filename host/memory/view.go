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

// view is a branch at a moment.
type view struct {
	branch  *lineage.Branch
	lineage store.Lineage
	version uint64    // the version that it shows
	now     time.Time // for expiry
	past    bool      // not the present
}

// clockSkew bounds how far a client's clock may be ahead of the server's.
const clockSkew = time.Minute

// view resolves a branch's name and a moment.
func (s *Space) view(ctx context.Context, name string, at AsOf) (view, error) {
	b, err := s.branch(name)
	if err != nil {
		return view{}, err
	}
	now := s.clock().UTC()
	present := view{branch: b, lineage: b.Lineage, version: store.Latest, now: now}
	if at.IsNow() {
		return present, nil
	}
	head, err := s.engine.Head(ctx)
	if err != nil {
		return view{}, s.translate("read the newest version", err)
	}
	if at.Version == 0 && at.Time.After(now) && at.Time.After(head.Time) { // the clock may have been put back since
		if at.Time.After(now.Add(clockSkew)) {
			return view{}, invalid("as_of %s lies in the future: it is %s now; leave as_of out to read the present", FormatTime(at.Time), FormatTime(now))
		}
		return present, nil
	}
	point, instant, err := s.resolve(ctx, at)
	if err != nil {
		return view{}, err
	}
	return view{branch: b, lineage: b.Lineage.At(point.Version), version: point.Version, now: instant, past: true}, nil
}

// resolve returns the commit of a moment, and its instant.
func (s *Space) resolve(ctx context.Context, at AsOf) (store.Point, time.Time, error) {
	if at.Version == 0 {
		point, err := s.engine.VersionAt(ctx, at.Time)
		return point, at.Time.UTC(), s.translate("find the version at "+FormatTime(at.Time), err)
	}
	point, err := s.engine.PointOf(ctx, at.Version)
	if errors.Is(err, store.ErrNotFound) {
		head, err := s.engine.Head(ctx)
		if err != nil {
			return store.Point{}, time.Time{}, s.translate("read the newest version", err)
		}
		return store.Point{}, time.Time{}, invalid("there is no version v%d: the newest is v%d (%s)", at.Version, head.Version, FormatTime(head.Time))
	}
	return point, point.Time, s.translate("find the version", err)
}

func (v view) search(namespaces []string, collection string) search.View {
	return search.View{Lineage: v.lineage, Namespaces: namespaces, Collections: []string{collection}, Now: v.now}
}

// searched is what a search covers.
func (v view) searched(q Search) search.View {
	in := v.search(q.Namespaces, q.collection())
	in.Sole = q.Project
	return in
}

// reachable returns an error for a past that is no longer kept, which the index alone would not notice.
func (s *Space) reachable(ctx context.Context, v view) error {
	if !v.past {
		return nil
	}
	_, err := s.engine.GetAt(ctx, v.lineage, []store.Key{v.branch.Key()})
	return s.translate("search", err)
}

// present decodes an entry, if it is a memory at the view's instant.
func (v view) present(e store.Entry) (*Memory, error) {
	if !e.Exists() {
		return nil, nil
	}
	r, err := record.Decode(e)
	if err != nil {
		return nil, err
	}
	if r.Expired(v.now) || r.Purged != "" {
		return nil, nil
	}
	m := memoryOf(e, r)
	return &m, nil
}

// scan converts entries of a view until limit of them yield a result; read returns nil to skip one.
func scan[T any](ctx context.Context, s *Space, v view, r store.Range, limit int, read func(store.Entry) (*T, error)) (list []T, err error) {
	for e, err := range store.Entries(ctx, s.engine.ScanAt, v.lineage, r, limit) {
		if err != nil {
			return nil, err
		}
		found, err := read(e)
		if err != nil {
			return nil, err
		}
		if found == nil {
			continue
		}
		if list = append(list, *found); len(list) >= limit {
			break
		}
	}
	return list, nil
}

// count counts the live entries of a collection in some namespaces: by the index, or, of one namespace, by reading while that is not ready.
func (s *Space) count(ctx context.Context, v view, namespaces []string, collection string) (int, error) {
	if s.upkeep.IsFilled() && v.branch.IsSearched() {
		n, err := s.index.Count(ctx, v.search(namespaces, collection))
		return n, s.translate("count", err)
	}
	n := 0
	within := store.Range{Namespace: namespaces[0], Collection: collection}
	for e, err := range store.Entries(ctx, s.engine.ScanAt, v.lineage, within, s.limits.Page) {
		if err != nil {
			return 0, s.translate("count", err)
		}
		d, _, err := record.Doc(e)
		if err != nil {
			return 0, err
		}
		if d.Expires.IsZero() || d.Expires.After(v.now) {
			n++
		}
	}
	return n, nil
}

// Newest returns the newest version of the space; 0: it is empty.
func (s *Space) Newest(ctx context.Context) (uint64, error) {
	head, err := s.engine.Head(ctx)
	return head.Version, s.translate("read the newest version", err)
}
