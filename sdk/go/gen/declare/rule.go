package declare

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/alcove-memory/alcove/abi"
)

// rules are those of the configuration: //alcove:rule RULE KEY … equals=N within=N. A key with a star stands for all that it matches, in
// the order of their declaration.
func (f *Family) rules() (list []abi.ConfigRule, err error) {
	for _, d := range f.ConfigSaid {
		if d.Name != "rule" {
			continue
		}
		r, err := rule(strings.Fields(d.Rest), f.Config)
		if err != nil {
			return nil, fmt.Errorf("//alcove:rule %s: %w", d.Rest, err)
		}
		list = append(list, r)
	}
	return list, nil
}

func rule(said []string, config []abi.Setting) (r abi.ConfigRule, err error) {
	if len(said) == 0 {
		return r, fmt.Errorf("write %s, %s or %s, and the keys that it is about", abi.RuleSum, abi.RuleLessThan, abi.RuleOneOf)
	}
	r.Rule = said[0]
	for _, w := range said[1:] {
		name, value, set := strings.Cut(w, "=")
		number := map[string]*float64{"equals": &r.Equals, "within": &r.Within}[name]
		switch {
		case set && (number == nil || r.Rule != abi.RuleSum):
			return r, fmt.Errorf("it says %q: of %s, equals= and within= are known", w, abi.RuleSum)
		case set:
			if *number, err = strconv.ParseFloat(value, 64); err != nil {
				return r, fmt.Errorf("%s is no number", w)
			}
		default:
			r.Keys = append(r.Keys, matching(w, config)...)
		}
	}
	return r, nil
}

// matching are the keys that a pattern matches. One that matches none stays: that it is not declared is found where the manifest is
// checked.
func matching(pattern string, config []abi.Setting) (keys []string) {
	for _, s := range config {
		if ok, err := path.Match(pattern, s.Key); ok && err == nil && !slices.Contains(keys, s.Key) {
			keys = append(keys, s.Key)
		}
	}
	if keys == nil {
		return []string{pattern}
	}
	return keys
}
