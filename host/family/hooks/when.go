package hooks

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/memory"
)

// place is where a hook is asked.
type place struct {
	memory.Location        // an empty namespace: several, or none
	agent           string // the caller whose settings apply
}

// calledFor reports whether settings or records call for a hook, whatever it is asked about.
func calledFor(ctx context.Context, x Family, w abi.When, at place) (bool, error) {
	if w.IsZero() {
		return true, nil
	}
	called, err := false, error(nil)
	if len(w.Settings) > 0 {
		called, err = x.Differs(ctx, w, at.agent, at.Namespace)
	}
	for _, collection := range w.Records {
		if called || err != nil {
			break
		}
		called, err = x.Keeps(ctx, at.Location, collection)
	}
	if err != nil {
		return false, fmt.Errorf("read what calls for a hook of family %s: %w", x.Name(), err)
	}
	return called, nil
}

// Uncalled reports whether nothing calls for a store hook, whatever is stored and by whom. One that shared settings, records or memories call for
// may be called anywhere.
func (s Store) Uncalled(ctx context.Context) (bool, error) {
	w := s.Manifest().Hooks.Store.When
	if w.IsZero() || len(w.Records)+len(w.Lacks) > 0 || slices.ContainsFunc(s.Manifest().Config, func(c abi.Setting) bool { return c.Shared && w.Names(c.Key) }) {
		return false, nil
	}
	called, err := calledFor(ctx, s.Family, w, place{})
	return err == nil && !called, err
}

// lacking reports whether a memory lacks one of some fields.
func lacking(fields []string, it memory.Item) bool {
	return slices.ContainsFunc(fields, func(field string) bool {
		switch field {
		case "type":
			return it.Type == ""
		case "importance":
			return it.Importance == nil
		case "tags":
			return len(it.Tags) == 0
		}
		_, has := it.Metadata[strings.TrimPrefix(field, abi.MetadataField)]
		return !has
	})
}

// concerns reports whether a hook is about a memory. called is calledFor.
func concerns(hook *abi.StoreHook, called bool, it memory.Item) bool {
	return (len(hook.Types) == 0 || slices.Contains(hook.Types, it.Type)) && (called || lacking(hook.When.Lacks, it))
}

// which returns the indexes of the items that a store hook is asked about: by the tags with which they came, and by what other hooks have made
// of them.
func (s Store) which(ctx context.Context, what memory.Storing, items []memory.Item) ([]int, error) {
	hook := s.Manifest().Hooks.Store
	tag, err := s.Tag(ctx)
	if err != nil {
		return nil, err
	}
	called, err := calledFor(ctx, s.Family, hook.When, place{what.Location, what.Caller.Agent})
	if err != nil {
		return nil, err
	}
	var list []int
	for i, it := range items {
		if hasTag(what, i, tag) && concerns(hook, called, it) {
			list = append(list, i)
		}
	}
	return list, nil
}

// hasTag reports whether an item came with a tag. Records have none.
func hasTag(s memory.Storing, i int, tag string) bool {
	return tag == abi.Everything || tag != abi.Nothing && s.Collection == "" && slices.Contains(s.Items[i].Tags, tag)
}
