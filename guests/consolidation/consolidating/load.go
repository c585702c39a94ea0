package consolidating

import (
	"time"

	"github.com/alcove-memory/alcove/guests/consolidation/compare"
	"github.com/alcove-memory/alcove/guests/consolidation/retire"
	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/go/reflected"
)

// How much of a namespace is looked at.
const (
	pageSize     = 500
	mostMemories = 20_000
)

// item is a memory that is looked at, with what is needed of it.
type item struct {
	key, text, kind   string
	version           uint64
	written           time.Time
	importance        *float64
	tags              []string
	links, supersedes []string
	use               retire.Memory
}

// loaded are the active memories of a namespace, those that are turns of conversations left out: what was said is what was
// said.
type loaded struct {
	namespace string
	items     []item
	facts     []*compare.Fact // one for each item
	reader    *compare.Reader
	turns     int
	more      bool // there are more than mostMemories
}

// load reads a namespace page by page.
func (s *consolidator) load(c *alcove.Call, namespace string) (*loaded, error) {
	l := &loaded{namespace: namespace, reader: s.comparer.NewReader()}
	if namespace == "" {
		l.namespace = c.Namespace
	}
	list := alcove.MemoryListRequest{Namespace: l.namespace, Limit: pageSize, Counters: true}
	now := reflected.Time(c)
	for {
		page, err := c.MemoryList(list)
		if err != nil {
			return nil, err
		}
		for i := range page.Memories {
			l.take(&page.Memories[i], now)
		}
		if l.more = page.Next != "" && len(l.items) >= mostMemories; page.Next == "" || l.more {
			return l, nil
		}
		list.After = page.Next
		if err := c.Progress(len(l.items), 0, "reading"); err != nil {
			return nil, err
		}
	}
}

func (l *loaded) take(m *alcove.Memory, now time.Time) {
	if m.State != "" && m.State != "active" {
		return
	}
	if _, turn := m.Metadata["session"]; turn {
		l.turns++
		return
	}
	it := item{
		key: m.Key, text: compare.Render(m.Value), kind: m.Type, version: m.Version, importance: m.Importance, tags: m.Tags,
		links: m.Links, supersedes: m.Supersedes, written: instant(m.Timestamp),
	}
	it.use = retire.Memory{Type: m.Type, Importance: m.Importance, Age: days(now, it.written), Idle: -1}
	if u := m.Counters; u != nil {
		it.use.Accesses, it.use.Health = int64(u.Accesses), u.Health
		if u.LastAccess != "" {
			it.use.Idle = days(now, instant(u.LastAccess))
		}
	}
	l.items = append(l.items, it)
	l.facts = append(l.facts, l.reader.Read(it.text))
}

func instant(text string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return time.Time{}
	}
	return t
}

// days are those between an instant and now; 0 when the instant is not known.
func days(now, then time.Time) float64 {
	if then.IsZero() || now.IsZero() {
		return 0
	}
	return now.Sub(then).Hours() / 24
}

// patch is the beginning of a patch of an item: it fails when the memory changed meanwhile.
func (l *loaded) patch(i int) alcove.MemoryPatch {
	it := &l.items[i]
	return alcove.MemoryPatch{Key: it.key, Namespace: l.namespace, IfVersion: &it.version}
}

// note is metadata that say what the family did.
func note(values map[string]any) alcove.Metadata {
	return alcove.Metadata{"consolidation": reflected.JSON(values)}
}
