package memory

import (
	"slices"

	"github.com/alcove-memory/alcove/host/store"
)

// A merge is remembered because it decides where later merges of the two sides begin. When nobody but its target,
// and those that grew from that, has anything of what it brought, no later merge can ask, and it is obsolete: its
// record can go, and with it what it pins. Otherwise every branch that was merged and deleted would be remembered,
// and would keep old versions, for ever.

// obsoleteBy are the merges, wherever, of a reclaimed branch that are obsolete, once those before them in the list are
// forgotten.
func (c *catalogue) obsoleteBy(source store.BranchID) []merge {
	c.mu.RLock()
	defer c.mu.RUnlock()
	var obsolete []merge
	without := map[store.Key]bool{}
	for _, list := range c.merges {
		for _, m := range list {
			if m.Source != source {
				continue
			}
			without[m.key] = true
			if c.isObsolete(m, without) {
				obsolete = append(obsolete, m)
				continue
			}
			delete(without, m.key)
		}
	}
	return obsolete
}

// isObsolete reports whether no branch knows anything that the target would not know too without these merges.
func (c *catalogue) isObsolete(m merge, without map[store.Key]bool) bool {
	source, target := c.byID[m.Source], c.byID[m.Target]
	if source == nil || target == nil {
		return true
	}
	brought, anyway := known{}, known{}
	c.reach(brought, source.lineage.At(m.SourceAt), without, everyMerge)
	c.reach(anyway, target.lineage.At(m.at), without, wholeMerges)
	for _, b := range c.byID {
		if b.Reclaimed || b.id == target.id {
			continue
		}
		knows := known{}
		c.reach(knows, b.lineage, without, everyMerge)
		for id, at := range brought.common(knows) {
			if at > anyway[id] {
				return false
			}
		}
	}
	return true
}

// everyMerge takes each merge for one of all namespaces, and so finds at least what is known in any.
func everyMerge(merge) bool { return true }

// wholeMerges are those of all namespaces, and so find only what is known in each.
func wholeMerges(m merge) bool { return m.Namespaces == nil }

// reach adds what a lineage knows by its own segments and some merges. The caller holds mu.
func (c *catalogue) reach(k known, l store.Lineage, without map[store.Key]bool, counts func(merge) bool) {
	for _, segment := range l {
		had, seen := k[segment.Branch]
		if seen && had >= segment.At {
			continue
		}
		k[segment.Branch] = segment.At
		for _, m := range c.merges[segment.Branch] {
			source := c.byID[m.Source]
			if m.at <= had || m.at > segment.At || source == nil || without[m.key] || !counts(m) {
				continue
			}
			c.reach(k, source.lineage.At(m.SourceAt), without, counts)
		}
	}
}

// dropMerges forgets merges.
func (c *catalogue) dropMerges(gone []merge) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range gone {
		c.merges[m.Target] = slices.DeleteFunc(slices.Clone(c.merges[m.Target]), func(other merge) bool { return other.key == m.key })
		if len(c.merges[m.Target]) == 0 {
			delete(c.merges, m.Target)
		}
	}
}

// reclaimedAfter is the reclaimed branch with the next id; nil when there is none.
func (c *catalogue) reclaimedAfter(id store.BranchID) *branch {
	c.mu.RLock()
	defer c.mu.RUnlock()
	var next *branch
	for _, b := range c.byID {
		if b.Reclaimed && b.id > id && (next == nil || b.id < next.id) {
			next = b
		}
	}
	return next
}
