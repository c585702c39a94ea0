package retrieval

import (
	"math"

	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// RecallQuality tells how often recalled facts were used, by day, and in the 24 hours before and after each change of the configuration.
// memory_rollback_config undoes a change; rollback_to has the version of each of its settings before. drop is the relative fall of the share.
//
//alcove:description How often recalled facts were used, around configuration changes.
//alcove:tool read-only
//alcove:title Quality of recalls
type RecallQuality struct {
	Days int `alcove:"default=7,max=90"`
}

// Quality is how often recalled facts were used.
type Quality struct {
	UsedRate float64
	Recalls  int // With feedback.
	ByDay    []Day
	Changes  []Effect
}

// Day is a day, in UTC.
type Day struct {
	Date     string
	UsedRate float64
	Recalls  int
}

// Effect is a change of the configuration, and the shares before and after it.
type Effect struct {
	At            string
	ScopeID       string `json:"scope_id,omitzero"` // Empty: everything.
	UpdatedBy     string
	RollbackTo    map[string]uint64
	Change        string `json:",omitzero"` // For memory_rollback_config.
	Before        float64
	After         float64
	RecallsBefore int
	RecallsAfter  int
	Drop          float64
}

// Call measures.
func (in RecallQuality) Call(c *alcove.Call) (out Quality, err error) {
	now := c.Time()
	since := now.Add(-alcove.Day * alcove.Duration(max(in.Days, 1)))
	list, err := samplesSince(c, since.Add(-alcove.Day))
	if err != nil {
		return out, err
	}
	all := between(list, since, now.Add(alcove.Second))
	out.UsedRate, out.Recalls = short(all.rate()), all.recalls
	for at := since.Truncate(alcove.Day); at <= now; at = at.Add(alcove.Day) {
		if s := between(list, max(at, since), at.Add(alcove.Day)); s.recalls > 0 {
			out.ByDay = append(out.ByDay, Day{at.String()[:len("2006-01-02")], short(s.rate()), s.recalls})
		}
	}
	changes, err := changesSince(c, since)
	for _, one := range changes {
		before, after := one.around(list)
		out.Changes = append(out.Changes, effect(one, before, after))
	}
	return out, err
}

// around are the shares of the 24 hours before and after the change.
func (one change) around(list []sample) (before, after share) {
	return between(list, one.At.Add(-alcove.Day), one.At), between(list, one.At, one.At.Add(alcove.Day))
}

// effect is a change with the shares before and after it.
func effect(one change, before, after share) Effect {
	e := Effect{At: one.At.String(), ScopeID: one.Scope, UpdatedBy: one.By, RollbackTo: map[string]uint64{}, Change: one.ID, Before: short(before.rate()), After: short(after.rate()),
		RecallsBefore: before.recalls, RecallsAfter: after.recalls, Drop: short(fall(before, after))}
	for key, version := range one.Versions {
		e.RollbackTo[key] = version - 1
	}
	return e
}

// fall is by how much the share fell, relative to what it was; below 0 where it rose, and 0 where there is nothing to compare.
func fall(before, after share) float64 {
	if before.rate() == 0 || after.recalls == 0 {
		return 0
	}
	return (before.rate() - after.rate()) / before.rate()
}

// short is a number for people.
func short(v float64) float64 { return math.Round(v*1e4) / 1e4 }
