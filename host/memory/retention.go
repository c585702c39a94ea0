package memory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/alcove-memory/alcove/host/store"
)

// Retention says how much past is kept. The zero value keeps everything.
type Retention struct {
	// Keep is how far back branches can be read, in seconds; 0: for ever.
	Keep int64 `json:"keep_s,omitempty"`
	// Branches are those with an age of their own; 0: for ever.
	Branches map[string]int64 `json:"branches_s,omitempty"`
}

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

// Retain trims every branch as the policy says, and returns from where on each trimmed one can now be read.
func (s *Space) Retain(ctx context.Context) (map[string]time.Time, error) {
	policy, err := s.Retention(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.retainSystem(ctx); err != nil {
		return nil, s.translate("drop the past of the system branch", err)
	}
	trimmed := map[string]time.Time{}
	for _, b := range s.catalogue.live() {
		keep := policy.of(b.Name)
		if keep == 0 {
			continue
		}
		floor, err := s.Trim(ctx, b.Name, AsOf{Time: s.clock().Add(-keep)})
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
