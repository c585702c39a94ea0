package family

import (
	"fmt"
	"strings"

	"github.com/alcove-memory/alcove/host/family/grants"
	"github.com/alcove-memory/alcove/registry"
)

// Change is what a change of the lock file does to it.
type Change struct {
	Lines []string `json:"lines"` // as registry.Diff has them; none: it stays as it is
	// Families are what families have after it and not before, and the other way round, by the posture: as in "lifecycle: +memory.write".
	Families []string `json:"families,omitempty"`
	// Unusable are the families that cannot be used after it, or once the directory is locked, and why.
	Unusable []string `json:"unusable,omitempty"`
}

// difference returns how a lock differs from another, for an operator. The caller holds changing.
func (f *Families) difference(before, after registry.Lock) (Change, error) {
	lines, err := registry.Diff(before, after)
	return Change{Lines: lines, Families: f.meaning(before, after), Unusable: f.unusable(before, after)}, err
}

// unusable lists the families whose signatures suffice for one lock and not for another. The caller holds changing.
func (f *Families) unusable(before, after registry.Lock) (list []string) {
	now := f.o.Clock()
	for _, name := range f.catalogue.Names() {
		if before.Families[name].Digest != after.Families[name].Digest {
			continue
		}
		x := f.catalogue.Known(name).Version
		newly := func(was, is bool) string {
			if grants.Untrusted(before, x, was, now) != "" {
				return ""
			}
			return grants.Untrusted(after, x, is, now)
		}
		if why := newly(before.Locked, after.Locked); why != "" {
			list = append(list, fmt.Sprintf("%s cannot be used after that: %s", name, why))
		} else if why := newly(true, true); why != "" {
			list = append(list, fmt.Sprintf("%s cannot be used once the directory is locked: %s", name, why))
		}
	}
	return list
}

// meaning lists what families have by one lock and not by another because of its posture. The caller holds changing.
func (f *Families) meaning(before, after registry.Lock) (list []string) {
	if before.PostureInForce() == after.PostureInForce() {
		return nil
	}
	for _, name := range f.catalogue.Names() {
		x := f.catalogue.Known(name)
		if x == nil || x.Digest == "" {
			continue
		}
		if changes := grants.Changes(before, after, x.Version); len(changes) > 0 {
			list = append(list, name+": "+strings.Join(changes, ", "))
		}
	}
	return list
}
