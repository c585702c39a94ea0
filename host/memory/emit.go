package memory

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"

	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/store"
)

// The collections of families' notices. They are no memories: merges leave them in place. Those for some agents have their own, lest the
// sequence numbers of the others tell how many there are.
const (
	emitted   = "_feed"
	emittedTo = "_feed_to"
)

func isEmitted(collection string) bool { return collection == emitted || collection == emittedTo }

// mostRecipients bounds the recipients of a notice.
const mostRecipients = 1000

// Emission is a family's notice for the feed.
type Emission struct {
	Family   string
	Kind     Kind
	Payload  json.RawMessage // nil: none
	To       []string        // the agents that see it, beside the one that causes it; nil: all that may read the namespace
	PerSpace bool            // in the feed of every branch, where it is kept for systemKept
}

type emittedRecord struct {
	Kind    Kind            `json:"kind"`
	Payload json.RawMessage `json:"payload,omitempty"`
	Family  string          `json:"family,omitempty"`
	To      []string        `json:"to,omitempty"`
}

// Emit stages a family's notice for the feed.
func (t *Stage) Emit(ctx context.Context, namespace string, e Emission) error {
	if e.Kind == MemoryStored || e.Kind == MemoryForgotten || e.Kind == EventLogged {
		return invalid("kind %s is the memory's own: choose another name", e.Kind)
	}
	if err := t.space.limits.checkName("kind", string(e.Kind)); err != nil {
		return err
	}
	if len(bytes.TrimSpace(e.Payload)) > 0 {
		if err := t.space.limits.checkJSON("payload", e.Payload, t.space.limits.Metadata); err != nil {
			return err
		}
	}
	if len(e.To) > mostRecipients || slices.Contains(e.To, "") {
		return invalid("a notice has at most %d recipients, each with a name: it has %d", mostRecipients, len(e.To))
	}
	value, err := json.Marshal(emittedRecord{e.Kind, e.Payload, e.Family, e.To})
	if err != nil {
		return err
	}
	c := Collection{Name: emitted, Expires: t.space.feed.known().Age, PerSpace: e.PerSpace}
	if e.To != nil {
		c.Name = emittedTo
	}
	if e.PerSpace {
		c.Expires = min(c.Expires, systemKept)
	}
	_, err = t.AppendRecord(ctx, c, namespace, value)
	return err
}

// payloads reads the payloads of families' notices.
func (s *Space) payloads(ctx context.Context, b *lineage.Branch, notices []Notice) error {
	system := s.catalogue.System()
	for i := range notices {
		n := &notices[i]
		if n.Kind != familyNotice {
			continue
		}
		on, key := b, store.Key{Namespace: n.Namespace, Collection: emitted, Name: n.Key}
		if n.restricted {
			key.Collection = emittedTo
		}
		if n.perSpace {
			on = system
		}
		if n.restricted || n.perSpace {
			n.Key = "" // a number, whose gaps would tell of notices for others
		}
		found, err := s.engine.GetAt(ctx, on.Lineage.At(n.Watermark), []store.Key{key})
		if err != nil {
			if _, trimmed := asTrimmed(err); trimmed && n.perSpace { // meanwhile
				continue
			}
			return s.translate("read the feed", err)
		}
		if !found[0].Exists() {
			continue
		}
		if err := n.read(found[0]); err != nil {
			return err
		}
	}
	return nil
}

// read fills in what a family said.
func (n *Notice) read(e store.Entry) error {
	r, err := record.Decode(e)
	if err != nil {
		return err
	}
	var said emittedRecord
	if err := json.Unmarshal(r.Value, &said); err != nil {
		return err
	}
	n.Kind, n.Payload, n.Agent, n.Family, n.To = said.Kind, said.Payload, r.Agent, said.Family, said.To
	return nil
}

// feedChange is a change in the feed of a branch.
type feedChange struct {
	store.Change
	perSpace bool // on every branch
}

// feedChanges lists the changes of a branch, and the notices on every branch, with from < version <= to, oldest first, whole versions, as
// Engine.Changes does. scanned is how many changes were read for it.
func (s *Space) feedChanges(ctx context.Context, b *lineage.Branch, from, to uint64, limit int) (list []feedChange, next uint64, scanned int, err error) {
	own, next, err := s.engine.Changes(ctx, b.ID, from, to, limit)
	if err != nil {
		return nil, 0, 0, err
	}
	shared, more, err := s.sharedChanges(ctx, from, to, limit)
	if err != nil {
		return nil, 0, 0, err
	}
	if more != 0 && (next == 0 || more < next) {
		next = more
	}
	list = make([]feedChange, 0, len(own))
	for len(own) > 0 || len(shared) > 0 {
		take, perSpace := &own, false
		if len(own) == 0 || len(shared) > 0 && shared[0].Version < own[0].Version {
			take, perSpace = &shared, true
		}
		c := (*take)[0]
		*take = (*take)[1:]
		scanned++
		if next != 0 && c.Version > next {
			continue
		}
		if !perSpace || isEmitted(c.Key.Collection) {
			list = append(list, feedChange{c, perSpace})
		}
	}
	return list, next, scanned, nil
}

// sharedChanges lists changes of the system branch, as far back as they are kept.
func (s *Space) sharedChanges(ctx context.Context, from, to uint64, limit int) ([]store.Change, uint64, error) {
	b := s.catalogue.System()
	if b == nil {
		return nil, 0, nil
	}
	changes, next, err := s.engine.Changes(ctx, b.ID, from, to, limit)
	if trimmed, ok := asTrimmed(err); ok {
		changes, next, err = s.engine.Changes(ctx, b.ID, trimmed.Floor.Version, to, limit)
	}
	return changes, next, err
}
