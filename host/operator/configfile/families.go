package configfile

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/operator"
)

// builtIn is the source of the families that the program carries.
const builtIn = "built in"

// Families are the grants of families, which are installed already. Pruning revokes what families have that did not come with the program
// and that the file does not name.
type Families struct {
	Prune   bool             `json:"prune,omitempty"`
	Posture operator.Posture `json:"posture,omitempty"`
	Shared  bool             `json:"shared,omitempty"` // the posture personal, also for a server that others use
	Grants  map[string]Grant `json:"grants,omitempty"`
}

// Grant is that of a family. A list that is there is complete; limits are compared one by one.
type Grant struct {
	Digest       string           `json:"digest,omitempty"`       // the version meant; empty: the present one
	Capabilities *[]string        `json:"capabilities,omitempty"` // as CapabilityOf reads them
	Hooks        *[]string        `json:"hooks,omitempty"`        // as HookOf reads them
	Limits       map[string]int64 `json:"limits,omitempty"`       // limits, quotas and budgets
	Methods      []string         `json:"http_methods,omitempty"`
	Disabled     *bool            `json:"disabled,omitempty"`
}

// CapabilityOf reads NAME[@calls|@jobs][=SCOPE,…].
func CapabilityOf(text string) (operator.Capability, error) {
	name, scope, scoped := strings.Cut(text, "=")
	name, during, partly := strings.Cut(name, "@")
	c := operator.Capability{Name: abi.Capability(name), During: operator.Work(during)}
	if partly && c.During != operator.Calls && c.During != operator.Jobs {
		return c, fmt.Errorf("%s: give @%s or @%s, or neither", text, operator.Calls, operator.Jobs)
	}
	if scoped {
		c.Scope = strings.Split(scope, ",")
	}
	return c, nil
}

// HookOf reads NAME, NAME=NUMBER or store=WHAT-IF-IT-FAILS.
func HookOf(text string) (abi.Hook, operator.HookOn) {
	name, value, _ := strings.Cut(text, "=")
	if n, err := strconv.Atoi(value); err == nil {
		return abi.Hook(name), operator.HookOn{Generations: n}
	}
	return abi.Hook(name), operator.HookOn{OnFailure: abi.OnFailure(value)}
}

func (f *File) families(ctx context.Context, s operator.Server) ([]Change, error) {
	if f.Families == nil {
		return nil, nil
	}
	changes, err := f.Families.posture(ctx, s)
	if err != nil {
		return nil, err
	}
	list, err := operator.Query(ctx, s, operator.ListFamilyStates)
	if err != nil {
		return nil, fmt.Errorf("list the families: %w", err)
	}
	there := map[string]operator.Family{}
	for _, family := range list {
		if family.Manifest != nil {
			there[family.Manifest.Name] = family
		}
	}
	for _, name := range slices.Sorted(maps.Keys(f.Families.Grants)) {
		family, installed := there[name]
		if !installed {
			return nil, fmt.Errorf("families: %s is not installed: alcove family install does that", name)
		}
		found, err := f.Families.Grants[name].compare(name, family)
		if err != nil {
			return nil, fmt.Errorf("families: %s: %w", name, err)
		}
		changes = append(changes, found...)
	}
	return append(changes, f.Families.pruned(there)...), nil
}

func (f *Families) posture(ctx context.Context, s operator.Server) ([]Change, error) {
	if f.Posture == "" {
		return nil, nil
	}
	have, err := operator.Query(ctx, s, operator.GetPosture)
	if err != nil {
		return nil, fmt.Errorf("get the posture: %w", err)
	}
	if have.Posture == f.Posture && have.Shared == f.Shared || have.Posture != operator.Personal && f.Posture != operator.Personal {
		return nil, nil // locked is careful
	}
	said := fmt.Sprintf("%s, was %s", f.Posture, have.Posture)
	if f.Shared != have.Shared {
		said += fmt.Sprintf("; shared: %t", f.Shared)
	}
	r := operator.PostureRequest{Posture: f.Posture, Shared: f.Shared}
	return []Change{{Does: Alter, Section: "posture", Details: []string{said}, OfLock: true, act: func(ctx context.Context, s operator.Server) (Made, error) {
		_, err := operator.Call(ctx, s, operator.SetPosture, r)
		return Made{}, err
	}}}, nil
}

// pruned revokes what installed families have that the file does not name.
func (f *Families) pruned(there map[string]operator.Family) (list []Change) {
	for _, name := range slices.Sorted(maps.Keys(there)) {
		g := there[name].Grant
		if _, named := f.Grants[name]; named || !f.Prune || there[name].Source == builtIn || len(g.Capabilities)+len(g.Hooks) == 0 {
			continue
		}
		list = append(list, Change{Does: Remove, Section: "grant", Name: name, act: granting(operator.GrantRequest{Family: name, Revoke: []string{"*"}})})
	}
	return list
}

func granting(r operator.GrantRequest) func(context.Context, operator.Server) (Made, error) {
	return func(ctx context.Context, s operator.Server) (Made, error) {
		_, err := operator.Call(ctx, s, operator.GrantFamily, r)
		return Made{}, err
	}
}

// compare is the one change of a family's grant.
func (g Grant) compare(name string, family operator.Family) ([]Change, error) {
	if g.Digest != "" && g.Digest != family.Digest {
		return nil, fmt.Errorf("the installed version has the digest %s, not %.80s: install the one that the file means", family.Digest, g.Digest)
	}
	d := grantDifference{family: family, r: operator.GrantRequest{Family: name, Digest: family.Digest, Hooks: map[abi.Hook]operator.HookOn{}, Limits: map[string]int64{}}}
	if err := d.capabilities(g.Capabilities); err != nil {
		return nil, err
	}
	d.hooks(g.Hooks)
	d.rest(g)
	if len(d.said) == 0 {
		return nil, nil
	}
	return []Change{{Does: Alter, Section: "grant", Name: name, Details: d.said, OfLock: !d.r.RevokesOnly(), act: granting(d.r)}}, nil
}

// grantDifference collects what of a grant is to change.
type grantDifference struct {
	family operator.Family
	r      operator.GrantRequest
	said   []string
}

func (d *grantDifference) say(format string, args ...any) {
	d.said = append(d.said, fmt.Sprintf(format, args...))
}

func (d *grantDifference) capabilities(texts *[]string) error {
	if texts == nil {
		return nil
	}
	wanted, have := map[abi.Capability]bool{}, map[abi.Capability]string{}
	for _, c := range d.family.Grant.Capabilities {
		have[c.Name] = capabilityText(c)
	}
	for _, text := range *texts {
		c, err := CapabilityOf(text)
		if err != nil {
			return err
		}
		wanted[c.Name] = true
		if c.Scope == nil {
			c.Scope = d.requested(c.Name)
		}
		if now := capabilityText(c); now != have[c.Name] {
			d.r.Capabilities = append(d.r.Capabilities, c)
			d.say("%s, was %s", now, orNone(have[c.Name]))
		}
	}
	for _, c := range d.family.Grant.Capabilities {
		if !wanted[c.Name] {
			d.r.Revoke = append(d.r.Revoke, string(c.Name))
			d.say("%s: none", capabilityText(c))
		}
	}
	return nil
}

// requested is the scope that the manifest asks for.
func (d *grantDifference) requested(name abi.Capability) []string {
	for _, asked := range d.family.Manifest.Capabilities {
		if asked.Name == name {
			return asked.Scope
		}
	}
	return nil
}

func capabilityText(c operator.Capability) string {
	text := string(c.Name)
	if c.During != "" {
		text += "@" + string(c.During)
	}
	if len(c.Scope) > 0 {
		text += "=" + sorted(c.Scope)
	}
	return text
}

func orNone(text string) string {
	if text == "" {
		return "not granted"
	}
	return text
}

func (d *grantDifference) hooks(texts *[]string) {
	if texts == nil {
		return
	}
	wanted := map[abi.Hook]bool{}
	for _, text := range *texts {
		h, on := HookOf(text)
		wanted[h] = true
		if was, is := d.family.Grant.Hooks[h]; !is || on.OnFailure != "" && on.OnFailure != was.OnFailure || on.Generations != 0 && on.Generations != was.Generations {
			d.r.Hooks[h] = on
			d.say("the hook %s", text)
		}
	}
	for _, h := range slices.Sorted(maps.Keys(d.family.Grant.Hooks)) {
		if !wanted[h] {
			d.r.Revoke = append(d.r.Revoke, string(h))
			d.say("the hook %s: none", h)
		}
	}
}

// rest compares limits, methods, and whether the family is disabled.
func (d *grantDifference) rest(g Grant) {
	have := d.family.Grant
	for _, limit := range slices.Sorted(maps.Keys(g.Limits)) {
		if was, set := have.Limits[limit]; !set || was != g.Limits[limit] {
			d.r.Limits[limit] = g.Limits[limit]
			d.say("%s: %d, was %s", limit, g.Limits[limit], limitText(was, set))
		}
	}
	if len(g.Methods) > 0 && methodsText(g.Methods) != methodsText(have.Methods) {
		d.r.Methods = g.Methods
		d.say("http_methods: %s, was %s", methodsText(g.Methods), methodsText(have.Methods))
	}
	if g.Disabled != nil && *g.Disabled != have.Disabled {
		d.r.Disable = g.Disabled
		d.say("disabled: %t", *g.Disabled)
	}
}

func limitText(n int64, set bool) string {
	if !set {
		return "the usual one"
	}
	return strconv.FormatInt(n, 10)
}

// methodsText is a list of methods in one form; none is all.
func methodsText(list []string) string {
	if len(list) == 0 {
		return "*"
	}
	return sorted(list)
}

// grantsOf are the grants of the families that have any.
func grantsOf(list []operator.Family) map[string]Grant {
	grants := map[string]Grant{}
	for _, family := range list {
		have := family.Grant
		if follows := family.Source == builtIn && have.Asked == nil; follows || family.Manifest == nil || len(have.Capabilities)+len(have.Hooks)+len(have.Limits)+len(have.Methods) == 0 && !have.Disabled {
			continue
		}
		g := Grant{Limits: have.Limits, Methods: have.Methods, Capabilities: &[]string{}, Hooks: &[]string{}}
		for _, c := range have.Capabilities {
			*g.Capabilities = append(*g.Capabilities, capabilityText(c))
		}
		for _, h := range slices.Sorted(maps.Keys(have.Hooks)) {
			*g.Hooks = append(*g.Hooks, hookText(h, have.Hooks[h]))
		}
		if have.Disabled {
			g.Disabled = &have.Disabled
		}
		grants[family.Manifest.Name] = g
	}
	return grants
}

func hookText(h abi.Hook, on operator.HookOn) string {
	switch {
	case on.OnFailure != "":
		return string(h) + "=" + string(on.OnFailure)
	case on.Generations != 0:
		return fmt.Sprintf("%s=%d", h, on.Generations)
	}
	return string(h)
}
