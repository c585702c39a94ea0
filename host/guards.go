package host

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/bundle"
	"github.com/alcove-memory/alcove/registry"
)

// guards are the families without which nothing is stored, for a bundle: it grants nothing where it is imported, and opens no
// hook there.
func (h *Host) guards() (list []bundle.Guard, err error) {
	s, err := h.snapshot()
	if err != nil {
		return nil, fmt.Errorf("take along without which families nothing is stored: %w", err)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Lock.Families)) {
		g := s.Lock.Families[name]
		if !refuses(g) {
			continue
		}
		a := guardOf(g)
		list = append(list, bundle.Guard{Family: name, Version: a.Version, Digest: a.Digest, Carried: g.Asked != nil && a.Digest == g.Digest})
	}
	return list, s.Close()
}

// putGuards makes sure that nothing is stored without these families in a directory for which a store is being made.
func putGuards(list []bundle.Guard, dir, loading string) (s RestoredSettings, err error) {
	own, err := registry.Read(dir)
	s.Families = []RestoredFamily{}
	if err != nil || len(list) == 0 {
		return s, err
	}
	lock := registry.Lock{Families: map[string]registry.Grant{}}
	for _, g := range list {
		if own.Decides() && !refuses(own.Families[g.Family]) {
			return s, fmt.Errorf("nothing was stored without family %s where the bundle was made, and %s lets memories be stored without it: move that file away", g.Family, filepath.Join(dir, registry.File))
		}
		lock.Families[g.Family] = guardGrant(g)
		s.Families = append(s.Families, RestoredFamily{Family: g.Family, Version: g.Version, Digest: g.Digest, Guard: g.Digest, Carried: g.Carried})
	}
	if own.Decides() {
		s.Kept = []string{registry.File}
		return s, nil
	}
	data, err := registry.Encode(lock)
	if err != nil {
		return s, fmt.Errorf("families without which nothing is stored: %w", err)
	}
	return s, writeNew(filepath.Join(loading, registry.File), data)
}

// guardGrant is a grant of nothing but the hook.
func guardGrant(g bundle.Guard) registry.Grant {
	hooks := map[abi.Hook]registry.On{abi.HookStore: {OnFailure: abi.OnFailureRefuse}}
	grant := registry.Grant{Digest: g.Digest, Version: g.Version, Hooks: hooks}
	if g.Carried {
		grant.Asked = &registry.Asked{Hooks: []abi.Hook{abi.HookStore}}
	}
	return grant
}
