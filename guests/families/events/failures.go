package events

import alcove "github.com/alcove-memory/alcove/sdk/go"

// failures are events that were given up.
var failures = alcove.Records[failure]{Name: "delivery_failure", Per: "space", Expires: "30d", Indexes: [][]string{{"subscription", "at"}, {"owner", "at"}}}

//alcove:camel
type failure struct {
	Subscription string
	Owner        string
	EventType    string
	Payload      alcove.Raw
	AgentID      string
	ScopeID      string
	Timestamp    string
	Watermark    uint64
	Attempts     int
	LastError    string
	At           alcove.Time
}
