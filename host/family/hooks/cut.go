package hooks

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/alcove-memory/alcove/host/family/ops"
	"github.com/alcove-memory/alcove/host/memory"
)

// cuts is the collection of what families missed: a record per family.
var cuts = memory.Collection{Name: "_cut", PerSpace: true, Internal: true}

// Cut is what a family missed because its limit of hooks answering each other was reached. It identifies the last entry.
type Cut struct {
	Count      int64     `json:"count"` // entries and merges
	At         time.Time `json:"at"`    // when the last was cut
	Branch     string    `json:"branch,omitempty"`
	Version    uint64    `json:"version"`
	By         string    `json:"by,omitempty"` // the family whose hook wrote it
	Generation int       `json:"generation"`
}

// add returns the cut with one more entry; a nil cut has none.
func (c *Cut) add(by memory.Caller, branch string, version uint64, now time.Time) *Cut {
	next := &Cut{Count: 1, At: now, Branch: branch, Version: version, By: by.Family, Generation: by.Generation}
	if c != nil {
		next.Count += c.Count
	}
	return next
}

// addCut adds to the staged record of what a family missed.
func addCut(ctx context.Context, stage *memory.Stage, family string, c Cut) error {
	before, err := cutIn(ctx, stage, family)
	if err != nil {
		return err
	}
	if before != nil {
		c.Count += before.Count
	}
	value, err := json.Marshal(c)
	if err != nil {
		return err
	}
	return stage.PutRecord(ctx, cuts, ops.SystemNamespace, family, value, nil)
}

// CutOf returns what a family missed; nil: nothing.
func (h *Hooks) CutOf(ctx context.Context, family string) (*Cut, error) {
	stage, err := h.o.Space.As(ops.OwnCaller(family)).Stage(ctx, memory.Default)
	if err != nil {
		return nil, err
	}
	return cutIn(ctx, stage, family)
}

func cutIn(ctx context.Context, stage *memory.Stage, family string) (*Cut, error) {
	found, err := stage.Records(ctx, cuts, ops.SystemNamespace, []string{family})
	if err != nil || found[0] == nil {
		return nil, err
	}
	var c Cut
	if err := json.Unmarshal(found[0].Value, &c); err != nil {
		return nil, fmt.Errorf("read what %s was not told of: %w", family, err)
	}
	return &c, nil
}

func (c Cut) String() string {
	return fmt.Sprintf("%d entries of hooks that answered each other, last of %s in generation %d at version %d of branch %s",
		c.Count, cmp.Or(c.By, "nobody"), c.Generation, c.Version, cmp.Or(c.Branch, "all"))
}
