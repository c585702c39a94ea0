package catalogue

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/grants"
	"github.com/alcove-memory/alcove/host/family/policy"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/registry"
)

// findGuards returns the guards that the lock file requires. The caller holds changing.
func (f *Catalogue) findGuards(c scanResult) map[string]*guard {
	guards := map[string]*guard{}
	for name, g := range f.lock.Families {
		if a, ok := g.Approved(); ok && !g.Disabled {
			guards[name] = f.findGuard(name, a, g, c.version(name, a.Digest))
		}
	}
	return guards
}

func (f *Catalogue) findGuard(name string, a registry.Guard, g registry.Grant, present *Family) *guard {
	if was := f.guards[name]; was != nil && was.family != nil && was.Digest == a.Digest && f.untrusted(was.family) == "" {
		return &guard{Guard: a, family: was.family}
	}
	if g.Asked != nil && a.Digest == g.Digest { // the approved family is the built-in one, in each release
		return &guard{Guard: a, gone: "this program does not carry it, or not with that hook"}
	}
	x, err := f.approvedVersion(name, a.Digest, present)
	if err == nil {
		if why := f.untrusted(x); why != "" {
			err = errors.New(why)
		}
	}
	if err == nil && x.Manifest.Hooks.Store == nil {
		err = errors.New("its manifest has no store hook")
	}
	if err != nil {
		return &guard{Guard: a, gone: err.Error()}
	}
	return &guard{Guard: a, family: x}
}

// approvedVersion returns the version of a family with a digest: the present one, unless it is nil, or the one whose module was
// kept.
func (f *Catalogue) approvedVersion(name, digest string, present *Family) (*Family, error) {
	if present != nil {
		if err := f.modules.KeepApproved(present.Digest, present.Origin); err != nil {
			f.o.Logger.Warn("the module of a family without which nothing may be stored could not be kept", "family", name, "error", err)
		}
		kept := *present.Version
		kept.Source, kept.Asks = grants.Approved, registry.Asked{}
		return NewFamily(&kept, present.Origin), nil
	}
	detached, err := f.modules.Detached(digest)
	if err != nil {
		return nil, err
	}
	_, seen, err := f.modules.Approved(digest, detached)
	if err != nil {
		return nil, err
	}
	x, err := f.familyOf(grants.Approved, seen, detached, f.modules.ApprovedOrigin(digest))
	if err == nil && x.Name != name {
		err = fmt.Errorf("its manifest has the name %s", x.Name)
	}
	return x, err
}

// otherGuards reports whether guards differ from the present ones. The caller holds changing.
func (f *Catalogue) otherGuards(next map[string]*guard) bool {
	return !maps.EqualFunc(next, f.guards, func(a, b *guard) bool { return a.family == b.family && a.Digest == b.Digest && a.gone == b.gone })
}

// replaceGuards replaces the present guards. The caller holds changing and mu.
func (f *Catalogue) replaceGuards(next map[string]*guard) {
	for name, was := range f.guards {
		if now := next[name]; was.family != nil && (now == nil || now.family != was.family) {
			was.family.retire()
		}
	}
	f.guards = next
}

// storeHook returns what happens when the store hook of a family fails; on is false if it is not on. The caller holds mu.
func (f *Catalogue) storeHook(x *Family) (failure abi.OnFailure, on bool) {
	said, on := f.hookOf(x, abi.HookStore)
	if !on {
		return "", false
	}
	return grants.OnFailure(said.OnFailure, x.Manifest), true
}

// serving returns the family names of the guards that are called. The caller holds mu.
func (f *Catalogue) serving() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(f.guards)), func(name string) bool {
		_, on := f.storeHook(f.known[name])
		return on
	})
}

// HooksOf returns the hooks of a family that are on, sorted: store also where a guard serves it.
func (f *Catalogue) HooksOf(x *Family) (list []abi.Hook) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	for _, h := range grants.HooksOf(grants.In(f.lock, x.Version)) {
		if _, on := f.hookOf(x, h); on {
			list = append(list, h)
		}
	}
	if slices.Contains(f.serving(), x.Name) {
		list = append(list, abi.HookStore)
		slices.Sort(list)
	}
	return list
}

// missing returns the error for a guard that cannot be called. The caller holds mu.
func (f *Catalogue) missing(name string, g *guard) error {
	var again string
	switch x := f.known[name]; {
	case f.locked() && f.lock.Families[name].Asked == nil:
		again = "take a reviewed lock file that has its module, with: " + policy.Offline
	case x != nil && x.Digest != "" && !x.Clashes && x.Manifest.Hooks.Store != nil && (x.Source == grants.BuiltIn || x.Digest != g.Digest):
		again = fmt.Sprintf("let version %s serve the hook with: %s", x.Manifest.Version, grants.Command{Family: name, Hooks: []string{"store"}, Digest: x.Digest})
	case f.lock.Families[name].Asked != nil && f.lock.Families[name].Guard == nil:
		again = "run a release of alcove that carries it"
	default:
		again = fmt.Sprintf("install the module with the SHA-256 %s again with: alcove family install FILE", g.Digest)
	}
	return &memory.Error{Code: memory.Unavailable, Message: fmt.Sprintf("nothing was stored, because family %s has to be asked first and cannot be (%s). "+
		"The server's operator can %s; or do without the hook: alcove family revoke %s store", name, g.gone, again, name)}
}

// fillSilence sets the manifest's action in each store hook that the lock file turns on without an action for failures. If the manifest
// is unknown, the hook is required. The caller holds changing.
func (f *Catalogue) fillSilence(c scanResult) {
	filled := map[string]registry.Grant{}
	for name, g := range f.lock.Families {
		on, ok := g.Hooks[abi.HookStore]
		if !ok || on.OnFailure != "" {
			continue
		}
		if m := f.manifestFor(name, g, c); m != nil {
			g = grants.Clone(g)
			g.Hooks[abi.HookStore] = registry.On{OnFailure: grants.OnFailure("", m)}
			filled[name] = g
		}
	}
	f.overrule(filled)
}

// overrule applies other grants than those of the lock file. The caller holds changing.
func (f *Catalogue) overrule(grants map[string]registry.Grant) {
	if len(grants) == 0 {
		return
	}
	all := maps.Clone(f.lock.Families)
	maps.Copy(all, grants)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lock.Families = all
}

// manifestFor returns the manifest of the module that a grant is for; nil if unknown.
func (f *Catalogue) manifestFor(name string, g registry.Grant, c scanResult) *abi.Manifest {
	if x := c.named[name]; x != nil && x.Digest != "" && grants.Applies(g, x.Version) {
		return x.Manifest
	}
	if x := c.version(name, g.Digest); x != nil {
		return x.Manifest
	}
	_, seen, err := f.modules.Approved(g.Digest, nil)
	if err != nil || seen.Fault != nil {
		return nil
	}
	m, err := abi.ParseManifest(seen.Section)
	if err != nil || m.Name != name {
		return nil
	}
	return m
}

// Storing is a version whose store hook is asked before something is stored.
type Storing struct {
	Family    *Family
	OnFailure abi.OnFailure
}

// Storing returns the families whose store hook is on, and guards in place of one; the families whose records were granted to guards that
// cannot be asked; and why those cannot be.
func (f *Catalogue) Storing() (list []Storing, reads []string, gone error) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	for _, x := range f.known {
		if failure, on := f.storeHook(x); on {
			list = append(list, Storing{x, failure})
		}
	}
	for _, name := range f.serving() {
		g := f.guards[name]
		if g.family == nil || g.family.Manifest.Hooks.Store == nil {
			gone = cmp.Or(gone, f.missing(name, g)) // the first
			reads = append(reads, readsRecords(g.Capabilities)...)
			continue
		}
		list = append(list, Storing{g.family, abi.OnFailureRefuse})
	}
	return list, reads, gone
}

// readsRecords returns the families whose records were granted to be read.
func readsRecords(granted []registry.Capability) (families []string) {
	for _, c := range granted {
		if c.Name == abi.CanRecordsRead {
			families = append(families, c.Scope...)
		}
	}
	return families
}
