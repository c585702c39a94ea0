package core

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/tool"
)

// Dry runs of the core tools. What would be written is staged, so that all limits and conditions count, and thrown away.
// Hooks are not asked.

// rehearsed is the answer of a call that was only tried: what it would do.
func rehearsed(would map[string]any) tool.Answer {
	r := map[string]any{"dry_run": true, "would": would}
	return tool.Answer{Structured: r, Plain: r}
}

// stage begins work that is not committed.
func (c *call) stage(ctx context.Context, place memory.Place) (*memory.Stage, error) {
	return c.access().Stage(ctx, place.Branch)
}

// rehearseStore says what storing would replace.
func rehearseStore(ctx context.Context, c *call, place memory.Place, items []memory.Item) (tool.Answer, error) {
	stage, err := c.stage(ctx, place)
	if err != nil {
		return tool.Answer{}, err
	}
	var stored []map[string]any
	for _, it := range items {
		row, err := replaced(ctx, stage, place, it)
		if err != nil {
			return tool.Answer{}, err
		}
		stored = append(stored, row)
	}
	_, err = stage.Put(ctx, place.Namespace, items)
	return rehearsed(map[string]any{"store": stored}), err
}

// replaced says what storing an item would replace.
func replaced(ctx context.Context, stage *memory.Stage, place memory.Place, it memory.Item) (map[string]any, error) {
	if it.Key == "" {
		return map[string]any{"key": "derived from the value"}, nil
	}
	row := map[string]any{"key": it.Key}
	now, err := stage.Get(ctx, place.Namespace, []string{it.Key})
	if err != nil {
		return nil, err
	}
	var version uint64
	if now[0] != nil {
		version = now[0].Version
		row["replaces_version"] = version
	}
	if it.IfVersion != nil && *it.IfVersion != version {
		return nil, &memory.Error{Code: memory.Conflict, Message: fmt.Sprintf("%q is at version %d, not %d", it.Key, version, *it.IfVersion),
			Details: map[string]any{"key": it.Key, "version": version}}
	}
	return row, nil
}

// rehearseForget says which of some keys there are.
func rehearseForget(ctx context.Context, c *call, place memory.Place, keys []string) (tool.Answer, error) {
	there, err := c.memories(ctx, place, keys)
	if err != nil {
		return tool.Answer{}, err
	}
	found := []string{}
	for i, m := range there {
		if m != nil {
			found = append(found, keys[i])
		}
	}
	return rehearsed(map[string]any{"forget": found}), nil
}

// rehearseLog says which event would be appended.
func rehearseLog(ctx context.Context, c *call, place memory.Place, event string, data json.RawMessage) (tool.Answer, error) {
	stage, err := c.stage(ctx, place)
	if err != nil {
		return tool.Answer{}, err
	}
	return rehearsed(map[string]any{"event": event}), stage.Log(place.Namespace, event, data)
}

// rehearseBranch says which branch would be made or deleted.
func rehearseBranch(ctx context.Context, b *branchCall, action string) (tool.Answer, error) {
	name, err := b.need(action, "name", b.name, "the branch")
	if err != nil {
		return tool.Answer{}, err
	}
	_, err = b.access().Status(ctx, memory.Place{Branch: name})
	var known *memory.Error
	missing := errors.As(err, &known) && known.Code == memory.NotFound
	switch {
	case action == "delete" || err != nil && !missing:
	case err == nil:
		err = &memory.Error{Code: memory.Conflict, Message: fmt.Sprintf("there is a branch %q: choose another name", name)}
	case action == "fork":
		_, err = b.access().Status(ctx, memory.Place{Branch: cmp.Or(b.source, b.current)})
	default:
		err = nil
	}
	return rehearsed(map[string]any{"action": action, "name": name}), err
}
