package lifecycle

import (
	"strings"

	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// Promote keeps a memory for good, or copies it to a parent namespace.
//
// Without to_namespace the memory no longer expires, has the tier long and is pinned, so that it is never forgotten. With it, a copy under the
// same key in a namespace above links to the memory that it is derived from.
//
//alcove:title Promote a memory
//alcove:description Keep a memory forever, or copy it to a parent namespace.
//alcove:tool idempotent
type Promote struct {
	ID          alcove.ID `alcove:"required"`
	ToNamespace string
}

type promoted struct {
	ID   alcove.ID
	Link *derivation // Of a copy; null without one.
}

type derivation struct {
	From     alcove.ID
	To       alcove.ID
	Relation string
}

// derivedFrom is the relation, and the metadata, of a copy.
const derivedFrom = "derived_from"

// Call promotes it.
func (in Promote) Call(c *alcove.Call) (out promoted, err error) {
	m, err := c.Memory(in.ID)
	if err != nil {
		return out, err
	}
	if in.ToNamespace == "" {
		out.ID = m.ID()
		if err := m.Edit(c).Clear("expires_at").Metadata(tiered, long).Metadata("pinned", true).Apply(); err != nil {
			return out, err
		}
		return out, emit(c, "fact_promoted", m.ID(), changes{})
	}
	if !strings.HasPrefix(m.Namespace, in.ToNamespace+"/") {
		return out, alcove.Errorf(alcove.InvalidArgument, "%s is not above %s: a memory is promoted to a namespace that its own begins with", in.ToNamespace, m.Namespace)
	}
	out.ID = alcove.ID{Namespace: in.ToNamespace, Key: m.Key}
	out.Link = &derivation{out.ID, m.ID(), derivedFrom}
	if err := in.copy(c, m, out.ID); err != nil {
		return out, err
	}
	if _, err := c.LinkAdd(alcove.LinkAddRequest{Key: out.ID.Key, Namespace: out.ID.Namespace, To: []string{m.ID().String()}}); err != nil {
		return out, err
	}
	return out, emit(c, "fact_promoted", m.ID(), changes{Into: out.ID})
}

// copy stores the copy, in place of an earlier one of the same memory.
func (in Promote) copy(c *alcove.Call, m *alcove.Memory, to alcove.ID) error {
	source := alcove.JSON(m.ID().String())
	there, err := c.GetMemories(to.Namespace, []string{to.Key})
	if err != nil {
		return err
	}
	if old := there[0]; old != nil && string(old.Metadata[derivedFrom]) != string(source) {
		return alcove.Errorf(alcove.Conflict, "%s is another memory", to.String()).Final()
	}
	item := alcove.MemoryItem{
		Key: to.Key, Namespace: to.Namespace, Value: m.Value, Tags: m.Tags, Importance: m.Importance, Metadata: alcove.Metadata{derivedFrom: source},
	}
	if m.Type != "" {
		item.Type = &m.Type
	}
	for name, v := range m.Metadata {
		if name != noted && name != tiered && name != expiredAt {
			item.Metadata[name] = v
		}
	}
	_, err = c.PutMemories([]alcove.MemoryItem{item})
	return err
}
