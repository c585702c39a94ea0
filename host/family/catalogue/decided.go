package catalogue

import (
	"cmp"
	"maps"
	"slices"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/config"
	"github.com/alcove-memory/alcove/host/family/grants"
	"github.com/alcove-memory/alcove/host/family/policy"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/registry"
)

// Locked reports whether only digests in the lock file may run.
func (f *Catalogue) Locked() bool {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.locked()
}

// locked is Locked for a caller that holds changing or mu. A directory may be locked while it is served.
func (f *Catalogue) locked() bool { return f.o.Locked || f.lock.Locked }

// Named finds a family that may run.
func (f *Catalogue) Named(name string) (*Family, error) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	x := f.known[name]
	if x == nil {
		return nil, f.unknown("family", name)
	}
	return x, x.Usable()
}

// GrantOf returns a family's grant: the operator's, or the default of a built-in family.
func (f *Catalogue) GrantOf(x *Family) registry.Grant {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return grants.In(f.lock, x.Version)
}

// hookOf returns the operator's settings of a family's hook; on is false if it must not be called: the family cannot be used,
// has no such hook, or is not granted it. The caller holds mu.
func (f *Catalogue) hookOf(x *Family, h abi.Hook) (said registry.On, on bool) {
	if x == nil || x.fault != "" || x.Digest == "" || !grants.Has(x.Manifest.Hooks, h) {
		return registry.On{}, false
	}
	said, on = grants.In(f.lock, x.Version).Hooks[h]
	return said, on
}

// Powers returns the powers of a family for a caller in a part of its work; empty: in any.
func (f *Catalogue) Powers(x *Family, caller memory.Caller, during registry.Work) policy.Powers {
	return grants.Powers(f.GrantOf(x), x.Version, caller.Rights, during).Advised(f.Advice())
}

// Advice tells how an operator changes a grant now.
func (f *Catalogue) Advice() policy.Advice { return policy.Advice{Locked: f.Locked()} }

// untrusted returns why a version of a family must not run; empty if it may. The caller holds changing or mu.
func (f *Catalogue) untrusted(x *Family) string {
	return grants.Untrusted(f.lock, x.Version, f.locked(), f.o.Clock())
}

// SharedKeys returns the settings that the families share now.
func (f *Catalogue) SharedKeys() *config.Keys {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.shared
}

// AnyGranted reports whether any family has a capability.
func (f *Catalogue) AnyGranted(c abi.Capability) bool {
	f.mu.RLock()
	defer f.mu.RUnlock()
	for _, x := range f.known {
		if grants.Holds(grants.In(f.lock, x.Version), c) {
			return true
		}
	}
	return false
}

// Endpoints returns the external endpoints that an operator named.
func (f *Catalogue) Endpoints() map[string]registry.Endpoint {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return maps.Clone(f.lock.Endpoints)
}

// Roots returns the directories that an operator named.
func (f *Catalogue) Roots() map[string]registry.Root {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return maps.Clone(f.lock.Roots)
}

// Exists refuses the name of a family that is not known.
func (f *Catalogue) Exists(name string) error {
	f.mu.RLock()
	defer f.mu.RUnlock()
	if f.known[name] == nil {
		return f.unknown("family", name)
	}
	return nil
}

// KnownVersion returns a version of a family that was found; nil: none. The caller holds changing.
func (f *Catalogue) KnownVersion(name, digest string) *Family {
	for _, x := range f.every() {
		if x.Name == name && x.Digest == digest {
			return x
		}
	}
	return nil
}

// UnknownFamily returns the error for a family that does not exist.
func (f *Catalogue) UnknownFamily(name string) error {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.unknown("family", name)
}

// Hook returns the operator's settings of a family's hook; on is false if it must not be called.
func (f *Catalogue) Hook(x *Family, h abi.Hook) (said registry.On, on bool) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.hookOf(x, h)
}

// RankWhen returns what calls for a family's rank hook; the zero When: every search.
func (f *Catalogue) RankWhen(x *Family) abi.When {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.rankWhen(x)
}

// rankWhen is what the manifest says, unless an operator turned the rank hook of a built-in family on, whose weights order searches by
// themselves. The caller holds mu.
func (f *Catalogue) rankWhen(x *Family) abi.When {
	if _, named := grants.Decided(f.lock, x.Version).Hooks[abi.HookRank]; named && x.Source == grants.BuiltIn || x.Manifest.Hooks.Rank == nil {
		return abi.When{}
	}
	return x.Manifest.Hooks.Rank.When
}

// On returns the families whose hook is on, by name.
func (f *Catalogue) On(h abi.Hook) (list []*Family) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	for _, x := range f.known {
		if _, on := f.hookOf(x, h); on {
			list = append(list, x)
		}
	}
	slices.SortFunc(list, func(a, b *Family) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

// Hidden returns the families with the names of built-in families, which cannot be used.
func (f *Catalogue) Hidden() []*Family {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return slices.Clone(f.hidden)
}
