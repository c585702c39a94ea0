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

// askSome is askOne about the memories that a hook's setting names: by the tags with which they came, whatever other hooks made of them.
func (h *Hooks) askSome(ctx context.Context, x Store, s memory.Storing, d *memory.Decision) (put *deferred, err error) {
	tag, err := x.Tag(ctx)
	if err != nil {
		return nil, err
	}
	part := *d
	which := tagged(s, tag)
	if tag != abi.Everything {
		if len(which) == 0 {
			return nil, nil
		}
		part.Items = make([]memory.Item, len(which))
		for i, at := range which {
			part.Items[i] = d.Items[at]
		}
	}
	later, err := h.askOne(ctx, x, s, &part)
	if err != nil {
		return nil, err
	}
	if later {
		put = &deferred{x, part.Items}
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

// deferred is a call that is to be made later.
type deferred struct {
	family Store
	items  []memory.Item
}

// tagged are the indexes of the memories with a tag. Records have none.
func tagged(s memory.Storing, tag string) (which []int) {
	if tag == abi.Nothing || s.Collection != "" {
		return nil
	}
	for i, it := range s.Items {
		if slices.Contains(it.Tags, tag) {
			which = append(which, i)
		}
	}
	return which
}
