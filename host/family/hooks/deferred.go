package hooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/alcove-memory/alcove/host/memory"
)

// deferral is the payload of a deferred hook.
type deferral struct {
	Keys []string `json:"keys"`
}

// putOff queues a deferred call of a hook.
func putOff(ctx context.Context, x Store, s memory.Storing, items []memory.Item) error {
	if s.DryRun {
		return nil
	}
	keys := make([]string, len(items))
	for i, it := range items {
		keys[i] = it.Key
	}
	payload, err := json.Marshal(deferral{keys})
	if err != nil {
		return err
	}
	return x.Defer(ctx, s.Caller, s.Location, payload)
}

// ErrAbsent means that none of the memories of a deferred hook is there: they are not stored yet, or were deleted since.
var ErrAbsent = errors.New("its memories are not stored yet, or were deleted")

// Deferred calls a deferred store hook for memories that were stored without it, and stages its changes.
func Deferred(ctx context.Context, r Request, payload json.RawMessage) error {
	var d deferral
	if err := json.Unmarshal(payload, &d); err != nil {
		return fmt.Errorf("read what to ask about: %w", err)
	}
	call := r.Operations()
	found, err := call.Stage.Get(ctx, call.Namespace, d.Keys)
	if err != nil {
		return err
	}
	var items []memory.Item
	for _, f := range found {
		if f != nil {
			items = append(items, memory.Item{Key: f.Key, Value: f.Value, Tags: f.Tags, Type: f.Type, Importance: f.Importance, Metadata: f.Metadata})
		}
	}
	if len(items) == 0 {
		return ErrAbsent
	}
	answer, err := askStore(ctx, r, question{change: memory.ChangeStore, namespace: call.Namespace, items: items})
	var refused *refusal
	if errors.As(err, &refused) { // too late, and not to be retried
		return &memory.Error{Code: memory.Denied, Message: "family " + call.Manifest.Name + " would have refused entries that are already stored: " + refused.reason}
	}
	if err != nil {
		return err
	}
	if answer.Propose != nil { // too late as well
		return &memory.Error{Code: memory.Denied, Message: "family " + call.Manifest.Name + " would have proposed entries that are already stored: " + oneLine(*answer.Propose)}
	}
	for i, c := range answer.Entries {
		if c == nil {
			continue
		}
		patch := memory.Patch{Key: items[i].Key, Value: c.Value, Tags: c.Tags, Type: c.Type, Importance: c.Importance, Metadata: c.Metadata}
		if _, err := call.Stage.Patch(ctx, call.Namespace, []memory.Patch{patch}); err != nil {
			return err
		}
	}
	return nil
}
