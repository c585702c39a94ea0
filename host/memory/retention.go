package memory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

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

var retentionKey = store.Key{Namespace: catalogueSpace, Collection: policies, Name: "retention"}

// Retention is the policy in force.
func (s *Space) Retention(ctx context.Context) (Retention, error) {
	found, err := s.engine.GetAt(ctx, catalogueLineage, []store.Key{retentionKey})
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

// keeps is what stays in histories, of versions that the branches can not be read back to.
func (s *Space) keeps(ctx context.Context, r Retention) (keep []store.Keep, err error) {
	if r.Versions > 0 {
		keep = append(keep, store.Keep{Versions: r.Versions})
	}
	for _, name := range slices.Sorted(maps.Keys(r.Namespaces)) {
		n := r.Namespaces[name]
		k := store.Keep{Namespace: name, Versions: n.Versions}
		if n.Keep > 0 {
			at, err := s.engine.VersionAt(ctx, s.clock().Add(-time.Duration(n.Keep)*time.Second))
			if err != nil {
				return nil, err
			}
			k.From = at.Version + 1
		}
		if n.Forever {
			k.From = 1
		}
		keep = append(keep, k)
	}
	return keep, nil
}

// Retain trims every branch as the policy says, and returns from where on each trimmed one can now be read.
func (s *Space) Retain(ctx context.Context) (map[string]time.Time, error) {
	policy, err := s.Retention(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.retainSystem(ctx); err != nil {
		return nil, s.translate("drop the past of the system branch", err)
	}
	keeps, err := s.keeps(ctx, policy)
	if err != nil {
		return nil, s.translate("tell what stays in histories", err)
	}
	trimmed := map[string]time.Time{}
	for _, b := range s.catalogue.live() {
		keep := policy.of(b.Name)
		if keep == 0 {
			continue
		}
		floor, err := s.Trim(ctx, b.Name, AsOf{Time: s.clock().Add(-keep)}, keeps...)
		var refused *Error
		if errors.As(err, &refused) && (refused.Code == NotFound || refused.Code == InvalidArgument) {
			continue // it has no past that old, or was trimmed further
		}
		if err != nil {
			return trimmed, err
		}
		if floor.Version != 0 {
			trimmed[b.Name] = floor.Time
		}
	}
	return trimmed, nil
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
			if _, err := s.Retain(ctx); err != nil && ctx.Err() == nil {
				s.logger.Warn("old versions could not be dropped", "error", err)
			}
		}
	}
}
