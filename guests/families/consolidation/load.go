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

// mostMissing is how many words of one memory of a pair the other may lack, unless no third one is nearly as similar to one of both.
const mostMissing = 1

// candidateFrom is the least similarity of pairs that the host finds. It is less than that of pairs which are compared closely: the host
// knows fewer words that say nothing, and reads no dates.
const candidateFrom = .3

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
// said. Of many memories only those are read that share words with others.
type loaded struct {
	namespace  string
	items      []item
	facts      []*compare.Fact // one for each item; nil: it was not read
	candidates []compare.Pair  // the pairs that the host found; nil: all memories were read
	places     map[string]int  // of items, by their keys, beside candidates
	reader     *compare.Reader
	compared   int
	turns      int
	last       string // the key of the memory that was compared last
	more       bool   // there are more than are compared at once
	after      string // the key behind which they are
	most       int    // how many are compared at once
}

// load reads what is compared of a namespace, from behind a key.
func (x extent) load(c *alcove.Call, namespace, after string) (*loaded, error) {
	l := &loaded{namespace: namespace, reader: x.comparer.NewReader(), after: after, most: x.most}
	if namespace == "" {
		l.namespace = c.Namespace
	}
	found, err := c.MemoryPairs(alcove.MemoryPairsRequest{Namespace: l.namespace, Filter: facts(false), After: after, Limit: x.most, Similarity: candidateFrom, Missing: mostMissing})
	switch alcove.CodeOf(err) {
	case "":
		if !compare.Few(found.Compared) {
			return l, l.readPairs(c, found)
		}
	case alcove.Unavailable, alcove.Exhausted, alcove.NotFound: // each is compared with each here instead
	default:
		return nil, err
	}
	return l, l.readAll(c)
}

// facts are the active memories that are turns of conversations, or those that are none.
func facts(turns bool) *alcove.MemoryFilter {
	return &alcove.MemoryFilter{States: []string{"active"}, Fields: []alcove.FieldTest{{Field: "metadata.session", Exists: &turns}}}
}

// readPairs reads the memories that are in pairs.
func (l *loaded) readPairs(c *alcove.Call, found alcove.MemoryPairsResponse) error {
	l.compared, l.last, l.more = found.Compared, found.Next, found.Next != ""
	if l.after == "" {
		turns, err := c.MemoryList(alcove.MemoryListRequest{Namespace: l.namespace, Filter: facts(true), Count: "only"})
		if err != nil {
			return err
		}
		l.turns = *turns.Total
	}
	l.places, l.candidates = make(map[string]int, len(found.Keys)), make([]compare.Pair, len(found.Pairs))
	for i, p := range found.Pairs {
		l.candidates[i] = compare.Pair{A: l.place(found.Keys[min(p[0], p[1])]), B: l.place(found.Keys[max(p[0], p[1])]), Verdict: compare.Verdict{Relation: compare.Related, Similarity: float64(found.Similarities[i])}}
	}
	return l.read(c, l.items)
}

// place is the number of the item with a key, which is added if there is none.
func (l *loaded) place(key string) int {
	i, ok := l.places[key]
	if !ok {
		i = len(l.items)
		l.places[key] = i
		l.items, l.facts = append(l.items, item{key: key}), append(l.facts, nil)
	}
	return i
}

// read reads memories of items.
func (l *loaded) read(c *alcove.Call, items []item) error {
	for at, size := 0, pageSize; at < len(items); {
		part := items[at:min(at+size, len(items))]
		keys := make([]string, len(part))
		for i := range part {
			keys[i] = part[i].key
		}
		page, err := c.MemoryGet(alcove.MemoryGetRequest{Namespace: l.namespace, Keys: keys, Counters: true})
		if alcove.CodeOf(err) == alcove.Exhausted && size > 1 { // the memories are long
			size /= 2
			continue
		}
		if err != nil {
			return err
		}
		for _, m := range page.Memories {
			if m == nil {
				continue
			}
			i := l.place(m.Key)
			l.items[i] = itemOf(m)
			l.facts[i] = l.reader.Read(l.items[i].text)
		}
		if at += len(part); at < len(items) {
			if err := c.Progress(at, len(items), "reading"); err != nil {
				return err
			}
		}
	}
	return nil
}

// readAll reads a namespace page by page, from behind a key.
func (l *loaded) readAll(c *alcove.Call) error {
	read := 0
	for m, err := range c.Memories(alcove.MemoryListRequest{Namespace: l.namespace, After: l.after, Limit: pageSize, Counters: true}) {
		if err != nil {
			return err
		}
		if read > 0 && read%pageSize == 0 {
			if l.more = len(l.items) >= l.most; l.more {
				break
			}
			if err := c.Progress(len(l.items), 0, "reading"); err != nil {
				return err
			}
		}
		read, l.last = read+1, m.Key
		l.add(m)
	}
	l.compared = len(l.items)
	return nil
}

func (l *loaded) add(m *alcove.Memory) {
	if m.State != "" && m.State != "active" {
		return
	}
	if _, turn := m.Metadata["session"]; turn {
		l.turns++
		return
	}
	it := itemOf(m)
	l.items = append(l.items, it)
	l.facts = append(l.facts, l.reader.Read(it.text))
}

func itemOf(m *alcove.Memory) item {
	it := item{
		key: m.Key, text: compare.Render(m.Value), kind: m.Type, version: m.Version, importance: m.Importance, tags: m.Tags,
		links: m.Links, supersedes: m.Supersedes, written: m.Time(),
	}
	if m.Counters != nil {
		it.accesses = m.Counters.Accesses
	}
	return it
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
