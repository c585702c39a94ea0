package grants

import (
	"maps"
	"slices"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/policy"
	"github.com/alcove-memory/alcove/registry"
)

// Restored returns the grant of a version that was granted back before it was replaced, and replaces that of now. A store hook that
// is required now stays so: with the approved version, unless this one was approved for it.
func Restored(now, back registry.Grant) registry.Grant {
	back.Disabled = now.Disabled
	a, required := now.Approved()
	if _, approved := back.Approved(); !required || approved {
		return back
	}
	if back.Hooks = maps.Clone(back.Hooks); a.Digest != back.Digest {
		delete(back.Hooks, abi.HookStore)
		back.Guard = &a
		return back
	}
	if back.Hooks == nil {
		back.Hooks = map[abi.Hook]registry.On{}
	}
	back.Hooks[abi.HookStore] = registry.On{OnFailure: abi.OnFailureRefuse}
	return back
}

// Fresh returns the grant of a version that replaces that of before, except for a required store hook.
func Fresh(before registry.Grant, digest string, m *abi.Manifest) registry.Grant {
	return succession(before, digest, m.Version)
}

// Keeping returns the grant of a version that replaces that of before and keeps what it asks for.
func Keeping(before registry.Grant, digest string, m *abi.Manifest) registry.Grant {
	next := succession(before, digest, m.Version)
	if next.Hooks != nil {
		return next // the approved version itself
	}
	next.Capabilities, next.Limits, next.Methods = fits(before.Capabilities, m), maps.Clone(before.Limits), before.Methods
	next.Hooks = map[abi.Hook]registry.On{}
	for h, on := range before.Hooks {
		if Has(m.Hooks, h) && (h != abi.HookStore || next.Guard == nil) {
			next.Hooks[h] = on
		}
	}
	return next
}

// fits returns the capabilities that a manifest asks for, as far as it does.
func fits(had []registry.Capability, m *abi.Manifest) (list []registry.Capability) {
	given := map[abi.Capability]bool{}
	for _, c := range had {
		i := slices.IndexFunc(m.Capabilities, func(a abi.Request) bool { return a.Name == c.Name })
		if i < 0 || given[c.Name] {
			continue
		}
		c.Scope = policy.Common(c.Scope, m.Capabilities[i].Scope)
		if c.Name.Scope() == "none" || len(c.Scope) > 0 {
			given[c.Name] = true
			list = append(list, c)
		}
	}
	return list
}
