// Package config keeps settings: the keys that manifests declare, their values in several scopes, the rules between values,
// and the history of every change.
package config

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/internal/schema"
)

// Key is a declared setting. It may be used concurrently.
type Key struct {
	abi.Setting
	Families []string // that declare it, sorted

	once     sync.Once
	compiled *schema.Schema
	fault    error
}

// Allowed returns the JSON Schema of the key's values.
func (k *Key) Allowed() json.RawMessage {
	if len(k.Schema) > 0 {
		return k.Schema
	}
	return json.RawMessage(fmt.Sprintf(`{"type":%q}`, typeOf(k.Default)))
}

// Check returns an error for a value that the key does not allow.
func (k *Key) Check(value json.RawMessage) error {
	k.once.Do(func() { k.compiled, k.fault = schema.Compile(k.Allowed()) })
	if k.fault != nil {
		return fmt.Errorf("the schema of %s: %w", k.Key, k.fault)
	}
	return k.compiled.Check(value)
}

// typeOf returns the type of a JSON value, as named in schemas.
func typeOf(value json.RawMessage) string {
	switch value = bytes.TrimSpace(value); {
	case len(value) == 0 || value[0] == 'n':
		return "null"
	case value[0] == '{':
		return "object"
	case value[0] == '[':
		return "array"
	case value[0] == '"':
		return "string"
	case value[0] == 't' || value[0] == 'f':
		return "boolean"
	}
	return "number"
}

// Family holds the declarations of one manifest.
type Family struct {
	Name  string
	keys  []*Key
	rules []*Rule

	resolved cache
}

// Declared returns a manifest's declarations.
func Declared(m *abi.Manifest) *Family {
	f := &Family{Name: m.Name}
	for _, s := range m.Config {
		f.keys = append(f.keys, &Key{Setting: s, Families: []string{m.Name}})
	}
	for _, r := range m.ConfigRules {
		f.rules = append(f.rules, &Rule{ConfigRule: r, Families: []string{m.Name}})
	}
	return f
}

// key returns one of the family's keys; nil: undeclared.
func (f *Family) key(name string) *Key {
	i := slices.IndexFunc(f.keys, func(k *Key) bool { return k.Key == name })
	if i < 0 {
		return nil
	}
	return f.keys[i]
}

// Declares reports whether the family declares a key.
func (f *Family) Declares(name string) bool { return f.key(name) != nil }

// Allows returns an error for a value that a key of the family does not allow.
func (f *Family) Allows(name string, value json.RawMessage) error { return f.key(name).Check(value) }

// Check returns an error if a default violates its schema, or breaks a rule. A family's own keys are not checked
// against their schemas, for compatibility.
func (f *Family) Check() error {
	defaults := map[string]json.RawMessage{}
	for _, k := range f.keys {
		defaults[k.Key] = k.Default
		if !k.Shared {
			continue
		}
		if err := k.Check(k.Default); err != nil {
			return fmt.Errorf("config %s: its default does not fit its schema: %w", k.Key, err)
		}
	}
	for _, r := range f.rules {
		if fault := r.broken(defaults); fault != "" {
			return fmt.Errorf("config_rules %s: the defaults break it: %s", r, fault)
		}
	}
	return nil
}

// CheckDefaults is Check, and checks the defaults of the family's own keys, too.
func (f *Family) CheckDefaults() error {
	for _, k := range f.keys {
		if err := k.Check(k.Default); err != nil {
			return fmt.Errorf("config %s: its default does not fit its schema: %w", k.Key, err)
		}
	}
	return f.Check()
}

// Keys holds the settings that families share, and all rules.
type Keys struct {
	shared map[string]*Key
	rules  []*Rule
}

// NewKeys returns an empty set, to which Add adds families.
func NewKeys() *Keys { return &Keys{shared: map[string]*Key{}} }

// Add adds a family's shared settings. Of differing declarations the first counts: Clash finds them before.
func (all *Keys) Add(f *Family) {
	for _, k := range f.keys {
		if k.Shared {
			all.addKey(k, f.Name)
		}
	}
	for _, r := range f.rules {
		if r.shared(f) {
			all.addRule(r, f.Name)
		}
	}
}

func (all *Keys) addKey(k *Key, family string) {
	have := all.shared[k.Key]
	if have == nil {
		have = &Key{Setting: k.Setting}
		all.shared[k.Key] = have
	}
	have.Families = ordered(have.Families, family)
	have.Description, have.Category = cmp.Or(have.Description, k.Description), cmp.Or(have.Category, k.Category)
}

func (all *Keys) addRule(r *Rule, family string) {
	for _, have := range all.rules {
		if have.same(r) {
			have.Families = ordered(have.Families, family)
			return
		}
	}
	all.rules = append(all.rules, &Rule{ConfigRule: r.ConfigRule, Families: []string{family}})
}

func ordered(names []string, more string) []string {
	if slices.Contains(names, more) {
		return names
	}
	names = append(slices.Clone(names), more)
	slices.Sort(names)
	return names
}

// Same reports whether two sets have equal declarations.
func (all *Keys) Same(o *Keys) bool {
	keys := func(a, b *Key) bool {
		return a.Description == b.Description && a.Category == b.Category && slices.Equal(a.Families, b.Families) && sameJSON(a.Allowed(), b.Allowed()) && sameJSON(a.Default, b.Default)
	}
	rules := func(a, b *Rule) bool { return a.same(b) && slices.Equal(a.Families, b.Families) }
	return maps.EqualFunc(all.shared, o.shared, keys) && slices.EqualFunc(all.rules, o.rules, rules)
}

// Names returns the keys, sorted.
func (all *Keys) Names() []string { return slices.Sorted(maps.Keys(all.shared)) }

// Key returns a shared key; nil: undeclared.
func (all *Keys) Key(name string) *Key { return all.shared[name] }

// Rules returns the rules for shared keys.
func (all *Keys) Rules() []*Rule { return slices.Clone(all.rules) }

// Clash describes how a family's declaration of a shared setting differs from the others'; empty: none does.
func (all *Keys) Clash(f *Family) string {
	for _, k := range f.keys {
		have := all.shared[k.Key]
		if have == nil || !k.Shared {
			continue
		}
		switch {
		case !sameJSON(k.Allowed(), have.Allowed()):
			return fmt.Sprintf("its shared setting %s allows %s, and that of family %s allows %s", k.Key, compact(k.Allowed()), have.Families[0], compact(have.Allowed()))
		case !sameJSON(k.Default, have.Default):
			return fmt.Sprintf("its shared setting %s has the default %s, and that of family %s has %s", k.Key, compact(k.Default), have.Families[0], compact(have.Default))
		}
	}
	for _, r := range f.rules {
		for _, have := range all.rules {
			if r.Rule == have.Rule && slices.Equal(r.sorted(), have.sorted()) && !have.same(r) {
				return fmt.Sprintf("its rule %s is not that of family %s: %s", r, have.Families[0], have)
			}
		}
	}
	return ""
}

// Same reports whether a value is another one, however they are formatted.
func Same(a, b json.RawMessage) bool { return bytes.Equal(a, b) || sameJSON(a, b) }

// sameJSON reports whether two JSON values are equal, however they are formatted.
func sameJSON(a, b json.RawMessage) bool {
	if bytes.Equal(a, b) {
		return json.Valid(a)
	}
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}

// compact formats a JSON value on one line of bounded length, for a message.
func compact(value json.RawMessage) string {
	var out bytes.Buffer
	if err := json.Compact(&out, value); err != nil {
		return "?"
	}
	const most = 200
	if out.Len() > most {
		return out.String()[:most] + "…"
	}
	return out.String()
}
