package lifecycle

import (
	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/go/scan"
)

// noted is the metadata in which the family writes what it did with a memory.
const noted = "lifecycle"

// mark is what the family did with a memory.
//
//alcove:camel
//alcove:json
type mark struct {
	At         string    `json:"at,omitzero"`         // when it left the active memories
	Reason     string    `json:"reason,omitzero"`     // and why
	By         string    `json:"by,omitzero"`         // the agent
	MergedInto alcove.ID `json:"mergedInto,omitzero"` // the memory that stands for it
	RestoredAt string    `json:"restoredAt,omitzero"`
}

// note is what the family noted of a memory.
func note(m *alcove.Memory) (n mark) {
	if raw := m.Metadata[noted]; len(raw) > 0 {
		if scan.Decode(raw, &n) != nil {
			return mark{}
		}
	}
	return n
}

// leave is the change by which a memory leaves the active ones.
func leave(c *alcove.Call, m *alcove.Memory, state string, n mark) (alcove.MemoryPatch, error) {
	n.At, n.By = c.Now, c.Caller
	return m.Edit(c).State(state).Metadata(noted, n).Patch()
}

// event is the payload of events.
//
//alcove:camel
//alcove:json
type event struct {
	AgentID string
	ScopeID string
	FactID  alcove.ID `json:"factId,omitzero"`
	Changes changes
}

//alcove:camel
type changes struct {
	State  string    `json:"state,omitzero"`
	Reason string    `json:"reason,omitzero"`
	Into   alcove.ID `json:"into,omitzero"`
	Job    string    `json:"job,omitzero"`
	Count  int       `json:"count,omitzero"`
}

func emit(c *alcove.Call, kind string, id alcove.ID, what changes) error {
	e := event{AgentID: c.Caller, ScopeID: c.Namespace, FactID: id, Changes: what}
	if id.Namespace != "" {
		e.ScopeID = id.Namespace
	}
	return c.FeedEmit(alcove.FeedEmitRequest{Kind: kind, Payload: alcove.JSON(e)})
}
