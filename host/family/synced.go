package family

import (
	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/grants"
	"github.com/alcove-memory/alcove/host/family/ops"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/registry"
)

// synced returns the collections whose records may be exchanged with other spaces: their manifests say so, and their families may keep them.
func (f *Families) synced() (list []memory.SyncedCollection) {
	for _, x := range f.catalogue.Usable() {
		powers := f.catalogue.Powers(x, memory.Caller{Rights: memory.FullRights()}, registry.Calls)
		for _, declared := range x.Manifest.Collections {
			if declared.Sync != abi.SyncNewest || !powers.Allows(abi.CanRecord, declared.Name) {
				continue
			}
			c, err := ops.CollectionOf(x.Manifest, declared)
			if err != nil {
				continue // which was logged when the family was declared
			}
			c.Quota = grants.RecordQuota(f.catalogue.GrantOf(x), f.raiser(x.Name))
			list = append(list, memory.SyncedCollection{Collection: c, Open: declared.Open})
		}
	}
	return list
}
