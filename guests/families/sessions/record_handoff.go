package sessions

import alcove "github.com/alcove-memory/alcove/sdk/go"

// RecordHandoff passes work to another agent.
//
// The agent sees it in the same namespace and branch, at the start of each session, until it acknowledges it.
//
//alcove:camel
//alcove:title Hand work over
//alcove:description Pass work to another agent.
type RecordHandoff struct {
	ToAgent        string `alcove:"required,min=1,alias=targetAgentId"`
	ContextSummary string `alcove:"required,min=1,alias=summary"`
	ConversationID alcove.ID
	FactIDs        []alcove.ID `alcove:"name=factIds,many,max=256"`
	OpenItems      []string    `alcove:"many,max=256"`
}

//alcove:camel
type handedOff struct{ HandoffID alcove.ID }

// Call records the handoff.
func (in RecordHandoff) Call(c *alcove.Call) (out handedOff, err error) {
	key, _, _, err := openSession(c)
	if err != nil {
		return out, err
	}
	out.HandoffID = c.ID(c.NewID(prefixHandoff))
	h := handoff{From: c.Caller, To: in.ToAgent, Summary: in.ContextSummary, OpenItems: in.OpenItems, SessionID: key, At: c.Time()}
	for _, id := range in.FactIDs {
		h.FactIDs = append(h.FactIDs, at(c, id))
	}
	if !in.ConversationID.IsZero() {
		h.ConversationID = at(c, in.ConversationID)
	}
	if err := handoffs.Put(c, out.HandoffID.Key, h); err != nil {
		return out, err
	}
	return out, emit(c, "handoff_recorded", changes{HandoffID: out.HandoffID, ToAgent: in.ToAgent})
}
