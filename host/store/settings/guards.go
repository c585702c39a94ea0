package settings

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/operator/audit"
	"github.com/alcove-memory/alcove/host/store/bundle"
	"github.com/alcove-memory/alcove/registry"
)

// A family is required when nothing is stored without it: its store hook is on, and refuses the write when it fails.

// Guards lists the required families for a bundle. Where the bundle is imported, they grant nothing and turn no other hook on.
func Guards(l registry.Lock) (list []bundle.Guard) {
	for _, name := range slices.Sorted(maps.Keys(l.Families)) {
		g := l.Families[name]
		if !isRequired(g) {
			continue
		}
		a := guardOf(g)
		list = append(list, bundle.Guard{Family: name, Version: a.Version, Digest: a.Digest, Carried: g.Asked != nil && a.Digest == g.Digest})
	}
	return list
}

// guardOf is the approved version of a required family; zero: the family is not required.
func guardOf(g registry.Grant) registry.Guard {
	if a, ok := g.Approved(); ok && !g.Disabled {
		return a
	}
	return registry.Guard{}
}

func isRequired(g registry.Grant) bool { return guardOf(g).Digest != "" }

// RestoreGuards requires the families of a bundle's guards in dir, for which a store is being made in loading.
func RestoreGuards(list []bundle.Guard, dir, loading string, o Options) (s Restored, err error) {
	own, err := registry.Read(dir)
	if err == nil && o.Person != "" {
		err = writeFormer(loading, audit.Head{}, o)
	}
	s.Families = []Family{}
	if err != nil || len(list) == 0 {
		return s, err
	}
	lock := registry.Lock{Families: map[string]registry.Grant{}}
	for _, g := range list {
		if own.Decides() && !isRequired(own.Families[g.Family]) {
			return s, fmt.Errorf("nothing was stored without family %s where the bundle was made, and %s lets memories be stored without it: move that file away", g.Family, filepath.Join(dir, registry.File))
		}
		lock.Families[g.Family] = guardGrant(g)
		s.Families = append(s.Families, Family{Family: g.Family, Version: g.Version, Digest: g.Digest, Guard: g.Digest, Carried: g.Carried})
	}
	if own.Decides() {
		s.Kept = []string{registry.File}
		return s, nil
	}
	data, err := registry.Encode(lock)
	if err != nil {
		return s, fmt.Errorf("encode the families without which nothing is stored: %w", err)
	}
	return s, writeNew(filepath.Join(loading, registry.File), data)
}

// guardGrant grants nothing but the store hook.
func guardGrant(g bundle.Guard) registry.Grant {
	hooks := map[abi.Hook]registry.On{abi.HookStore: {OnFailure: abi.OnFailureRefuse}}
	grant := registry.Grant{Digest: g.Digest, Version: g.Version, Hooks: hooks}
	if g.Carried {
		grant.Asked = &registry.Asked{Hooks: []abi.Hook{abi.HookStore}}
	}
	return grant
}
