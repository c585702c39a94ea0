package memory

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/alcove-memory/alcove/host/internal/namespace"
	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/store"
)

const (
	mostBuckets = 500
	mostCounted = 5_000_000 // changes that one timeline reads
	mostWeighed = 20_000    // changes that one page of what changed reads
)

// Period selects changes of memories on a branch: after Since, up to and including Until.
type Period struct {
	Branch     string
	Namespaces []string // nil: all
	Since      AsOf     // now: from the first change on
	Until      AsOf
}

// TimelineQuery selects a timeline.
type TimelineQuery struct {
	Period
	Buckets int  // 1 to 500
	At      AsOf // whose neighbours to tell; now: none but the last change
}

// Timeline is how many memories changed when.
type Timeline struct {
	Branch       string
	Since, Until store.Point
	At           store.Point // what TimelineQuery.At shows; the end of the period for now
	Changes      int
	Buckets      []Bucket    // equal spans, oldest first
	Previous     store.Point // the last commit with a change before the one that At shows; zero: none
	Next         store.Point // the first after it
}

// Bucket is a span of a timeline.
type Bucket struct {
	From    time.Time // exclusive, except that of the first bucket
	Until   time.Time
	Version uint64 // the newest at Until
	Changes int
}

// Timeline counts the changes of memories in equal spans of a period. It reads each change once, and no value.
func (a *Access) Timeline(ctx context.Context, q TimelineQuery) (Timeline, error) {
	if q.Buckets < 1 || q.Buckets > mostBuckets {
		return Timeline{}, invalid("a timeline has 1 to %d buckets, not %d", mostBuckets, q.Buckets)
	}
	p, err := a.period(ctx, q.Period)
	if err != nil {
		return Timeline{}, err
	}
	t := Timeline{Branch: p.branch.Name, Since: p.since, Until: p.until, At: p.until}
	if !q.At.IsNow() {
		point, instant, err := a.space.resolve(ctx, q.At)
		if err != nil {
			return Timeline{}, err
		}
		t.At = store.Point{Version: point.Version, Time: instant}
	}
	if t.Buckets, err = a.space.buckets(ctx, p, q.Buckets); err != nil {
		return Timeline{}, err
	}
	around, err := a.count(ctx, p, &t)
	if err != nil {
		return Timeline{}, err
	}
	if t.Previous, err = a.space.pointOf(ctx, around.previous); err == nil {
		t.Next, err = a.space.pointOf(ctx, around.next)
	}
	return t, err
}

// period is a Period with its ends found.
type period struct {
	branch       *lineage.Branch
	namespaces   []string
	lineage      store.Lineage // at its end
	since, until store.Point
	now          time.Time // at its end, for expiry
	after        uint64    // its changes are newer
}

func (a *Access) period(ctx context.Context, q Period) (p period, err error) {
	s := a.space
	if p.namespaces, err = a.readable(q.Namespaces); err != nil {
		return p, err
	}
	v, err := s.view(ctx, q.Branch, q.Until)
	if err != nil {
		return p, err
	}
	p.branch, p.lineage, p.now = v.branch, v.lineage, v.now
	if p.until, err = s.engine.Head(ctx); err != nil {
		return p, s.translate("read the newest version", err)
	}
	if v.past {
		p.until = store.Point{Version: v.version, Time: v.now}
	}
	p.lineage = p.lineage.At(p.until.Version)
	if q.Since.IsNow() {
		return s.fromTheBeginning(ctx, p)
	}
	point, instant, err := s.resolve(ctx, q.Since)
	p.since, p.after = store.Point{Version: point.Version, Time: instant}, point.Version
	if err == nil && p.since.Time.After(p.until.Time) {
		err = invalid("the period ends at %s, before it begins at %s: exchange since and until",
			FormatTime(p.until.Time), FormatTime(p.since.Time))
	}
	return p, err
}

// fromTheBeginning has a period begin with the first change that is kept.
func (s *Space) fromTheBeginning(ctx context.Context, p period) (period, error) {
	floor, err := s.floor(ctx, p.branch)
	if err != nil {
		return p, err
	}
	if p.since, p.after = floor, floor.Version; floor.Version > 0 {
		return p, nil // what changed up to the floor is not known
	}
	if p.since, err = s.oldest(ctx, p.branch); err == nil && p.since.Version > 0 {
		p.after = p.since.Version - 1
	}
	return p, err
}

// before is the branch at the beginning of the period.
func (p period) before() view {
	return view{branch: p.branch, lineage: p.branch.Lineage.At(p.after), version: p.after, now: p.since.Time, past: true}
}

// buckets divides a period into equal spans.
func (s *Space) buckets(ctx context.Context, p period, n int) ([]Bucket, error) {
	list, from, length := make([]Bucket, n), p.since.Time, p.until.Time.Sub(p.since.Time)
	for i := range list {
		until := p.since.Time.Add(time.Duration(float64(length) * float64(i+1) / float64(n)))
		point := p.until
		if i < n-1 {
			var err error
			if point, err = s.engine.VersionAt(ctx, until); err != nil {
				return nil, s.translate("find the version at "+FormatTime(until), err)
			}
		} else {
			until = p.until.Time
		}
		list[i], from = Bucket{From: from, Until: until, Version: point.Version}, until
	}
	return list, nil
}

// neighbours are the commits with a change before and after that of a moment; 0: none.
type neighbours struct{ previous, last, next uint64 }

// add takes the version of the next change, and the moment.
func (n *neighbours) add(version, at uint64) {
	switch {
	case version > at && n.next == 0:
		n.next = version
	case version <= at && version != n.last:
		n.previous, n.last = n.last, version
	}
}

// count counts the changes of a period into the buckets of a timeline.
func (a *Access) count(ctx context.Context, p period, t *Timeline) (around neighbours, err error) {
	bucket := 0
	for _, segment := range slices.Backward(p.segments()) {
		changes, err := a.space.tallied(ctx, segment)
		if err != nil {
			return around, err
		}
		for version := range changes.selected(p.selects) {
			for bucket < len(t.Buckets)-1 && version > t.Buckets[bucket].Version {
				bucket++
			}
			t.Buckets[bucket].Changes++
			t.Changes++
			around.add(version, t.At.Version)
		}
	}
	return around, nil
}

// selects reports whether a namespace is one of the period's.
func (p period) selects(name string) bool { return namespace.Selects(p.namespaces, name) }

// span is the part of a branch's versions that lies in a period: after < version <= to.
type span struct {
	branch    store.BranchID
	after, to uint64
}

// segments returns the spans of a period, the newest first.
func (p period) segments() (list []span) {
	for i, s := range p.lineage {
		after := p.after
		if i+1 < len(p.lineage) {
			after = max(after, p.lineage[i+1].At)
		}
		if after < s.At {
			list = append(list, span{s.Branch, after, s.At})
		}
	}
	return list
}

// spanChanges visits the changes of a span, oldest first, as far back as they are kept.
func (s *Space) spanChanges(ctx context.Context, in span) iter.Seq2[[]store.Change, error] {
	return func(yield func([]store.Change, error) bool) {
		for from := in.after; ; {
			changes, next, err := s.engine.Changes(ctx, in.branch, from, in.to, changesPage)
			if trimmed, ok := asTrimmed(err); ok && trimmed.Floor.Version > from {
				from = trimmed.Floor.Version
				continue
			}
			if err != nil {
				yield(nil, s.translate("read what changed", err))
				return
			}
			if !yield(changes, nil) || next == 0 {
				return
			}
			from = next
		}
	}
}

// pointOf returns a commit; the zero Point for none.
func (s *Space) pointOf(ctx context.Context, version uint64) (store.Point, error) {
	if version == 0 {
		return store.Point{}, nil
	}
	point, err := s.engine.PointOf(ctx, version)
	return point, s.translate("find the version", err)
}

// ChangedQuery selects what changed in a period.
type ChangedQuery struct {
	Period
	Limit int    // 0: Limits.Page
	After string // Next of a former page, or of a change in it
}

// ChangedMemory is a memory that is not at the end of a period what it was at its beginning.
type ChangedMemory struct {
	Namespace string
	Key       string
	Before    *Memory // nil: it was not there
	After     *Memory // nil: it is gone
	// Point is its last change in the period, By its author, as far as the commit tells.
	store.Point
	By   Caller
	Next string // continues after this change
}

// Changed lists the memories that differ between the two ends of a period, those changed last first. next continues, and may be set though
// fewer than the limit are listed. What only expired is not listed.
func (a *Access) Changed(ctx context.Context, q ChangedQuery) (list []ChangedMemory, next string, err error) {
	p, err := a.period(ctx, q.Period)
	if err != nil {
		return nil, "", err
	}
	from, err := parsePlace(q.After)
	if err != nil {
		return nil, "", err
	}
	d := changedDraft{
		access: a, period: p, before: p.before(), limit: a.space.page(q.Limit), from: from, authors: map[uint64]Caller{},
	}
	for _, s := range p.segments() {
		if more, err := d.addSpan(ctx, s); err != nil || more {
			return d.list, d.next.String(), err
		}
	}
	return d.list, "", nil
}

// place is a change in a list of changes, newest first: so many of a version were listed.
type place struct {
	version uint64
	passed  int
}

func (p place) String() string { return fmt.Sprintf("%d.%d", p.version, p.passed) }

func parsePlace(text string) (p place, err error) {
	if text == "" {
		return place{version: store.Latest}, nil
	}
	version, passed, found := strings.Cut(text, ".")
	if p.version, err = strconv.ParseUint(version, 10, 64); err == nil {
		p.passed, err = strconv.Atoi(passed)
	}
	if err != nil || !found || p.passed < 0 {
		return p, invalid("%q continues no list: pass the next of the page before", clip(text, 64))
	}
	return p, nil
}

// changedDraft is a page of what changed as it is filled.
type changedDraft struct {
	access   *Access
	period   period
	before   view
	limit    int
	from     place
	authors  map[uint64]Caller
	list     []ChangedMemory
	next     place
	examined int
}

// addSpan adds the changes of a span, newest first. more is set once the page is full.
func (d *changedDraft) addSpan(ctx context.Context, in span) (more bool, err error) {
	const least, most = 64, 1 << 16 // versions looked at together: the log is read forward only
	for to, width := min(in.to, d.from.version), uint64(least); to > in.after; {
		after := max(in.after, to-min(to, width))
		var changes []store.Change
		for page, err := range d.access.space.spanChanges(ctx, span{in.branch, after, to}) {
			if err != nil {
				return false, err
			}
			changes = append(changes, page...)
		}
		if more, err := d.addChanges(ctx, changes); err != nil || more {
			return more, err
		}
		if to = after; len(changes) < comparePage {
			width = min(width*4, most)
		} else {
			width = max(width/4, 1)
		}
	}
	return false, nil
}

// addChanges adds changes of some versions, given oldest first.
func (d *changedDraft) addChanges(ctx context.Context, changes []store.Change) (more bool, err error) {
	slices.Reverse(changes)
	at := place{}
	for chunk := range slices.Chunk(changes, 256) {
		var keys []store.Key
		var places []place
		for _, c := range chunk {
			if at.version != c.Version {
				at = place{version: c.Version}
			}
			at.passed++
			if c.Version == d.from.version && at.passed <= d.from.passed || c.Key.Collection != memories || !d.period.selects(c.Key.Namespace) {
				continue
			}
			keys, places = append(keys, c.Key), append(places, at)
		}
		if more, err := d.addKeys(ctx, keys, places); err != nil || more {
			return more, err
		}
		if d.examined += len(chunk); d.examined >= mostWeighed {
			d.next = at
			return true, nil
		}
	}
	return false, nil
}

// addKeys adds those of some changed keys whose last change is theirs and that differ.
func (d *changedDraft) addKeys(ctx context.Context, keys []store.Key, places []place) (more bool, err error) {
	if len(keys) == 0 {
		return false, nil
	}
	s, after := d.access.space, view{now: d.period.now}
	is, err := s.engine.GetAt(ctx, d.period.lineage, keys)
	if err != nil {
		return false, s.translate("read what changed", err)
	}
	was, err := s.engine.GetAt(ctx, d.before.lineage, keys)
	if err != nil {
		return false, s.translate("read what was before", err)
	}
	for i, e := range is {
		if e.Version != places[i].version {
			continue // it changed again later, and is listed there
		}
		c := ChangedMemory{Namespace: e.Namespace, Key: e.Name, Point: e.Point, Next: places[i].String()}
		if c.After, err = after.present(e); err == nil {
			c.Before, err = d.before.present(was[i])
		}
		if err != nil {
			return false, err
		}
		if same, err := unchanged(was[i], e, c); same || err != nil {
			if err != nil {
				return false, err
			}
			continue
		}
		if len(d.list) == d.limit {
			return true, nil
		}
		if c.By, err = d.author(ctx, c); err != nil {
			return false, err
		}
		d.list, d.next = append(d.list, c), places[i]
	}
	return false, nil
}

// unchanged reports whether a memory has the content that it had, or is as absent as it was.
func unchanged(was, is store.Entry, c ChangedMemory) (bool, error) {
	if c.Before == nil || c.After == nil {
		return c.Before == nil && c.After == nil, nil
	}
	before, err := stateOf(was)
	if err != nil {
		return false, err
	}
	after, err := stateOf(is)
	return before == after, err
}

// author returns who made a change: by the note on its commit, or by the memory.
func (d *changedDraft) author(ctx context.Context, c ChangedMemory) (by Caller, err error) {
	by, known := d.authors[c.Version]
	if !known {
		notes, err := d.access.space.engine.Notes(ctx, c.Version-1, c.Version+1, 1)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return by, d.access.space.translate("read whose a change is", err)
		}
		if len(notes) == 1 {
			if n, ok := record.DecodeNote(notes[0].Note); ok {
				by = Caller{Agent: n.Agent, Client: n.Client, Family: n.Family}
			}
		}
		d.authors[c.Version] = by
	}
	if by.Agent == "" && c.After != nil {
		by.Agent = c.After.Agent
	}
	return by, nil
}
