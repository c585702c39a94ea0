package memory

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/store"
)

// Use is the size of a family's collections: the newest versions of its records, on every branch on which they were
// written. What a fork inherits is counted once, where it was written.
type Use struct {
	Records int64 `json:"records"`
	Bytes   int64 `json:"record_bytes"` // of keys and values
}

func (u Use) plus(o Use) Use  { return Use{u.Records + o.Records, u.Bytes + o.Bytes} }
func (u Use) minus(o Use) Use { return Use{u.Records - o.Records, u.Bytes - o.Bytes} }

// ownerOf returns the family of a collection; empty for the space's own.
func ownerOf(collection string) string {
	owner, _, owned := strings.Cut(collection, "/")
	if !owned {
		return ""
	}
	return owner
}

// tally is a record's share of use. Expiring ones count until the end of an hour, so that they need no second look.
type tally struct {
	Use
	until int64 // hours since the epoch, 0: for ever
}

// at returns the use at a moment.
func (c tally) at(now time.Time) Use {
	if c.until != 0 && c.until <= hours(now) {
		return Use{}
	}
	return c.Use
}

func hours(t time.Time) int64 { return t.Unix() / 3600 }

// tallyRecord returns a record's tally; nil counts nothing.
func tallyRecord(name string, r *record.Record) tally {
	if r == nil || r.Purged != "" {
		return tally{}
	}
	c := tally{Use: Use{1, int64(len(name) + len(r.Value))}}
	if r.Expires != 0 {
		c.until = hours(time.UnixMicro(r.Expires)) + 1
	}
	return c
}

// tallyEntry returns an entry's tally on the branch that it is read for.
func tallyEntry(e store.Entry, b store.BranchID) (tally, error) {
	if !e.Exists() || e.Branch != b {
		return tally{}, nil
	}
	r, err := record.Decode(e)
	return tallyRecord(e.Name, &r), err
}

// useChange is the replacement of an owner's record on a branch.
type useChange struct {
	owner    string
	branch   store.BranchID
	old, new tally
}

// useChangeOf returns the change from one entry to another.
func useChangeOf(owner string, b store.BranchID, from, to store.Entry) (c useChange, err error) {
	c = useChange{owner: owner, branch: b}
	if c.old, err = tallyEntry(from, b); err == nil {
		c.new, err = tallyEntry(to, b)
	}
	return c, err
}

// usage counts each owner's use. Existing records are counted in the background at the start: only those who need room wait for it.
type usage struct {
	scanning sync.Mutex // held during a full count
	mu       sync.Mutex
	owners   map[string]*owned
	ready    chan struct{} // closed when everything is counted
	counting bool
	counted  uint64   // the version of the last full count
	missed   []missed // during a full count, which may include them or not
}

type missed struct {
	version uint64
	changes []useChange
	dropped store.BranchID // instead: a deleted branch
}

// owned is an owner's use.
type owned struct {
	branches map[store.BranchID]map[int64]Use // by the last hour for which it counts
	total    map[int64]Use
	reserved Use // by pending commits
}

func newUsage() *usage {
	return &usage{owners: map[string]*owned{}, ready: make(chan struct{}), counting: true}
}

func (u *usage) owner(name string) *owned {
	o := u.owners[name]
	if o == nil {
		o = &owned{branches: map[store.BranchID]map[int64]Use{}, total: map[int64]Use{}}
		u.owners[name] = o
	}
	return o
}

// add adds use; a negative one is subtracted.
func (o *owned) add(b store.BranchID, until int64, use Use) {
	if o.branches[b] == nil {
		o.branches[b] = map[int64]Use{}
	}
	for _, parts := range []map[int64]Use{o.branches[b], o.total} {
		if parts[until] = parts[until].plus(use); parts[until] == (Use{}) {
			delete(parts, until)
		}
	}
}

func (o *owned) at(now time.Time) Use {
	var use Use
	for until, part := range o.total {
		use = use.plus(tally{part, until}.at(now))
	}
	return use
}

// apply counts the changes of a commit, unless the last full count has them: a commit can be visible before it is
// applied. The caller holds mu.
func (u *usage) apply(version uint64, changes []useChange) {
	if len(changes) == 0 || version <= u.counted {
		return
	}
	if u.counting {
		u.missed = append(u.missed, missed{version: version, changes: changes})
		return
	}
	for _, c := range changes {
		o := u.owner(c.owner)
		o.add(c.branch, c.old.until, Use{}.minus(c.old.Use))
		o.add(c.branch, c.new.until, c.new.Use)
	}
}

// count is apply for a commit without a reservation.
func (u *usage) count(version uint64, changes []useChange) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.apply(version, changes)
}

// drop removes a deleted branch.
func (u *usage) drop(b store.BranchID) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.counting {
		u.missed = append(u.missed, missed{dropped: b})
		return
	}
	u.dropLocked(b)
}

func (u *usage) dropLocked(b store.BranchID) {
	for _, o := range u.owners {
		for until, use := range maps.Clone(o.branches[b]) {
			o.add(b, until, Use{}.minus(use))
		}
		delete(o.branches, b)
	}
}

// Quota bounds a family's use. Zero fields mean no bound.
type Quota struct {
	Records int64
	Bytes   int64
}

// exceeded returns an error if growth does not fit. Without growth there is none, even beyond a quota that was lowered.
func (q Quota) exceeded(owner string, used, growth Use) error {
	for _, b := range []struct {
		name                string
		limit, used, growth int64
	}{{"records", q.Records, used.Records, growth.Records}, {"record_bytes", q.Bytes, used.Bytes, growth.Bytes}} {
		if b.limit == 0 || b.growth <= 0 || b.used+b.growth <= b.limit {
			continue
		}
		return &Error{Code: Exhausted, Rule: "quota " + b.name, Details: map[string]any{"quota": b.name, "limit": b.limit, "used": b.used},
			Message: fmt.Sprintf("family %s may keep %s=%d in its collections, on all branches together; %d are used, and %d more do not fit: have it delete some, "+
				"or have an operator raise the quota, with alcove family grant %s --limit %s=N", owner, b.name, b.limit, b.used, b.growth, owner, b.name)}
	}
	return nil
}

// room returns an error if a stage's growth does not fit. It reserves nothing.
func (u *usage) room(ctx context.Context, now time.Time, owner string, q Quota, growth Use) error {
	if q == (Quota{}) || growth.Records <= 0 && growth.Bytes <= 0 {
		return nil
	}
	if err := u.wait(ctx); err != nil {
		return err
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	o := u.owner(owner)
	return q.exceeded(owner, o.at(now).plus(o.reserved), growth)
}

// reservation is room reserved for a commit; nil: the commit needs none.
type reservation struct {
	usage  *usage
	growth map[string]Use
}

// reserve reserves room for a commit until the reservation is released or applied.
func (u *usage) reserve(ctx context.Context, now time.Time, growth map[string]Use, quotas map[string]Quota) (*reservation, error) {
	r := &reservation{u, growth}
	if len(growth) == 0 {
		return r, nil
	}
	if err := u.wait(ctx); err != nil {
		return nil, err
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	for owner, more := range growth {
		o := u.owner(owner)
		if err := quotas[owner].exceeded(owner, o.at(now).plus(o.reserved), more); err != nil {
			return nil, err
		}
	}
	r.add(1)
	return r, nil
}

// add adds the room to the reserved use, or with -1 removes it. The caller holds mu.
func (r *reservation) add(sign int64) {
	for owner, more := range r.growth {
		o := r.usage.owner(owner)
		o.reserved = o.reserved.plus(Use{sign * more.Records, sign * more.Bytes})
	}
}

// release releases the room of a failed commit.
func (r *reservation) release() {
	if r == nil {
		return
	}
	r.usage.mu.Lock()
	defer r.usage.mu.Unlock()
	r.add(-1)
}

// apply counts what was committed in place of its reservation.
func (r *reservation) apply(version uint64, changes []useChange) {
	if r == nil {
		return
	}
	r.usage.mu.Lock()
	defer r.usage.mu.Unlock()
	r.add(-1)
	r.usage.apply(version, changes)
}

// growthOf returns the growth by changes, at a moment, of the owners with a quota. Shrinking reserves no room.
func growthOf(changes []useChange, now time.Time, quotas map[string]Quota) map[string]Use {
	sum := map[string]Use{}
	for _, c := range changes {
		if quotas[c.owner] != (Quota{}) {
			sum[c.owner] = sum[c.owner].plus(c.new.at(now)).minus(c.old.at(now))
		}
	}
	maps.DeleteFunc(sum, func(_ string, use Use) bool { return use.Records <= 0 && use.Bytes <= 0 })
	for owner, use := range sum {
		sum[owner] = Use{max(0, use.Records), max(0, use.Bytes)}
	}
	return sum
}

// wait waits for the full count.
func (u *usage) wait(ctx context.Context) error {
	u.mu.Lock()
	ready := u.ready
	u.mu.Unlock()
	select {
	case <-ready:
		return nil
	default:
	}
	select {
	case <-ready:
		return nil
	case <-ctx.Done():
		return &Error{Code: Unavailable, Retryable: true, Cause: ctx.Err(), Message: "what families keep is still being counted after a start: try again in a few seconds"}
	}
}

// begin begins a full count. Commits from now on are recorded beside it.
func (u *usage) begin() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.counting {
		u.counting, u.missed, u.ready = true, nil, make(chan struct{})
	}
}

// finish installs the full count at a version, and adds later commits.
func (u *usage) finish(at uint64, found map[string]*owned) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for name, o := range u.owners {
		if found[name] == nil {
			found[name] = &owned{branches: map[store.BranchID]map[int64]Use{}, total: map[int64]Use{}}
		}
		found[name].reserved = o.reserved
	}
	u.owners = found
	late := u.missed
	u.counting, u.counted, u.missed = false, at, nil
	for _, m := range late {
		u.apply(m.version, m.changes)
	}
	for _, m := range late {
		if m.dropped != 0 {
			u.dropLocked(m.dropped)
		}
	}
	close(u.ready)
}

// UseOf returns a family's use.
func (s *Space) UseOf(ctx context.Context, family string) (Use, error) {
	if err := s.usage.wait(ctx); err != nil {
		return Use{}, err
	}
	s.usage.mu.Lock()
	defer s.usage.mu.Unlock()
	return s.usage.owner(family).at(s.clock()), nil
}

// queueCount queues a full count.
func (s *Space) queueCount() { s.chores.add("count what families keep", s.countAll) }

// countAll counts everything at one version. If damage prevents that, families can still write: the partial count
// applies.
func (s *Space) countAll(ctx context.Context) error {
	s.usage.scanning.Lock()
	defer s.usage.scanning.Unlock()
	s.usage.begin()
	for attempt := 1; ; attempt++ {
		head, err := s.engine.Head(ctx)
		if err != nil {
			return err
		}
		found := &usage{owners: map[string]*owned{}}
		var failed error
		for _, b := range s.catalogue.Kept() {
			if err := s.countBranch(ctx, b.ID, head.Version, found); err != nil {
				failed = errors.Join(failed, fmt.Errorf("branch %s: %w", b.Name, err))
			}
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if _, trimmed := asTrimmed(failed); trimmed && attempt < attempts { // trimmed meanwhile
			continue
		}
		s.usage.finish(head.Version, found.owners)
		if failed != nil {
			s.logger.Warn("not all that families keep could be counted; their quotas hold for the rest", "error", failed)
		}
		return nil
	}
}

// countBranch counts the entries of a branch, up to a version.
func (s *Space) countBranch(ctx context.Context, id store.BranchID, at uint64, found *usage) error {
	ranges, err := s.ownedRanges(ctx, id)
	if err != nil {
		return err
	}
	own := store.Lineage{{Branch: id, At: at}}
	for _, r := range ranges {
		for e, err := range store.Entries(ctx, s.engine.ScanAt, own, r, fillPage) {
			if err != nil {
				return err
			}
			c, err := tallyEntry(e, id)
			if err != nil {
				return err
			}
			if owner := ownerOf(e.Collection); owner != "" {
				found.owner(owner).add(id, c.until, c.Use)
			}
		}
	}
	return nil
}

// ownedRanges returns the ranges with families' records on a branch.
func (s *Space) ownedRanges(ctx context.Context, id store.BranchID) ([]store.Range, error) {
	engine, ok := s.engine.(store.Collecting)
	if !ok {
		return []store.Range{{}}, nil
	}
	list, err := engine.Collections(ctx, id)
	if err != nil {
		return nil, err
	}
	var ranges []store.Range
	for _, key := range list {
		if ownerOf(key.Collection) != "" {
			ranges = append(ranges, store.Range{Namespace: key.Namespace, Collection: key.Collection})
		}
	}
	return ranges, nil
}
