package memory

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/store"
)

// Retention says how much past is kept. The zero value keeps everything.
type Retention struct {
	// Keep is how far back branches can be read, in seconds; 0: for ever.
	Keep int64 `json:"keep_s,omitempty"`
	// Branches are those with an age of their own; 0: for ever.
	Branches map[string]int64 `json:"branches_s,omitempty"`
	// Versions is how many versions of each memory stay in its history, the newest, however old they are.
	Versions int `json:"versions,omitempty"`
	// Namespaces are those that keep more in histories than their branch can be read back. It replaces Versions for them.
	Namespaces map[string]NamespaceRetention `json:"namespaces,omitempty"`
}

// NamespaceRetention says what stays in the histories of a namespace's memories: what either field keeps.
type NamespaceRetention struct {
	Keep     int64 `json:"keep_s,omitempty"`   // versions that are no older, in seconds; 0: none for that
	Forever  bool  `json:"forever,omitempty"`  // all versions
	Versions int   `json:"versions,omitempty"` // of each memory the newest so many
}

// mostKept is how many versions of a memory a policy can keep, and mostRules of how many namespaces.
const (
	mostKept  = 1_000_000
	mostRules = 1000
)

func (r Retention) of(branch string) time.Duration {
	if keep, ok := r.Branches[branch]; ok {
		return time.Duration(keep) * time.Second
	}
	return time.Duration(r.Keep) * time.Second
}

const (
	leastKept   = time.Minute
	policies    = "policies"
	retainEvery = time.Hour
)

var retentionKey = store.Key{Namespace: lineage.Namespace, Collection: policies, Name: "retention"}

// Retention is the policy in force.
func (s *Space) Retention(ctx context.Context) (Retention, error) {
	found, err := s.engine.GetAt(ctx, lineage.Root(), []store.Key{retentionKey})
	if err != nil {
		return Retention{}, s.translate("read the retention policy", err)
	}
	var r Retention
	if !found[0].Exists() {
		return r, nil
	}
	if err := json.Unmarshal(found[0].Value, &r); err != nil {
		return r, fmt.Errorf("read the retention policy: %w", err)
	}
	return r, nil
}

// SetRetention changes the policy. It takes effect with the next Retain, which runs every hour by itself.
func (s *Space) SetRetention(ctx context.Context, r Retention) error {
	ages := []int64{r.Keep}
	for branch, keep := range r.Branches {
		if err := s.limits.checkName("branch", branch); err != nil {
			return err
		}
		ages = append(ages, keep)
	}
	if err := s.checkNamespaces(r, &ages); err != nil {
		return err
	}
	for _, keep := range ages {
		if keep < 0 || keep != 0 && time.Duration(keep)*time.Second < leastKept || keep > int64(200*365*24*time.Hour/time.Second) {
			return invalid("an age of %d seconds: keep a minute at least, or 0 for ever", keep)
		}
	}
	value, err := json.Marshal(r)
	if err != nil {
		return err
	}
	_, err = s.engine.Commit(ctx, store.Batch{Writes: []store.Write{{Branch: store.Catalogue, Key: retentionKey, Value: value}}})
	return s.translate("set the retention policy", err)
}

// checkNamespaces checks what a policy says of versions and namespaces, and adds their ages.
func (s *Space) checkNamespaces(r Retention, ages *[]int64) error {
	if len(r.Namespaces) > mostRules {
		return invalid("a policy for %d namespaces: at most %d can have one of their own", len(r.Namespaces), mostRules)
	}
	counts := []int{r.Versions}
	for name, n := range r.Namespaces {
		if err := s.limits.checkName("namespace", name); err != nil {
			return err
		}
		*ages, counts = append(*ages, n.Keep), append(counts, n.Versions)
	}
	for _, n := range counts {
		if n < 0 || n > mostKept {
			return invalid("%d versions of each memory: keep 0 to %d", n, mostKept)
		}
	}
	return nil
}

// keeps is what stays in histories, of versions that the branches can not be read back to. A rule whose age cannot be turned into
// a version keeps all, and is reported.
func (s *Space) keeps(ctx context.Context, r Retention, done *Retained) (keep []store.Keep) {
	if r.Versions > 0 {
		keep = append(keep, store.Keep{Versions: r.Versions})
	}
	for _, name := range slices.Sorted(maps.Keys(r.Namespaces)) {
		n := r.Namespaces[name]
		k := store.Keep{Namespace: name, Versions: n.Versions}
		if n.Keep > 0 {
			at, err := s.engine.VersionAt(ctx, s.clock().Add(-time.Duration(n.Keep)*time.Second))
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

// Retained says what an application of the policy did.
type Retained struct {
	Trimmed map[string]time.Time `json:"trimmed"` // from where on each branch that was trimmed can be read
	Kept    []string             `json:"kept"`    // branches with an age that have nothing older any more, or yet
	Failed  []RetentionFailure   `json:"failed"`
}

// RetentionFailure is a rule that could not be applied: that of a branch, or of a namespace, or the server's own when both are empty.
type RetentionFailure struct {
	Branch    string `json:"branch,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	Error     string `json:"error"`
}

func (r *Retained) fail(f RetentionFailure, err error) {
	f.Error = err.Error()
	r.Failed = append(r.Failed, f)
}

// Retain trims every branch as the policy says. A rule that cannot be applied is reported and keeps none of the others from being
// applied; the error is for a policy that cannot be read, and for the end of ctx.
func (s *Space) Retain(ctx context.Context) (Retained, error) {
	done := Retained{Trimmed: map[string]time.Time{}, Kept: []string{}, Failed: []RetentionFailure{}}
	policy, err := s.Retention(ctx)
	if err != nil {
		return done, err
	}
	if err := s.retainSystem(ctx); err != nil {
		done.fail(RetentionFailure{}, s.translate("drop the past of the system branch", err))
	}
	keeps := s.keeps(ctx, policy, &done)
	for _, b := range s.catalogue.Live() {
		age := policy.of(b.Name)
		if age == 0 {
			continue
		}
		from, err := s.retainBranch(ctx, b, age, keeps)
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

// retainBranch drops what is older than an age, and returns from where on the branch can be read then; zero when there is nothing
// that old.
func (s *Space) retainBranch(ctx context.Context, b *lineage.Branch, age time.Duration, keeps []store.Keep) (store.Point, error) {
	doing := "trim " + b.Name
	floor, err := s.engine.VersionAt(ctx, s.clock().Add(-age))
	if err != nil {
		return store.Point{}, s.translate(doing, err)
	}
	had, err := s.ownFloor(ctx, b.ID)
	if err != nil {
		return store.Point{}, s.translate(doing, err)
	}
	if floor.Version <= b.Version || floor.Version < had.Version {
		return store.Point{}, nil
	}
	err = whenReleased(ctx, func() error { return s.trim(ctx, b, floor.Version, keeps) })
	if err == nil && floor.Version == had.Version { // at most an interrupted trim went on
		return store.Point{}, nil
	}
	return floor, s.translate(doing, err)
}

// keepRetaining retains now and then until ctx ends.
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
