package memory

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/alcove-memory/alcove/host/memory/chores"
	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/memory/retention"
	"github.com/alcove-memory/alcove/host/store"
)

const (
	policies    = "policies"
	retainEvery = time.Hour
)

var retentionKey = store.Key{Namespace: lineage.Namespace, Collection: policies, Name: "retention"}

// Retention returns the policy in force.
func (s *Space) Retention(ctx context.Context) (retention.Policy, error) {
	found, err := s.engine.GetAt(ctx, lineage.Root(), []store.Key{retentionKey})
	if err != nil {
		return retention.Policy{}, s.translate("read the retention policy", err)
	}
	var r retention.Policy
	if !found[0].Exists() {
		return r, nil
	}
	if err := json.Unmarshal(found[0].Value, &r); err != nil {
		return r, fmt.Errorf("read the retention policy: %w", err)
	}
	return r, nil
}

// KeepsDeleted reports whether the past of a branch, or the histories of a namespace, keep deletions for a given time.
func (s *Space) KeepsDeleted(ctx context.Context, p Location, d time.Duration) (bool, error) {
	policy, err := s.Retention(ctx)
	if err != nil {
		return false, err
	}
	age := policy.Age(cmp.Or(p.Branch, Default))
	if age == 0 || age >= d {
		return true, nil
	}
	rule, named := policy.Namespaces[cmp.Or(p.Namespace, Default)]
	if !named {
		return policy.Versions > 1, nil
	}
	return rule.Forever || rule.Versions > 1 || rule.Keep >= int64(d/time.Second), nil
}

// SetRetention changes the policy. It takes effect with the next Retain, which runs hourly.
func (s *Space) SetRetention(ctx context.Context, r retention.Policy) error {
	if err := s.checkRetention(r); err != nil {
		return err
	}
	value, err := json.Marshal(r)
	if err != nil {
		return err
	}
	_, err = s.engine.Commit(ctx, store.Batch{Writes: []store.Write{{Branch: store.Catalogue, Key: retentionKey, Value: value}}})
	return s.translate("set the retention policy", err)
}

// checkRetention says what is wrong with a policy.
func (s *Space) checkRetention(r retention.Policy) error {
	if err := r.Check(); err != nil {
		return invalid("%v", err)
	}
	for branch := range r.Branches {
		if err := s.limits.checkName("branch", branch); err != nil {
			return err
		}
	}
	for namespace := range r.Namespaces {
		if err := s.limits.checkName("namespace", namespace); err != nil {
			return err
		}
	}
	return nil
}

// keeps returns what stays in histories beyond the branches' readable past. A rule whose age has no version keeps everything,
// and is reported.
func (s *Space) keeps(ctx context.Context, r retention.Policy, done *Retained) (keep []store.Keep) {
	if r.Versions > 0 {
		keep = append(keep, store.Keep{Versions: r.Versions})
	}
	for _, name := range slices.Sorted(maps.Keys(r.Namespaces)) {
		n := r.Namespaces[name]
		k := store.Keep{Namespace: name, Versions: n.Versions}
		if n.Keep > 0 {
			at, err := s.engine.VersionAt(ctx, s.clock().Add(-n.Age()))
			if err != nil {
				done.fail(RetentionFailure{Namespace: name}, s.translate("tell what stays in the histories of namespace "+name, err))
			}
			k.From = at.Version + 1
		}
		if n.Forever {
			k.From = 1
		}
		keep = append(keep, k)
	}
	return keep
}

// Retained is the result of applying the policy.
type Retained struct {
	Trimmed map[string]time.Time `json:"trimmed"` // oldest readable moment of each trimmed branch
	Kept    []string             `json:"kept"`    // branches with an age, but nothing older to trim
	Failed  []RetentionFailure   `json:"failed"`
}

// RetentionFailure is a rule that could not be applied: of a branch, of a namespace, or the server's own if both are empty.
type RetentionFailure struct {
	Branch    string `json:"branch,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	Error     string `json:"error"`
}

func (r *Retained) fail(f RetentionFailure, err error) {
	f.Error = err.Error()
	r.Failed = append(r.Failed, f)
}

// Retain trims every branch by the policy. A failing rule is reported and does not block the others; the
// error is for an unreadable policy, and for the end of ctx.
func (s *Space) Retain(ctx context.Context) (Retained, error) {
	done := Retained{Trimmed: map[string]time.Time{}, Kept: []string{}, Failed: []RetentionFailure{}}
	policy, err := s.Retention(ctx)
	if err != nil {
		return done, err
	}
	if err := s.retainSystem(ctx); err != nil {
		done.fail(RetentionFailure{}, s.translate("drop the past of the system branch", err))
	}
	if err := s.retainDeleted(ctx, policy); err != nil {
		done.fail(RetentionFailure{}, s.translate("drop deleted branches", err))
	}
	keeps := s.keeps(ctx, policy, &done)
	for _, b := range s.catalogue.Live() {
		age := policy.Age(b.Name)
		if age == 0 {
			continue
		}
		from, err := s.retainBranch(ctx, b, age, keeps)
		if err == nil {
			err = s.translate("drop versions of other spaces", s.dropElsewhere(ctx, b, age, policy))
		}
		switch {
		case ctx.Err() != nil:
			return done, s.translate("apply the retention policy", ctx.Err())
		case err != nil && !s.stillLive(b): // deleted meanwhile
		case err != nil:
			done.fail(RetentionFailure{Branch: b.Name}, err)
		case from.Version == 0:
			done.Kept = append(done.Kept, b.Name)
		default:
			done.Trimmed[b.Name] = from.Time
		}
	}
	return done, nil
}

// Trimming is what a policy takes of a branch.
type Trimming struct {
	Branch   string    `json:"branch"`
	From     time.Time `json:"from"`           // its oldest readable moment afterwards
	Versions int       `json:"versions"`       // that go, of memories and of what families keep; the newest of each stays
	Memories int       `json:"memories"`       // that lose some of these
	More     bool      `json:"more,omitempty"` // not all versions were read: it may be more
}

// RetentionPreview is what an application of a policy would remove.
type RetentionPreview struct {
	Trimmed []Trimming         `json:"trimmed"` // without branches of which nothing goes
	Deleted []string           `json:"deleted"` // deleted branches that could be restored no more
	Failed  []RetentionFailure `json:"failed"`
}

// mostPreviewed bounds the versions of a branch that a preview reads.
const mostPreviewed = 1_000_000

// PreviewRetention says what Retain would remove under a policy. It changes nothing.
func (s *Space) PreviewRetention(ctx context.Context, policy retention.Policy) (RetentionPreview, error) {
	p := RetentionPreview{Trimmed: []Trimming{}, Deleted: []string{}, Failed: []RetentionFailure{}}
	if err := s.checkRetention(policy); err != nil {
		return p, err
	}
	for _, b := range s.outlived(policy) {
		p.Deleted = append(p.Deleted, b.Name)
	}
	var failed Retained
	keeps := s.keeps(ctx, policy, &failed)
	for _, b := range s.catalogue.Live() {
		age := policy.Age(b.Name)
		if age == 0 {
			continue
		}
		t, err := s.previewTrim(ctx, b, age, keeps)
		switch {
		case ctx.Err() != nil:
			return p, s.translate("preview the retention policy", ctx.Err())
		case err != nil && !s.stillLive(b): // deleted meanwhile
		case err != nil:
			failed.fail(RetentionFailure{Branch: b.Name}, err)
		case t.Versions > 0:
			p.Trimmed = append(p.Trimmed, t)
		}
	}
	p.Failed = append(p.Failed, failed.Failed...)
	return p, nil
}

// previewTrim counts what retainBranch would drop.
func (s *Space) previewTrim(ctx context.Context, b *lineage.Branch, age time.Duration, keeps []store.Keep) (Trimming, error) {
	t := Trimming{Branch: b.Name}
	floor, _, err := s.trimmable(ctx, b, age)
	if err != nil || floor.Version == 0 {
		return t, err
	}
	t.From = floor.Time
	pins := s.catalogue.Pins(b.ID)
	var key store.Key
	newer, nth, counted, read := uint64(0), 0, false, 0
	for page, err := range store.Pages(ctx, s.engine.Versions, store.Lineage{{Branch: b.ID, At: store.Latest}}, store.Range{}, fillPage) {
		if err != nil {
			return t, s.translate("preview "+b.Name, err)
		}
		for _, e := range page {
			if e.Key != key {
				key, newer, nth, counted = e.Key, store.Latest, 0, false
			}
			seen := newer > floor.Version || slices.ContainsFunc(pins, func(pin uint64) bool { return e.Version <= pin && pin < newer })
			if !seen && !store.Keeps(keeps, key.Namespace, e.Version, nth) {
				t.Versions++
				if !counted && key.Collection == memories {
					t.Memories, counted = t.Memories+1, true
				}
			}
			newer, nth = e.Version, nth+1
		}
		if read += len(page); read >= mostPreviewed {
			t.More = true
			return t, nil
		}
	}
	return t, nil
}

// trimmable returns the point before which the past of a branch is older than an age, and was not dropped yet, and the branch's present
// floor; zero if nothing is that old.
func (s *Space) trimmable(ctx context.Context, b *lineage.Branch, age time.Duration) (floor, had store.Point, err error) {
	if floor, err = s.engine.VersionAt(ctx, s.clock().Add(-age)); err == nil {
		had, err = s.ownFloor(ctx, b.ID)
	}
	if err != nil || floor.Version <= b.Version || floor.Version < had.Version {
		return store.Point{}, store.Point{}, s.translate("trim "+b.Name, err)
	}
	return floor, had, nil
}

// retainBranch drops the past older than an age, and returns the branch's oldest readable point; zero if nothing is
// that old.
func (s *Space) retainBranch(ctx context.Context, b *lineage.Branch, age time.Duration, keeps []store.Keep) (store.Point, error) {
	floor, had, err := s.trimmable(ctx, b, age)
	if err != nil || floor.Version == 0 {
		return store.Point{}, err
	}
	err = chores.WhenReleased(ctx, func() error { return s.trim(ctx, b, floor.Version, keeps) })
	if err == nil && floor.Version == had.Version { // at most an interrupted trim continued
		return store.Point{}, nil
	}
	return floor, s.translate("trim "+b.Name, err)
}

// keepRetaining applies retention at intervals until ctx ends.
func (s *Space) keepRetaining(ctx context.Context) {
	tick := time.NewTicker(retainEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			s.retainAndLog(ctx)
		}
	}
}

func (s *Space) retainAndLog(ctx context.Context) {
	done, err := s.Retain(ctx)
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		s.logger.Warn("old versions could not be dropped", "error", err)
	}
	for _, f := range done.Failed {
		s.logger.Warn("a rule of retention could not be applied; the others were", "branch", f.Branch, "namespace", f.Namespace, "error", f.Error)
	}
}

// Trim trims the past of a branch before a moment, as soon as no backup needs it. Versions that forks and merges refer to stay. It returns
// the oldest moment that remains readable; zero if the moment is before the first version: then nothing is trimmed. Histories
// also retain what keep selects.
func (s *Space) Trim(ctx context.Context, name string, before AsOf, keep ...store.Keep) (store.Point, error) {
	v, err := s.view(ctx, name, before)
	if err != nil {
		return store.Point{}, err
	}
	floor, _, err := s.resolve(ctx, before)
	if before.IsNow() {
		floor, err = s.engine.Head(ctx)
	}
	if err == nil {
		err = chores.WhenReleased(ctx, func() error { return s.trim(ctx, v.branch, floor.Version, keep) })
	}
	return floor, s.translate("trim "+v.branch.Name, err)
}

// trim trims a branch unless it was deleted meanwhile.
func (s *Space) trim(ctx context.Context, b *lineage.Branch, floor uint64, keep []store.Keep) error {
	s.branching.Lock()
	defer s.branching.Unlock()
	if !s.stillLive(b) {
		return notFound("branch %q was deleted meanwhile", b.Name)
	}
	pins := s.catalogue.Pins(b.ID)
	defer s.feeds.Clear() // feeds begin later now
	defer s.tallies.clear()
	if err := s.engine.Trim(ctx, b.ID, floor, pins, keep...); err != nil {
		return err
	}
	s.index.Trim(b.ID, floor, pins)
	return s.indexes.Trim(ctx, b.ID, floor, pins)
}

// ownFloor returns the oldest point that retention left on a branch, without its ancestors; zero if untrimmed.
func (s *Space) ownFloor(ctx context.Context, id store.BranchID) (store.Point, error) {
	_, _, err := s.engine.Changes(ctx, id, 0, 1, 1)
	if trimmed, ok := asTrimmed(err); ok {
		return trimmed.Floor, nil
	}
	return store.Point{}, err
}
