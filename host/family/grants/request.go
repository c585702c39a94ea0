package grants

import (
	"fmt"
	"maps"
	"slices"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/policy"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/registry"
)

// Request is a change of a family's grant. Grants add to the present ones; a capability or
// hook that was granted before is replaced.
type Request struct {
	Family       string                   `json:"family"`
	Digest       string                   `json:"digest,omitempty"` // the version meant; empty: the present one
	All          bool                     `json:"all,omitempty"`    // everything its manifest asks for, except hooks
	Capabilities []registry.Capability    `json:"capabilities,omitempty"`
	Hooks        map[abi.Hook]registry.On `json:"hooks,omitempty"`
	Limits       map[string]int64         `json:"limits,omitempty"`
	ResetLimits  []string                 `json:"reset_limits,omitempty"` // limits and quotas to reset to their defaults
	Methods      []string                 `json:"http_methods,omitempty"` // of requests to endpoints; *: all; empty: as before
	Disable      *bool                    `json:"disable,omitempty"`
	Revoke       []string                 `json:"revoke,omitempty"` // capabilities and hooks; * for everything
	Follow       bool                     `json:"follow,omitempty"` // a built-in family has what the posture gives it again
}

// RevokesOnly reports whether a request grants nothing.
func (r Request) RevokesOnly() bool {
	return !r.All && len(r.Capabilities) == 0 && len(r.Hooks) == 0 && len(r.Limits) == 0 && len(r.ResetLimits) == 0 && len(r.Methods) == 0 && !r.Follow
}

// Clone returns a grant that can be changed.
func Clone(g registry.Grant) registry.Grant {
	g.Capabilities, g.Methods = slices.Clone(g.Capabilities), slices.Clone(g.Methods)
	g.Hooks, g.Limits = maps.Clone(g.Hooks), maps.Clone(g.Limits)
	if g.Hooks == nil {
		g.Hooks = map[abi.Hook]registry.On{}
	}
	if g.Limits == nil {
		g.Limits = map[string]int64{}
	}
	return g
}

// Apply changes a grant as the request asks; x is nil if the module of the family is missing, so that it can only be revoked.
func (r Request) Apply(x *Version, g *registry.Grant) error {
	if r.Disable != nil {
		g.Disabled = *r.Disable
	}
	if r.Follow {
		if x.Source != BuiltIn {
			return &memory.Error{Code: memory.InvalidArgument, Message: fmt.Sprintf("family %s did not come with the program, and no posture gives it anything", x.Name)}
		}
		g.Follows, g.Denied = true, nil
	}
	for _, name := range r.Revoke {
		if deny(x, g, name) {
			continue
		}
		if err := revoke(g, name); err != nil {
			return err
		}
	}
	capabilities := r.Capabilities
	if r.All {
		for _, c := range x.Manifest.Capabilities {
			capabilities = append(capabilities, registry.Capability{Name: c.Name, Scope: c.Scope})
		}
	}
	for _, c := range capabilities {
		if err := grantCapability(x, g, c); err != nil {
			return err
		}
	}
	for h, on := range r.Hooks {
		if err := grantHook(x, g, h, on); err != nil {
			return err
		}
	}
	for _, name := range r.ResetLimits {
		if !registry.IsLimit(name) {
			return &memory.Error{Code: memory.InvalidArgument, Message: fmt.Sprintf("there is no limit %.80q: give one of manifests, such as wall_ms, a quota, such as records, or a budget, such as http_calls_minute", name)}
		}
		delete(g.Limits, name)
	}
	maps.Copy(g.Limits, r.Limits)
	switch {
	case slices.Equal(r.Methods, []string{"*"}):
		g.Methods = nil
	case len(r.Methods) > 0:
		methods, err := registry.NormalMethods(r.Methods)
		if err != nil {
			return &memory.Error{Code: memory.InvalidArgument, Message: err.Error()}
		}
		g.Methods = methods
	}
	return nil
}

// grantHook turns a hook on. Unless the operator says what happens when a store hook fails, the manifest does; but a
// required one stays required. Another version that served it stops serving it.
func grantHook(x *Version, g *registry.Grant, h abi.Hook, on registry.On) error {
	if !Has(x.Manifest.Hooks, h) {
		return &memory.Error{Code: memory.InvalidArgument, Message: fmt.Sprintf("the manifest of family %s has no hook %s", x.Name, h)}
	}
	if h != abi.HookStore && on.OnFailure != "" {
		return &memory.Error{Code: memory.InvalidArgument, Message: fmt.Sprintf("hook %s=%s: only the store hook takes what happens when it fails", h, on.OnFailure)}
	}
	if h != abi.HookStored && h != abi.HookMerged && on.Generations != 0 {
		return &memory.Error{Code: memory.InvalidArgument, Message: fmt.Sprintf("hook %s=%d: only the hooks stored and merged take a number of generations", h, on.Generations)}
	}
	if on.Generations < 0 || on.Generations > abi.MostGenerations {
		return &memory.Error{Code: memory.InvalidArgument, Message: fmt.Sprintf("hook %s=%d: from 1 to %d generations are allowed", h, on.Generations, abi.MostGenerations)}
	}
	if h == abi.HookStore {
		if _, refuses := g.Approved(); refuses && on.OnFailure == "" {
			on.OnFailure = abi.OnFailureRefuse
		}
		on.OnFailure = OnFailure(on.OnFailure, x.Manifest)
		g.Guard = nil
	}
	g.Hooks[h] = on
	allow(g, string(h))
	return nil
}

// Has reports whether a manifest has a hook.
func Has(h abi.Hooks, name abi.Hook) bool {
	switch name {
	case abi.HookStore:
		return h.Store != nil
	case abi.HookStored:
		return h.Stored != nil
	case abi.HookMerged:
		return h.Merged != nil
	case abi.HookSessionEnd:
		return h.SessionEnd != nil
	case abi.HookRank:
		return h.Rank != nil
	case abi.HookEmbed:
		return h.Embed != nil
	case abi.HookJob:
		return len(h.Jobs) > 0
	}
	return false
}

func grantCapability(x *Version, g *registry.Grant, c registry.Capability) error {
	asked := slices.IndexFunc(x.Manifest.Capabilities, func(a abi.Request) bool { return a.Name == c.Name })
	if asked < 0 {
		return &memory.Error{Code: memory.InvalidArgument, Message: fmt.Sprintf("the manifest of family %s does not ask for %s", x.Name, c.Name)}
	}
	if c.During != "" && !policy.Writes(c.Name) {
		return &memory.Error{Code: memory.InvalidArgument, Message: fmt.Sprintf("%s@%s: only what writes is granted for a part of a family's work; leave @%s out", c.Name, c.During, c.During)}
	}
	if len(c.Scope) == 0 {
		c.Scope = x.Manifest.Capabilities[asked].Scope
	}
	g.Capabilities = slices.DeleteFunc(g.Capabilities, func(have registry.Capability) bool { return have.Name == c.Name })
	g.Capabilities = append(g.Capabilities, c)
	allow(g, string(c.Name))
	return nil
}

func revoke(g *registry.Grant, name string) error {
	if name == "*" {
		g.Capabilities, g.Hooks, g.Guard = nil, map[abi.Hook]registry.On{}, nil
		g.Follows, g.Denied = false, nil
		return nil
	}
	before := len(g.Capabilities) + len(g.Hooks)
	if name == string(abi.HookStore) && g.Guard != nil {
		g.Guard, before = nil, before+1
	}
	g.Capabilities = slices.DeleteFunc(g.Capabilities, func(c registry.Capability) bool { return string(c.Name) == name })
	delete(g.Hooks, abi.Hook(name))
	if len(g.Capabilities)+len(g.Hooks) == before {
		return &memory.Error{Code: memory.NotFound, Message: fmt.Sprintf("%q was not granted: give a capability or a hook that was, or * for everything", name)}
	}
	return nil
}
