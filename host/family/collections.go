package family

import (
	"maps"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/ops"
)

// declareIndexes declares the families' indexes to the space. Approved versions that only serve a hook have no say. The
// caller holds mu.
func (f *Families) declareIndexes() {
	for _, x := range f.known {
		if x.fault != "" {
			continue
		}
		for _, c := range x.Manifest.Collections {
			collection, err := ops.CollectionOf(x.Manifest, c)
			if err != nil {
				f.o.Logger.Warn("a collection has a fault", "family", x.Name, "error", err)
				continue
			}
			f.o.Space.DeclareIndexes(collection)
		}
	}
}

// manifestOf returns the manifest of a usable family; nil: none.
func (f *Families) manifestOf(name string) *abi.Manifest {
	f.mu.RLock()
	defer f.mu.RUnlock()
	if x := f.known[name]; x != nil && x.fault == "" {
		return x.Manifest
	}
	return nil
}

// IsPrivate reports whether a collection, as FAMILY/NAME, is for its own family alone, as one that no manifest declares is.
func (f *Families) IsPrivate(collection string) bool {
	c := f.declarationOf(collection)
	return c == nil || c.Private
}

// declarationOf returns the declaration of a collection, as FAMILY/NAME; nil: no usable family declares it.
func (f *Families) declarationOf(collection string) *abi.Collection {
	family, name, _ := strings.Cut(collection, "/")
	m := f.manifestOf(family)
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

// names returns the names of all families, sorted.
func (f *Families) names() []string {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return slices.Sorted(maps.Keys(f.known))
}
