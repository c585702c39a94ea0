package graph

import (
	"cmp"
	"slices"

	"github.com/alcove-memory/alcove/guests/lib/moment"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// GraphTimeline lists what was said about an entity, by time.
//
// The statements are the links that go out from it, in the order in which they begin to hold. Those whose target was deleted are left out.
//
//alcove:title Timeline of an entity
//alcove:description Dated statements about an entity or memory, oldest first.
//alcove:tool read-only
type GraphTimeline struct {
	SourceID alcove.ID `alcove:"required,alias=id|entityId"`
	Since    string
	Until    string
	Limit    int `alcove:"default=200"`
}

type timeline struct {
	Events    []statement
	Corrected []correction `json:"corrected,omitzero"`
	Truncated bool         `json:"truncated,omitzero"`
}

type statement struct {
	TargetID   alcove.ID
	Label      string
	Relation   string
	ValidFrom  alcove.Time
	ValidUntil alcove.Time `json:"valid_until,omitzero"`
	ObservedBy string      `json:"observed_by,omitzero"`
	Confidence float64
}

// Call lists them.
func (in GraphTimeline) Call(c *alcove.Call, cfg Config) (out timeline, err error) {
	since, err := moment.Of(c, in.Since, moment.Begin)
	if err != nil {
		return out, err
	}
	until, err := moment.Of(c, in.Until, moment.End)
	if err != nil {
		return out, err
	}
	source, err := resolveNear(c, in.SourceID, &out.Corrected)
	if err != nil {
		return out, err
	}
	w := &walk{c: c, budget: cfg.MaxVisits, anyone: true}
	hops, err := w.hops(source.ID, outward)
	if err != nil {
		return out, err
	}
	hops = slices.DeleteFunc(hops, func(h hop) bool {
		return h.ValidFrom == 0 || h.ValidFrom < since || until != 0 && h.ValidFrom > until
	})
	slices.SortStableFunc(hops, func(a, b hop) int { return cmp.Compare(a.ValidFrom, b.ValidFrom) })
	out.Truncated = w.truncated
	return out, out.add(c, hops, bounded(in.Limit, mostListed))
}

// add lists statements whose target exists, up to a limit.
func (t *timeline) add(c *alcove.Call, hops []hop, limit int) error {
	for part := range slices.Chunk(hops, enough) {
		ids := make([]alcove.ID, len(part))
		for i := range part {
			ids[i] = part[i].Other
		}
		there, err := existing(c, ids)
		if err != nil {
			return err
		}
		for i, h := range part {
			n := there[i]
			if n == nil {
				continue
			}
			if len(t.Events) == limit {
				t.Truncated = true
				return nil
			}
			t.Events = append(t.Events, statement{n.ID, n.Label, h.Relation, h.ValidFrom, h.ValidUntil, h.ObservedBy, h.Confidence})
		}
	}
	return nil
}
