// Package threeway merges what two sides changed since a common base.
package threeway

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/alcove-memory/alcove/host/internal/jsontext"
)

// Choose returns the side that changed. ok is false when both changed, to different values.
func Choose[T comparable](base, source, target T) (chosen T, ok bool) {
	switch {
	case source == target, source == base:
		return target, true
	case target == base:
		return source, true
	}
	return target, false
}

// Sets returns the target with what the source added and without what it dropped. The target's elements come first, in its order.
func Sets(base, source, target []string) []string {
	var merged []string
	for _, s := range target {
		if slices.Contains(source, s) || !slices.Contains(base, s) {
			merged = append(merged, s)
		}
	}
	for _, s := range source {
		if !slices.Contains(target, s) && !slices.Contains(base, s) {
			merged = append(merged, s)
		}
	}
	return merged
}

// Values merges compact JSON values: objects field by field at every depth, anything else as a whole. A nil value is a missing one. ok
// is false when both sides changed the same field to different values.
func Values(base, source, target json.RawMessage) (merged json.RawMessage, ok bool) {
	switch {
	case bytes.Equal(source, target), bytes.Equal(source, base):
		return target, true
	case bytes.Equal(target, base):
		return source, true
	}
	sourceFields, sourceOK := object(source)
	targetFields, targetOK := object(target)
	if !sourceOK || !targetOK {
		return target, false
	}
	baseFields, _ := object(base)
	fields, ok := Objects(baseFields, sourceFields, targetFields)
	if !ok {
		return target, false
	}
	merged, err := jsontext.Encode(fields)
	return merged, err == nil
}

func object(value json.RawMessage) (map[string]json.RawMessage, bool) {
	if !bytes.HasPrefix(value, []byte("{")) {
		return nil, false
	}
	var fields map[string]json.RawMessage
	return fields, json.Unmarshal(value, &fields) == nil
}

// Objects merges objects field by field, as Values does.
func Objects(base, source, target map[string]json.RawMessage) (merged map[string]json.RawMessage, ok bool) {
	if source == nil && target == nil {
		return nil, true
	}
	merged = map[string]json.RawMessage{}
	for _, side := range []map[string]json.RawMessage{source, target} {
		for name := range side {
			value, ok := Values(base[name], source[name], target[name])
			if !ok {
				return nil, false
			}
			if value != nil {
				merged[name] = value
			}
		}
	}
	return merged, true
}
