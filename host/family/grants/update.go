package grants

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/policy"
	"github.com/alcove-memory/alcove/registry"
)

// Update is what a version of a family lacks of the previous version's grant.
type Update struct {
	Digest  string   `json:"digest"` // of the previous version
	Version string   `json:"version,omitempty"`
	Dropped []string `json:"dropped,omitempty"` // as in memory.read=work, hook rank and limit wall_ms=100
}

// Guarding is an approved version of a family that serves its store hook in place of the current one.
type Guarding struct {
	Digest  string `json:"digest"`
	Version string `json:"version,omitempty"`
	Missing string `json:"missing,omitempty"` // why it cannot be called, so that nothing is stored; empty: it can
}

// succession returns the grant of another version that replaces the one of g: nothing, except that a disabled family stays
// disabled, and that the approved version serves a required store hook. If it is that
// version itself, it gets back what it was approved with.
func succession(g registry.Grant, digest, version string) registry.Grant {
	next := registry.Grant{Digest: digest, Version: version, Disabled: g.Disabled}
	a, guarded := g.Approved()
	switch {
	case guarded && a.Digest == digest:
		next.Capabilities, next.Limits, next.Methods = a.Capabilities, a.Limits, a.Methods
		next.Hooks = map[abi.Hook]registry.On{abi.HookStore: {OnFailure: abi.OnFailureRefuse}}
	case guarded:
		next.Guard = &a
	}
	return next
}

// Lost returns what a family lost compared with the previous grant; nil: nothing.
func Lost(before, now registry.Grant) *Update {
	if before.Digest == "" || before.Digest == now.Digest {
		return nil
	}
	u := &Update{Digest: before.Digest, Version: before.Version}
	for _, c := range before.Capabilities {
		if i := indexOf(now.Capabilities, c.Name); i < 0 || !slices.Equal(now.Capabilities[i].Scope, c.Scope) || now.Capabilities[i].During != c.During {
			u.Dropped = append(u.Dropped, CapabilityText(c, nil))
		}
	}
	for _, h := range slices.Sorted(maps.Keys(before.Hooks)) {
		_, kept := now.Hooks[h]
		if h == abi.HookStore && now.Guard != nil || kept {
			continue
		}
		u.Dropped = append(u.Dropped, "hook "+string(h))
	}
	for _, name := range slices.Sorted(maps.Keys(before.Limits)) {
		if now.Limits[name] != before.Limits[name] {
			u.Dropped = append(u.Dropped, fmt.Sprintf("limit %s=%d", name, before.Limits[name]))
		}
	}
	if len(before.Methods) > 0 && !slices.Equal(before.Methods, now.Methods) {
		u.Dropped = append(u.Dropped, "http_methods "+strings.Join(before.Methods, ","))
	}
	if len(u.Dropped) == 0 {
		return nil
	}
	return u
}

// Command builds a command that grants.
type Command struct {
	Family       string
	Capabilities []string
	Hooks        []string
	Limits       []string
	Methods      []string
	Digest       string
}

func (c Command) String() string {
	words := append([]string{"alcove family grant", c.Family}, c.Capabilities...)
	if len(c.Hooks) > 0 {
		words = append(words, "--hook", strings.Join(c.Hooks, ","))
	}
	if len(c.Limits) > 0 {
		words = append(words, "--limit", strings.Join(c.Limits, ","))
	}
	if len(c.Methods) > 0 {
		words = append(words, "--http-methods", strings.Join(c.Methods, ","))
	}
	if c.Digest != "" {
		words = append(words, "--digest", c.Digest)
	}
	return strings.Join(words, " ")
}

// Fitting returns the command that grants a family what another version had, as far as it asks for it; empty
// if nothing fits.
func Fitting(x *Version, before registry.Grant) string {
	c := Command{Family: x.Name, Digest: x.Digest, Methods: before.Methods}
	capabilities, hooks := before.Capabilities, maps.Clone(before.Hooks)
	if a, ok := before.Approved(); ok && before.Guard != nil {
		capabilities = append(slices.Clone(capabilities), a.Capabilities...)
		if hooks == nil {
			hooks = map[abi.Hook]registry.On{}
		}
		hooks[abi.HookStore] = registry.On{OnFailure: abi.OnFailureRefuse}
	}
	for _, fit := range fits(capabilities, x.Manifest) {
		c.Capabilities = append(c.Capabilities, CapabilityText(fit, x.Manifest))
	}
	for _, h := range slices.Sorted(maps.Keys(hooks)) {
		if Has(x.Manifest.Hooks, h) {
			c.Hooks = append(c.Hooks, HookText(h, hooks[h]))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(before.Limits)) {
		c.Limits = append(c.Limits, fmt.Sprintf("%s=%d", name, before.Limits[name]))
	}
	if len(c.Capabilities)+len(c.Hooks)+len(c.Limits)+len(c.Methods) == 0 {
		return ""
	}
	return c.String()
}

// CapabilityText formats a capability as granted. Without a scope it is granted for all that the manifest asks for.
func CapabilityText(c registry.Capability, asked *abi.Manifest) string {
	name := string(c.Name)
	if c.During != "" {
		name += "@" + string(c.During)
	}
	if len(c.Scope) == 0 {
		return name
	}
	if asked != nil {
		i := slices.IndexFunc(asked.Capabilities, func(a abi.Request) bool { return a.Name == c.Name })
		if i >= 0 && (slices.Equal(asked.Capabilities[i].Scope, c.Scope) || slices.Contains(c.Scope, policy.Everything)) {
			return name
		}
	}
	return name + "=" + strings.Join(c.Scope, ",")
}

// HookText formats a hook as turned on.
func HookText(h abi.Hook, on registry.On) string {
	if on.Generations > 0 {
		return fmt.Sprintf("%s=%d", h, on.Generations)
	}
	if on.OnFailure == "" {
		return string(h)
	}
	return string(h) + "=" + string(on.OnFailure)
}
