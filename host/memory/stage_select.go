package memory

import (
	"cmp"
	"context"
)

// Select lists memories by their fields, staged changes included. Later pages show memories at the version of the
// first, so that a listing beside other writers neither repeats nor omits stable memories. Counters are
// present ones, and memories that the stage itself changes between two pages move to where their new values put them.
func (t *Stage) Select(ctx context.Context, l Listing) (Listed, error) {
	q, err := t.listing(ctx, l)
	if err != nil {
		return Listed{}, err
	}
	if err := q.collect(ctx, q.byIndex); err != nil {
		return Listed{}, err
	}
	page, ok, err := q.page(ctx)
	if ok || err != nil {
		return page, err
	}
	if err := q.collect(ctx, q.byScan); err != nil { // the index disagrees with the store: a purge may be running
		return Listed{}, err
	}
	page, _, err = q.page(ctx)
	return page, err
}

// listing checks a Listing.
func (t *Stage) listing(ctx context.Context, l Listing) (*listing, error) {
	namespace, err := t.reading(l.Namespace)
	if err != nil {
		return nil, err
	}
	if l.Namespace, l.Order = namespace, cmp.Or(l.Order, ByKey); l.Count != "" && l.Count != CountAlso && l.Count != CountOnly {
		return nil, invalid("count %q is neither %s nor %s", clip(string(l.Count), 64), CountAlso, CountOnly)
	}
	if err := l.Order.check(); err != nil {
		return nil, err
	}
	if len(t.seen) > t.space.limits.StageReads {
		return nil, t.exhausted("entries are read", t.space.limits.StageReads)
	}
	counts := l.Filter.counts() || l.Order.counts()
	if counts && !t.at.IsNow() {
		return nil, invalid("counters are of the present: leave as_of out, or accesses, health and accessed")
	}
	q := &listing{Listing: l, stage: t, view: view{branch: t.branch, version: t.version, now: t.now}, counts: counts}
	if q.filter, err = l.Filter.search(t.space.limits); err != nil {
		return nil, err
	}
	if err := q.digestOf(); err != nil {
		return nil, err
	}
	if err := q.continued(); err != nil {
		return nil, err
	}
	q.view.lineage = t.lineageAt(q.view.version)
	q.test = q.filter.At(q.view.now)
	return q, nil
}
