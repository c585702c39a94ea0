package abi

import "encoding/json"

// ToolRequest is the request of KindTool. The result is any JSON value that fits the tool's output schema.
type ToolRequest struct {
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"` // an object that fits the tool's input schema
	Config    json.RawMessage `json:"config"`    // an object: every key of the manifest's config
	Context   Context         `json:"context"`
}

// Context says for whom, where and when a guest is called.
type Context struct {
	Caller    string `json:"caller"` // who asks; empty when the host does so by itself
	Namespace string `json:"namespace"`
	Branch    string `json:"branch"`
	Now       string `json:"now"` // RFC 3339, UTC; the same for the whole request
	RequestID string `json:"request_id"`
	DryRun    bool   `json:"dry_run,omitempty"` // what is staged is thrown away
}

// HookRequest is the request of KindHook.
type HookRequest struct {
	Hook    Hook            `json:"hook"`
	Entries []Entry         `json:"entries,omitempty"` // store and stored
	Job     string          `json:"job,omitempty"`     // job: its name
	Payload json.RawMessage `json:"payload,omitempty"` // job: what it was queued with
	Config  json.RawMessage `json:"config"`
	Context Context         `json:"context"`
}

// Entry is what is being stored, or was.
type Entry struct {
	Namespace  string                     `json:"namespace"`
	Collection string                     `json:"collection"`
	Key        string                     `json:"key"`
	Version    uint64                     `json:"version,omitempty"` // stored only
	Deleted    bool                       `json:"deleted,omitempty"`
	Value      json.RawMessage            `json:"value,omitempty"`
	Tags       []string                   `json:"tags,omitempty"`
	Type       string                     `json:"type,omitempty"`
	Importance *float64                   `json:"importance,omitempty"` // 0 to 1
	Metadata   map[string]json.RawMessage `json:"metadata,omitempty"`
}

// StoreResult is the result of the store hook: changes, or a refusal.
type StoreResult struct {
	Entries []*Change `json:"entries,omitempty"` // one for each entry of the request; null leaves it as it is
	// Refuse is why none of the entries may be stored; nil: they may. With it, Entries count for nothing.
	Refuse *string `json:"refuse,omitempty"`
}

// Change is what a store hook changes in an entry. Absent fields stay as they are.
type Change struct {
	Value      json.RawMessage            `json:"value,omitempty"`
	Tags       []string                   `json:"tags,omitempty"`
	Type       *string                    `json:"type,omitempty"`
	Importance *float64                   `json:"importance,omitempty"`
	Metadata   map[string]json.RawMessage `json:"metadata,omitempty"` // added, or put in place of those of the same name
}

// ScoreParams is the JSON in a request of KindScore.
type ScoreParams struct {
	Config json.RawMessage `json:"config"`
	Now    string          `json:"now"`
	Query  string          `json:"query"`
}

// EmbedRequest is the request of KindEmbed.
type EmbedRequest struct {
	Texts   []string        `json:"texts"`
	Purpose string          `json:"purpose"` // document or query
	Config  json.RawMessage `json:"config"`
}
