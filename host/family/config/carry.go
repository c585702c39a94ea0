package config

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// carrier is the author of carried values.
const carrier = "alcove"

// Carry stages the move of values that earlier releases kept as a family's own to the system's values of the same keys: those of keys that
// the family no longer declares, and those that were set before settings had versions. What the system was ever set to stays; then the
// family's value stays, too. So do values that a rule binds, which are scaled when they are read. A number out of the key's range becomes
// the nearest one in it. It returns what was moved, with the reasons. Of two families with a value for a key, the earlier one is carried:
// first those that no longer declare it, then by their order.
func (s Settings) Carry(ctx context.Context, families []*Family) ([]Changed, error) {
	system, err := s.begin(ctx, Scope{Kind: System}, By{Agent: carrier})
	if err != nil {
		return nil, err
	}
	var former []*put
	for _, f := range families {
		p, err := s.begin(ctx, Scope{OfFamily, f.Name}, By{Agent: carrier})
		if err != nil {
			return nil, err
		}
		p.Own = f
		former = append(former, p)
	}
	for _, declared := range []bool{false, true} {
		for _, p := range former {
			system.carry(p, declared)
		}
	}
	for _, p := range append(former, system) {
		if len(p.logged) == 0 {
			continue
		}
		if err := p.store(ctx); err != nil {
			return nil, err
		}
	}
	return system.done, nil
}

// carry moves the values of a family's keys which it declares, or which it no longer does.
func (p *put) carry(from *put, declared bool) {
	for _, name := range slices.Sorted(maps.Keys(from.set)) {
		e := from.set[name]
		if !e.set() || from.Own.Declares(name) != declared || declared && e.Version > 0 || p.set[name].Version > 0 {
			continue
		}
		k := p.Keys.Key(name)
		if k == nil || p.bound(name) {
			continue
		}
		value, why := k.nearest(e.Value)
		if value == nil {
			continue
		}
		reason := fmt.Sprintf("was a setting of family %s%s", from.scope.Name, why)
		p.record(name, entry{Value: value}, reason)
		from.record(name, entry{}, "is a setting of the system now")
	}
}

// record makes a change in the document, with its reason.
func (p *put) record(key string, next entry, reason string) {
	before := p.set[key]
	next.Version, next.At, next.By = before.Version+1, p.Stage.Now(), p.by.Agent
	by := p.by
	by.Reason = reason
	p.set[key] = next
	p.changed(key, before, next, by, nil)
}

// bound reports whether a rule binds a key.
func (p *put) bound(key string) bool {
	return slices.ContainsFunc(p.Keys.rules, func(r *Rule) bool { return slices.Contains(r.Keys, key) })
}

// nearest returns the value that a key allows nearest to another, and what was changed; nil: none.
func (k *Key) nearest(value json.RawMessage) (near json.RawMessage, why string) {
	if k.Check(value) == nil {
		return compacted(value), ""
	}
	var number float64
	var bounds struct{ Minimum, Maximum *float64 }
	if json.Unmarshal(value, &number) != nil || json.Unmarshal(k.Allowed(), &bounds) != nil {
		return nil, ""
	}
	for _, bound := range []*float64{bounds.Minimum, bounds.Maximum} {
		if bound == nil || bound == bounds.Minimum && number >= *bound || bound == bounds.Maximum && number <= *bound {
			continue
		}
		near, err := json.Marshal(*bound)
		if err == nil && k.Check(near) == nil {
			return near, fmt.Sprintf(", as %s, which is out of range now", bytes.TrimSpace(value))
		}
	}
	return nil, ""
}
