package vault

import (
	"hash/fnv"
	"strconv"

	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/go/scan"
)

// Metadata of a fact that was imported from a note without an id: the note's path, which is its identity, and what it said then.
const (
	metadataPath   = "vaultPath"
	metadataDigest = "vaultDigest" // of what people edit
	metadataBase   = "vaultBase"
)

// base is what a note said when it was imported.
//
//alcove:json
type base struct {
	Content  string // its hash
	Summary  string // its hash
	Tags     []string
	Entities []string
}

func baseOf(e edited) base { return base{hashed(e.content), hashed(e.summary), e.tags, e.entities} }

func hashed(text string) string {
	h := fnv.New64a()
	h.Write([]byte(trimmed(text)))
	return strconv.FormatUint(h.Sum64(), 16)
}

// unknownText stands for a text of which the hash alone is known. No note has it.
const unknownText = "\x00"

// edited is what the note said: each text as one of two others that is equal to it.
func (b *base) edited(one, other edited) edited {
	either := func(hash, one, other string) string {
		switch hash {
		case hashed(one):
			return one
		case hashed(other):
			return other
		}
		return unknownText
	}
	return edited{either(b.Content, one.content, other.content), either(b.Summary, one.summary, other.summary), b.Tags, b.Entities}
}

// said is what a note says to later imports. Files of a mirror get an id, and are read without inline tags and links from then on.
func (w *importing) said(n *note) edited {
	if w.mirror {
		return n.plain()
	}
	return n.edited
}

// plain is what a note says without the tags and links of its text.
func (n *note) plain() edited {
	e := n.edited
	e.tags, e.entities = n.front.List("tags"), unlinked(n.front.List("entities"))
	return e
}

// origin notes where a fact comes from, by a function that sets metadata. A file with an id keeps its digest, which is in it.
func (w *importing) origin(n *note, set func(name string, value any)) {
	e := w.said(n)
	b := baseOf(e)
	set(metadataBase, &b)
	if n.front.Text("id") == "" {
		set(metadataPath, n.path)
		set(metadataDigest, e.digest())
	}
}

// adopt notes the origin of a fact that a new note repeats, unless it has one.
func (w *importing) adopt(n *note, id alcove.ID) error {
	n.id = id
	m, err := w.c.Memory(id)
	if err != nil || len(m.Metadata[metadataPath]) > 0 {
		return err
	}
	edit := m.Edit(w.c)
	w.origin(n, func(name string, value any) { edit.Metadata(name, value) })
	return edit.Apply()
}

// known finds the fact that was imported from a note without an id: the one of its path; or else the one of the same text whose own file
// is not there any more, because it was renamed; or one of the same text whose file is there, of which the note is a copy. Nil: none.
func (w *importing) known(n *note, present map[string]*alcove.File) (m *alcove.Memory, copied bool, err error) {
	if m, err = w.with(metadataPath, n.path); m != nil || err != nil {
		return m, false, err
	}
	if m, err = w.with(metadataDigest, w.said(n).digest()); m == nil || err != nil {
		return nil, false, err
	}
	path, _ := m.Metadata[metadataPath].Text()
	_, copied = present[path]
	return m, copied, nil
}

// with is the fact of the call's namespace whose metadata has a value; nil: none.
func (w *importing) with(name, value string) (*alcove.Memory, error) {
	page, err := w.c.MemoryList(alcove.MemoryListRequest{Order: "newest", Limit: 1, Filter: &alcove.MemoryFilter{
		States: []string{"active"}, Fields: []alcove.FieldTest{{Field: "metadata." + name, Equals: alcove.JSON(value)}},
	}})
	if err != nil || len(page.Memories) == 0 {
		return nil, err
	}
	return &page.Memories[0], nil
}

// baseIn is what the note of a fact said when it was imported; nil: that is not known.
func baseIn(m *alcove.Memory) *base {
	var b base
	if raw := m.Metadata[metadataBase]; len(raw) == 0 || scan.Decode(raw, &b) != nil {
		return nil
	}
	return &b
}

// again imports a note without an id whose fact is known.
func (w *importing) again(n *note, m *alcove.Memory) error {
	n.id, n.base = m.ID(), baseIn(m)
	n.digest, _ = m.Metadata[metadataDigest].Text()
	if w.said(n).digest() != n.digest {
		return w.merge(n, m)
	}
	w.out.Unchanged++
	if path, _ := m.Metadata[metadataPath].Text(); path == n.path {
		return nil
	}
	edit := m.Edit(w.c) // it was renamed
	edit.Metadata(metadataPath, n.path)
	return edit.Apply()
}
