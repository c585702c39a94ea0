package facts

import (
	"strings"

	"github.com/alcove-memory/alcove/guests/lib/fact"
	"github.com/alcove-memory/alcove/guests/lib/score"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// Update changes given fields of a memory; the rest stays. metadata adds members, and null removes one. expires_at null, or empty, has the
// memory kept without end.
//
//alcove:description Change fields of a memory, such as importance; the rest stays.
//alcove:tool idempotent
//alcove:title Change a memory
//alcove:alias memory_update_metadata
type Update struct {
	ID         alcove.ID                   `alcove:"required,alias=memory_id|factId|key"`
	Value      alcove.Optional[alcove.Raw] `alcove:"alias=content"`
	Tags       alcove.Optional[[]string]
	FactType   alcove.Optional[string]  `alcove:"alias=type"`
	Importance alcove.Optional[float64] // 0 to 1.
	Confidence alcove.Optional[float64] `alcove:"advanced"` // 0 to 1.
	Summary    alcove.Optional[string]
	Pinned     alcove.Optional[bool]
	Personal   alcove.Optional[bool]
	Collection alcove.Optional[string]
	ExpiresAt  alcove.Optional[string] `alcove:"clear,alias=expires"`
	Metadata   map[string]alcove.Raw   `alcove:"advanced"`
}

// Updated is a changed memory.
type Updated struct {
	ID      alcove.ID
	Version uint64 `alcove:"committed"`
}

// Call changes the memory.
func (in Update) Call(c *alcove.Call) (out Updated, err error) {
	if err := first(share("confidence", in.Confidence.Or(0)), share("importance", in.Importance.Or(0))); err != nil {
		return out, err
	}
	m, err := c.Memory(in.ID)
	if err != nil {
		return out, err
	}
	if v, _ := in.Value.Get(); score.IsFact(m.Type) && isBlank(v) {
		return out, blank("value")
	}
	out.ID = m.ID()
	if err := in.edit(m.Edit(c)).Apply(); err != nil {
		return out, err
	}
	now, err := c.Find(out.ID)
	if err != nil || now == nil || now.Version == m.Version { // nothing is another than it was
		out.Version = m.Version
		return out, err
	}
	return out, announce(c, "fact_updated", out.ID, map[string]any{"fields": in.fields()})
}

// isBlank reports whether a value is a text without a visible character.
func isBlank(value alcove.Raw) bool {
	text, is := value.Text()
	return is && strings.TrimSpace(text) == ""
}

// edit adds the given fields to a change.
func (in Update) edit(e *alcove.Edit) *alcove.Edit {
	for name, v := range in.Metadata {
		e.Metadata(name, v)
	}
	if v, given := in.Value.Get(); given {
		e.Value(v)
	}
	e.Tags(in.Tags).Type(in.FactType).Importance(in.Importance).Expires(in.ExpiresAt)
	if v, given := in.Importance.Get(); given {
		e.Metadata(fact.BaseImportance, v)
	}
	metadata(e, fact.Confidence, in.Confidence)
	metadata(e, fact.Summary, in.Summary)
	metadata(e, fact.Pinned, in.Pinned)
	metadata(e, fact.Personal, in.Personal)
	metadata(e, fact.Collection, in.Collection)
	return e
}

func metadata[T any](e *alcove.Edit, name string, o alcove.Optional[T]) {
	if v, given := o.Get(); given {
		e.Metadata(name, v)
	}
}

// fields are the names of what is given.
func (in Update) fields() (names []string) {
	for _, f := range []struct {
		name  string
		given bool
	}{
		{"value", !in.Value.IsZero()}, {"tags", !in.Tags.IsZero()}, {"factType", !in.FactType.IsZero()}, {"importance", !in.Importance.IsZero()},
		{"confidence", !in.Confidence.IsZero()}, {"summary", !in.Summary.IsZero()}, {"pinned", !in.Pinned.IsZero()}, {"personal", !in.Personal.IsZero()},
		{"collection", !in.Collection.IsZero()}, {"expires_at", !in.ExpiresAt.IsZero()}, {"metadata", len(in.Metadata) > 0},
	} {
		if f.given {
			names = append(names, f.name)
		}
	}
	return names
}
