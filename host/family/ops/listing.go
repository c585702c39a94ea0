package ops

import (
	"cmp"
	"context"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/memory"
)

// isPlain reports whether a request lists all memories in the order of their keys: its pages start after keys.
func isPlain(r abi.MemoryListRequest) bool { return r.Filter == nil && r.Order == "" && r.Count == "" }

// selected lists memories by their fields.
func (call *Call) selected(ctx context.Context, namespace string, r abi.MemoryListRequest) (out abi.MemoryListResponse, err error) {
	stage, err := call.stageAt(ctx, r.AsOf)
	if err != nil {
		return out, err
	}
	began := memory.ListingBegan(r.After, call.Stage.Now())
	filter, err := filterOf(r.Filter, began)
	if err != nil {
		return out, err
	}
	filter.Prefix = r.Prefix
	page, err := stage.Select(ctx, memory.Listing{Namespace: namespace, Filter: filter, Order: memory.Order(r.Order), After: r.After,
		Limit: cmp.Or(r.Limit, defaultPage), Count: memory.Counting(r.Count), Began: began})
	if err != nil {
		return out, err
	}
	out = abi.MemoryListResponse{Memories: listed(page.Memories, r), Next: page.Next}
	if r.Count != "" {
		out.Total = &page.Total
	}
	return out, nil
}

// stageAt returns the call's stage, or one of another moment.
func (call *Call) stageAt(ctx context.Context, asOf string) (*memory.Stage, error) {
	at, err := call.asOf(asOf)
	if err != nil || at.IsNow() {
		return call.Stage, err
	}
	return call.space().StageAt(ctx, call.Stage.Branch(), at)
}

// filterOf converts the filter of a request; nil: none. Relative bounds such as an hour ago count from now.
func filterOf(f *abi.MemoryFilter, now time.Time) (memory.Filter, error) {
	if f == nil {
		return memory.Filter{}, nil
	}
	filter := memory.Filter{Types: f.Types, Writers: f.Writers, Tags: f.Tags, AnyTags: f.AnyTags, NoTags: f.NoTags,
		Importance: memory.Range[float64]{Min: f.MinImportance, Max: f.MaxImportance},
		Accesses:   memory.Range[int64]{Min: wide(f.MinAccesses), Max: wide(f.MaxAccesses)},
		Health:     memory.Range[float64]{Min: f.MinHealth, Max: f.MaxHealth}}
	for _, state := range f.States {
		filter.States = append(filter.States, memory.State(state))
	}
	switch f.Expired {
	case "include":
		filter.Expiry = memory.WithExpired
	case "only":
		filter.Expiry = memory.OnlyExpired
	}
	for _, test := range f.Fields {
		filter.Fields = append(filter.Fields, memory.FieldTest{Field: test.Field, Equals: test.Equals, Exists: test.Exists})
	}
	for _, end := range []struct {
		name, text string
		into       *time.Time
	}{
		{"accessed_since", f.AccessedSince, &filter.Accessed.Since}, {"accessed_until", f.AccessedUntil, &filter.Accessed.Until},
		{"created_since", f.CreatedSince, &filter.Created.Since}, {"created_until", f.CreatedUntil, &filter.Created.Until},
		{"updated_since", f.UpdatedSince, &filter.Updated.Since}, {"updated_until", f.UpdatedUntil, &filter.Updated.Until},
	} {
		if end.text == "" {
			continue
		}
		at, err := memory.ParseTime(end.text, now)
		if err != nil {
			return filter, invalid("filter: %s: %v", end.name, err)
		}
		*end.into = at
	}
	return filter, nil
}

func wide(n *int) *int64 {
	if n == nil {
		return nil
	}
	w := int64(*n)
	return &w
}

// expiryOf converts the flag of a request.
func expiryOf(expired bool) memory.Expiry {
	if expired {
		return memory.WithExpired
	}
	return memory.HideExpired
}
