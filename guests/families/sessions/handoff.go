package sessions

import alcove "github.com/alcove-memory/alcove/sdk/go"

// handoffs are what agents pass to others.
var handoffs = alcove.Records[handoff]{Name: "handoff", Indexes: [][]string{{"to", "acknowledgedAt", "at"}}, Sync: "newest"}

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
