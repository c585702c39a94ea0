package consolidation

import (
	"github.com/alcove-memory/alcove/guests/families/consolidation/compare"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// How much of a namespace is compared at once.
const (
	pageSize     = 500
	mostMemories = 20_000
)

// extent is what all parts of the family begin with. A page of memories may exceed most.
type extent struct {
	comparer *compare.Comparer
	most     int
}

// item is a memory that is looked at, with what is needed of it.
type item struct {
	key, text, kind   string
	version           uint64
	written           alcove.Time
	importance        *float64
	tags              []string
	links, supersedes []string
	accesses          int
}

// loaded are the active memories of a namespace, those that are turns of conversations left out: what was said is what was
// said.
type loaded struct {
	namespace string
	items     []item
	facts     []*compare.Fact // one for each item
	reader    *compare.Reader
	turns     int
	last      string // the key of the memory that was read last
	more      bool   // there are more than are compared at once
}

// load reads a namespace page by page, from behind a key.
func (x extent) load(c *alcove.Call, namespace, after string) (*loaded, error) {
	l := &loaded{namespace: namespace, reader: x.comparer.NewReader()}
	if namespace == "" {
		l.namespace = c.Namespace
	}
	read := 0
	for m, err := range c.Memories(alcove.MemoryListRequest{Namespace: l.namespace, After: after, Limit: pageSize, Counters: true}) {
		if err != nil {
			return nil, err
		}
		if read > 0 && read%pageSize == 0 {
			if l.more = len(l.items) >= x.most; l.more {
				break
			}
			if err := c.Progress(len(l.items), 0, "reading"); err != nil {
				return nil, err
			}
		}
		read, l.last = read+1, m.Key
		l.add(m)
	}
	return l, nil
}

func (l *loaded) add(m *alcove.Memory) {
	if m.State != "" && m.State != "active" {
		return
	}
	if _, turn := m.Metadata["session"]; turn {
		l.turns++
		return
	}
	it := item{
		key: m.Key, text: compare.Render(m.Value), kind: m.Type, version: m.Version, importance: m.Importance, tags: m.Tags,
		links: m.Links, supersedes: m.Supersedes, written: m.Time(),
	}
	if m.Counters != nil {
		it.accesses = m.Counters.Accesses
	}
	l.items = append(l.items, it)
	l.facts = append(l.facts, l.reader.Read(it.text))
}

// patch is the beginning of a patch of an item: it fails when the memory changed meanwhile.
func (l *loaded) patch(i int) alcove.MemoryPatch {
	it := &l.items[i]
	return alcove.MemoryPatch{Key: it.key, Namespace: l.namespace, IfVersion: &it.version}
}

// note is metadata that say what the family did.
func note(values map[string]any) alcove.Metadata {
	return alcove.Metadata{"consolidation": alcove.JSON(values)}
}
