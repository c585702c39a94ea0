package lineage

import (
	"slices"

	"github.com/alcove-memory/alcove/host/store"
)

// A merge is remembered because it decides the bases of later merges of the two sides. Once only its target and the descendants of the
// target know anything of what it brought, no later merge depends on it, and it is obsolete: its record can go, and with it what it
// pins. Otherwise every branch that was merged and deleted would be remembered, and would keep old versions, for ever.

// ObsoleteBy are the obsolete merges of a reclaimed branch into others, each once those before it in the list are forgotten.
func (c *Catalogue) ObsoleteBy(source store.BranchID) []Merge {
	c.mu.RLock()
	defer c.mu.RUnlock()
	var obsolete []Merge
	without := map[store.Key]bool{}
	for _, list := range c.merges {
		for _, m := range list {
			if m.Source != source {
				continue
			}
			without[m.Stored] = true
			if c.isObsolete(m, without) {
				obsolete = append(obsolete, m)
				continue
			}
			delete(without, m.Stored)
		}
	}
	return obsolete
}

// isObsolete reports whether no branch knows anything that the target would not know too without these merges.
func (c *Catalogue) isObsolete(m Merge, without map[store.Key]bool) bool {
	source, target := c.byID[m.Source], c.byID[m.Target]
	if source == nil || target == nil {
		return true
	}
	brought, anyway := Known{}, Known{}
	c.reach(brought, source.Lineage.At(m.SourceAt), without, everyMerge)
	c.reach(anyway, target.Lineage.At(m.At), without, wholeMerges)
	for _, b := range c.byID {
		if b.Reclaimed || b.ID == target.ID {
			continue
		}
		knows := Known{}
		c.reach(knows, b.Lineage, without, everyMerge)
		for id, at := range brought.Common(knows) {
			if at > anyway[id] {
				return false
			}
		}
	}
	return true
}

// everyMerge treats each merge as one of all namespaces, and so finds at least what is known in any.
func everyMerge(Merge) bool { return true }

// wholeMerges are those of all namespaces, and so find only what is known in each.
func wholeMerges(m Merge) bool { return m.Namespaces == nil }

// reach adds what a lineage knows by its own segments and some merges. The caller holds mu.
func (c *Catalogue) reach(k Known, l store.Lineage, without map[store.Key]bool, counts func(Merge) bool) {
	for _, segment := range l {
		had, seen := k[segment.Branch]
		if seen && had >= segment.At {
			continue
		}
		k[segment.Branch] = segment.At
		for _, m := range c.merges[segment.Branch] {
			source := c.byID[m.Source]
			if m.At <= had || m.At > segment.At || source == nil || without[m.Stored] || !counts(m) {
				continue
			}
			c.reach(k, source.Lineage.At(m.SourceAt), without, counts)
		}
	}
}

// DropMerges forgets merges whose records were deleted.
func (c *Catalogue) DropMerges(gone []Merge) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range gone {
		c.merges[m.Target] = slices.DeleteFunc(slices.Clone(c.merges[m.Target]), func(other Merge) bool { return other.Stored == m.Stored })
		if len(c.merges[m.Target]) == 0 {
			delete(c.merges, m.Target)
		}
	}
}

// ReclaimedAfter is the reclaimed branch with the lowest id above another; nil when there is none.
func (c *Catalogue) ReclaimedAfter(id store.BranchID) *Branch {
	c.mu.RLock()
	defer c.mu.RUnlock()
	var next *Branch
	for _, b := range c.byID {
		if b.Reclaimed && b.ID > id && (next == nil || b.ID < next.ID) {
			next = b
		}
	}
	return next
}
