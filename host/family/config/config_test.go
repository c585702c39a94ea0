package config

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/abi"
)

func values(pairs ...string) map[string]json.RawMessage {
	m := map[string]json.RawMessage{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = json.RawMessage(pairs[i+1])
	}
	return m
}

func TestWhatBreaksARule(t *testing.T) {
	sum := abi.ConfigRule{Rule: abi.RuleSum, Keys: []string{"a", "b", "c"}, Equals: 1, Within: 0.01}
	less := abi.ConfigRule{Rule: abi.RuleLessThan, Keys: []string{"a", "b", "c"}}
	one := abi.ConfigRule{Rule: abi.RuleOneOf, Keys: []string{"a", "b"}}
	for _, c := range []struct {
		rule   abi.ConfigRule
		values map[string]json.RawMessage
		says   string // empty: they satisfy it
	}{
		{sum, values("a", "0.5", "b", "0.3", "c", "0.2"), ""},
		{sum, values("a", "0.5", "b", "0.3", "c", "0.21"), ""},
		{sum, values("a", "0.5", "b", "0.3", "c", "0.2101"), "they add up to 1.0101"},
		{sum, values("a", "0.5", "b", "0.3"), "c is not a number"},
		{sum, values("a", "0.5", "b", `"x"`, "c", "0"), "b is not a number"},
		{less, values("a", "1", "b", "2", "c", "3"), ""},
		{less, values("a", "1", "b", "3", "c", "3"), "b is 3, which is not less than c, 3"},
		{one, values("a", `"x"`, "b", `["y", "x"]`), ""},
		{one, values("a", "1", "b", `[1.0]`), ""},
		{one, values("a", `"z"`, "b", `["y"]`), `a is "z", which is not in b`},
		{one, values("a", `"z"`, "b", `"z"`), "b is not a list"},
	} {
		if got := (&Rule{ConfigRule: c.rule}).broken(c.values); (got == "") != (c.says == "") || !strings.Contains(got, c.says) {
			t.Errorf("%v of %s: %q, not %q", c.rule, c.values, got, c.says)
		}
	}
}

func TestDeclarationsAreTheSameHoweverTheyAreWritten(t *testing.T) {
	declare := func(name, schema, fallback string) *Family {
		return Declared(&abi.Manifest{Name: name, Config: []abi.Setting{{Key: "k", Shared: true, Schema: json.RawMessage(schema), Default: json.RawMessage(fallback)}}})
	}
	all := NewKeys()
	all.Add(declare("one", `{"type":"number","minimum":0}`, "1"))
	if clash := all.Clash(declare("two", `{ "minimum": 0.0, "type": "number" }`, "1.0")); clash != "" {
		t.Errorf("Clash = %q, want none", clash)
	}
	for _, other := range []*Family{declare("two", `{"type":"number"}`, "1"), declare("two", `{"type":"number","minimum":0}`, "2")} {
		if all.Clash(other) == "" {
			t.Errorf("%s is no clash", other.keys[0].Default)
		}
	}
	all.Add(declare("two", `{"type":"number","minimum":0}`, "1"))
	if got := all.Key("k").Families; !slices.Equal(got, []string{"one", "two"}) {
		t.Errorf("it is declared by %v", got)
	}
}

func TestOneRuleAfterTheOtherIsSatisfied(t *testing.T) {
	number := func(key, fallback string) abi.Setting {
		return abi.Setting{Key: key, Shared: true, Default: json.RawMessage(fallback)}
	}
	f := Declared(&abi.Manifest{Name: "one", Config: []abi.Setting{number("a", "1"), number("b", "2"), number("c", "3")}, ConfigRules: []abi.ConfigRule{
		{Rule: abi.RuleLessThan, Keys: []string{"a", "b"}}, {Rule: abi.RuleLessThan, Keys: []string{"b", "c"}}}})
	all := NewKeys()
	all.Add(f)
	set := func(kind Kind, name string, pairs ...string) layer {
		d := document{}
		for key, value := range values(pairs...) {
			d[key] = entry{Value: value, Priority: standardPriority}
		}
		return layer{Scope{kind, name}, d}
	}
	for _, c := range []struct {
		layers []layer
		want   string
	}{
		{nil, "1 2 3"},
		{[]layer{set(Namespace, "n", "b", "2.5"), set(System, "")}, "1 2.5 3"},
		{[]layer{set(Namespace, "n", "b", "0"), set(System, "", "c", "9")}, "1 2 9"},
		{[]layer{set(Namespace, "n", "b", "8", "c", "9"), set(System, "", "a", "8")}, "1 2 9"}, // b falls back to the default, then a
		{[]layer{set(System, "", "a", "5", "b", "6", "c", "4")}, "1 2 3"},
		{[]layer{set(Agent, "x", "a", `"word"`), set(System, "", "a", "0")}, "0 2 3"},
	} {
		r := &resolver{all: all, layers: c.layers}
		var got []string
		for _, s := range r.resolve([]string{"a", "b", "c", "none"}) {
			got = append(got, string(s.Value))
		}
		for _, rule := range all.Rules() {
			if fault := rule.broken(values("a", got[0], "b", got[1], "c", got[2])); fault != "" {
				t.Errorf("%v break %s: %s", got, rule, fault)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%+v gives %v, not %s", c.layers, got, c.want)
		}
	}
}
