package sessions

import (
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// handoffs are what agents pass to others.
var handoffs = alcove.Records[handoff]{Name: "handoff", Indexes: [][]string{{"to", "acknowledgedAt", "at"}}}

// handoff is work that an agent passes to another.
//
//alcove:camel
type handoff struct {
	From           string
	To             string
	Summary        string
	FactIDs        []alcove.ID
	OpenItems      []string
	ConversationID alcove.ID `json:"conversationId,omitzero"`
	SessionID      string    `json:"sessionId,omitzero"`
	At             alcove.Time
	AcknowledgedAt alcove.Time `json:"acknowledgedAt,omitzero"`
}

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

// GetHandoffs lists the handoffs that wait for an agent, newest first.
//
// With acknowledge they wait no longer.
//
//alcove:camel
//alcove:title List handoffs
//alcove:description Handoffs waiting for an agent.
type GetHandoffs struct {
	AgentID     string // You, unless you may act as others.
	Limit       int    `alcove:"default=5,min=1,max=100"`
	Acknowledge bool
}

//alcove:camel
type waitingHandoffs struct {
	Handoffs  []waiting
	Truncated bool `json:"truncated,omitzero"`
}

//alcove:camel
type waiting struct {
	HandoffID      alcove.ID
	FromAgent      string
	ContextSummary string
	ConversationID alcove.ID   `json:"conversationId,omitzero"`
	FactIDs        []alcove.ID `json:"factIds"`
	OpenItems      []string
	At             string
}

// Call lists them.
func (in GetHandoffs) Call(c *alcove.Call) (out waitingHandoffs, err error) {
	agent, err := acting(c, in.AgentID)
	if err != nil {
		return out, err
	}
	out.Handoffs, out.Truncated, err = handoffsFor(c, agent, in.Limit)
	if err != nil || !in.Acknowledge {
		return out, err
	}
	for _, w := range out.Handoffs {
		h, ok, err := handoffs.Get(c, w.HandoffID.Key)
		if err != nil {
			return out, err
		}
		if h.AcknowledgedAt = c.Time(); ok {
			if err := handoffs.Put(c, w.HandoffID.Key, h); err != nil {
				return out, err
			}
		}
	}
	return out, nil
}

// handoffsFor lists the newest handoffs that wait for an agent, and tells whether there are more. None wait for an agent without a name.
func handoffsFor(c *alcove.Call, agent string, most int) (list []waiting, more bool, err error) {
	if agent == "" {
		return nil, false, nil
	}
	found, err := c.RecordList(alcove.RecordListRequest{Collection: handoffs.Name, Order: "at", Descending: true, Limit: most,
		Filters: []alcove.RecordFilter{equal("to", agent), {Field: "acknowledgedAt", Op: "eq", Value: alcove.Raw("null")}}})
	if err != nil {
		return nil, false, err
	}
	for i := range found.Records {
		h, err := handoffs.Item(&found.Records[i])
		if err != nil {
			c.Log("%v", err)
			continue
		}
		v := h.Value
		list = append(list, waiting{h.ID, v.From, v.Summary, v.ConversationID, v.FactIDs, v.OpenItems, v.At.String()})
	}
	return list, found.Next != "", nil
}
