// Package quota counts what families keep, and holds them to their quotas.
package quota

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/alcove-memory/alcove/host/memory/fault"
	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/store"
)

// Use is the size of a family's collections: the newest versions of its records, on every branch on which they were
// written. What a fork inherits is counted once, where it was written.
type Use struct {
	Records int64 `json:"records"`
	Bytes   int64 `json:"record_bytes"` // of keys and values
}

// Plus returns the sum of both.
func (u Use) Plus(o Use) Use { return Use{u.Records + o.Records, u.Bytes + o.Bytes} }

// Minus returns the difference of both.
func (u Use) Minus(o Use) Use { return Use{u.Records - o.Records, u.Bytes - o.Bytes} }

// Tally is a record's share of use. Expiring ones count until the end of an hour, so that they need no second look.
type Tally struct {
	Use
	until int64 // hours since the epoch, 0: for ever
}

// At returns the use at a moment.
func (c Tally) At(now time.Time) Use {
	if c.until != 0 && c.until <= hours(now) {
		return Use{}
	}
	return c.Use
}

func hours(t time.Time) int64 { return t.Unix() / 3600 }

// Of returns a record's tally; nil counts nothing.
func Of(name string, r *record.Record) Tally {
	if r == nil || r.Purged != "" {
		return Tally{}
	}
	c := Tally{Use: Use{1, int64(len(name) + len(r.Value))}}
	if r.Expires != 0 {
		c.until = hours(time.UnixMicro(r.Expires)) + 1
	}
	return c
}

// OfEntry returns an entry's tally on the branch that it is read for.
func OfEntry(e store.Entry, b store.BranchID) (Tally, error) {
	if !e.Exists() || e.Branch != b {
		return Tally{}, nil
	}
	r, err := record.Decode(e)
	return Of(e.Name, &r), err
}

// Change is the replacement of an owner's record on a branch.
type Change struct {
	Owner    string
	Branch   store.BranchID
	Old, New Tally
}

// ChangeOf returns the change from one entry to another.
func ChangeOf(owner string, b store.BranchID, from, to store.Entry) (c Change, err error) {
	c = Change{Owner: owner, Branch: b}
	if c.Old, err = OfEntry(from, b); err == nil {
		c.New, err = OfEntry(to, b)
	}
	return c, err
}

// Usage counts each owner's use. Existing records are counted in the background at the start: only those who need room wait for it.
type Usage struct {
	scanning sync.Mutex // held during a full count
	mu       sync.Mutex
	owners   map[string]*ownerUse
	ready    chan struct{} // closed when everything is counted
	counting bool
	counted  uint64         // the version of the last full count
	missed   []missedChange // during a full count, which may include them or not
}

type missedChange struct {
	version uint64
	changes []Change
	dropped store.BranchID // instead: a deleted branch
}

// ownerUse is an owner's use.
type ownerUse struct {
	branches map[store.BranchID]map[int64]Use // by the last hour for which it counts
	total    map[int64]Use
	reserved Use // by pending commits
}

// New returns a Usage without a full count.
func New() *Usage {
	return &Usage{owners: map[string]*ownerUse{}, ready: make(chan struct{}), counting: true}
}

func (u *Usage) owner(name string) *ownerUse {
	o := u.owners[name]
	if o == nil {
		o = &ownerUse{branches: map[store.BranchID]map[int64]Use{}, total: map[int64]Use{}}
		u.owners[name] = o
	}
	return o
}

// add adds use; a negative one is subtracted.
func (o *ownerUse) add(b store.BranchID, until int64, use Use) {
	if o.branches[b] == nil {
		o.branches[b] = map[int64]Use{}
	}
	for _, parts := range []map[int64]Use{o.branches[b], o.total} {
		if parts[until] = parts[until].Plus(use); parts[until] == (Use{}) {
			delete(parts, until)
		}
	}
}

func (o *ownerUse) at(now time.Time) Use {
	var use Use
	for until, part := range o.total {
		use = use.Plus(Tally{part, until}.At(now))
	}
	return use
}

// apply counts the changes of a commit, unless the last full count has them: a commit can be visible before it is
// applied. The caller holds mu.
func (u *Usage) apply(version uint64, changes []Change) {
	if len(changes) == 0 || version <= u.counted {
		return
	}
	if u.counting {
		u.missed = append(u.missed, missedChange{version: version, changes: changes})
		return
	}
	for _, c := range changes {
		o := u.owner(c.Owner)
		o.add(c.Branch, c.Old.until, Use{}.Minus(c.Old.Use))
		o.add(c.Branch, c.New.until, c.New.Use)
	}
}

// Count is apply for a commit without a reservation.
func (u *Usage) Count(version uint64, changes []Change) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.apply(version, changes)
}

// Drop removes a deleted branch.
func (u *Usage) Drop(b store.BranchID) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.counting {
		u.missed = append(u.missed, missedChange{dropped: b})
		return
	}
	u.dropLocked(b)
}

func (u *Usage) dropLocked(b store.BranchID) {
	for _, o := range u.owners {
		for until, use := range maps.Clone(o.branches[b]) {
			o.add(b, until, Use{}.Minus(use))
		}
		delete(o.branches, b)
	}
}

// Limits bound a family's use. Zero fields mean no bound.
type Limits struct {
	Records int64
	Bytes   int64
	Raiser  Raiser // nil: nobody raises them
}

// Raiser says how an operator raises a quota, by its name.
type Raiser interface{ Raise(quota string) string }

// raised is what is left to do where a quota is used up.
func (q Limits) raised(name string) string {
	if q.Raiser == nil {
		return "have it delete some"
	}
	return "have it delete some; or " + q.Raiser.Raise(name)
}

// exceeded returns an error if growth does not fit. Without growth there is none, even beyond a quota that was lowered.
func (q Limits) exceeded(owner string, used, growth Use) error {
	for _, b := range []struct {
		name                string
		limit, used, growth int64
	}{{"records", q.Records, used.Records, growth.Records}, {"record_bytes", q.Bytes, used.Bytes, growth.Bytes}} {
		if b.limit == 0 || b.growth <= 0 || b.used+b.growth <= b.limit {
			continue
		}
		return &fault.Error{Code: fault.Exhausted, Rule: "quota " + b.name, Details: map[string]any{"quota": b.name, "limit": b.limit, "used": b.used},
			Message: fmt.Sprintf("family %s may keep %s=%d in its collections, on all branches together; %d are used, and %d more do not fit: %s",
				owner, b.name, b.limit, b.used, b.growth, q.raised(b.name))}
	}
	return nil
}

// Room returns an error if a stage's growth does not fit. It reserves nothing.
func (u *Usage) Room(ctx context.Context, now time.Time, owner string, q Limits, growth Use) error {
	if q == (Limits{}) || growth.Records <= 0 && growth.Bytes <= 0 {
		return nil
	}
	if err := u.wait(ctx); err != nil {
		return err
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	o := u.owner(owner)
	return q.exceeded(owner, o.at(now).Plus(o.reserved), growth)
}

// Reservation is room reserved for a commit; nil: the commit needs none.
type Reservation struct {
	Usage  *Usage
	growth map[string]Use
}

// Reserve reserves room for a commit until the reservation is released or applied.
func (u *Usage) Reserve(ctx context.Context, now time.Time, growth map[string]Use, quotas map[string]Limits) (*Reservation, error) {
	r := &Reservation{u, growth}
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
		if err := quotas[owner].exceeded(owner, o.at(now).Plus(o.reserved), more); err != nil {
			return nil, err
		}
	}
	r.add(1)
	return r, nil
}

// add adds the room to the reserved use, or with -1 removes it. The caller holds mu.
func (r *Reservation) add(sign int64) {
	for owner, more := range r.growth {
		o := r.Usage.owner(owner)
		o.reserved = o.reserved.Plus(Use{sign * more.Records, sign * more.Bytes})
	}
}

// Release releases the room of a failed commit.
func (r *Reservation) Release() {
	if r == nil {
		return
	}
	r.Usage.mu.Lock()
	defer r.Usage.mu.Unlock()
	r.add(-1)
}

// Apply counts what was committed in place of its reservation.
func (r *Reservation) Apply(version uint64, changes []Change) {
	if r == nil {
		return
	}
	r.Usage.mu.Lock()
	defer r.Usage.mu.Unlock()
	r.add(-1)
	r.Usage.apply(version, changes)
}

// GrowthOf returns the growth by changes, at a moment, of the owners with a quota. Shrinking reserves no room.
func GrowthOf(changes []Change, now time.Time, quotas map[string]Limits) map[string]Use {
	sum := map[string]Use{}
	for _, c := range changes {
		if quotas[c.Owner] != (Limits{}) {
			sum[c.Owner] = sum[c.Owner].Plus(c.New.At(now)).Minus(c.Old.At(now))
		}
	}
	maps.DeleteFunc(sum, func(_ string, use Use) bool { return use.Records <= 0 && use.Bytes <= 0 })
	for owner, use := range sum {
		sum[owner] = Use{max(0, use.Records), max(0, use.Bytes)}
	}
	return sum
}

// UseOf returns an owner's use.
func (u *Usage) UseOf(ctx context.Context, owner string, now time.Time) (Use, error) {
	if err := u.wait(ctx); err != nil {
		return Use{}, err
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.owner(owner).at(now), nil
}

// Recount replaces the counts by those that scan adds, of the version that it returns. Commits meanwhile are counted, too.
func (u *Usage) Recount(scan func(add func(owner string, b store.BranchID, t Tally)) (version uint64, err error)) error {
	u.scanning.Lock()
	defer u.scanning.Unlock()
	u.begin()
	found := &Usage{owners: map[string]*ownerUse{}}
	version, err := scan(func(owner string, b store.BranchID, t Tally) { found.owner(owner).add(b, t.until, t.Use) })
	if err == nil {
		u.finish(version, found.owners)
	}
	return err
}

// wait waits for the full count.
func (u *Usage) wait(ctx context.Context) error {
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
		return &fault.Error{Code: fault.Unavailable, Retryable: true, Cause: ctx.Err(), Message: "what families keep is still being counted after a start: try again in a few seconds"}
	}
}

// begin begins a full count. Commits from now on are recorded beside it.
func (u *Usage) begin() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.counting {
		u.counting, u.missed, u.ready = true, nil, make(chan struct{})
	}
}

// finish installs the full count at a version, and adds later commits.
func (u *Usage) finish(at uint64, found map[string]*ownerUse) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for name, o := range u.owners {
		if found[name] == nil {
			found[name] = &ownerUse{branches: map[store.BranchID]map[int64]Use{}, total: map[int64]Use{}}
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
