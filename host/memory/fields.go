package memory

import (
	"bytes"
	"encoding/json"
	"slices"
)

// mergeRecords3 merges two records field by field against what both started from. ok is false when a field was
// changed differently on both sides.
func mergeRecords3(base, source, target record) (merged record, ok bool) {
	merged = target
	if merged.Value, ok = mergeValues(base.Value, source.Value, target.Value); !ok {
		return merged, false
	}
	if merged.Metadata, ok = mergeObjects(base.Metadata, source.Metadata, target.Metadata); !ok {
		return merged, false
	}
	if !bytes.Equal(merged.Value, target.Value) { // what was mixed is not what either vector says
		merged.Vector, merged.VectorOf = nil, ""
		if bytes.Equal(merged.Value, source.Value) {
			merged.Vector, merged.VectorOf = source.Vector, source.VectorOf
		}
	}
	merged.Tags = mergeSets(base.Tags, source.Tags, target.Tags)
	merged.Links = mergeSets(base.Links, source.Links, target.Links)
	merged.Supersedes = mergeSets(base.Supersedes, source.Supersedes, target.Supersedes)
	okType, okState, okExpires, okImportance := true, true, true, true
	merged.Type, okType = pick(base.Type, source.Type, target.Type)
	merged.State, okState = pick(base.State, source.State, target.State)
	merged.Expires, okExpires = pick(base.Expires, source.Expires, target.Expires)
	var importance optional
	importance, okImportance = pick(optionalOf(base.Importance), optionalOf(source.Importance), optionalOf(target.Importance))
	merged.Importance = importance.pointer()
	return merged, okType && okState && okExpires && okImportance
}

// optional is a number that may be missing, to be compared by value.
type optional struct {
	set   bool
	value float64
}

func optionalOf(p *float64) optional {
	if p == nil {
		return optional{}
	}
	return optional{true, *p}
}

func (o optional) pointer() *float64 {
	if !o.set {
		return nil
	}
	return &o.value
}

// pick takes the side that changed.
func pick[T comparable](base, source, target T) (T, bool) {
	switch {
	case source == target, source == base:
		return target, true
	case target == base:
		return source, true
	}
	return target, false
}

// mergeSets adds what either side added and drops what either dropped; the target's order comes first.
func mergeSets(base, source, target []string) []string {
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

// mergeValues merges JSON values: objects field by field at every depth, anything else as a whole. A nil base or
// side is a value that is not there.
func mergeValues(base, source, target json.RawMessage) (json.RawMessage, bool) {
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
	fields, ok := mergeObjects(baseFields, sourceFields, targetFields)
	if !ok {
		return target, false
	}
	merged, err := encodeObject(fields)
	return merged, err == nil
}

func object(value json.RawMessage) (map[string]json.RawMessage, bool) {
	if !bytes.HasPrefix(value, []byte("{")) {
		return nil, false
	}
	var fields map[string]json.RawMessage
	return fields, json.Unmarshal(value, &fields) == nil
}

func encodeObject(fields map[string]json.RawMessage) (json.RawMessage, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	err := enc.Encode(fields)
	return bytes.TrimSpace(out.Bytes()), err
}

func mergeObjects(base, source, target map[string]json.RawMessage) (map[string]json.RawMessage, bool) {
	if source == nil && target == nil {
		return nil, true
	}
	merged := map[string]json.RawMessage{}
	for _, side := range []map[string]json.RawMessage{source, target} {
		for name := range side {
			value, ok := mergeValues(base[name], source[name], target[name])
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
