package hooks

import (
	"context"
	"fmt"
	"slices"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/memory"
)

// Tag returns the tag of the memories that a store hook is asked about; abi.Everything or abi.Nothing.
func (s Store) Tag(ctx context.Context) (string, error) {
	key := s.Manifest().Hooks.Store.TagFrom
	if key == "" {
		return abi.Everything, nil
	}
	tag, err := s.Setting(ctx, key)
	if err != nil {
		return "", fmt.Errorf("read what family %s is asked about: %w", s.Name(), err)
	}
	return tag, nil
}

// askSome is askOne about the items that concern a hook.
func (h *Hooks) askSome(ctx context.Context, x Store, s memory.Storing, d *memory.Decision) (put *deferred, err error) {
	which, err := x.which(ctx, s, d.Items)
	if err != nil || len(which) == 0 {
		return nil, err
	}
	part := *d
	if len(which) != len(d.Items) {
		part.Items = make([]memory.Item, len(which))
		for i, at := range which {
			part.Items[i] = d.Items[at]
		}
	}
	if put, err = h.askParts(ctx, x, s, &part); err != nil {
		return nil, err
	}
	if len(part.Items) != len(d.Items) {
		all := slices.Clone(d.Items)
		for i, at := range which {
			all[at] = part.Items[i]
		}
		part.Items = all
	}
	*d = part
	return put, nil
}

// A redactor reads all text of what it is asked about, so it is asked about less at once than other hooks, lest it run out of time.
const (
	mostRedacted  = 50
	bytesRedacted = 128 << 10
)

// askParts is askOne, and for a redactor several times, about a part of the items each.
func (h *Hooks) askParts(ctx context.Context, x Store, s memory.Storing, d *memory.Decision) (put *deferred, err error) {
	all, parts := d.Items, [][]memory.Item{d.Items}
	if x.Manifest().Hooks.Store.Redacts {
		parts = divided(all)
	}
	answered := make([]memory.Item, 0, len(all))
	for _, d.Items = range parts {
		later, err := h.askOne(ctx, x, s, d)
		if err != nil {
			return nil, err
		}
		if later {
			if put == nil {
				put = &deferred{family: x}
			}
			put.items = append(put.items, d.Items...)
		}
		answered = append(answered, d.Items...)
	}
	d.Items = answered
	return put, nil
}

// divided are items in parts for a redactor. An item that exceeds the bytes is a part of its own.
func divided(items []memory.Item) (parts [][]memory.Item) {
	start, bytes := 0, 0
	for i, it := range items {
		if i > start && (i-start == mostRedacted || bytes+len(it.Value) > bytesRedacted) {
			parts = append(parts, items[start:i])
			start, bytes = i, 0
		}
		bytes += len(it.Value)
	}
	return append(parts, items[start:])
}

// deferred is a call that is to be made later.
type deferred struct {
	family Store
	items  []memory.Item
}
