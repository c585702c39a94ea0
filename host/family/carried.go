package family

import (
	"slices"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/modules"
	"github.com/alcove-memory/alcove/host/family/policy"
	"github.com/alcove-memory/alcove/registry"
)

// Built-in families change with each release, and are vetted with it. An operator's decision about one carries over to
// the next release: in full while the manifest is unchanged, otherwise for what the manifest still asks for.

// asksOf returns what a built-in family asks for.
func asksOf(manifest []byte, m *abi.Manifest) registry.Asked {
	asks := registry.Asked{Manifest: modules.Digest(manifest)}
	for _, c := range m.Capabilities {
		asks.Capabilities = append(asks.Capabilities, registry.Capability{Name: c.Name, Scope: c.Scope})
	}
	for _, h := range []abi.Hook{abi.HookStore, abi.HookStored, abi.HookMerged, abi.HookSessionEnd, abi.HookRank, abi.HookEmbed, abi.HookJob} {
		if has(m.Hooks, h) {
			asks.Hooks = append(asks.Hooks, h)
		}
	}
	return asks
}

// builtGrant returns the grant of a built-in family without an operator's decision: what it asks for, except
// external access, keys for other agents, tools that its manifest does not name, and direct writes of memories where it can propose them. Its hooks
// are off.
func builtGrant(x *family) registry.Grant {
	proposes := false
	for _, c := range x.manifest.Capabilities {
		proposes = proposes || c.Name == abi.CanMemoryPropose
	}
	g := registry.Grant{Digest: x.digest, Version: x.manifest.Version}
	for _, c := range x.manifest.Capabilities {
		switch c.Name {
		case abi.CanToolsCall:
			if c.Scope = slices.DeleteFunc(slices.Clone(c.Scope), func(tool string) bool { return tool == policy.Everything }); len(c.Scope) == 0 {
				continue
			}
		case abi.CanLLM, abi.CanHTTP, abi.CanToolsPublish, abi.CanToolsUsage, abi.CanRecordsRead, abi.CanNamespaceDelete, abi.CanEmbedRebuild,
			abi.CanIdentityDelegate, abi.CanFileRead, abi.CanFileWrite:
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
func carriedGrant(g registry.Grant, x *family) registry.Grant {
	same := g.Asked.Manifest == x.asks.Manifest
	asked := g.Asked.Capabilities
	g.Digest, g.Version = x.digest, x.manifest.Version
	if same {
		return g
	}
	var kept []registry.Capability
	for _, c := range g.Capabilities {
		if i := indexOf(asked, c.Name); i >= 0 { // a grant may be wider than the request
			c.Scope = policy.Common(c.Scope, asked[i].Scope)
		}
		i := indexOf(x.asks.Capabilities, c.Name)
		if i < 0 {
			continue
		}
		c.Scope = policy.Common(c.Scope, x.asks.Capabilities[i].Scope)
		if c.Name.Scope() == "none" || len(c.Scope) > 0 {
			kept = append(kept, c)
		}
	}
	g.Capabilities = kept
	return g
}

// news is what a built-in family asks for in this release and did not when its grant was decided.
type news struct {
	capabilities []registry.Capability // with the new part of the scope
	hooks        []abi.Hook
}

func newsOf(g registry.Grant, x *family) (n news) {
	if x.source != built || g.Asked == nil || g.Asked.Manifest == x.asks.Manifest {
		return news{}
	}
	return newsBetween(*g.Asked, x.asks)
}

// newsBetween is what a version asks for now and another one did not.
func newsBetween(was, now registry.Asked) (n news) {
	for _, c := range now.Capabilities {
		i := indexOf(was.Capabilities, c.Name)
		if i >= 0 {
			before := was.Capabilities[i].Scope
			c.Scope = slices.DeleteFunc(slices.Clone(c.Scope), func(s string) bool {
				return slices.Contains(before, s) || slices.Contains(before, policy.Everything)
			})
		}
		if i < 0 || len(c.Scope) > 0 {
			n.capabilities = append(n.capabilities, c)
		}
	}
	for _, h := range now.Hooks {
		if !slices.Contains(was.Hooks, h) {
			n.hooks = append(n.hooks, h)
		}
	}
	return n
}

// list returns the additions, as memory.read=work and hook rank.
func (n news) list(m *abi.Manifest) []string {
	var list []string
	for _, c := range n.capabilities {
		list = append(list, capabilityText(c, m))
	}
	for _, h := range n.hooks {
		list = append(list, "hook "+string(h))
	}
	return list
}

// command returns the command that grants the additions.
func (n news) command(x *family, now registry.Grant) string {
	c := grantCommand{family: x.name, digest: x.digest}
	for _, asked := range n.capabilities {
		if i := indexOf(now.Capabilities, asked.Name); i >= 0 {
			asked.Scope, asked.During = append(slices.Clone(now.Capabilities[i].Scope), asked.Scope...), now.Capabilities[i].During
		}
		c.capabilities = append(c.capabilities, capabilityText(asked, x.manifest))
	}
	for _, h := range n.hooks {
		c.hooks = append(c.hooks, string(h))
	}
	return c.String()
}

func indexOf(list []registry.Capability, name abi.Capability) int {
	return slices.IndexFunc(list, func(c registry.Capability) bool { return c.Name == name })
}

// noteCarried logs which families of this release ask for more than they were granted.
func (f *Families) noteCarried() {
	f.changing.Lock()
	defer f.changing.Unlock()
	for name, g := range f.lock.Families {
		x := f.known[name]
		if x == nil || x.digest == "" {
			continue
		}
		n := newsOf(g, x)
		if asks := n.list(x.manifest); len(asks) > 0 {
			f.o.Logger.Warn("a family of this release asks for more than it did when its grant was decided; it goes on with what it was granted", "family", name,
				"version", x.manifest.Version, "asks", asks, "grant", n.command(x, grantIn(f.lock, x)))
		}
	}
}
