package family

import (
	"strings"

	"github.com/alcove-memory/alcove/host/family/grants"
	"github.com/alcove-memory/alcove/registry"
)

// Change is what a change of the lock file does to it.
type Change struct {
	Lines []string `json:"lines"` // as registry.Diff has them; none: it stays as it is
	// Families are what families have after it and not before, and the other way round, by the posture: as in "lifecycle: +memory.write".
	Families []string `json:"families,omitempty"`
}

// difference returns how a lock differs from another, for an operator. The caller holds changing.
func (f *Families) difference(before, after registry.Lock) (Change, error) {
	lines, err := registry.Diff(before, after)
	return Change{Lines: lines, Families: f.meaning(before, after)}, err
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
