package legacy

import alcove "github.com/alcove-memory/alcove/sdk/go"

// EndSession stores a summary of a session. The work is handed off to the agent itself, unless another is named.
//
//alcove:description Deprecated: use memory_store_fact and memory_record_handoff.
//alcove:tool
//alcove:title End a session
//alcove:camel
type EndSession struct {
	Summary        string `alcove:"required,min=1"`
	ConversationID string
	ContextSummary string   // In place of summary, as the text of the fact.
	ToAgent        string   // Who goes on.
	OpenItems      []string // What is left to do.
}

// Ended is an ended session.
//
//alcove:camel
type Ended struct {
	FactID    alcove.ID
	HandoffID string
	notice
}

// handoff is what memory_record_handoff answers.
//
//alcove:json
//alcove:camel
type handoff struct{ HandoffID string }

// Call ends it.
func (in EndSession) Call(c *alcove.Call) (out Ended, err error) {
	out.notice = replacedBySuccessors("memory_end_session")
	text, to := in.Summary, c.Caller
	if in.ContextSummary != "" {
		text = in.ContextSummary
	}
	if in.ToAgent != "" {
		to = in.ToAgent
	}
	if to == "" {
		return out, alcove.Errorf(alcove.InvalidArgument, "this client has no name: say in toAgent who goes on")
	}
	stored, err := store(c, given{"content": text, "factType": "session_summary"}.text("conversationId", in.ConversationID).texts("tags", []string{"session_summary", "handoff"}))
	if err != nil {
		return out, err
	}
	var h handoff
	arguments := given{"toAgent": to, "contextSummary": in.Summary}.text("conversationId", in.ConversationID).
		texts("factIds", []string{stored.FactID.String()}).texts("openItems", in.OpenItems)
	err = c.CallTool("memory_record_handoff", map[string]any(arguments), &h)
	out.FactID, out.HandoffID = stored.FactID, h.HandoffID
	return out, err
}
