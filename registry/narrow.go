package registry

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/alcove-memory/alcove/abi"
)

// Narrows reports whether a lock only takes powers and trust away from another: capabilities are revoked, families disabled,
// keys revoked. Hooks stay as they are: without one, what it would have refused is stored.
func Narrows(before, after Lock) bool {
	if len(after.Keys) != len(before.Keys) || len(after.Families) != len(before.Families) {
		return false
	}
	for name, k := range after.Keys {
		was, there := before.Keys[name]
		if was.Revoked == "" {
			was.Revoked = k.Revoked
		}
		if !there || !reflect.DeepEqual(k, was) {
			return false
		}
	}
	for name, g := range after.Families {
		was, there := before.Families[name]
		if !there || !g.narrows(was) {
			return false
		}
	}
	before.Locked = before.Locked || after.Locked
	before.Families, before.Keys, after.Families, after.Keys = nil, nil, nil, nil
	a, errA := Encode(before)
	b, errB := Encode(after)
	return errA == nil && errB == nil && string(a) == string(b)
}

// narrows reports whether a grant has nothing beyond another one of the same module.
func (g Grant) narrows(was Grant) bool {
	if was.Disabled && !g.Disabled {
		return false
	}
	for _, c := range g.Capabilities {
		if !slices.ContainsFunc(was.Capabilities, func(had Capability) bool { return reflect.DeepEqual(c, had) }) {
			return false
		}
	}
	for _, denied := range was.Denied {
		if g.Follows && !slices.Contains(g.Denied, denied) {
			return false
		}
	}
	g.Capabilities, g.Disabled, g.Writes, g.Asked = was.Capabilities, was.Disabled, was.Writes, was.Asked
	g.Follows, g.Denied = was.Follows, was.Denied // a posture gives nothing where this is asked
	g.Hooks, was.Hooks = hooksOf(g), hooksOf(was)
	if len(g.Limits) == 0 {
		g.Limits = was.Limits
	}
	return reflect.DeepEqual(g, was)
}

func hooksOf(g Grant) map[abi.Hook]On {
	if len(g.Hooks) == 0 {
		return nil
	}
	return g.Hooks
}

// CompareVersions compares versions as semver.org orders them: negative if a is the older one. Build metadata does not count.
func CompareVersions(a, b string) int {
	coreA, preA := splitVersion(a)
	coreB, preB := splitVersion(b)
	if order := slices.CompareFunc(coreA, coreB, compareParts); order != 0 {
		return order
	}
	switch {
	case len(preA) == 0 || len(preB) == 0: // a release is newer than its previews
		return len(preB) - len(preA)
	default:
		return slices.CompareFunc(preA, preB, compareParts)
	}
}

func splitVersion(v string) (core, preview []string) {
	v, _, _ = strings.Cut(v, "+")
	v, pre, _ := strings.Cut(v, "-")
	if pre != "" {
		preview = strings.Split(pre, ".")
	}
	return strings.Split(v, "."), preview
}

// compareParts orders numbers before words.
func compareParts(a, b string) int {
	n, errA := strconv.ParseUint(a, 10, 64)
	m, errB := strconv.ParseUint(b, 10, 64)
	switch {
	case errA == nil && errB == nil && n < m, errA == nil && errB != nil:
		return -1
	case errA == nil && errB == nil && n == m:
		return 0
	case errA != nil && errB != nil:
		return strings.Compare(a, b)
	}
	return 1
}
