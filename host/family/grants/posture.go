package grants

import (
	"maps"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/registry"
)

// Gives returns what the posture Personal gives a family beyond its default: that it writes what it would propose, and the hooks without
// which its tools and settings do not do what they say. All of it can be undone, and is in the audit log. Families that did not come
// with the program get nothing.
func Gives(x *Version) (g registry.Grant) {
	if x.Source != BuiltIn {
		return g
	}
	capabilities, hooks := given(x.Name)
	for _, c := range x.Manifest.Capabilities {
		if slices.Contains(capabilities, c.Name) {
			g.Capabilities = append(g.Capabilities, registry.Capability{Name: c.Name, Scope: c.Scope})
		}
	}
	g.Hooks = map[abi.Hook]registry.On{}
	for _, h := range hooks {
		if !Has(x.Manifest.Hooks, h) {
			continue
		}
		on := registry.On{}
		if h == abi.HookStore {
			on.OnFailure = OnFailure("", x.Manifest)
		}
		g.Hooks[h] = on
	}
	return g
}

// given lists what Personal gives the family of a name. What a hook costs is in docs/RATIONALE.md.
func given(name string) ([]abi.Capability, []abi.Hook) {
	switch name {
	case "consolidation":
		return []abi.Capability{abi.CanMemoryWrite}, nil
	case "facts":
		return nil, []abi.Hook{abi.HookStore, abi.HookStored}
	case "governance": // once there is a rule
		return []abi.Capability{abi.CanRecordsRead}, []abi.Hook{abi.HookStore, abi.HookStored}
	case "legacy":
		return []abi.Capability{abi.CanToolsUsage}, nil
	case "lifecycle":
		return []abi.Capability{abi.CanMemoryWrite}, []abi.Hook{abi.HookJob}
	case "ranking":
		return nil, []abi.Hook{abi.HookRank}
	case "settings":
		return []abi.Capability{abi.CanEmbedRebuild}, nil
	case "vault": // below the directory that an operator named vault, if one did
		return []abi.Capability{abi.CanFileRead, abi.CanFileWrite}, nil
	}
	return nil, nil
}

// personal returns a grant with what Personal gives beyond it. What an operator granted stays as it was granted, and what was denied stays
// away.
func personal(g registry.Grant, x *Version) registry.Grant {
	more := Gives(x)
	g.Capabilities = slices.Clone(g.Capabilities)
	for _, c := range more.Capabilities {
		if !Holds(g, c.Name) && !slices.Contains(g.Denied, string(c.Name)) {
			g.Capabilities = append(g.Capabilities, c)
		}
	}
	hooks := map[abi.Hook]registry.On{}
	maps.Copy(hooks, more.Hooks)
	for _, name := range g.Denied {
		delete(hooks, abi.Hook(name))
	}
	if g.Guard != nil { // another version serves the store hook
		delete(hooks, abi.HookStore)
	}
	maps.Copy(hooks, g.Hooks)
	g.Hooks = hooks
	return g
}

// deny takes from a grant what the posture gives or would give, and reports whether it would.
func deny(x *Version, g *registry.Grant, name string) bool {
	if x == nil || !g.Follows || !isPersonal(x, name) {
		return false
	}
	_ = revoke(g, name) // it need not be granted, too
	allow(g, name)
	g.Denied = append(g.Denied, name)
	slices.Sort(g.Denied)
	return true
}

// allow ends a denial.
func allow(g *registry.Grant, name string) {
	g.Denied = slices.DeleteFunc(slices.Clone(g.Denied), func(denied string) bool { return denied == name })
	if len(g.Denied) == 0 {
		g.Denied = nil
	}
}

// isPersonal reports whether Personal gives a family a capability or hook.
func isPersonal(x *Version, name string) bool {
	more := Gives(x)
	_, hook := more.Hooks[abi.Hook(name)]
	return hook || Holds(more, abi.Capability(name))
}

// ByPosture lists what a version has only because of the posture of its directory.
func ByPosture(lock registry.Lock, x *Version) (list []string) {
	if lock.PostureInForce() != registry.Personal {
		return nil
	}
	careful := lock
	careful.Posture = registry.Careful
	for _, change := range Changes(careful, lock, x) {
		list = append(list, strings.TrimPrefix(change, "+"))
	}
	return list
}

// Changes lists what a family has by one lock and not by another: as memory.write and hook rank, with + or - before each.
func Changes(before, after registry.Lock, x *Version) (list []string) {
	was, is := In(before, x), In(after, x)
	only := func(sign string, a, b registry.Grant) {
		for _, c := range a.Capabilities {
			if !Holds(b, c.Name) {
				list = append(list, sign+CapabilityText(c, x.Manifest))
			}
		}
		for _, h := range HooksOf(a) {
			if _, on := b.Hooks[h]; !on {
				list = append(list, sign+"hook "+string(h))
			}
		}
	}
	only("-", was, is)
	only("+", is, was)
	return list
}

// HooksOf lists the hooks that a grant turns on, sorted.
func HooksOf(g registry.Grant) []abi.Hook { return slices.Sorted(maps.Keys(g.Hooks)) }
