package grants

import (
	"slices"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/modules"
	"github.com/alcove-memory/alcove/host/family/policy"
	"github.com/alcove-memory/alcove/registry"
)

// Built-in families change with each release, and are vetted with it. An operator's decision about one carries over to
// the next release: in full while the manifest is unchanged, otherwise for what the manifest still asks for.

// Asks returns what a built-in family asks for.
func Asks(manifest []byte, m *abi.Manifest) registry.Asked {
	asks := registry.Asked{Manifest: modules.Digest(manifest)}
	for _, c := range m.Capabilities {
		asks.Capabilities = append(asks.Capabilities, registry.Capability{Name: c.Name, Scope: c.Scope})
	}
	for _, h := range []abi.Hook{abi.HookStore, abi.HookStored, abi.HookMerged, abi.HookSessionEnd, abi.HookRank, abi.HookEmbed, abi.HookJob} {
		if Has(m.Hooks, h) {
			asks.Hooks = append(asks.Hooks, h)
		}
	}
	return asks
}

// builtGrant returns the grant of a built-in family without an operator's decision: what it asks for, except
// external access, keys for other agents, tools that its manifest does not name, and direct writes of memories where it can propose them. Its hooks
// are off, except a store hook that redacts what its setting names: nothing else would keep secrets out of what is captured.
func builtGrant(x *Version) registry.Grant {
	proposes := false
	for _, c := range x.Manifest.Capabilities {
		proposes = proposes || c.Name == abi.CanMemoryPropose
	}
	g := registry.Grant{Digest: x.Digest, Version: x.Manifest.Version}
	if x.Manifest.Hooks.Store.StartsOn() {
		g.Hooks = map[abi.Hook]registry.On{abi.HookStore: {OnFailure: abi.OnFailureRefuse}}
	}
	for _, c := range x.Manifest.Capabilities {
		switch c.Name {
		case abi.CanToolsCall:
			if c.Scope = slices.DeleteFunc(slices.Clone(c.Scope), func(tool string) bool { return tool == policy.Everything }); len(c.Scope) == 0 {
				continue
			}
		case abi.CanLLM, abi.CanHTTP, abi.CanToolsPublish, abi.CanToolsUsage, abi.CanRecordsRead, abi.CanNamespaceDelete, abi.CanEmbedRebuild,
			abi.CanIdentityDelegate, abi.CanFileRead, abi.CanFileWrite, abi.CanAskModel:
			continue
		case abi.CanMemoryWrite:
			if proposes {
				continue
			}
		}
		g.Capabilities = append(g.Capabilities, registry.Capability{Name: c.Name, Scope: c.Scope})
	}
	return g
}

// carriedGrant returns the grant of a built-in family in this release: what was granted, as far as it was
// asked for then and is asked for now. Hooks and limits stay.
func carriedGrant(g registry.Grant, x *Version) registry.Grant {
	same := g.Asked.Manifest == x.Asks.Manifest
	asked := g.Asked.Capabilities
	g.Digest, g.Version = x.Digest, x.Manifest.Version
	if same {
		return g
	}
	var kept []registry.Capability
	for _, c := range g.Capabilities {
		if i := indexOf(asked, c.Name); i >= 0 { // a grant may be wider than the request
			c.Scope = policy.Common(c.Scope, asked[i].Scope)
		}
		i := indexOf(x.Asks.Capabilities, c.Name)
		if i < 0 {
			continue
		}
		c.Scope = policy.Common(c.Scope, x.Asks.Capabilities[i].Scope)
		if c.Name.Scope() == "none" || len(c.Scope) > 0 {
			kept = append(kept, c)
		}
	}
	g.Capabilities = kept
	return g
}

// news is what a built-in family asks for in this release and did not when its grant was decided.
type Additions struct {
	Capabilities []registry.Capability // with the new part of the scope
	Hooks        []abi.Hook
}

// AdditionsTo is what a built-in family asks for beyond what it did when a grant was decided.
func AdditionsTo(g registry.Grant, x *Version) (n Additions) {
	if x.Source != BuiltIn || g.Asked == nil || g.Asked.Manifest == x.Asks.Manifest {
		return Additions{}
	}
	return AdditionsBetween(*g.Asked, x.Asks)
}

// AdditionsBetween is what a version asks for now and another one did not.
func AdditionsBetween(was, now registry.Asked) (n Additions) {
	for _, c := range now.Capabilities {
		i := indexOf(was.Capabilities, c.Name)
		if i >= 0 {
			before := was.Capabilities[i].Scope
			c.Scope = slices.DeleteFunc(slices.Clone(c.Scope), func(s string) bool {
				return slices.Contains(before, s) || slices.Contains(before, policy.Everything)
			})
		}
		if i < 0 || len(c.Scope) > 0 {
			n.Capabilities = append(n.Capabilities, c)
		}
	}
	for _, h := range now.Hooks {
		if !slices.Contains(was.Hooks, h) {
			n.Hooks = append(n.Hooks, h)
		}
	}
	return n
}

// List returns the additions, as memory.read=work and hook rank.
func (n Additions) List(m *abi.Manifest) []string {
	var list []string
	for _, c := range n.Capabilities {
		list = append(list, CapabilityText(c, m))
	}
	for _, h := range n.Hooks {
		list = append(list, "hook "+string(h))
	}
	return list
}

// Command returns the command that grants the additions.
func (n Additions) Command(x *Version, now registry.Grant) string {
	c := Command{Family: x.Name, Digest: x.Digest}
	for _, asked := range n.Capabilities {
		if i := indexOf(now.Capabilities, asked.Name); i >= 0 {
			asked.Scope, asked.During = append(slices.Clone(now.Capabilities[i].Scope), asked.Scope...), now.Capabilities[i].During
		}
		c.Capabilities = append(c.Capabilities, CapabilityText(asked, x.Manifest))
	}
	for _, h := range n.Hooks {
		c.Hooks = append(c.Hooks, string(h))
	}
	return c.String()
}

func indexOf(list []registry.Capability, name abi.Capability) int {
	return slices.IndexFunc(list, func(c registry.Capability) bool { return c.Name == name })
}
