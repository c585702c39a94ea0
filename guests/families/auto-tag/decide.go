package autotag

import (
	"slices"

	"github.com/alcove-memory/alcove/guests/families/auto-tag/suggest"
	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/go/scan"
)

// markName is the metadata under which the family notes what it did, so that it can do it again without touching what
// others did.
const markName = "auto_tag"

// mark is what the family did to a memory.
//
//alcove:json
type mark struct {
	Tags       []string `json:"tags,omitempty"`
	Type       string   `json:"type,omitempty"`
	Importance float64  `json:"importance,omitempty"`
	Names      []string `json:"names,omitempty"`
	Dates      []string `json:"dates,omitempty"`
	Numbers    []string `json:"numbers,omitempty"`
}

// subject is what is tagged.
type subject struct {
	value      alcove.Raw
	tags       []string
	kind       string
	importance *float64
	metadata   alcove.Metadata
}

// decision is what changes in a memory. What is zero stays as it is.
type decision struct {
	tags        []string // all of the memory's, if any was added or removed
	add, remove []string
	kind        string
	importance  *float64
	mark        mark
	marked      alcove.Raw // the mark as it is stored
}

// decide says what becomes of a subject. Tags, type and importance that somebody gave stay; those that the family gave
// may change.
func (r reader) decide(cfg Config, s subject, found suggest.Reading, stats suggest.Statistics) decision {
	old, own := s.mark()
	if !own {
		return decision{} // somebody else's metadata have the name
	}
	given := slices.DeleteFunc(slices.Clone(s.tags), func(tag string) bool { return slices.Contains(old.Tags, tag) })
	var d decision
	for _, c := range stats.Tags(found, given, max(cfg.MaxTags-len(given), 0)) {
		d.mark.Tags = append(d.mark.Tags, c.Tag)
	}
	d.retag(s.tags, given, old.Tags)
	if cfg.SetType && (s.kind == "" || s.kind == old.Type) {
		d.mark.Type = or(found.Type, cfg.DefaultType)
		d.kind = d.mark.Type
	}
	if cfg.SetImportance && (s.importance == nil || *s.importance == old.Importance) {
		d.mark.Importance = found.Importance
		if found.Type == "" && s.kind != "" && s.kind != old.Type {
			d.mark.Importance = r.suggest.Importance(s.kind)
		}
		d.importance = &d.mark.Importance
	}
	if cfg.Mentions {
		d.mark.Names, d.mark.Dates, d.mark.Numbers = found.Names, found.Dates, found.Numbers
	}
	d.marked = alcove.JSON(d.mark)
	return d
}

// mark is what the family did to the subject before. own is false when the metadata of that name are not the family's.
func (s subject) mark() (m mark, own bool) {
	data, ok := s.metadata[markName]
	if !ok {
		return mark{}, true
	}
	return m, scan.Decode(data, &m) == nil
}

// retag works out the tags: those that were given, then the family's.
func (d *decision) retag(now, given, old []string) {
	for _, tag := range d.mark.Tags {
		if !slices.Contains(now, tag) {
			d.add = append(d.add, tag)
		}
	}
	for _, tag := range old {
		if slices.Contains(now, tag) && !slices.Contains(d.mark.Tags, tag) {
			d.remove = append(d.remove, tag)
		}
	}
	if len(d.add)+len(d.remove) > 0 {
		d.tags = append(given, d.mark.Tags...)
	}
}

// changes says whether the decision changes anything of a subject.
func (d decision) changes(s subject) bool {
	return d.marked != nil && (len(d.add)+len(d.remove) > 0 || d.kind != "" && d.kind != s.kind ||
		d.importance != nil && (s.importance == nil || *s.importance != *d.importance))
}

// change is the decision for the store hook.
func (d decision) change() *alcove.Change {
	if d.marked == nil {
		return nil
	}
	c := &alcove.Change{Tags: d.tags, Importance: d.importance, Metadata: alcove.Metadata{markName: d.marked}}
	if d.kind != "" {
		c.Type = &d.kind
	}
	return c
}

// patch is the decision for a memory that is stored.
func (d decision) patch(m *alcove.Memory) alcove.MemoryPatch {
	p := alcove.MemoryPatch{
		Key: m.Key, Namespace: m.Namespace, AddTags: d.add, RemoveTags: d.remove, IfVersion: new(m.Version),
		Importance: d.importance, Metadata: alcove.Metadata{markName: d.marked},
	}
	if d.kind != "" {
		p.Type = new(d.kind)
	}
	return p
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
