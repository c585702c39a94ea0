package memory

import (
	"cmp"
	"slices"

	"github.com/alcove-memory/alcove/host/store"
)

// known says, for every branch whose writes are part of a view, up to which version they are: what the view
// reads through its lineage, what was merged into that, and so on.
type known map[store.BranchID]uint64

// knows works out what a lineage knows in one namespace.
func (c *catalogue) knows(l store.Lineage, namespace string) known {
	c.mu.RLock()
	defer c.mu.RUnlock()
	k := known{}
	c.learn(k, l, namespace)
	return k
}

func (c *catalogue) learn(k known, l store.Lineage, namespace string) {
	for _, segment := range l {
		if have, ok := k[segment.Branch]; ok && have >= segment.At {
			continue
		}
		had := k[segment.Branch]
		k[segment.Branch] = segment.At
		for _, m := range c.merges[segment.Branch] {
			source := c.byID[m.Source]
			if m.at <= had || m.at > segment.At || source == nil || !m.covers(namespace) {
				continue
			}
			c.learn(k, source.lineage.At(m.SourceAt), namespace)
		}
	}
}

// silent are the keys that merges brought to a view without writing them, as far as another does not know them.
func (c *catalogue) silent(k, both known) []store.Key {
	c.mu.RLock()
	defer c.mu.RUnlock()
	var keys []store.Key
	for b, at := range k {
		for _, m := range c.merges[b] {
			if m.at > both[b] && m.at <= at {
				keys = append(keys, m.Silent...)
			}
		}
	}
	return keys
}

// common is what two views both know.
func (k known) common(other known) known {
	both := known{}
	for b, at := range k {
		if otherAt, ok := other[b]; ok {
			both[b] = min(at, otherAt)
		}
	}
	return both
}

// written reports whether a namespace of a branch was written after one version and up to another.
type written func(b store.BranchID, after, to uint64) (bool, error)

// bases are the newest views that both of two views grew from: usually one, more when branches were merged
// crosswise, none when they have nothing in common.
func (c *catalogue) bases(both known, namespace string, written written) ([]store.Lineage, error) {
	points := make([]store.Segment, 0, len(both))
	for b, at := range both {
		points = append(points, store.Segment{Branch: b, At: at})
	}
	slices.SortFunc(points, func(a, b store.Segment) int { // what contains another is newer, or a fork of it
		return cmp.Or(cmp.Compare(b.At, a.At), cmp.Compare(b.Branch, a.Branch))
	})
	covered := known{}
	var kept []point
	for _, p := range points {
		fresh, err := c.fresh(p, covered, namespace, written)
		if err != nil {
			return nil, err
		}
		b := c.withID(p.Branch)
		if !fresh || b == nil || b.Reclaimed {
			continue
		}
		base := b.lineage.At(p.At)
		kept = append(kept, point{p, base, c.knows(base, namespace)})
		covered.add(kept[len(kept)-1].known)
	}
	return c.withoutStale(kept, namespace, written)
}

// point is a common point of two views, with what it knows.
type point struct {
	segment store.Segment
	base    store.Lineage
	known   known
}

func (k known) add(other known) {
	for b, at := range other {
		k[b] = max(k[b], at)
	}
}

// withoutStale drops points on which nothing happened that the others do not know: a point can be newer by its
// version, and yet stand where an older one began.
func (c *catalogue) withoutStale(points []point, namespace string, written written) ([]store.Lineage, error) {
	for i := 0; i < len(points) && len(points) > 1; {
		others := known{}
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

// fresh reports whether anything happened in a namespace of a branch that the views found so far do not know.
func (c *catalogue) fresh(p store.Segment, covered known, namespace string, written written) (bool, error) {
	after := covered[p.Branch]
	if after >= p.At {
		return false, nil
	}
	c.mu.RLock()
	merged := slices.ContainsFunc(c.merges[p.Branch], func(m merge) bool { return m.at > after && m.at <= p.At && m.covers(namespace) })
	c.mu.RUnlock()
	if merged {
		return true, nil
	}
	return written(p.Branch, after, p.At)
}

func (c *catalogue) withID(id store.BranchID) *branch {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.byID[id]
}
