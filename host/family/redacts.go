package family

import (
	"slices"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/hooks"
)

// MayRedact reports whether a family changes or refuses what is stored, so that others must not keep it as it arrived: its store hook
// is on, and its manifest says that it redacts, or the operator that nothing is stored without it. A missing one counts.
func (f *Families) MayRedact() bool {
	list, err := hookFamilies{f}.Storing()
	return err != nil || slices.ContainsFunc(list, func(s hooks.Store) bool {
		return s.OnFailure == abi.OnFailureRefuse || s.Manifest().Hooks.Store.Redacts
	})
}
