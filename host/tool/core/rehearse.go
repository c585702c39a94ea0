package core

import (
	"context"
	"fmt"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/tool"
)

// rehearsed is the answer of a call that was only tried: what it would do.
func rehearsed(would map[string]any) tool.Answer {
	r := map[string]any{"dry_run": true, "would": would}
	return tool.Answer{Structured: r, Plain: r}
}

// rehearseStore says what storing would replace.
func rehearseStore(ctx context.Context, c *call, place memory.Place, items []memory.Item) (tool.Answer, error) {
	var stored []map[string]any
	for _, it := range items {
		row := map[string]any{"key": it.Key}
		if it.Key == "" {
			row["key"] = "derived from the value"
			stored = append(stored, row)
			continue
		}
		now, err := c.space().Recall(ctx, place, it.Key, memory.AsOf{})
		if err != nil {
			return tool.Answer{}, err
		}
		var version uint64
		if now != nil {
			version = now.Version
			row["replaces_version"] = version
		}
		if it.IfVersion != nil && *it.IfVersion != version {
			return tool.Answer{}, &memory.Error{Code: memory.Conflict, Message: fmt.Sprintf("%q is at version %d, not %d", it.Key, version, *it.IfVersion),
				Details: map[string]any{"key": it.Key, "version": version}}
		}
		stored = append(stored, row)
	}
	return rehearsed(map[string]any{"store": stored}), nil
}

// rehearseForget says which of some keys there are.
func rehearseForget(ctx context.Context, c *call, place memory.Place, keys []string) (tool.Answer, error) {
	found := []string{}
	for _, key := range keys {
		m, err := c.space().Recall(ctx, place, key, memory.AsOf{})
		if err != nil {
			return tool.Answer{}, err
		}
		if m != nil {
			found = append(found, key)
		}
	}
	return rehearsed(map[string]any{"forget": found}), nil
}
