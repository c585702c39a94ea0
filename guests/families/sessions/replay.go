package sessions

import (
	"cmp"
	"slices"

	"github.com/alcove-memory/alcove/guests/lib/fact"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// Replay shows the conversations that a memory came from.
//
// These are the conversation whose turn it is, the one that its metadata name as conversationId, and those that it was added to. Turns of
// imported conversations are found, too. A conversation of more than 100,000 bytes is shown without its turns, unless verbose is set.
//
//alcove:camel
//alcove:title Show the conversation behind a memory
//alcove:description The conversation that produced a memory.
//alcove:tool read-only
type Replay struct {
	MemoryID alcove.ID `json:"memory_id" alcove:"required,alias=id|factId|key"`
	Verbose  bool      // Long conversations, too.
}

//alcove:camel
type replayed struct{ Conversations []thread }

//alcove:camel
type thread struct {
	ConversationID alcove.ID
	SessionID      string   `json:"sessionId,omitzero"`
	Summary        string   `json:"summary,omitzero"`
	Participants   []string `json:"participants,omitzero"`
	Turns          []said
	FactIDs        []alcove.ID `json:"factIds,omitzero"`
	Omitted        bool        `json:"omitted,omitzero"`   // It has more than 100,000 bytes: ask with verbose.
	Truncated      bool        `json:"truncated,omitzero"` // Only the beginning is shown.
}

//alcove:camel
type said struct {
	Position int
	Role     string
	Content  string
	At       string `json:"at,omitzero"`
	FactID   alcove.ID
}

// How many bytes of a conversation are shown.
const (
	mostBytes        = 100_000
	mostVerboseBytes = 2 << 20
)

// Call shows them.
func (in Replay) Call(c *alcove.Call) (out replayed, err error) {
	m, err := c.Memory(in.MemoryID)
	if err != nil {
		return out, err
	}
	names, err := conversationsOf(c, m)
	if err != nil {
		return out, err
	}
	limit := mostBytes
	if in.Verbose {
		limit = mostVerboseBytes
	}
	for _, id := range names {
		t, err := read(c, id, limit)
		if err != nil {
			return out, err
		}
		if t == nil {
			continue
		}
		if t.Truncated && !in.Verbose {
			t.Turns, t.Truncated, t.Omitted = nil, false, true
		}
		out.Conversations = append(out.Conversations, *t)
	}
	return out, nil
}

// conversationsOf names the conversations that a memory belongs to.
func conversationsOf(c *alcove.Call, m *alcove.Memory) (list []alcove.ID, err error) {
	add := func(id alcove.ID) {
		if id = (alcove.ID{Namespace: or(id.Namespace, m.Namespace), Key: id.Key}); id.Key != "" && !slices.Contains(list, id) {
			list = append(list, id)
		}
	}
	add(alcove.ID{Key: plain(m.Metadata[turned])}) // a session of an import may have a # in its name
	add(alcove.ParseID(plain(m.Metadata[fact.ConversationID])))
	r := alcove.RecordListRequest{Collection: items.Name, Namespace: m.Namespace, Filters: []alcove.RecordFilter{equal("factId", m.ID().String())}}
	for record, err := range c.Records(r) {
		if err != nil {
			return nil, err
		}
		if i, err := items.Item(record); err == nil {
			add(alcove.ID{Key: i.Value.ConversationID})
		}
	}
	return list, nil
}

// plain is a text, or a number as it is written.
func plain(raw alcove.Raw) string {
	if text, ok := raw.Text(); ok {
		return text
	}
	if _, ok := fact.Number(raw); ok {
		return string(raw)
	}
	return ""
}

// read reads a conversation, up to some bytes; nil if it has nothing, or was deleted.
func read(c *alcove.Call, id alcove.ID, limit int) (*thread, error) {
	t := &thread{ConversationID: id, Turns: []said{}}
	v, known, err := conversations.In(id.Namespace).Get(c, id.Key)
	if err != nil || v.Archived() {
		return nil, err
	}
	if known {
		t.SessionID, t.Summary, t.Participants = v.SessionID, v.Summary, v.Participants
		for i, err := range items.In(id.Namespace).All(c, id.Key+"/") {
			if err != nil {
				return nil, err
			}
			t.FactIDs = append(t.FactIDs, alcove.ParseID(i.Value.FactID))
		}
	}
	size := 0
	for m, err := range c.Memories(turnsOf(id, "key")) {
		if err != nil {
			return nil, err
		}
		text := m.Text()
		if size += len(text); size > limit {
			t.Truncated = true
			break
		}
		position, _ := fact.Number(m.Metadata["seq"])
		t.Turns = append(t.Turns, said{int(position), plain(m.Metadata["speaker"]), text, plain(m.Metadata["ts"]), m.ID()})
	}
	if !known && size == 0 {
		return nil, nil
	}
	slices.SortStableFunc(t.Turns, func(a, b said) int { return cmp.Compare(a.Position, b.Position) })
	return t, nil
}

// turnsOf lists the turns of a conversation.
func turnsOf(id alcove.ID, order string) alcove.MemoryListRequest {
	name := id.Key
	return alcove.MemoryListRequest{Namespace: id.Namespace, Order: order, Limit: 200,
		Filter: &alcove.MemoryFilter{States: []string{"active"}, Fields: []alcove.FieldTest{{Field: "metadata." + turned, Equals: alcove.JSON(name)}}}}
}
