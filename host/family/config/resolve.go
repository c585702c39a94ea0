package config

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/alcove-memory/alcove/host/memory"
)

// For identifies where settings apply. Empty names omit their scopes.
type For struct {
	Family    string
	Agent     string
	Namespace string
}

// scopes returns the scopes that apply, nearest first; system is the last.
func (f For) scopes() []Scope {
	var list []Scope
	for _, s := range []Scope{{OfFamily, f.Family}, {Agent, f.Agent}, {Namespace, f.Namespace}} {
		if s.Name != "" && len(s.Name) <= longestName {
			list = append(list, s)
		}
	}
	return append(list, Scope{Kind: System})
}

// State is a setting's value and its source.
type State struct {
	Key   *Key
	Value json.RawMessage
	Scope Scope // the zero Scope: the value is the default
	entry
	Unused []string // ignored nearer values, with the reasons
}

// layer holds the settings of a scope.
type layer struct {
	scope Scope
	set   document
}

// candidate is a possible value of a key.
type candidate struct {
	scope Scope
	entry entry
}

// resolver resolves the values of keys. A family's own key is set in that family's scope only.
type resolver struct {
	layers []layer // nearest first
	all    *Keys
	own    *Family // nil: none
}

func (r *resolver) key(name string) *Key {
	if r.own != nil {
		if k := r.own.key(name); k != nil {
			return k
		}
	}
	return r.all.Key(name)
}

// rules returns all rules that apply to the keys.
func (r *resolver) rules() []*Rule {
	list := slices.Clone(r.all.rules)
	if r.own != nil {
		for _, rule := range r.own.rules {
			if !rule.shared(r.own) {
				list = append(list, rule)
			}
		}
	}
	return list
}

// candidates returns the valid values of a key, best first: by priority, then nearest first; the
// system's value follows, and the default is last. The default has the version of the scope that holds everywhere, where a change of it would be.
func (r *resolver) candidates(k *Key) (list []candidate, unused []string) {
	var system []candidate
	byDefault := entry{}
	for _, l := range r.layers {
		e := l.set[k.Key]
		if !k.Shared && l.scope.Kind != OfFamily {
			continue
		}
		if l.scope.Kind == System || !k.Shared {
			byDefault = entry{Version: e.Version, At: e.At, By: e.By}
		}
		if !e.set() {
			continue
		}
		if err := k.Check(e.Value); err != nil { // the manifest may have changed since
			unused = append(unused, fmt.Sprintf("%s in %s: %v", compact(e.Value), l.scope, err))
			continue
		}
		if l.scope.Kind == System {
			system = append(system, candidate{l.scope, e})
			continue
		}
		list = append(list, candidate{l.scope, e})
	}
	slices.SortStableFunc(list, func(a, b candidate) int { return b.entry.Priority - a.entry.Priority })
	list = append(list, system...)
	byDefault.Value = k.Default
	return append(list, candidate{entry: byDefault}), unused
}

// resolve returns the values of some keys. Where nearer values break a rule, its keys fall back to the system's values, and if
// these break it, to the defaults: a guest's values satisfy every rule.
func (r *resolver) resolve(names []string) []State {
	states := map[string]*State{}
	choices := map[string][]candidate{}
	add := func(name string) {
		k := r.key(name)
		if k == nil || states[name] != nil {
			return
		}
		list, unused := r.candidates(k)
		states[name], choices[name] = &State{Key: k, Unused: unused}, list
	}
	for _, name := range names {
		add(name)
	}
	var rules []*Rule
	for _, rule := range r.rules() {
		if slices.ContainsFunc(rule.Keys, func(name string) bool { return states[name] != nil }) {
			rules = append(rules, rule)
		}
	}
	for _, rule := range rules {
		for _, name := range rule.Keys {
			add(name)
		}
	}
	for r.demote(rules, states, choices) {
	}
	list := make([]State, 0, len(names))
	for _, name := range names {
		if s := states[name]; s != nil {
			c := choices[name][0]
			s.Value, s.Scope, s.entry = c.entry.Value, c.scope, c.entry
			list = append(list, *s)
		}
	}
	return list
}

// demote drops nearer values of the keys of a broken rule, and reports whether it dropped any.
func (r *resolver) demote(rules []*Rule, states map[string]*State, choices map[string][]candidate) bool {
	for _, rule := range rules {
		values := map[string]json.RawMessage{}
		for _, name := range rule.Keys {
			if list := choices[name]; len(list) > 0 {
				values[name] = list[0].entry.Value
			}
		}
		fault := rule.broken(values)
		if fault == "" {
			continue
		}
		dropped, near := false, slices.ContainsFunc(rule.Keys, func(name string) bool { return isNear(choices[name]) })
		for _, name := range rule.Keys {
			kept := choices[name]
			if isNear(kept) == near {
				kept = farther(kept)
			}
			for _, c := range choices[name][:len(choices[name])-len(kept)] {
				dropped = true
				states[name].Unused = append(states[name].Unused, fmt.Sprintf("%s in %s: it breaks the rule that %s: %s", compact(c.entry.Value), c.scope, rule, fault))
			}
			choices[name] = kept
		}
		if dropped {
			return true
		}
	}
	return false
}

// isNear reports whether the first candidate is set for a namespace, agent or family.
func isNear(list []candidate) bool {
	return len(list) > 0 && list[0].scope.Kind != "" && list[0].scope.Kind != System
}

// farther returns the candidates after those of namespaces, agents and families, or else those after the system's.
func farther(list []candidate) []candidate {
	if len(list) == 0 || list[0].scope.Kind == "" {
		return list
	}
	if list[0].scope.Kind == System {
		return list[1:]
	}
	i := slices.IndexFunc(list, func(c candidate) bool { return c.scope.Kind == System || c.scope.Kind == "" })
	return list[i:]
}

// Settings reads and changes settings in a stage. Like the stage, it is not for concurrent use.
type Settings struct {
	Stage *memory.Stage
	Keys  *Keys
	Own   *Family // whose own keys are known beside the shared ones; nil: none
}

func (s Settings) resolver(found []scopeRecord) (*resolver, error) {
	r := &resolver{all: s.Keys, own: s.Own}
	for _, k := range found {
		d, err := k.document()
		if err != nil {
			return nil, err
		}
		r.layers = append(r.layers, layer{k.scope, d})
	}
	return r, nil
}

// Values returns the values of all keys that Own declares. The caller must not change the map.
func (s Settings) Values(ctx context.Context, f For) (map[string]json.RawMessage, error) {
	r, err := s.resolved(ctx, f)
	return r.values, err
}

// JSON returns Values as a JSON object. The caller must not change it.
func (s Settings) JSON(ctx context.Context, f For) (json.RawMessage, error) {
	r, err := s.resolved(ctx, f)
	return r.text, err
}

// resolved returns the values from the cache, or resolves them and encodes them once.
func (s Settings) resolved(ctx context.Context, f For) (resolution, error) {
	if len(s.Own.keys) == 0 {
		return resolution{map[string]json.RawMessage{}, json.RawMessage("{}")}, nil
	}
	scopes := f.scopes()
	if !slices.ContainsFunc(s.Own.keys, func(k *Key) bool { return k.Shared }) {
		scopes = []Scope{{OfFamily, s.Own.Name}}
	}
	found, err := read(ctx, s.Stage, scopes)
	if err != nil {
		return resolution{}, err
	}
	at, cacheable := stateOf(s.Keys, found)
	if known, ok := s.Own.resolved.get(at); ok && cacheable {
		return known, nil
	}
	now, err := s.resolve(found)
	if err == nil && cacheable {
		s.Own.resolved.put(at, now)
	}
	return now, err
}

// resolve resolves the values of all keys that Own declares from the records read.
func (s Settings) resolve(found []scopeRecord) (resolution, error) {
	r, err := s.resolver(found)
	if err != nil {
		return resolution{}, err
	}
	names := make([]string, len(s.Own.keys))
	for i, k := range s.Own.keys {
		names[i] = k.Key
	}
	values := make(map[string]json.RawMessage, len(names))
	for _, state := range r.resolve(names) {
		values[state.Key.Key] = state.Value
	}
	text, err := json.Marshal(values)
	if err != nil {
		return resolution{}, fmt.Errorf("encode the settings of family %s: %w", s.Own.Name, err)
	}
	return resolution{values, text}, nil
}

// States returns settings as they apply, without undeclared keys.
func (s Settings) States(ctx context.Context, names []string, f For) ([]State, error) {
	found, err := read(ctx, s.Stage, f.scopes())
	if err != nil {
		return nil, err
	}
	r, err := s.resolver(found)
	if err != nil {
		return nil, err
	}
	return r.resolve(names), nil
}

// In returns the keys set in a scope, with their values there, sorted.
func (s Settings) In(ctx context.Context, scope Scope) ([]State, error) {
	if err := scope.check(); err != nil {
		return nil, err
	}
	found, err := readOne(ctx, s.Stage, scope)
	if err != nil {
		return nil, err
	}
	var list []State
	for _, name := range s.Names() {
		if e := found[name]; e.set() {
			list = append(list, State{Key: s.key(name), Value: e.Value, Scope: scope, entry: e})
		}
	}
	return list, nil
}

// Rules returns all rules for the known keys.
func (s Settings) Rules() []*Rule { return (&resolver{all: s.Keys, own: s.Own}).rules() }

func (s Settings) key(name string) *Key { return (&resolver{all: s.Keys, own: s.Own}).key(name) }

// Names returns the known keys, sorted.
func (s Settings) Names() []string {
	list := s.Keys.Names()
	if s.Own != nil {
		for _, k := range s.Own.keys {
			list = append(list, k.Key)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}
