package catalogue

import (
	"maps"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/abi"
)

// declare tells the manifests of usable families. Approved versions that only serve a hook have no say. The caller holds mu.
func (f *Catalogue) declare() {
	for _, x := range f.known {
		if x.fault == "" {
			f.o.Declares(x.Manifest)
		}
	}
}

// ManifestOf returns the manifest of a usable family; nil: none.
func (f *Catalogue) ManifestOf(name string) *abi.Manifest {
	f.mu.RLock()
	defer f.mu.RUnlock()
	if x := f.known[name]; x != nil && x.fault == "" {
		return x.Manifest
	}
	return nil
}

// IsPrivate reports whether a collection, as FAMILY/NAME, is for its own family alone, as one that no manifest declares is.
func (f *Catalogue) IsPrivate(collection string) bool {
	c := f.DeclarationOf(collection)
	return c == nil || c.Private
}

// DeclarationOf returns the declaration of a collection, as FAMILY/NAME; nil: no usable family declares it.
func (f *Catalogue) DeclarationOf(collection string) *abi.Collection {
	family, name, _ := strings.Cut(collection, "/")
	m := f.ManifestOf(family)
	if m == nil {
		return nil
	}
	for i := range m.Collections {
		if m.Collections[i].Name == name {
			return &m.Collections[i]
		}
	}
	return nil
}

// Usable returns the usable families, by name.
func (f *Catalogue) Usable() (list []*Family) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	for _, name := range slices.Sorted(maps.Keys(f.known)) {
		if x := f.known[name]; x.fault == "" {
			list = append(list, x)
		}
	}
	return list
}

// Names returns the names of all families, sorted.
func (f *Catalogue) Names() []string {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return slices.Sorted(maps.Keys(f.known))
}
