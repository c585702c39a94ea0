package consolidation

import (
	"slices"

	"github.com/alcove-memory/alcove/guests/families/consolidation/compare"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// How much a memory may have that others are merged into; links and superseded keys together.
const (
	mostTags  = 64
	mostLinks = 128
)

// stage stages what the plan says, and gives how many memories change.
func (l *loaded) stage(c *alcove.Call, cfg Config, p *plan) (int, error) {
	done := map[int]bool{} // a memory is patched once
	var patches []alcove.MemoryPatch
	add := func(i int, patch alcove.MemoryPatch) {
		if !done[i] {
			done[i] = true
			patches = append(patches, patch)
		}
	}
	for _, m := range p.merges {
		add(m.keep, l.kept(m, c.Time()))
		for _, i := range m.others {
			add(i, l.merged(i, l.items[m.keep].key))
		}
	}
	if cfg.Contradictions == "newest" {
		for _, pair := range p.contradictions {
			older, newer := l.byAge(pair)
			if !done[older] && !done[newer] && l.room(newer) > 0 {
				add(newer, l.kept(merge{keep: newer, others: []int{older}}, c.Time()))
				add(older, l.retired(older, "archived", l.items[newer].key))
			}
		}
	}
	digests, err := l.digests(c, cfg, p, done, add)
	if err != nil {
		return 0, err
	}
	_, err = c.PatchMemories(patches)
	return len(patches) + digests, err
}

// kept is the patch of a memory that stands for others: it supersedes them and links to them, and has their tags and the
// highest importance.
func (l *loaded) kept(m merge, now alcove.Time) alcove.MemoryPatch {
	p, it := l.patch(m.keep), &l.items[m.keep]
	keys := make([]string, len(m.others))
	importance := it.importance
	for n, i := range m.others {
		other := &l.items[i]
		keys[n] = other.key
		for _, tag := range other.tags {
			if !slices.Contains(it.tags, tag) && !slices.Contains(p.AddTags, tag) && len(it.tags)+len(p.AddTags) < mostTags {
				p.AddTags = append(p.AddTags, tag)
			}
		}
		if other.importance != nil && (importance == nil || *other.importance > *importance) {
			importance = other.importance
		}
	}
	if importance != it.importance {
		p.Importance = importance
	}
	p.Supersedes, p.Links = union(it.supersedes, keys), union(it.links, keys)
	p.Metadata = note(map[string]any{"merged": len(keys), "at": now.Truncate(alcove.Second).String()})
	return p
}

// merged is the patch of a memory that another stands for now.
func (l *loaded) merged(i int, into string) alcove.MemoryPatch { return l.retired(i, "merged", into) }

// retired is the patch of a memory that goes into a state, with a link to what stands for it, if there is such.
func (l *loaded) retired(i int, state, into string) alcove.MemoryPatch {
	p := l.patch(i)
	p.State = state
	if it := &l.items[i]; into != "" && len(it.links)+len(it.supersedes) < mostLinks {
		p.Links = union(l.items[i].links, []string{into})
	}
	return p
}

func union(list, more []string) []string {
	all := slices.Clone(list)
	for _, key := range more {
		if !slices.Contains(all, key) {
			all = append(all, key)
		}
	}
	return all
}

// byAge tells which memory of a pair is older.
func (l *loaded) byAge(p compare.Pair) (older, newer int) {
	if l.items[p.B].written < l.items[p.A].written {
		return p.B, p.A
	}
	return p.A, p.B
}
