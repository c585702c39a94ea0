package search

import (
	"slices"
	"strings"
)

// Supersedes reports whether a document may replace another.
func (x *Index) Supersedes() bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return len(x.table.superseding) > 0
}

// MarkSuperseded sets SupersededBy of hits of a view: the newest active document of the same namespace and collection that replaces the hit.
// Those of other namespaces do not count, lest who may write one changes what searches of another find.
func (x *Index) MarkSuperseded(view View, hits []Hit) error {
	return x.guard(func() error {
		x.markSuperseded(view, hits)
		return nil
	})
}

func (x *Index) markSuperseded(view View, hits []Hit) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if len(x.table.superseding) == 0 || len(hits) == 0 {
		return
	}
	v := x.cachedView(x.present(view.Lineage))
	now := view.Now.UnixMicro()
	for i := range hits {
		h := &hits[i]
		newest := uint64(0)
		for _, number := range x.table.superseding[DigestOf([]byte(h.Key))] {
			if r := x.table.row(number); v.rows.has(number) && r.version > newest && x.table.supersedes(r, h, now) {
				newest, h.SupersededBy = r.version, strings.Clone(x.table.key(r))
			}
		}
	}
}

// supersedes reports whether a row that names the key of a hit replaces the hit.
func (t *table) supersedes(r *row, h *Hit, now int64) bool {
	s, expires := t.space(r), t.expiresAt(r)
	return s == space{h.Namespace, h.Collection} && t.facets[r.facet].state == Active && (expires == 0 || expires > now) && t.key(r) != h.Key
}

// eachSuperseded does something with the digest of each key that a row replaces.
func (t *table) eachSuperseded(number uint32, do func(Digest)) {
	r := t.row(number)
	if r.extra == none {
		return
	}
	t.extras.eachField(r.extra, func(f storedField) bool {
		if t.fields[f.name] == FieldSupersedes {
			do(f.value)
		}
		return true
	})
}

func (t *table) forgetSuperseding(key Digest, number uint32) {
	rest := slices.DeleteFunc(t.superseding[key], func(n uint32) bool { return n == number })
	if t.superseding[key] = rest; len(rest) == 0 {
		delete(t.superseding, key)
	}
}
