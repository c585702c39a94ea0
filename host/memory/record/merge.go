package record

import (
	"bytes"

	"github.com/alcove-memory/alcove/host/memory/threeway"
)

// Merge merges two records field by field against their base. ok is false when both changed a field to different values.
func Merge(base, source, target Record) (merged Record, ok bool) {
	merged = target
	if merged.Value, ok = threeway.Values(base.Value, source.Value, target.Value); !ok {
		return merged, false
	}
	if merged.Metadata, ok = threeway.Objects(base.Metadata, source.Metadata, target.Metadata); !ok {
		return merged, false
	}
	if !bytes.Equal(merged.Value, target.Value) { // neither vector is of a mixed value
		merged.Vector, merged.VectorOf = nil, ""
		if bytes.Equal(merged.Value, source.Value) {
			merged.Vector, merged.VectorOf = source.Vector, source.VectorOf
		}
	}
	merged.Tags = threeway.Sets(base.Tags, source.Tags, target.Tags)
	merged.Links = threeway.Sets(base.Links, source.Links, target.Links)
	merged.Supersedes = threeway.Sets(base.Supersedes, source.Supersedes, target.Supersedes)
	okType, okState, okExpires, okImportance := true, true, true, true
	merged.Type, okType = threeway.Choose(base.Type, source.Type, target.Type)
	merged.State, okState = threeway.Choose(base.State, source.State, target.State)
	merged.Expires, okExpires = threeway.Choose(base.Expires, source.Expires, target.Expires)
	var importance optional
	importance, okImportance = threeway.Choose(optionalOf(base.Importance), optionalOf(source.Importance), optionalOf(target.Importance))
	merged.Importance = importance.pointer()
	return merged, okType && okState && okExpires && okImportance
}

// optional is a number that may be missing, compared by value.
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
