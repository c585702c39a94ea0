package sessions

import alcove "github.com/alcove-memory/alcove/sdk/go"

// GetHandoffs lists the handoffs that wait for an agent, newest first.
//
// With acknowledge they wait no longer.
//
//alcove:camel
//alcove:title List handoffs
//alcove:description Work somebody left for an agent: handoffs that wait.
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
