package lineage

import (
	"cmp"
	"slices"

	"github.com/alcove-memory/alcove/host/store"
)

// Known maps every branch whose writes are part of a view to the version up to which they are: what the view reads through its
// lineage, what was merged into that, and so on.
type Known map[store.BranchID]uint64

// Knows returns what a lineage knows in one namespace; with an empty one, what it knows in every namespace.
func (c *Catalogue) Knows(l store.Lineage, namespace string) Known {
	c.mu.RLock()
	defer c.mu.RUnlock()
	k := Known{}
	c.learn(k, l, namespace)
	return k
}

func (c *Catalogue) learn(k Known, l store.Lineage, namespace string) {
	for _, segment := range l {
		if have, ok := k[segment.Branch]; ok && have >= segment.At {
			continue
		}
		had := k[segment.Branch]
		k[segment.Branch] = segment.At
		for _, m := range c.merges[segment.Branch] {
			source := c.byID[m.Source]
			if m.At <= had || m.At > segment.At || source == nil || !m.covers(namespace) {
				continue
			}
			c.learn(k, source.Lineage.At(m.SourceAt), namespace)
		}
	}
}

// Silent are the keys that merges decided for a view without a write, in merges that are not part of both.
func (c *Catalogue) Silent(k, both Known) []store.Key {
	c.mu.RLock()
	defer c.mu.RUnlock()
	var keys []store.Key
	for b, at := range k {
		for _, m := range c.merges[b] {
			if m.At > both[b] && m.At <= at {
				keys = append(keys, m.Silent...)
			}
		}
	}
	return keys
}

// Common is what two views both know.
func (k Known) Common(other Known) Known {
	both := Known{}
	for b, at := range k {
		if otherAt, ok := other[b]; ok {
			both[b] = min(at, otherAt)
		}
	}
	return both
}

// Written reports whether a namespace of a branch was written after one version and up to another.
type Written func(b store.BranchID, after, to uint64) (bool, error)

// Bases are the merge bases of two views: the newest views that both descend from, given what both know. There is usually one; more
// when branches were merged crosswise, none when they have nothing in common. An error is one of written.
func (c *Catalogue) Bases(both Known, namespace string, written Written) ([]store.Lineage, error) {
	points := make([]store.Segment, 0, len(both))
	for b, at := range both {
		points = append(points, store.Segment{Branch: b, At: at})
	}
	slices.SortFunc(points, func(a, b store.Segment) int { // what contains another is newer, or a fork of it
		return cmp.Or(cmp.Compare(b.At, a.At), cmp.Compare(b.Branch, a.Branch))
	})
	covered := Known{}
	var kept []point
	for _, p := range points {
		fresh, err := c.fresh(p, covered, namespace, written)
		if err != nil {
			return nil, err
		}
		b := c.ByID(p.Branch)
		if !fresh || b == nil || b.Reclaimed {
			continue
		}
		base := b.Lineage.At(p.At)
		kept = append(kept, point{p, base, c.Knows(base, namespace)})
		covered.add(kept[len(kept)-1].known)
	}
	return c.withoutStale(kept, namespace, written)
}

// point is a common ancestor of two views, with what it knows.
type point struct {
	segment store.Segment
	base    store.Lineage
	known   Known
}

func (k Known) add(other Known) {
	for b, at := range other {
		k[b] = max(k[b], at)
	}
}

// withoutStale drops points that know nothing the others do not: a point can have a higher version than another and the same
// content.
func (c *Catalogue) withoutStale(points []point, namespace string, written Written) ([]store.Lineage, error) {
	for i := 0; i < len(points) && len(points) > 1; {
		others := Known{}
		for j, p := range points {
			if j != i {
				others.add(p.known)
			}
		}
		fresh, err := c.fresh(points[i].segment, others, namespace, written)
		if err != nil {
			return nil, err
		}
		if fresh {
			i++
			continue
		}
		points = slices.Delete(points, i, i+1)
	}
	bases := make([]store.Lineage, len(points))
	for i, p := range points {
		bases[i] = p.base
	}
	return bases, nil
}

// fresh reports whether a namespace of a branch has a write or a merge that the views found so far do not know.
func (c *Catalogue) fresh(p store.Segment, covered Known, namespace string, written Written) (bool, error) {
	after := covered[p.Branch]
	if after >= p.At {
		return false, nil
	}
	c.mu.RLock()
	merged := slices.ContainsFunc(c.merges[p.Branch], func(m Merge) bool { return m.At > after && m.At <= p.At && m.covers(namespace) })
	c.mu.RUnlock()
	if merged {
		return true, nil
	}
	return written(p.Branch, after, p.At)
}
