package config

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/abi"
)

// Rule is a condition on the values of several keys.
type Rule struct {
	abi.ConfigRule
	Families []string // that declare it, sorted
}

func (r *Rule) String() string {
	switch r.Rule {
	case abi.RuleSum:
		return fmt.Sprintf("sum of %s is %v ± %v", strings.Join(r.Keys, ", "), r.Equals, r.Within)
	case abi.RuleLessThan:
		return strings.Join(r.Keys, " < ")
	}
	return strings.Join(r.Keys, " is one of ")
}

// shared reports whether the rule is about shared keys.
func (r *Rule) shared(f *Family) bool {
	k := f.key(r.Keys[0]) // manifest validation requires the others to be alike
	return k != nil && k.Shared
}

func (r *Rule) same(o *Rule) bool {
	return r.Rule == o.Rule && slices.Equal(r.Keys, o.Keys) && r.Equals == o.Equals && r.Within == o.Within
}

func (r *Rule) sorted() []string { return slices.Sorted(slices.Values(r.Keys)) }

// broken describes how values break the rule; empty: they satisfy it.
func (r *Rule) broken(values map[string]json.RawMessage) string {
	if r.Rule == abi.RuleOneOf {
		return r.notAmong(values)
	}
	numbers := make([]float64, len(r.Keys))
	for i, key := range r.Keys {
		if err := json.Unmarshal(values[key], &numbers[i]); err != nil {
			return fmt.Sprintf("%s is not a number", key)
		}
	}
	if r.Rule == abi.RuleSum {
		return r.notEqual(numbers)
	}
	for i := 1; i < len(numbers); i++ {
		if numbers[i-1] >= numbers[i] {
			return fmt.Sprintf("%s is %v, which is not less than %s, %v", r.Keys[i-1], numbers[i-1], r.Keys[i], numbers[i])
		}
	}
	return ""
}

func (r *Rule) notEqual(numbers []float64) string {
	sum := 0.0
	for _, n := range numbers {
		sum += n
	}
	const rounding = 1e-9
	if math.Abs(sum-r.Equals) <= r.Within+rounding {
		return ""
	}
	return fmt.Sprintf("they add up to %.6g", sum)
}

func (r *Rule) notAmong(values map[string]json.RawMessage) string {
	var list []json.RawMessage
	if err := json.Unmarshal(values[r.Keys[1]], &list); err != nil {
		return fmt.Sprintf("%s is not a list", r.Keys[1])
	}
	if slices.ContainsFunc(list, func(v json.RawMessage) bool { return sameJSON(v, values[r.Keys[0]]) }) {
		return ""
	}
	return fmt.Sprintf("%s is %s, which is not in %s", r.Keys[0], compact(values[r.Keys[0]]), r.Keys[1])
}
