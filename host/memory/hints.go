package memory

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/alcove-memory/alcove/host/internal/namespace"
	"github.com/alcove-memory/alcove/host/memory/spelling"
	"github.com/alcove-memory/alcove/host/search"
	"github.com/alcove-memory/alcove/host/store"
)

// Bounds of the hints for a reader who found nothing.
const (
	mostNear       = 5     // keys, namespaces and branches named
	mostCompared   = 5_000 // keys compared with one that is missing
	mostSearchedIn = 500   // namespaces and branches looked into for a key
	mostTagged     = 2_000 // memories whose tags are counted, the last written ones
	mostListed     = 8     // namespaces and tags listed
)

// Missing has hints about a memory that was not found, within the reader's rights.
type Missing struct {
	Near       []string  // keys of the namespace that are spelled alike, the nearest first
	Elsewhere  []string  // namespaces that have the key
	Branches   []string  // branches that have it in this namespace
	Deleted    uint64    // the version that deleted it; 0: none did
	Expired    time.Time // when it expired; zero: it did not
	Stored     bool      // it exists now, but did not at the requested moment
	Namespaces []Counted // of the branch, if this one is empty
}

// Counted is a namespace, or a tag, with the number of its memories.
type Counted struct {
	Name string
	N    int
}

// Missing returns hints for a key without a memory.
func (a *Access) Missing(ctx context.Context, p Location, key string, at AsOf) (m Missing, err error) {
	s := a.space
	if p, err = a.readingKey(p, key); err != nil {
		return m, err
	}
	v, err := s.view(ctx, p.Branch, at)
	if err != nil {
		return m, err
	}
	if m.Stored, m.Deleted, m.Expired, err = s.lastOf(ctx, v, p.Namespace, key); err != nil {
		return m, err
	}
	m.Branches, err = s.branchesWith(ctx, v, memoryKey(p.Namespace, key))
	if err != nil || !s.upkeep.IsFilled() {
		return m, err
	}
	counts, err := a.counts(ctx, v, memories, nil)
	if err != nil {
		return m, err
	}
	if counts[p.Namespace] == 0 {
		m.Namespaces = mostOf(counts)
	} else if m.Near, err = s.near(ctx, v, p.Namespace, key); err != nil {
		return m, err
	}
	delete(counts, p.Namespace)
	m.Elsewhere, err = s.namespacesWith(ctx, v, slices.Sorted(maps.Keys(counts)), key)
	return m, err
}

// Having returns the first namespaces that have a memory under a key.
func (a *Access) Having(ctx context.Context, branch, key string, at AsOf) ([]string, error) {
	s := a.space
	if err := s.limits.checkKey(key); err != nil {
		return nil, err
	}
	v, err := s.view(ctx, branch, at)
	if err != nil {
		return nil, err
	}
	if err := s.Ready(ctx); err != nil {
		return nil, err
	}
	counts, err := a.counts(ctx, v, memories, nil)
	if err != nil {
		return nil, err
	}
	return s.namespacesWith(ctx, v, slices.Sorted(maps.Keys(counts)), key)
}

// lastOf sets why a key has no memory in a view: it was deleted or has expired.
func (s *Space) lastOf(ctx context.Context, v view, place, key string) (stored bool, deleted uint64, expired time.Time, err error) {
	if v.past {
		now := view{now: s.clock().UTC()}
		found, err := s.engine.GetAt(ctx, v.branch.Lineage, []store.Key{memoryKey(place, key)})
		if err != nil {
			return false, 0, time.Time{}, s.translate("look for the key", err)
		}
		m, err := now.present(found[0])
		return m != nil, 0, time.Time{}, err
	}
	r := store.Range{Namespace: place, Collection: memories, Prefix: key, Exact: true}
	for e, err := range store.Entries(ctx, s.engine.Versions, v.lineage, r, 1) {
		if err != nil {
			return false, 0, time.Time{}, s.translate("look for the key", err)
		}
		m, err := decodeMemory(e)
		switch {
		case err != nil:
			return false, 0, time.Time{}, err
		case m.Deleted:
			return false, m.Version, time.Time{}, nil
		case m.Purged == "":
			return false, 0, m.ExpiresAt, nil
		}
		break
	}
	return false, 0, time.Time{}, nil
}

// branchesWith returns other live branches that have a memory under a key.
func (s *Space) branchesWith(ctx context.Context, v view, key store.Key) (list []string, err error) {
	for i, b := range s.catalogue.Live() {
		if i == mostSearchedIn || len(list) == mostNear {
			break
		}
		if b.ID == v.branch.ID {
			continue
		}
		found, err := s.engine.GetAt(ctx, b.Lineage, []store.Key{key})
		if err != nil {
			return nil, s.translate("look for the key on other branches", err)
		}
		if m, err := (view{now: s.clock().UTC()}).present(found[0]); err == nil && m != nil {
			list = append(list, b.Name)
		}
	}
	return list, nil
}

// namespacesWith returns those of some namespaces that have a memory under a key.
func (s *Space) namespacesWith(ctx context.Context, v view, among []string, key string) (list []string, err error) {
	for _, name := range among[:min(len(among), mostSearchedIn)] {
		found, err := s.engine.GetAt(ctx, v.lineage, []store.Key{memoryKey(name, key)})
		if err != nil {
			return nil, s.translate("look for the key in other namespaces", err)
		}
		if m, err := v.present(found[0]); err == nil && m != nil {
			if list = append(list, name); len(list) == mostNear {
				break
			}
		}
	}
	return list, nil
}

// counts counts the entries of a collection by namespace, of those that the caller may read; asked nil: of all of them.
func (a *Access) counts(ctx context.Context, v view, collection string, asked []string) (map[string]int, error) {
	permitted, err := a.readable(asked)
	if err != nil {
		return nil, err
	}
	found, err := a.space.index.Namespaces(ctx, v.search(permitted, collection))
	return found, a.space.translate("count by namespace", err)
}

// near returns keys of a namespace with a similar spelling.
func (s *Space) near(ctx context.Context, v view, place, key string) ([]string, error) {
	var keys []string
	err := s.index.Select(ctx, v.search([]string{place}, memories), search.Filter{}, search.Ordering{}, func(c *search.Columns) bool {
		keys = append(keys, c.Key)
		return len(keys) < mostCompared
	})
	if err != nil {
		return nil, s.translate("look for keys like it", err)
	}
	if len(keys) == mostCompared { // a large namespace: always include keys with a common prefix
		begins := store.Range{Namespace: place, Collection: memories, Prefix: key[:runeStart(key, len(key)/2)]}
		alike, err := scan(ctx, s, v, begins, 4*mostNear, v.present)
		if err != nil {
			return nil, s.translate("look for keys like it", err)
		}
		for _, m := range alike {
			keys = append(keys, m.Key)
		}
	}
	return spelling.Nearest(keys, key, mostNear), nil
}

// runeStart returns the start of the character at a place in a text.
func runeStart(text string, at int) int {
	for at > 0 && at < len(text) && !utf8.RuneStart(text[at]) {
		at--
	}
	return at
}

// Namespaces lists the namespaces of a branch that may be read and have memories, by name, with their number.
func (a *Access) Namespaces(ctx context.Context, branch string) ([]Counted, error) {
	v, err := a.space.view(ctx, branch, AsOf{})
	if err != nil {
		return nil, err
	}
	head, err := a.space.engine.Head(ctx)
	if err != nil {
		return nil, a.space.translate("read the newest version", err)
	}
	if _, err := a.space.upkeep.Await(ctx, head.Version); err != nil {
		return nil, err
	}
	counts, err := a.counts(ctx, v, memories, nil)
	if err != nil {
		return nil, err
	}
	var list []Counted
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		if counts[name] > 0 {
			list = append(list, Counted{name, counts[name]})
		}
	}
	return list, nil
}

// mostOf returns the names with the highest counts.
func mostOf(counts map[string]int) []Counted {
	var list []Counted
	for name, n := range counts {
		list = append(list, Counted{name, n})
	}
	slices.SortFunc(list, func(a, b Counted) int { return cmp.Or(cmp.Compare(b.N, a.N), strings.Compare(a.Name, b.Name)) })
	return list[:min(len(list), mostListed)]
}

// Contents describes where a search found nothing, within the caller's rights.
type Contents struct {
	Searched   int       // memories, or events, in the namespaces searched
	Namespaces []Counted // of all that may be read, most memories first
	Empty      []string  // namespaces that the search named and in which there is nothing
	Tags       []Counted // of the memories last written, those used most
	NoTag      []string  // tags that the search named and that no memory has
}

// Contents describes where a search looked.
func (a *Access) Contents(ctx context.Context, q Search) (c Contents, err error) {
	s := a.space
	v, err := s.view(ctx, q.Branch, q.AsOf)
	if err != nil || !s.upkeep.IsFilled() {
		return c, err
	}
	all, err := a.counts(ctx, v, q.collection(), nil)
	if err != nil {
		return c, err
	}
	within, err := a.counts(ctx, v, q.collection(), q.Namespaces)
	if err != nil {
		return c, err
	}
	for name, n := range within {
		if q.Project == "" || !namespace.Beside(q.Project, name) {
			c.Searched += n
		}
	}
	c.Namespaces = mostOf(all)
	for _, name := range q.Namespaces {
		if all[name] == 0 && !namespace.IsPattern(name) {
			c.Empty = append(c.Empty, name)
		}
	}
	if len(q.Tags) == 0 {
		return c, nil
	}
	c.Tags, c.NoTag, err = a.tags(ctx, v, q)
	return c, err
}

// tags returns the tags in use, and those of a search that are not.
func (a *Access) tags(ctx context.Context, v view, q Search) (used []Counted, unused []string, err error) {
	permitted, err := a.readable(nil)
	if err != nil {
		return nil, nil, err
	}
	within, counts, seen := v.search(permitted, q.collection()), map[string]int{}, 0
	latest := search.Ordering{By: search.ByUpdate, Descending: true, Most: mostTagged}
	err = a.space.index.Select(ctx, within, search.Filter{}, latest, func(c *search.Columns) bool {
		for _, tag := range c.Tags {
			counts[strings.Clone(tag)]++
		}
		seen++
		return seen < mostTagged
	})
	for _, tag := range q.Tags {
		if err != nil {
			break
		}
		found := counts[tag] > 0
		if !found {
			err = a.space.index.Select(ctx, within, search.Filter{Tags: []string{tag}}, search.Ordering{}, func(*search.Columns) bool {
				found = true
				return false
			})
		}
		if !found {
			unused = append(unused, tag)
		}
	}
	return mostOf(counts), unused, a.space.translate("count tags", err)
}
