package memory

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/search"
	"github.com/alcove-memory/alcove/host/store"
)

// recent goes through the memories of a view from the newest commit backwards. A listing by time that admits most memories is so complete
// after a few commits, and the index need not sort all memories first.
type recent struct {
	space   *Space
	lineage store.Lineage
	head    uint64 // the newest version to look at
	wants   func(namespace string) bool
	most    int // memories to read
}

var (
	errEnough  = errors.New("the page is complete")
	errTooMany = errors.New("the page needs too many changes")
)

// window bounds the changes that are read at once, apart from those of one commit.
const window = 4096

// each calls do for the memories of the view, by the time of their versions, newest first, and those of one commit by namespace and key,
// until do returns true: no memory behind this one is on the page. complete is false if that did not happen within the bound, or the
// changes are no longer kept.
func (r *recent) each(ctx context.Context, do func(*search.Columns) (enough bool)) (complete bool, err error) {
	for i, segment := range r.lineage {
		floor, to := uint64(0), min(segment.At, r.head)
		if i+1 < len(r.lineage) {
			floor = r.lineage[i+1].At // every version of the segment is greater
		}
		for width := uint64(1); to > floor; width *= 2 {
			from := max(floor, to-min(to, width))
			if err := r.span(ctx, segment.Branch, from, to, do); err != nil {
				return r.ended(err)
			}
			to = from
		}
	}
	return false, nil
}

// ended tells how a walk ended.
func (r *recent) ended(err error) (complete bool, _ error) {
	_, trimmed := asTrimmed(err)
	switch {
	case errors.Is(err, errEnough):
		return true, nil
	case trimmed || errors.Is(err, errTooMany):
		return false, nil
	}
	return false, err
}

// span goes through the commits of a span of versions on a branch, newest first.
func (r *recent) span(ctx context.Context, b store.BranchID, from, to uint64, do func(*search.Columns) bool) error {
	changes, next, err := r.space.engine.Changes(ctx, b, from, to, window)
	if err != nil {
		return err
	}
	if next != 0 {
		return errTooMany
	}
	for len(changes) > 0 {
		version, begin := changes[len(changes)-1].Version, len(changes)-1
		for begin > 0 && changes[begin-1].Version == version {
			begin--
		}
		if err := r.commit(ctx, version, changes[begin:], do); err != nil {
			return err
		}
		changes = changes[:begin]
	}
	return nil
}

// commit goes through the memories that are as one commit left them.
func (r *recent) commit(ctx context.Context, version uint64, changes []store.Change, do func(*search.Columns) bool) error {
	var keys []store.Key
	for _, c := range changes { // in key order
		if c.Collection == memories && !c.Deleted && r.wants(c.Namespace) {
			keys = append(keys, c.Key)
		}
	}
	for some := range slices.Chunk(keys, recentStep) {
		if r.most -= len(some); r.most < 0 {
			return errTooMany
		}
		entries, err := r.space.engine.GetAt(ctx, r.lineage, some)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if e.Version != version || !e.Exists() { // replaced or deleted since
				continue
			}
			rec, err := record.Decode(e)
			if err != nil {
				return err
			}
			if rec.Purged != "" {
				continue
			}
			c := columnsOf(&rec, e, rec.CreatedAt(e), false)
			if do(&c) {
				return errEnough
			}
		}
	}
	return nil
}

// recentStep is how many memories are read at once.
const recentStep = 32

// isByTime reports whether a listing may be complete after a few commits: it goes by time, newest first, and its filter admits most
// memories.
func isByTime(o Order, f *search.Filter) bool {
	return (o == ByNewest || o == ByUpdate) && f.Expiry == search.Unexpired && f.Text == "" && f.Prefix == "" && f.MinImportance == nil && f.MaxImportance == nil &&
		len(f.Types)+len(f.Agents)+len(f.Tags)+len(f.AnyTags)+len(f.NoTags)+len(f.Fields) == 0
}

// recently begins a walk for a page of which most memories are needed, from an instant back, in µs; nil: from the newest. ok is false if the
// page is too far back.
func (s *Space) recently(ctx context.Context, v view, o Order, from *int64, most int, wants func(string) bool) (r *recent, ok bool, err error) {
	r = &recent{space: s, lineage: v.lineage, head: v.version, wants: wants, most: 4*most + 2*recentStep}
	if from == nil {
		return r, true, nil
	}
	at, err := s.engine.VersionAt(ctx, time.UnixMicro(*from))
	if err != nil {
		return nil, false, err
	}
	if o == ByUpdate { // no memory of a later commit is on the page
		r.head = min(r.head, at.Version)
	}
	return r, r.head-min(at.Version, r.head) <= uint64(r.most), nil
}

// columnsOf returns the columns of a record that a filter tests.
func columnsOf(r *record.Record, e store.Entry, created time.Time, fields bool) search.Columns {
	c := search.Columns{State: r.CurrentState(), Type: r.Type, Agent: r.Agent, Tags: r.Tags, Importance: math.NaN(),
		Created: created.UnixMicro(), Updated: e.Time.UnixMicro(), Expires: r.Expires}
	c.Branch, c.Namespace, c.Collection, c.Key, c.Version = e.Branch, e.Namespace, e.Collection, e.Name, e.Version
	if r.Importance != nil {
		c.Importance = *r.Importance
	}
	if fields {
		c.Fields = r.SearchFields(e.Namespace)
	}
	return c
}
