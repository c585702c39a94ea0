package config

import (
	"cmp"
	"encoding/json"
	"maps"

	"github.com/alcove-memory/alcove/abi"
)

// scale keeps a family's own values that were set before a rule about their sum: they are scaled so that they have it, in proportion,
// together with the defaults of those that were not set. Values that satisfy the rule stay as they are.
func (r *resolver) scale() {
	for i := range r.layers {
		if r.layers[i].scope.Kind != OfFamily {
			continue
		}
		for _, rule := range r.rules() {
			if rule.Rule != abi.RuleSum || !r.breaks(rule, i) {
				continue
			}
			if set := r.scaled(rule, r.layers[i].set); set != nil {
				r.layers[i].set = set
			}
		}
	}
}

// breaks reports whether a layer has values for a rule that are out of their ranges, or that break it both with the other layers and with
// the defaults alone.
func (r *resolver) breaks(rule *Rule, i int) bool {
	own, over, resolved := false, map[string]json.RawMessage{}, map[string]json.RawMessage{}
	for _, name := range rule.Keys {
		k := r.key(name)
		if k == nil {
			return false
		}
		over[name] = k.Default
		list, _ := r.candidates(k)
		resolved[name] = list[0].entry.Value
		e := r.layers[i].set[name]
		if !e.set() {
			continue
		}
		if k.Check(e.Value) != nil {
			return true
		}
		own, over[name] = true, e.Value
	}
	return own && rule.broken(over) != "" && rule.broken(resolved) != ""
}

// scaled returns a document with the values of a rule's keys scaled; nil: they cannot be.
func (r *resolver) scaled(rule *Rule, d document) document {
	numbers, sum := make([]float64, len(rule.Keys)), 0.0
	for i, name := range rule.Keys {
		value := r.key(name).Default
		if e := d[name]; e.set() {
			value = e.Value
		}
		if json.Unmarshal(value, &numbers[i]) != nil || numbers[i] < 0 {
			return nil
		}
		sum += numbers[i]
	}
	if sum <= 0 {
		return nil
	}
	d = maps.Clone(d)
	for i, name := range rule.Keys {
		value, err := json.Marshal(numbers[i] * rule.Equals / sum)
		if err != nil {
			return nil
		}
		e := d[name]
		e.Value, e.Priority = value, cmp.Or(e.Priority, standardPriority)
		d[name] = e
	}
	return d
}
