package retrieval

import (
	"cmp"
	"slices"

	"github.com/alcove-memory/alcove/guests/lib/fact"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// sample is a recall that somebody gave feedback about.
type sample struct {
	at           alcove.Time
	used, unused int
}

// pageOfRecalls is how many recalls are read at once: each may have a thousand facts.
const pageOfRecalls = 50

// samplesSince are the recalls since a moment, with feedback, the oldest first.
func samplesSince(c *alcove.Call, since alcove.Time) (list []sample, err error) {
	for cursor, more := fact.Since(prefixRecall, since), true; more; {
		page, err := recalls.List(c, "", cursor, pageOfRecalls)
		if err != nil {
			return nil, err
		}
		for i := range page.Items {
			r := &page.Items[i].Value
			at, ok := fact.TimeOf(page.Items[i].Key)
			if !ok || r.Archived() || len(r.Used)+len(r.Unused) == 0 {
				continue
			}
			list = append(list, sample{at, len(r.Used), len(r.Unused)})
		}
		cursor, more = page.Next, page.Next != ""
	}
	return list, nil
}

// share is how much of what was recalled was used.
type share struct {
	recalls      int
	used, unused int
}

func (s *share) add(one sample) {
	s.recalls, s.used, s.unused = s.recalls+1, s.used+one.used, s.unused+one.unused
}

// rate is the share of the facts that were used, from 0 to 1.
func (s share) rate() float64 {
	if s.used+s.unused == 0 {
		return 0
	}
	return float64(s.used) / float64(s.used+s.unused)
}

// between is the share of the recalls from one moment on and before another.
func between(list []sample, from, to alcove.Time) (s share) {
	for _, one := range list {
		if one.at >= from && one.at < to {
			s.add(one)
		}
	}
	return s
}

// change is a change of settings that were changed together.
type change struct {
	At       alcove.Time
	Scope    string // empty: everything
	By       string
	Versions map[string]uint64 // by key: those that the change made
	ID       string            // for memory_rollback_config; empty: it is undone setting by setting
}

// mostChanges is how many changes of a setting are looked at.
const mostChanges = 20

// changesSince are the changes of settings since a moment that apply here, the oldest first.
func changesSince(c *alcove.Call, since alcove.Time) (list []change, err error) {
	keys, err := settingKeys(c)
	if err != nil {
		return nil, err
	}
	for _, scope := range []alcove.ConfigHistoryRequest{{Scope: "system"}, {Scope: "namespace", Name: c.Namespace}} {
		for _, key := range keys {
			scope.Key, scope.Limit = key, mostChanges
			page, err := c.ConfigHistory(scope)
			if err != nil {
				return nil, err
			}
			for _, v := range page.Versions {
				at, err := alcove.ParseTime(v.Timestamp)
				if err == nil && at >= since {
					list = together(list, change{at, scope.Name, v.Agent, map[string]uint64{key: v.Version}, v.Change})
				}
			}
		}
	}
	slices.SortFunc(list, func(a, b change) int { return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Scope, b.Scope)) })
	return list, nil
}

func settingKeys(c *alcove.Call) (keys []string, err error) {
	for list := (alcove.ConfigListRequest{Limit: 1000}); ; {
		page, err := c.ConfigList(list)
		if err != nil {
			return nil, err
		}
		for i := range page.Settings {
			keys = append(keys, page.Settings[i].Key)
		}
		if list.After = page.Next; page.Next == "" {
			return keys, nil
		}
	}
}

// together adds a change to those that were made at the same instant in the same scope.
func together(list []change, one change) []change {
	for i := range list {
		if list[i].At == one.At && list[i].Scope == one.Scope {
			if list[i].ID != one.ID {
				list[i].ID = "" // of a release whose changes had no ids
			}
			for key, version := range one.Versions {
				list[i].Versions[key] = version
			}
			return list
		}
	}
	return append(list, one)
}
